"""What an agent thinks at a public state, for people: beliefs, strategy and values, with names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import Floats
from tacit.tree.strategy import action_names


@dataclass(frozen=True)
class View:
    """A public state as an agent sees it, before it looks at its own private state: showing it gives nothing away.

    Attributes:
      public: what everyone knows, in words.
      actor: who acts.
      private_states: for each player `[H]` names of the private states.
      beliefs: for each player `[H]`, sums to 1.
      actions: `[A]` names of what the actor may do in some private state.
      strategy: `[H, A]` what the actor does in each; 0 where an action is not legal.
      values: for each player `[H]` the infostate values when both go on like this; NaN where the other's beliefs exclude one.
      action_values: `[H, A]` what each action is worth to the actor in each private state when both go on like this; None where
        the agent does not say.
      in_short: for each player the private states in the usual notation, where they are too many to list.
    """

    public: str
    actor: int
    private_states: tuple[list[str], list[str]]
    beliefs: tuple[Floats, Floats]
    actions: list[str]
    strategy: Floats
    values: tuple[Floats, Floats]
    in_short: tuple[str, str] | None = None
    action_values: Floats | None = None


def make_view(pbs: PublicBeliefState, strategy: Floats, values: tuple[Floats, Floats]) -> View:
    """Returns the view at a public belief state.

    Args:
      pbs: the state.
      strategy: `[E]` of its tree; only the entries of the state are read.
      values: for each player `[H]` infostate values there.
    """
    tree, node = pbs.tree, pbs.node
    nodes = tree.require_nodes()
    actor = int(nodes.actor[node])
    rows = [range(start[node], start[node + 1]) for start in nodes.row_start]
    first, second = ([tree.private_label(player, row) for row in rows[player]] for player in (0, 1))
    # Two beliefs that exclude each other (after moves that are never made) have no joint; each still says something.
    beliefs = pbs.beliefs if pbs.probability > 0.0 else pbs.rescaled().reaches
    chance = nodes.joint(node)
    likelihood = (chance @ pbs.reaches[1], pbs.reaches[0] @ chance)
    infostates = tree.rows[actor].infostate[rows[actor]]
    entries = [range(tree.entry_start[s], tree.entry_start[s + 1]) for s in infostates]
    actions = sorted({int(tree.entry_action[entry]) for chosen in entries for entry in chosen})
    table = np.zeros((len(entries), len(actions)))
    for state, chosen in enumerate(entries):
        for entry in chosen:
            table[state, actions.index(int(tree.entry_action[entry]))] = strategy[entry]
    return View(
        public=tree.public_label(node),
        actor=actor,
        private_states=(first, second),
        beliefs=beliefs,
        actions=action_names(tree.game, actor, actions),
        strategy=table,
        values=(np.where(likelihood[0] > 0, values[0], np.nan), np.where(likelihood[1] > 0, values[1], np.nan)),
    )
