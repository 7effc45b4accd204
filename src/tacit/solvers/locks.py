"""Locks fix a strategy at a public state, for all or some private states; the rest of the game is solved around it.

The solved game is the one in which the locked player has no choice there. Its equilibrium is an equilibrium of the free part:
best responses may deviate everywhere except at the locks, and exploitability is measured against such best responses.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import TacitError
from tacit.files import check_readable, parse_json
from tacit.tree.base import Spot, Tree
from tacit.tree.held import Held

REST = "rest"
"""Stands for all private states, or for what the named ones leave of them."""
TOLERANCE = 1e-4
"""How far the sum of an infostate's shares may be from 1: exported strategies are rounded."""
_HOW_TO_WRITE = "write 'check / bet to 100: fold=0.5,call=0.5' or 'check: bet to 100: AA,KK; check: rest'"

Shares = dict[str, float]


@dataclass(frozen=True)
class Lock:
    """A strategy fixed at a public state.

    Attributes:
      at: The steps to the public state, as in `check / bet to 100`; empty for the start of the game.
      play: The strategy there. Either one set of shares for every private state, `{"call": 0.7, "fold": 0.3}` or `"call=0.7,
        fold=0.3"`; or each action with its range, with `rest` for all else, `"bet to 100: AA,KK; check: rest"`; or each range
        with its shares, `{"AA": {"bet to 100": 1}, "KK": {"bet to 100": 0.5, "check": 0.5}}`. Private states that are not
        named stay free.
    """

    at: str
    play: str | Mapping[str, Any]

    def __str__(self) -> str:
        play = self.play if isinstance(self.play, str) else json.dumps(dict(self.play))
        return f"{self.at or 'the start'}: {play if len(play) <= 60 else play[:57] + '...'}"


def parse_lock(text: str) -> Lock:
    """Returns the lock written as `LINE: ACTION=SHARE,...` or `LINE: ACTION: RANGE; ACTION: rest`.

    Raises:
      TacitError: There is no colon, or nothing after it.
    """
    at, colon, play = text.partition(":")
    if not colon or not play.strip():
        raise TacitError(f"cannot read the lock {text!r}: {_HOW_TO_WRITE}")
    return Lock(at.strip(), play.strip())


def load_locks(path: str | Path) -> list[Lock]:
    """Returns the locks in a JSON file: one `{"at": LINE, "play": ...}`, or a list of them.

    Raises:
      TacitError: The file does not exist, or has other content.
    """
    if not os.path.isfile(path):
        raise TacitError(f"no file of locks at {path}")
    check_readable(path)
    try:
        content = parse_json(Path(path).read_text())
    except (ValueError, OSError) as error:
        raise TacitError(f"{path} is not valid JSON: {error}") from None
    return read_locks(content if isinstance(content, list) else [content], str(path))


def read_locks(content: Iterable[Any], source: str) -> list[Lock]:
    """Returns locks from their JSON objects.

    Raises:
      TacitError: One of the objects is not a lock.
    """
    locks = []
    for item in content:
        kinds = {key: type(value) for key, value in item.items()} if isinstance(item, dict) else {}
        if kinds not in ({"at": str, "play": str}, {"at": str, "play": dict}):
            raise TacitError(f'{source}: write each lock as {{"at": "check", "play": {{"bet to 100": 0.5, "check": 0.5}}}}')
        locks.append(Lock(item["at"], item["play"]))
    return locks


def lock_tree(tree: Tree, locks: Iterable[Lock]) -> tuple[Tree, Tree]:
    """Returns the tree for strategies with these locks, and the tree to solve, which is the same with the locks fixed.

    The first is the given tree, or one that treats fewer suits as equal: it must distinguish the suits that a lock does.

    Raises:
      TacitError: A lock names something that does not exist, or does not give a strategy.
    """
    locks = list(locks)
    for lock in locks:
        tree = tree.apart(*_resolve(tree, lock))
    if not locks:
        return tree, tree
    entry, share = np.zeros(0, np.int64), np.zeros(0)
    for lock in locks:
        _, held = _resolve(tree, lock)
        if np.isin(held.entry, entry).any():
            raise TacitError(f"{_name(lock)}: another lock fixes some of the same play")
        entry, share = np.concatenate([entry, held.entry]), np.concatenate([share, held.share])
    return tree, tree.hold(Held(entry, share))


def _name(lock: Lock) -> str:
    return f"lock at {lock.at!r}" if lock.at else "lock at the start"


