"""The betting of one street of hold'em as a tree without cards, which every board of that street repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tacit.errors import TacitError
from tacit.games.betting import DEAL, FOLDED, RIVER, SHOWDOWN, Betting, BettingRules
from tacit.tree.hand_tree import DEALS, DECIDES, FOLDS, LEAF, RUNS_OUT, SHOWS
from tacit.tree.subgame import ROUND, TWO_ROUNDS, Depth

ROUNDS: dict[Depth, int | None] = {None: None, ROUND: 1, TWO_ROUNDS: 2}
"""The number of betting rounds for each depth; None for all that are left."""
Extra = Mapping[Betting, tuple[int, ...]]
NOTHING_EXTRA: Extra = {}


@dataclass
class BettingStreet:
    """The betting of one street from every state it can begin with; indices count within the street.

    Attributes:
      kind, actor, amount, parent: per node, as in `HandTree`; the parent of a starting node is -1.
      betting: the betting state at each node.
      first_entry, num_actions: the entries of each node.
      children: the nodes below each node.
      rows: for both players, each node's row. The rows of the starting nodes come first, then one for each own action.
      row_parent, row_entry: for both players, the row above and the entry of each row; -1 at the start.
      entry_action, entry_node: the action and the node of each entry.
      deals: nodes where the next card is dealt, with the betting state there.
      is_last: whether the tree is cut at the end of this street.
    """

    kind: list[int] = field(default_factory=list)
    betting: list[Betting] = field(default_factory=list)
    actor: list[int] = field(default_factory=list)
    amount: list[float] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    first_entry: list[int] = field(default_factory=list)
    num_actions: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    rows: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    row_parent: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    row_entry: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    entry_action: list[int] = field(default_factory=list)
    entry_node: list[int] = field(default_factory=list)
    deals: list[tuple[int, Betting]] = field(default_factory=list)
    is_last: bool = False

    def add(self, rules: BettingRules, extra: Extra, betting: Betting, parent: int, rows: tuple[int, int]) -> int:
        """Adds a betting state with all that follows it on this street; returns its node."""
        node = len(self.kind)
        kind, amount = kind_and_amount(betting, self.is_last)
        actions = sorted({*rules.actions(betting), *extra.get(betting, ())}) if kind == DECIDES else []
        self.kind.append(kind)
        self.betting.append(betting)
        self.actor.append(betting.actor if kind == DECIDES else -1)
        self.amount.append(amount)
        self.parent.append(parent)
        self.first_entry.append(len(self.entry_action))
        self.num_actions.append(len(actions))
        self.children.append([])
        for player in (0, 1):
            self.rows[player].append(rows[player])
        if kind in (DEALS, LEAF):
            self.deals.append((node, betting))
        first_entry = len(self.entry_action)
        self.entry_action += actions
        self.entry_node += [node] * len(actions)
        for number, action in enumerate(actions):
            below = list(rows)
            below[betting.actor] = len(self.row_parent[betting.actor])
            self.row_parent[betting.actor].append(rows[betting.actor])
            self.row_entry[betting.actor].append(first_entry + number)
            after = rules.apply(betting, action)
            self.children[node].append(self.add(rules, extra, after, node, (below[0], below[1])))
        return node


def kind_and_amount(betting: Betting, is_last: bool) -> tuple[int, float]:
    """Returns the kind of node that a betting state becomes, and the chips at stake there (see `HandTree.amount`)."""
    if betting.actor == FOLDED:
        return FOLDS, float(betting.spent[1] if betting.folder == 1 else -betting.spent[0])
    if betting.actor == SHOWDOWN and (is_last or betting.street == RIVER):
        return SHOWS if betting.street == RIVER else RUNS_OUT, float(betting.facing)
    if betting.actor in (DEAL, SHOWDOWN):
        return (LEAF, float(betting.facing)) if is_last else (DEALS, 0.0)
    return DECIDES, 0.0


def betting_streets(
    rules: BettingRules, num_cards: int, start: Betting | None = None, extra: Extra = NOTHING_EXTRA, depth: Depth = None
) -> list[BettingStreet]:
    """Returns the betting of each street from the board's street on, as far as `depth` reaches."""
    rounds = num_rounds(depth)
    if not num_cards and depth != ROUND:
        raise TacitError(f"before the flop, a tree of hold'em is too large beyond the betting round: choose depth {ROUND!r}")
    streets: list[BettingStreet] = []
    begins = [start or rules.start()]
    while begins:
        street = BettingStreet(is_last=len(streets) + 1 == rounds)
        for player in (0, 1):
            street.row_parent[player].extend([-1] * len(begins))
            street.row_entry[player].extend([-1] * len(begins))
        for number, betting in enumerate(begins):
            street.add(rules, extra, betting, -1, (number, number))
        streets.append(street)
        begins = [] if street.is_last else [next_street(rules, betting) for _, betting in street.deals]
    assert len(streets) <= 6 - num_cards
    return streets


def num_rounds(depth: Depth) -> int | None:
    """Returns how many betting rounds a tree of hold'em covers; None for all that are left.

    Raises:
      TacitError: A tree of hold'em cannot have this depth.
    """
    if depth not in ROUNDS:
        raise TacitError(
            f"the depth of a hold'em tree is {ROUND!r}, {TWO_ROUNDS!r} or None (to the end of the hand), not {depth!r}"
        )
    return ROUNDS[depth]


def next_street(rules: BettingRules, betting: Betting) -> Betting:
    """Returns the betting after a card is dealt: the start of the next street, or the same showdown one street later."""
    if betting.actor == DEAL:
        return rules.deal(betting)
    return Betting(betting.street + 1, SHOWDOWN, betting.spent, betting.raise_size, betting.num_raises, True)
