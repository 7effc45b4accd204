"""Progress bars with a line below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import RenderableType
from rich.progress import Progress
from rich.text import Text


class Bars(Progress):
    """Progress bars with a line below them, which is asked for whenever they are drawn.

    Attributes:
      below: Returns the line; an empty one is not drawn.
    """

    below: Callable[[], str] = staticmethod(lambda: "")

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        line = self.below()
        if line:
            yield Text(f"  {line}", no_wrap=True, overflow="ellipsis")
