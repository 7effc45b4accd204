"""Classes of public states described in words, for custom leaf evaluators and networks."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.tree.search_space import SearchSpace


@dataclass(frozen=True)
class ClassFacts:
    """A class of public states.

    Attributes:
      actor: The player who acts there.
      public: What everyone has seen at one public state of the class.
      private_states: For each player, the names of its private states in the order of the beliefs.
    """

    actor: int
    public: str
    private_states: tuple[list[str], list[str]]


def class_facts(space: SearchSpace) -> list[ClassFacts]:
    """Returns the facts of every class of a game, indexed by the class numbers that leaf evaluators receive."""
    facts = []
    for subgame in space.subgames:
        tree, nodes = subgame.tree, subgame.tree.require_nodes()
        first, second = (
            [tree.private_label(player, row) for row in range(start[0], start[1])]
            for player, start in enumerate(nodes.row_start)
        )
        facts.append(ClassFacts(int(nodes.actor[0]), tree.public_label(0), (first, second)))
    return facts
