"""NFSP's parts: gradients against torch, memories against statistics, walks against exact values, stored transitions."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from tacit.evaluation import evaluate
from tacit.games import load_game
from tacit.kernels import make_passes
from tacit.nets.descent import OPTIMIZERS
from tacit.nets.player_networks import Networks, strategy_table
from tacit.nets.sparse_mlp import initial_params, make_shape, pack_params
from tacit.nfsp.strategies import AVERAGE, STRATEGIES
from tacit.nfsp.tabular.engine import PlayedGame
from tacit.nfsp.tabular.learn import Batches, learn_policy, learn_values, make_batches
from tacit.nfsp.tabular.memory import (
    FEW,
    GAME_OVER,
    Behaviour,
    Transitions,
    add_behaviour,
    latest,
    make_behaviour,
    make_transitions,
)
from tacit.nfsp.tabular.networks import POLICY, TARGET, Q, make_networks
from tacit.nfsp.tabular.rounds import RoundSettings
from tacit.nfsp.tabular.selfplay import Games, advance_games, begin_games, make_games
from tacit.random_numbers import below, make_streams, uniform
from tacit.tree.compiler import compile_game
from tacit.tree.public_tree import NO_PARENT
from tacit.tree.walks import make_walk_table

GAMES = ["kuhn_poker", "leduc_poker", "liars_dice(dice=1,faces=3)", "goofspiel(cards=3)", "modified_rps", "tic_tac_toe"]
OPENSPIEL = ["openspiel:kuhn_poker", "openspiel:leduc_poker"]
BATCH = 32


def settings(
    anticipation: float = 0.5, apart: bool = False, share: float = 1.0, refit_every: int = 1_000, optimizer: int = 0
) -> RoundSettings:
    """Returns settings with batches of `BATCH` from a reservoir; exploration is passed to `advance_games` itself."""
    return RoundSettings(anticipation, 0.0, 0.0, 1.0, apart, False, 0.0, BATCH, 1, share, refit_every, optimizer, optimizer)


def play(
    played: PlayedGame,
    networks: Networks,
    rounds: int,
    anticipation: float,
    exploration: float,
    count: int = 64,
    apart: bool = False,
) -> tuple[Transitions, Behaviour, Games]:
    """Returns the memories that self-play with fixed networks fills, and its games."""
    transitions, behaviour = make_transitions(100_000), make_behaviour(100_000)
    games, streams = make_games(count, played.tree.num_infostates, played.tree.num_entries), make_streams(1, 1)
    begin_games(games, played.table, anticipation, streams, 0)
    for _ in range(rounds):
        how = settings(anticipation, apart)
        advance_games(games, networks, transitions, behaviour, played.encodings, played.table, how, exploration, streams, 0)
    return transitions, behaviour, games


def networks_for(played: PlayedGame, hidden: tuple[int, ...] = (20,), seed: int = 0) -> Networks:
    return played.make_networks(hidden, np.random.default_rng(seed))


def batches_for(played: PlayedGame) -> Batches:
    return make_batches(played.tree.num_infostates, played.tree.num_entries, BATCH)


def torch_net(sizes: list[int], seed: int) -> tuple[nn.Sequential, np.ndarray[Any, Any]]:
    """Returns a torch network and the same weights in our layout."""
    torch.manual_seed(seed)
    layers = [nn.Linear(before, after) for before, after in pairwise(sizes)]
    params = pack_params([p.detach().numpy() for layer in layers for p in (layer.weight, layer.bias)])
    stack = [part for layer in layers[:-1] for part in (layer, nn.ReLU())]
    return nn.Sequential(*stack, layers[-1]), params


def torch_optimizer(name: str, net: nn.Module, rate: float) -> torch.optim.Optimizer:
    if name == "adam":
        return torch.optim.Adam(net.parameters(), rate)
    return torch.optim.SGD(net.parameters(), rate, momentum=0.9 if name == "momentum" else 0.0)


def repacked(net: nn.Sequential) -> np.ndarray[Any, Any]:
    return pack_params([p.detach().numpy() for p in net.parameters()])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("hidden", [(64,), (20, 40, 8)])
def test_steps_of_learning_equal_those_of_torch(optimizer: str, hidden: tuple[int, ...]) -> None:
    played = PlayedGame.of(load_game("leduc_poker"))
    networks = networks_for(played, hidden)
    sizes = [played.num_features, *hidden, len(played.table.actions)]
    nets = {kind: torch_net(sizes, kind) for kind in (Q, TARGET, POLICY)}
    for kind, (_, params) in nets.items():
        networks.params[0, kind] = params
    transitions, behaviour, _ = play(played, networks, 40, 0.5, 0.5)
    batches = batches_for(played)
    streams, copy = make_streams(5, 1), make_streams(5, 1)
    table, matrix = played.table, torch.zeros(played.tree.num_infostates, played.num_features)
    where = np.repeat(np.arange(len(matrix)), np.diff(played.encodings.start)), played.encodings.feature
    matrix[where] = torch.from_numpy(played.encodings.value)
    legal = torch.zeros(played.tree.num_infostates, len(played.table.actions), dtype=torch.bool)
    legal[torch.from_numpy(table.entry_infostate).long(), torch.from_numpy(table.entry_action).long()] = True
    how = settings(optimizer=OPTIMIZERS.index(optimizer))
    optimizers = {kind: torch_optimizer(optimizer, nets[kind][0], 0.01) for kind in (Q, POLICY)}
    for _ in range(5):
        learn_values(networks, 0, transitions, batches, played.encodings, table, how, 0.01, streams, 0)
        items = [transitions.offered[0] - 1 - below(copy, 0, transitions.offered[0]) for _ in range(BATCH)]
        entries = transitions.entry[0, items]
        reward, following = (torch.from_numpy(part[0, items]) for part in (transitions.reward, transitions.following))
        at, action = (torch.from_numpy(part[entries]).long() for part in (table.entry_infostate, table.entry_action))
        with torch.no_grad():
            ahead = nets[TARGET][0](matrix[following.clamp(min=0)]).masked_fill(~legal[following.clamp(min=0)], -1e9)
            wanted = reward + torch.where(following == GAME_OVER, 0.0, ahead.max(1).values)
        loss: Tensor = ((nets[Q][0](matrix[at])[torch.arange(BATCH), action] - wanted) ** 2).mean()
        optimizers[Q].zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizers[Q].step()

        learn_policy(networks, 0, behaviour, batches, played.encodings, table, how, 0.01, streams, 0)
        entries = behaviour.entry[0, [below(copy, 0, behaviour.offered[0]) for _ in range(BATCH)]]
        at, action = (torch.from_numpy(part[entries]).long() for part in (table.entry_infostate, table.entry_action))
        scores = nets[POLICY][0](matrix[at]).masked_fill(~legal[at], -1e9)
        optimizers[POLICY].zero_grad()
        nn.functional.cross_entropy(scores, action).backward()  # type: ignore[no-untyped-call]
        optimizers[POLICY].step()
    for kind in (Q, POLICY):
        np.testing.assert_allclose(networks.params[0, kind], repacked(nets[kind][0]), rtol=0, atol=1e-5)
    assert not any(part.any() for part in (networks.gradient, batches.counts, batches.wanted, batches.drawn))
    np.testing.assert_array_equal(networks.params[0, TARGET], nets[TARGET][1])


def test_units_added_to_fill_vectors_stay_at_zero() -> None:
    played = PlayedGame.of(load_game("kuhn_poker"))
    networks = networks_for(played, (20,))
    assert (networks.params[0, Q] == 0).any()
    unused, how = networks.params[0, Q] == 0, settings(refit_every=10)
    (transitions, _, _), batches = play(played, networks, 20, 0.5, 0.5), batches_for(played)
    for _ in range(50):
        learn_values(networks, 0, transitions, batches, played.encodings, played.table, how, 0.1, make_streams(0, 1), 0)
    assert (networks.params[0, Q][unused] == 0).all()


@pytest.mark.parametrize("hidden", [(16,), (16, 16)])
def test_a_weight_that_is_no_number_shows_in_the_loss(hidden: tuple[int, ...]) -> None:
    """Rectified units must not turn NaN into 0."""
    played = PlayedGame.of(load_game("kuhn_poker"))
    networks = networks_for(played, hidden)
    (transitions, behaviour, _), batches = play(played, networks, 20, 0.5, 0.5), batches_for(played)
    networks.params[0, :, :16] = np.nan
    learn_values(networks, 0, transitions, batches, played.encodings, played.table, settings(), 0.1, make_streams(0, 1), 0)
    learn_policy(networks, 0, behaviour, batches, played.encodings, played.table, settings(), 0.1, make_streams(0, 1), 0)
    assert np.isnan(networks.loss[0, [Q, POLICY]]).all()


def test_a_target_is_refitted_every_so_many_steps_only() -> None:
    played = PlayedGame.of(load_game("kuhn_poker"))
    networks, streams, how = networks_for(played), make_streams(0, 1), settings(refit_every=300)
    (transitions, _, _), batches = play(played, networks, 20, 0.5, 0.5), batches_for(played)
    before = networks.params[0, TARGET].copy()
    for step in range(1, 901):
        learn_values(networks, 0, transitions, batches, played.encodings, played.table, how, 0.05, streams, 0)
        if step % 300 == 0:
            np.testing.assert_array_equal(networks.params[0, TARGET], networks.params[0, Q])
            before = networks.params[0, TARGET].copy()
        else:
            np.testing.assert_array_equal(networks.params[0, TARGET], before)
    assert networks.updates[0].tolist() == [900, 3, 0]


def test_players_start_from_different_weights_and_targets_from_their_own() -> None:
    networks = make_networks(30, (64,), 3, np.random.default_rng(0))
    first, second = networks.params
    assert not np.array_equal(first[Q], second[Q])
    assert not np.array_equal(first[POLICY], second[POLICY])
    assert not np.array_equal(first[Q], first[POLICY])
    np.testing.assert_array_equal(networks.params[:, TARGET], networks.params[:, Q])


def test_an_illegal_action_neither_is_played_nor_counts_in_the_value_of_what_follows() -> None:
    played = PlayedGame.of(load_game("leduc_poker"))
    networks = networks_for(played, (16,))
    shape, _ = make_shape(played.num_features, (16,), len(played.table.actions))
    fold, raise_ = 0, 2  # folding is illegal without a bet, raising after two raises
    networks.params[:] = 0.0
    networks.params[:, :, shape.bias[-1] * 16 + fold] = 1e6
    networks.params[:, :, shape.bias[-1] * 16 + raise_] = 1e5
    for kind in STRATEGIES:
        strategy = played.strategy(networks, kind)
        np.testing.assert_allclose(np.add.reduceat(strategy, played.tree.entry_start[:-1]), 1.0)
        can_fold = np.isin(played.table.entry_infostate, played.table.entry_infostate[played.table.entry_action == fold])
        chosen = played.table.entry_action[strategy == 1.0]
        assert can_fold.any()
        assert not can_fold.all()
        assert len(chosen) == played.tree.num_infostates
    transitions, batches = make_transitions(BATCH), batches_for(played)
    opening = int(np.flatnonzero((played.tree.infostate_player == 0) & (np.diff(played.tree.entry_start) == 2))[0])
    entries = slice(played.tree.entry_start[opening], played.tree.entry_start[opening + 1])
    assert fold not in played.table.entry_action[entries]
    transitions.entry[0], transitions.following[0], transitions.offered[0] = 0, opening, BATCH
    learn_values(networks, 0, transitions, batches, played.encodings, played.table, settings(), 0.0, make_streams(0, 1), 0)
    value = {0: 1e6, 1: 0.0, 2: 1e5}[int(played.table.entry_action[0])]
    np.testing.assert_allclose(networks.loss[0, Q], (1e5 - value) ** 2, rtol=1e-5)  # 1e6 is the value of the illegal fold


def test_reservoirs_keep_a_uniform_sample() -> None:
    capacity, offered, repeats = 50, 1_000, 400
    streams, counts = make_streams(3, 1), np.zeros(offered)
    for _ in range(repeats):
        memory = make_behaviour(capacity)
        for item in range(offered):
            add_behaviour(memory, 0, item, False, 0.0, streams, 0)
        assert len(np.unique(memory.entry[0])) == capacity  # no item is kept twice
        counts[memory.entry[0]] += 1
    expected = repeats * capacity / offered
    # Each item is kept or not, so a count has a Poisson count's variance times the share that is left out.
    statistic = ((counts - expected) ** 2).sum() / (expected * (1 - capacity / offered))
    assert 1e-4 < stats.chi2.sf(statistic, offered - 1) < 1 - 1e-4
    blocks = counts.reshape(10, -1).sum(1)  # a bias towards old or new items shows here first
    assert stats.chisquare(blocks).pvalue > 1e-4


def test_exponential_reservoirs_forget_and_windows_keep_the_latest() -> None:
    capacity, offered, least = 100, 4_000, 0.25
    streams, exponential, window = make_streams(4, 1), make_behaviour(capacity), make_behaviour(capacity)
    ages = []
    for _ in range(30):
        exponential.offered[:] = 0
        for item in range(offered):
            add_behaviour(exponential, 0, item, False, least, streams, 0)
        ages.append(offered - exponential.entry[0])
    mean = capacity / least  # an item stays for this many further items on average
    assert abs(np.mean(ages) - mean) < 0.1 * mean
    for item in range(offered):
        add_behaviour(window, 0, item, True, least, streams, 0)
    assert sorted(window.entry[0].tolist()) == list(range(offered - capacity, offered))


def test_the_latest_transitions_are_a_share_of_all_so_far() -> None:
    assert latest(500, 1_000_000, 0.1) == 500  # all of them while they are few
    assert latest(100_000, 1_000_000, 0.1) == FEW
    assert latest(1_000_000, 1_000_000, 0.1) == 100_000
    assert latest(50_000_000, 1_000_000, 0.1) == 1_000_000
    assert latest(50_000_000, 200_000, 1.0) == 200_000
    played = PlayedGame.of(load_game("kuhn_poker"))
    networks, batches, memory = networks_for(played), batches_for(played), make_transitions(FEW + 10)
    streams, how = make_streams(0, 1), settings(share=0.1)
    memory.following[:], memory.reward[:], memory.offered[:] = GAME_OVER, 1.0, 2 * FEW
    newest = (2 * FEW - 1 - np.arange(FEW)) % (FEW + 10)
    memory.reward[:, newest] = 0.0  # older transitions must never be drawn
    networks.params[:] = 0.0
    for _ in range(200):
        learn_values(networks, 0, memory, batches, played.encodings, played.table, how, 0.0, streams, 0)
    assert networks.loss[0, Q] == 0.0


@pytest.mark.parametrize("name", [*GAMES[:-1], pytest.param(GAMES[-1], marks=pytest.mark.slow), *OPENSPIEL])
def test_walks_have_the_exact_value_of_every_strategy(name: str) -> None:
    if name.startswith("openspiel"):
        pytest.importorskip("pyspiel")
    tree = compile_game(load_game(name))
    table, passes = make_walk_table(tree), make_passes(tree)
    strategy = tree.normalise(np.random.default_rng(0).exponential(size=tree.num_entries))
    chance = np.zeros(len(table.actor) + len(table.payoff))
    chance[table.first_state] = np.diff(table.first_upto, prepend=0.0)
    step = np.diff(table.upto, prepend=0.0)
    first = table.arrival_start[:-1]
    step[first] = table.upto[first]
    for state in range(len(table.actor)):  # a state comes before its successors
        infostate = table.infostate[state]
        for slot in range(tree.entry_start[infostate + 1] - tree.entry_start[infostate]):
            arrivals = slice(*table.arrival_start[table.edge_start[state] + slot :][:2])
            reach = chance[state] * strategy[tree.entry_start[infostate] + slot]
            chance[table.arrival[arrivals]] += reach * step[arrivals]
    ends = chance[len(table.actor) :]
    assert abs(ends.sum() - 1.0) < 1e-9
    assert abs(ends @ table.payoff.astype(np.float64) - evaluate(passes, strategy).value) < 1e-6  # payoffs are float32


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "goofspiel(cards=3)"])
def test_transitions_are_from_the_players_own_point_of_view(name: str) -> None:
    played = PlayedGame.of(load_game(name))
    transitions, _, games = play(played, networks_for(played), 200, 0.3, 0.3)
    tree = played.tree
    assert games.finished[0] > 500
    rewards = []
    for player in (0, 1):
        rows, count = tree.rows[player], int(transitions.offered[player])
        for item in range(count):
            entry, following = int(transitions.entry[player, item]), int(transitions.following[player, item])
            assert tree.entry_player[entry] == player
            if following == GAME_OVER:
                continue
            assert transitions.reward[player, item] == 0.0  # these games pay only at their end
            assert tree.infostate_player[following] == player
            row = int(tree.infostate_row[following])
            while rows.entry[row] == tree.num_entries and rows.parent[row] != NO_PARENT:
                row = int(rows.parent[row])
            assert rows.entry[row] == entry  # the player's action before that decision is the transition's
        ended = transitions.following[player, :count] == GAME_OVER
        rewards.append(transitions.reward[player, :count][ended])
    assert len(rewards[0]) == len(rewards[1]) == games.finished[0]
    np.testing.assert_array_equal(rewards[0], -rewards[1])  # both players act in these games, and are paid at the same time


def test_supervised_memory_gets_best_responses_and_their_noise_only() -> None:
    played = PlayedGame.of(load_game("leduc_poker"))
    networks, table = networks_for(played), played.table
    transitions, behaviour, _ = play(played, networks, 50, 0.0, 0.5)
    assert behaviour.offered.tolist() == [0, 0]
    assert transitions.offered.min() > 500
    _, behaviour, _ = play(played, networks, 50, 1.0, 0.0)
    best = strategy_table(networks, Q, True, played.encodings, table, played.tree.infostate_player)
    for player in (0, 1):
        assert (best[behaviour.entry[player, : behaviour.offered[player]]] == 1.0).all()
    assert behaviour.offered.sum() == 50 * 64
    _, noisy, _ = play(played, networks, 200, 1.0, 0.4)
    entries = noisy.entry[0, : noisy.offered[0]]
    others = 1.0 - 1.0 / np.diff(played.tree.entry_start)[table.entry_infostate[entries]]
    share = (best[entries] == 0.0).mean()
    assert abs(share - 0.4 * others.mean()) < 0.03
    half, third = (play(played, networks, 200, share, 0.0)[1].offered.sum() / (200 * 64) for share in (0.5, 0.3))
    assert abs(half - 0.5) < 0.06
    assert abs(third - 0.3) < 0.06


def test_random_moves_that_stay_apart_are_neither_averaged_nor_learnt_from_by_the_opponent() -> None:
    played = PlayedGame.of(load_game("kuhn_poker"))
    networks = networks_for(played)
    best = strategy_table(networks, Q, True, played.encodings, played.table, played.tree.infostate_player)
    transitions, behaviour, games = play(played, networks, 60, 1.0, 1.0, apart=True)
    for player in (0, 1):
        assert (best[behaviour.entry[player, : behaviour.offered[player]]] == 1.0).all()
    assert games.finished[0] > 500
    assert transitions.offered.tolist() == [0, 0]  # in Kuhn poker both have moved before either reaches its next state
    some, every = (play(played, networks, 200, 0.5, 0.5, apart=apart)[0] for apart in (True, False))
    entries = np.concatenate([some.entry[player, : some.offered[player]] for player in (0, 1)])
    assert (best[entries] == 0.0).any()  # a player learns from its own random moves
    assert some.offered.sum() < 0.8 * every.offered.sum()
    assert play(played, networks, 200, 0.0, 0.5, apart=True)[0].offered.min() > 1_000  # players of the average do not explore


def test_what_follows_an_own_random_move_is_averaged_even_if_that_stays_apart() -> None:
    played = PlayedGame.of(load_game("kuhn_poker"))
    tree, networks = played.tree, networks_for(played, seed=3)
    best = strategy_table(networks, Q, True, played.encodings, played.table, tree.infostate_player)
    labels = [tree.infostate_label(infostate) for infostate in range(tree.num_infostates)]
    opening, later = (labels.index((0, public, "Q")) for public in ("", "check bet"))
    assert best[tree.entry_start[opening]] == 0.0  # the best response bets
    for exploration, averaged in ((0.0, False), (1.0, True)):
        _, behaviour, _ = play(played, networks, 60, 1.0, exploration, apart=True)
        seen = tree.entry_infostate[behaviour.entry[0, : behaviour.offered[0]]]
        assert (later in seen) == averaged
        assert opening in seen


def test_average_play_follows_the_policy_network() -> None:
    played = PlayedGame.of(load_game("kuhn_poker"))
    networks = networks_for(played, seed=4)
    transitions, _, _ = play(played, networks, 1_500, 0.0, 0.0)
    strategy = played.strategy(networks, AVERAGE)
    entries = transitions.entry[0, : transitions.offered[0]]
    counts = np.bincount(entries, minlength=played.tree.num_entries)
    for infostate in np.flatnonzero(played.tree.infostate_player == 0):
        chosen = slice(played.tree.entry_start[infostate], played.tree.entry_start[infostate + 1])
        expected = counts[chosen].sum() * strategy[chosen]
        assert stats.chisquare(counts[chosen], expected, sum_check=False).pvalue > 1e-4


def test_random_numbers_are_uniform_and_streams_differ() -> None:
    streams = make_streams(0, 2)
    drawn = np.array([[uniform(streams, stream) for _ in range(20_000)] for stream in (0, 1)])
    assert ((drawn >= 0) & (drawn < 1)).all()
    assert all(stats.kstest(row, "uniform").pvalue > 1e-4 for row in drawn)
    assert abs(np.corrcoef(drawn)[0, 1]) < 0.03
    np.testing.assert_array_equal(make_streams(7, 3), make_streams(7, 3))
    assert not np.array_equal(make_streams(7, 3), make_streams(8, 3))


def test_initial_weights_are_as_torch_draws_them() -> None:
    params = initial_params(30, (64,), 3, np.random.default_rng(0))
    first = params[: 30 * 64]
    assert abs(first).max() <= 1 / np.sqrt(30)
    assert abs(first.std() - 1 / np.sqrt(3 * 30)) < 0.01
