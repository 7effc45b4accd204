"""`ServeSettings`: where the server listens, what it keeps, and how much it does at once."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

DEFAULT_GAME = "leduc_poker"
"""The game that the front page opens."""


@dataclass(frozen=True)
class ServeSettings:
    """The settings of one server.

    Attributes:
      host: The address it listens on.
      port: The port it listens on.
      token: The secret that every request must carry; if empty, anyone who can reach the port may play.
      data: The folder that keeps scores and hand histories.
      runs: The folder whose runs the Runs page shows.
      solves: Saved solves, and folders of them, that the Explore page opens.
      quick_workers: Processes for games whose decisions take milliseconds.
      slow_workers: Processes for hold'em, boards and solves.
      seconds: The thinking time per decision of opponents that search by the clock.
      warm: Whether workers prepare all small games when they start.
      max_connections: The most open browser tabs.
      max_message: The most bytes in one message from a browser.
      messages_per_second: The steady rate of messages from one tab.
      burst: The most messages that a tab may send at once.
      max_waiting: The most jobs of one tab that may wait while an earlier one runs.
    """

    host: str = "127.0.0.1"
    port: int = 8710
    token: str = ""
    data: Path = Path("out/web")
    runs: Path = Path("runs")
    solves: tuple[Path, ...] = ()
    quick_workers: int = 1
    slow_workers: int = 1
    seconds: float = 2.0
    warm: bool = True
    max_connections: int = 64
    max_message: int = 16_384
    messages_per_second: float = 20.0
    burst: int = 40
    max_waiting: int = 4

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Returns whether a host name or address means this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
