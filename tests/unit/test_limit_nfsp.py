"""NFSP on limit hold'em: networks, memories, self-play and learning."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tacit.games.base import CHANCE, TERMINAL
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import LimitHoldem
from tacit.games.limit_batch import RAISE
from tacit.nfsp.config import LIMIT_PRESETS, LimitConfig
from tacit.nfsp.limit.encoding import NUM_BITS, NUM_BYTES
from tacit.nfsp.limit.engine import LimitTrainer
from tacit.nfsp.limit.memory import BEHAVIOUR, TRANSITION, PackedMemory, draw_rows, pack_legal, unpack_legal
from tacit.nfsp.limit.networks import Adam, Layers, Sgd, best_value, forward, greedy, make_layers, policy
from tacit.nfsp.limit.selfplay import sample
from tests.unit.test_limit_batch import begin, words_encoding


def small(**changes: str) -> LimitConfig:
    settings = {
        "hidden": "24-16", "games": "32", "batch_size": "64", "transitions": "700", "behaviour": "300", "refit_every": "7",
        "epoch_rounds": "40", "epochs": "6", "evaluate_every": "2", "deals": "50",
    }  # fmt: skip
    return LIMIT_PRESETS["smoke"].with_settings({**settings, **changes})


def torch_networks(layers: Layers) -> list[torch.nn.Sequential]:
    """Returns the same networks as torch modules."""
    networks = []
    for number in range(4):
        parts: list[torch.nn.Module] = []
        for layer in layers:
            linear = torch.nn.Linear(*layer.weight.shape[1:])
            linear.weight.data, linear.bias.data = layer.weight[number].T.clone(), layer.bias[number, 0].clone()
            parts += [linear, torch.nn.ReLU()]
        networks.append(torch.nn.Sequential(*parts[:-1]))
    return networks


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_steps_of_descent_are_those_of_torch(optimizer: str) -> None:
    generator = torch.Generator().manual_seed(1)
    layers = make_layers([20, 12], generator)
    networks, ours = torch_networks(layers), Sgd() if optimizer == "sgd" else Adam(layers)
    rates = torch.tensor([0.002, 0.001, 0.002, 0.001])
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    theirs = [kind(network.parameters(), float(rate)) for network, rate in zip(networks, rates, strict=True)]
    for step in range(1, 4):
        inputs, wanted = (torch.rand(4, 30, width, generator=generator) for width in (NUM_BITS, 3))
        values = forward(layers, inputs)
        for network, own, want, output, their in zip(networks, inputs, wanted, values[-1], theirs, strict=True):
            found = network(own)
            torch.testing.assert_close(output, found)
            their.zero_grad()
            (found - want).square().sum().backward()
            their.step()
        errors = 2.0 * (values[-1] - wanted)
        ours.descend(layers, values, errors, rates[:, None, None], torch.full((2, 2), step))
        for number, network in enumerate(networks):
            for place, layer in enumerate(layers):
                torch.testing.assert_close(layer.weight[number], network[2 * place].weight.data.T, rtol=1e-4, atol=1e-5)
                torch.testing.assert_close(layer.bias[number, 0], network[2 * place].bias.data, rtol=1e-4, atol=1e-5)


def test_both_players_begin_with_weights_of_their_own() -> None:
    engine = LimitTrainer(LimitHoldem(), small())
    for layer, target in zip(engine.layers, engine.target, strict=True):
        assert len({float(weight.sum()) for weight in layer.weight}) == 4
        assert torch.equal(target.weight, layer.weight[0::2])


def test_illegal_actions_count_for_nothing() -> None:
    scores = torch.tensor([[9.0, 1.0, 2.0], [9.0, 1.0, 2.0], [9.0, 1.0, 2.0]])
    legal = torch.tensor([[True, True, True], [False, True, True], [False, False, False]])
    assert greedy(scores[:2], legal[:2]).tolist() == [0, 2]
    assert best_value(scores, legal).tolist() == [9.0, 2.0, 0.0]  # no action is legal after the end of a hand
    torch.testing.assert_close(policy(scores[1], legal[1]), torch.tensor([0.0, 1.0, np.e]) / (1.0 + np.e))
    assert torch.equal(unpack_legal(pack_legal(legal)), legal)
    drawn = sample(
        torch.tensor([0.0, 0.25, 0.75]).expand(40_000, 3), legal[1].expand(40_000, 3), torch.Generator().manual_seed(0)
    )
    assert torch.bincount(drawn, minlength=3) / 40_000 == pytest.approx([0.0, 0.25, 0.75], abs=0.01)


def numbered(numbers: Tensor) -> Tensor:
    """Returns distinguishable items for the column of bits."""
    return numbers.to(torch.uint8)[:, None].expand(-1, NUM_BYTES)


def test_a_circle_keeps_the_latest_transitions_of_each_player() -> None:
    memory, generator = PackedMemory(TRANSITION, 10, "cpu"), np.random.default_rng(0)
    came: list[list[int]] = [[], []]
    for batch in range(12):
        player, offered = generator.integers(0, 2, 7), generator.random(7) < 0.6
        number = np.arange(7) + 7 * batch
        for who, there, what in zip(player, offered, number, strict=True):
            came[who] += [int(what)] if there else []
        numbers = torch.from_numpy(number)
        flat = numbers.to(torch.uint8)
        items = numbered(numbers), flat, numbers.float(), numbered(numbers), flat
        memory.add_latest(torch.from_numpy(player), torch.from_numpy(offered), items)
    assert memory.offered.tolist() == [len(came[0]), len(came[1])]
    columns = {name: column[:, :10] for name, column in memory.columns.items()}
    for who in (0, 1):
        kept = columns["reward"][who].tolist()
        assert sorted(kept) == sorted(came[who])[-10:]
        for column in (
            columns["bits"][who, :, 0],
            columns["action"][who],
            columns["following"][who, :, 35],
            columns["legal"][who],
        ):
            assert column.tolist() == kept


@pytest.mark.parametrize("least", [0.5, pytest.param(0.0, marks=pytest.mark.slow)])  # 0.5 takes effect half-way
def test_a_reservoir_keeps_old_and_new_as_often_as_it_should(least: float) -> None:
    """An item of the t-th batch remains if it was kept and nothing replaced it."""
    capacity, batch, batches, trials = 50, 10, 40, 200
    generator, kept = torch.Generator().manual_seed(4), np.zeros(batches)
    everyone = torch.ones(batch, dtype=torch.bool)
    for _ in range(trials):
        memory = PackedMemory(BEHAVIOUR, capacity, "cpu")
        for time in range(batches):
            number = torch.full((batch,), time)
            flat = number.to(torch.uint8)
            player = torch.arange(batch) % 2
            memory.add_sampled(player, everyone, (numbered(number), flat, flat), least, generator)
        bits, action, _ = (column[:, :capacity] for column in memory.columns.values())
        assert torch.equal(bits[:, :, 7], action)
        kept += np.bincount(action.flatten().numpy(), minlength=batches)
    assert memory.offered.tolist() == [200, 200]
    expected = np.zeros(batches)
    alive: list[float] = []
    for item in range(5 * batches):
        probability = 1.0 if item < capacity else max(capacity / (item + 1), least)
        if item >= capacity:
            alive = [share * (1.0 - probability / capacity) for share in alive]
        alive.append(probability)
    for item, share in enumerate(alive):
        expected[item // 5] += 2 * trials * share
    np.testing.assert_allclose(kept, expected, rtol=0.12)


def test_large_memories_are_drawn_from_to_their_end() -> None:
    rows = draw_rows(torch.tensor([30_000_000, 3]), 30_000_000, 20_000, torch.Generator().manual_seed(0))
    assert rows[0].max() > 29_990_000
    assert (rows[0] % 2 == 1).any()  # 32-bit numbers would all be even up there
    assert set(rows[1].tolist()) == {0, 1, 2}
    assert draw_rows(torch.zeros(2, dtype=torch.int64), 5, 4, torch.Generator()).tolist() == [[0] * 4] * 2


def test_players_remember_what_they_did_and_what_came_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compares the memories with the generic game, followed hand by hand."""
    drawn: list[Tensor] = []

    def recorded(*arguments: Tensor) -> Tensor:
        drawn.append(sample(*arguments))  # type: ignore[arg-type]
        return drawn[-1]

    monkeypatch.setattr("tacit.nfsp.limit.selfplay.sample", recorded)
    config = small(transitions="9000", behaviour="9000", anticipation="0.3")
    game, engine = LimitHoldem(), LimitTrainer(LimitHoldem(), config)
    play = engine.selfplay
    states = [begin(cards) for cards in play.hands.cards.numpy()]
    heard: list[list[str]] = [[] for _ in states]
    last: list[dict[int, tuple[bytes, int]]] = [{} for _ in states]
    transitions: list[list[tuple[bytes, int, float, bytes, int]]] = [[], []]
    behaviour: list[list[tuple[bytes, int, int]]] = [[], []]
    for _ in range(25):
        cards, responds = play.hands.cards.numpy().copy(), play.seats.best_response.tolist()
        engine.play(0, 1)
        for i, action in enumerate(drawn[-1].tolist()):
            player, menu = game.actor(states[i]), game.legal_actions(states[i])
            now = np.packbits(words_encoding(player, states[i].hands, heard[i]).astype(bool), bitorder="little").tobytes()
            legal = (FOLD in menu) + 2 + 4 * (max(menu) > CALL)
            if player in last[i]:
                transitions[player].append((*last[i][player], 0.0, now, legal))
            last[i][player] = now, action
            if responds[i][player]:
                behaviour[player].append((now, action, legal))
            states[i] = game.apply(states[i], menu[-1] if action == RAISE else action)
            heard[i].append(states[i].news)
            while game.actor(states[i]) == CHANCE:
                states[i] = game.apply(states[i], int(cards[i, 4 + len(states[i].board)]))
                heard[i].append(states[i].news)
            if game.actor(states[i]) == TERMINAL:
                for who, (bits, did) in last[i].items():
                    transitions[who].append((bits, did, game.returns(states[i])[who], bytes(NUM_BYTES), 0))
                states[i], heard[i], last[i] = begin(play.hands.cards[i].numpy()), [], {}
    unit = config.reward_unit * game.big_blind
    for who in (0, 1):
        count = int(engine.transitions.offered[who])
        assert count == len(transitions[who]) > 150
        columns = [column[who, :count].numpy() for column in engine.transitions.columns.values()]
        found = [
            (bits.tobytes(), int(did), round(float(reward) * unit, 3), following.tobytes(), int(legal))
            for bits, did, reward, following, legal in zip(*columns, strict=True)
        ]
        assert sorted(found) == sorted(transitions[who])
        count = int(engine.behaviour.offered[who])
        assert count == len(behaviour[who]) > 50
        kept = [column[who, :count].numpy() for column in engine.behaviour.columns.values()]
        assert [(bits.tobytes(), int(did), int(legal)) for bits, did, legal in zip(*kept, strict=True)] == behaviour[who]


