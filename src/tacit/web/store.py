"""Scores and hand histories in SQLite, written when a hand ends, so a killed server loses no finished hand."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

_TABLES = """
create table if not exists hands (
  id integer primary key,
  player text not null,
  game text not null,
  opponent text not null,
  seat integer not null,
  payoff real not null,
  adjusted real,
  ended text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  record text not null
);
create index if not exists hands_by_player on hands (player, game, opponent);
"""
LISTED = 50
"""The most hands that a history lists."""


class Store:
    """The database of one server; every method may be called from any thread.

    Args:
      path: The file, created if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False)
        with self._lock, self._database:
            self._database.execute("pragma journal_mode = wal")
            self._database.execute("pragma synchronous = full")
            self._database.executescript(_TABLES)

    def add(self, player: str, record: dict[str, Any]) -> int:
        """Stores a finished hand and returns its number."""
        row = (
            player, record["game"], record["opponent"], record["seat"], record["payoff"], record.get("adjusted"),
            json.dumps(record, allow_nan=False),
        )  # fmt: skip
        with self._lock, self._database:
            added = self._database.execute(
                "insert into hands (player, game, opponent, seat, payoff, adjusted, record) values (?, ?, ?, ?, ?, ?, ?)", row
            )
        return int(added.lastrowid or 0)

    def score(self, player: str, game: str, opponent: str) -> dict[str, Any]:
        """Returns a player's score against an opponent.

        Returns:
          `hands` and `total`, and for the hands with a luck-adjusted result `adjusted_hands` and `adjusted_total`.
        """
        with self._lock:
            row = self._database.execute(
                "select count(*), coalesce(sum(payoff), 0), count(adjusted), coalesce(sum(adjusted), 0) from hands "
                "where player = ? and game = ? and opponent = ?",
                (player, game, opponent),
            ).fetchone()
        return dict(zip(("hands", "total", "adjusted_hands", "adjusted_total"), row, strict=True))

    def hands(self, player: str, game: str | None = None) -> list[dict[str, Any]]:
        """Returns the latest hands of a player, newest first, without their records."""
        with self._lock:
            rows = self._database.execute(
                "select id, game, opponent, seat, payoff, adjusted, ended from hands "
                "where player = ? and (? is null or game = ?) order by id desc limit ?",
                (player, game, game, LISTED),
            ).fetchall()
        return [
            dict(zip(("hand", "game", "opponent", "seat", "payoff", "adjusted", "ended"), row, strict=True)) for row in rows
        ]

    def record(self, player: str, hand: int) -> dict[str, Any] | None:
        """Returns the record of one of a player's hands, or None if there is no such hand."""
        with self._lock:
            row = self._database.execute("select record from hands where id = ? and player = ?", (hand, player)).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._database.close()
