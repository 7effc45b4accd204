"""What `tacit solve` refuses before long work starts: options without effect, files written twice, spots that do not exist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError

if TYPE_CHECKING:
    from tacit.tree.hand_tree import HandTree, Spot


def refuse_same_file(resume: Path | None, **written: Path | None) -> None:
    """Refuses to write one file twice, or anything but the solve itself over the solve that is continued."""
    taken: dict[Path, str] = {}
    for name, path in written.items():
        if path is None:
            continue
        other = taken.setdefault(path.resolve(), name)
        if name != "save" and resume is not None and path.resolve() == resume.resolve():
            other = "resume"
        if other != name:
            raise TacitError(f"--{other} and --{name} are the same file, {path}: give each its own")


def refuse(why: str, **options: Any) -> None:
    """Refuses options that would have no effect."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value not in (None, False)]
    if given:
        raise TacitError(f"{', '.join(given)} {why}")


def check_leaf(leaf: str | None) -> None:
    """Refuses a name that is neither a kind of leaf nor a network, before the game is compiled."""
    from tacit.search.solve import LEAVES

    if leaf is not None and leaf not in LEAVES and not leaf.startswith("pretrained:") and not Path(leaf).exists():
        raise TacitError(
            f"unknown leaf {leaf!r}: choose one of {', '.join(LEAVES)}, or a network: a run folder, a file or pretrained:NAME"
        )


def who_acts(tree: HandTree, spot: Spot) -> str:
    """Returns who acts at a spot.

    Raises:
      TacitError: nobody does.
    """
    if tree.actor[spot.node] < 0:
        raise TacitError(f"nobody acts after {tree.label(spot)!r}: --at must end where somebody does")
    return f"player {tree.actor[spot.node]} {'after ' + tree.label(spot) if spot.node else 'at the start'}"
