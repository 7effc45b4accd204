"""What is known of a class of public states, in words: for leaf evaluators and networks that people write."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.tree.search_space import SearchSpace


@dataclass(frozen=True)
class ClassFacts:
    """A class of public states.

    Attributes:
      actor: Who acts there.
      public: What everyone has seen, of one public state of the class.
      private_states: For each player the names of its private states, in the order of beliefs.
    """

    actor: int
    public: str
    private_states: tuple[list[str], list[str]]


def class_facts(space: SearchSpace) -> list[ClassFacts]:
    """Returns what is known of every class of public states of a game, by the numbers that leaf evaluators are given."""
    facts = []
    for subgame in space.subgames:
        tree, nodes = subgame.tree, subgame.tree.require_nodes()
        first, second = (
            [tree.private_label(player, row) for row in range(start[0], start[1])]
            for player, start in enumerate(nodes.row_start)
        )
        facts.append(ClassFacts(int(nodes.actor[0]), tree.public_label(0), (first, second)))
    return facts
