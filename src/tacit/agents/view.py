"""An agent's beliefs, strategy and values at a public state, with names for people to read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.tree.beliefs import PublicBeliefState
from tacit.tree.public_tree import Floats
from tacit.tree.strategy import action_names


@dataclass(frozen=True)
class View:
    """A public state as an agent sees it before it looks at its own private state, so showing it reveals nothing hidden.

    Attributes:
      public: what everyone knows, in words.
      actor: the player to act.
      private_states: for each player `[H]` the names of its private states.
      beliefs: for each player `[H]` the probability of each private state; sums to 1.
      actions: `[A]` the names of the actions that are legal in some private state of the actor.
      strategy: `[H, A]` the actor's strategy; 0 where an action is not legal.
      values: for each player `[H]` the infostate values if both keep playing the strategy; NaN for a private state that the
        opponent's beliefs exclude.
      action_values: `[H, A]` the value of each action to the actor in each private state if both keep playing the strategy;
        None if the agent does not compute it.
      in_short: for each player the range in the usual notation; None where the private states are few enough to list.
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
    # Beliefs that exclude each other (after moves the strategy never makes) have no joint distribution: show each by itself.
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