def test_a_step_learns_the_papers_losses() -> None:
    """One step on full memories must equal Algorithm 1 in plain torch on the same rows."""
    config = small(optimizer="sgd", learning_rate="0.05", policy_learning_rate="0.02", updates="1", refit_every="3")
    engine = LimitTrainer(LimitHoldem(), config)
    engine.play(0, 40)
    networks = torch_networks(engine.layers)
    targets = torch_networks([type(layer)(*(part.repeat(2, 1, 1) for part in layer)) for layer in engine.target])[:2]
    state = engine.generator.get_state()
    size = config.batch_size
    row = draw_rows(engine.transitions.offered, config.transitions, size, engine.generator)
    other = draw_rows(engine.behaviour.offered, config.behaviour, size, engine.generator)
    engine.generator.set_state(state)
    before, updates = engine.loss.clone(), int(engine.updates[0, 0])
    engine._learn()
    for player in (0, 1):
        bits, action, reward, following, legal = (column[player, row[player]] for column in engine.transitions.columns.values())
        unpack = engine.selfplay.encoder.unpack
        with torch.no_grad():
            ahead = targets[player](unpack(following)).masked_fill(~unpack_legal(legal), -torch.inf).amax(1)
        wanted = reward + torch.where(legal == 0, 0.0, ahead)
        value_loss = (networks[2 * player](unpack(bits))[torch.arange(size), action.long()] - wanted).square().mean()
        bits, action, legal = (column[player, other[player]] for column in engine.behaviour.columns.values())
        scores = networks[2 * player + 1](unpack(bits)).masked_fill(~unpack_legal(legal), -torch.inf)
        policy_loss = torch.nn.functional.cross_entropy(scores, action.long())
        for kind, (loss, rate) in enumerate(((value_loss, 0.05), (policy_loss, 0.02))):
            noted = (engine.loss - before)[player, kind]
            assert float(noted) == pytest.approx(float(loss.detach()), rel=1e-4)
            network = networks[2 * player + kind]
            loss.backward()
            for place, layer in enumerate(engine.layers):
                moved = network[2 * place].weight.data - rate * network[2 * place].weight.grad
                torch.testing.assert_close(layer.weight[2 * player + kind], moved.T, rtol=1e-4, atol=1e-6)
    assert int(engine.updates[0, 0]) == updates + 1
    refitted = (updates + 1) % 3 == 0
    assert torch.equal(engine.target[0].weight, engine.layers[0].weight[0::2]) == refitted