def _resolve(tree: Tree, lock: Lock) -> tuple[Spot, Held]:
    """Returns the spot of a lock, and the entries that it fixes with their shares."""
    try:
        spot = tree.find(lock.at)
        choices = tree.choices(spot)
        clauses, rest = _clauses(lock.play)
        given: dict[int, Shares] = {}
        for text, shares in clauses:
            for number, weight in _meant(tree, [name for name, _ in choices], text).items():
                before = given.setdefault(number, {})
                before.update({action: before.get(action, 0.0) + weight * share for action, share in shares.items()})
        if rest:
            for number in range(len(choices)):
                before = given.setdefault(number, {})
                left = max(0.0, 1.0 - sum(before.values()))
                before.update({action: before.get(action, 0.0) + left * share for action, share in rest.items()})
        if not given:
            raise TacitError(f"it fixes nothing: {_HOW_TO_WRITE}")
        rows = [_complete(*choices[number], shares) for number, shares in sorted(given.items())]
    except TacitError as error:
        raise TacitError(f"{_name(lock)}: {error}") from None
    pairs = [pair for row in rows for pair in row.items()]
    return spot, Held(np.array([entry for entry, _ in pairs], np.int64), np.array([share for _, share in pairs]))


def _clauses(play: Any) -> tuple[list[tuple[str, Shares]], Shares]:
    """Returns the named private states with their action shares, and the shares of all others."""
    if isinstance(play, str):
        return _words(play) if ":" in play else ([], _parse_shares(play))
    if not isinstance(play, Mapping) or not play:
        raise TacitError(f"cannot read {play!r} as play: {_HOW_TO_WRITE}")
    if not any(isinstance(part, Mapping) for part in play.values()):
        return [], {str(action): _share(part, action) for action, part in play.items()}
    clauses, rest = [], {}
    for text, part in play.items():
        if not isinstance(part, Mapping):
            raise TacitError(f"{text!r} has no shares of actions, but others do: give each private state its own")
        shares = {str(action): _share(share, action) for action, share in part.items()}
        if text == REST:
            rest = shares
        else:
            clauses.append((str(text), shares))
    return clauses, rest


def _words(play: str) -> tuple[list[tuple[str, Shares]], Shares]:
    """Returns the clauses of a text like `bet to 100: AA,KK; check: rest`, and the shares of the rest."""
    clauses: list[tuple[str, Shares]] = []
    rest: Shares = {}
    for clause in filter(None, (part.strip() for part in play.split(";"))):
        action, _, text = (part.strip() for part in clause.partition(":"))
        if not action or not text:
            raise TacitError(f"cannot read {clause!r}: {_HOW_TO_WRITE}")
        if text != REST:
            clauses.append((text, {action: 1.0}))
        elif rest:
            raise TacitError(f"only one action can have the {REST}")
        else:
            rest = {action: 1.0}
    return clauses, rest


def _parse_shares(play: str) -> Shares:
    """Returns the shares in a text like `call=0.7,fold=0.3`."""
    shares: Shares = {}
    for part in play.split(","):
        action, _, share = (piece.strip() for piece in part.partition("="))
        if not action or not share or action in shares:
            raise TacitError(f"cannot read {part.strip()!r} in {play!r}: {_HOW_TO_WRITE}")
        shares[action] = _share(share, action)
    return shares


def _share(share: Any, action: str) -> float:
    try:
        number = float(share)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise TacitError(f"the share {share!r} of {action!r} must be a number from 0 to 1")
    return number


def _meant(tree: Tree, names: list[str], text: str) -> dict[int, float]:
    """Returns the indices in `names` of the private states that a text stands for, each with its weight."""
    if text in names:
        return {number: 1.0 for number, name in enumerate(names) if name == text}
    for part in filter(None, (part.strip() for part in text.split(","))):
        weights = tree.private_states(part)
        if not any(name in weights for name in names):
            some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise TacitError(f"the player who acts there never holds {part}: it may hold {some}")
    weights = tree.private_states(text)
    return {number: weights[name] for number, name in enumerate(names) if name in weights}


def _complete(name: str, entries: dict[str, int], shares: Shares) -> dict[int, float]:
    """Returns the share of every entry of an infostate; an entry may have several names."""
    for action in shares:
        if action not in entries:
            raise TacitError(f"no action {action!r} there: choose one of {', '.join(entries)}")
    total = sum(shares.values())
    if abs(total - 1.0) > TOLERANCE:
        raise TacitError(f"the shares{' of ' + name if name else ''} sum to {total:.6g}, not to 1")
    complete = dict.fromkeys(entries.values(), 0.0)
    for action, share in shares.items():
        complete[entries[action]] += share / total
    return complete