def test_targets_are_refitted_when_due() -> None:
    engine = LimitTrainer(LimitHoldem(), small(refit_every="5", updates="1"))
    for _ in range(30):
        engine.play(0, 1)
        for player in (0, 1):
            same = torch.equal(engine.target[1].weight[player], engine.layers[1].weight[2 * player])
            assert same == (int(engine.updates[player, 0]) % 5 == 0)
    assert (engine.updates[:, 0] > 5).all()


def test_presets_are_the_papers() -> None:
    for name in ("paper", "gpu"):
        paper = LIMIT_PRESETS[name]
        assert paper.hidden_layers() == [1024, 512, 1024, 512]
        assert (paper.transitions, paper.behaviour, paper.least_probability) == (600_000, 30_000_000, 0.25)
        assert (paper.optimizer, paper.learning_rate, paper.policy_learning_rate) == ("sgd", 0.1, 0.01)
        assert (paper.batch_size, paper.refit_every) == (256, 1_000)
        assert 256 * paper.updates == 2 * paper.games
        assert (paper.anticipation, paper.exploration) == (0.1, 0.08)
        assert paper.exploration_power < 0.5  # a slower decay than in Leduc


@pytest.mark.parametrize(("name", "updates"), [("paper", 2), ("gpu", 32)])
def test_exploration_begins_as_set_and_falls_with_the_fourth_root_of_steps(
    name: str, updates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = {"hidden": "8", "games": "4", "batch_size": "4", "transitions": "12", "behaviour": "4"}
    engine, seen = LimitTrainer(LimitHoldem(), LIMIT_PRESETS[name].with_settings(tiny)), list[float]()
    assert engine.config.updates == updates
    monkeypatch.setattr(engine.selfplay, "advance", lambda *arguments: seen.append(float(arguments[-1])))
    engine.play(0, 51)
    assert seen[0] == pytest.approx(0.08)  # section 4.3
    assert seen[50] == pytest.approx(0.08 / (50 * updates + 1) ** 0.25)
