"""Encoders of public states: what the networks see of them."""

from pathlib import Path

import pytest
import torch

from tacit.errors import TacitError
from tacit.games import load_game
from tacit.learning.networks import make_value_net
from tacit.nets.encoders import SPREAD, ClassEncoder, FeatureEncoder, observation_features
from tacit.nets.numba_mlp import NumbaValueNet
from tacit.nets.value_net import ValueNet
from tacit.rebel.config import preset
from tacit.rebel.system import REBEL
from tacit.rebel.train import RebelTrainer
from tacit.training.folder import RunFolder
from tacit.training.run import train
from tacit.tree.search_space import game_space
from tests.trained import load_search


def test_features_are_who_acts_and_what_was_seen_by_how_recent_it_is() -> None:
    features = observation_features([0, 1, 1, 0], [[], ["a"], ["b"], ["a", "b"]])
    #                            actor 0, actor 1, last a, last b, last but one a
    torch.testing.assert_close(features.sum(1), torch.tensor([1.0, 2.0, 2.0, 3.0]))
    torch.testing.assert_close(
        features @ features.T,  # the number of features that two public states share
        torch.tensor([[1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 3.0]]),
    )


def test_public_states_that_look_alike_are_told_apart() -> None:
    features = observation_features([0, 0, 1], [["a"], ["a"], ["a"]])
    assert len({tuple(row) for row in features.tolist()}) == 3
    for name in ("liars_dice(dice=1,faces=4)", "leduc_poker", "goofspiel(cards=3)"):
        space = game_space(load_game(name), 1)
        net = make_value_net(space, preset("smoke").with_settings({"encoder": "features"}))
        assert isinstance(net.public, FeatureEncoder)
        rows = {tuple(row) for row in net.public.features.tolist()}
        assert len(rows) == space.num_classes


@pytest.mark.parametrize("kind", ["classes", "features"])
def test_tables_fold_into_the_fast_forward_pass(kind: str) -> None:
    torch.manual_seed(0)
    features = torch.rand(7, 12, generator=torch.Generator().manual_seed(1)).round()
    encoder = ClassEncoder(7, 64) if kind == "classes" else FeatureEncoder(features, 64)
    net = ValueNet(encoder, 3, scale=2.0)
    torch.testing.assert_close(encoder.table().std(), torch.tensor(SPREAD), rtol=0.2, atol=0.0)
    classes = torch.randint(0, 7, (50,))
    torch.testing.assert_close(encoder(classes), encoder.table()[classes])
    torch.nn.init.normal_(net.out.weight)
    fast, beliefs = NumbaValueNet(net, pairs=False), torch.rand(6, 50)
    torch.testing.assert_close(fast.evaluate(classes, beliefs), net.evaluate(classes, beliefs), atol=1e-4, rtol=1e-4)
    with torch.no_grad():
        encoder.weight.add_(1.0).mul_(torch.rand(64))
    fast.refresh()
    torch.testing.assert_close(fast.evaluate(classes, beliefs), net.evaluate(classes, beliefs), atol=1e-4, rtol=1e-4)


def test_a_network_learns_from_features(tmp_path: Path) -> None:
    settings = {"games": "256", "epoch_examples": "1024", "epochs": "20", "hidden": "64", "evaluate_every": "0"}
    config = preset("cpu").with_settings({**settings, "iterations": "32", "encoder": "features"})
    trainer = RebelTrainer(load_game("liars_dice(dice=1,faces=3)"), config)
    train(trainer, RunFolder(tmp_path, REBEL))
    assert trainer.evaluate(64) < 0.12  # uniform play has 0.6
    loaded = load_search(tmp_path, "dcfr", 32)
    classes, beliefs = torch.arange(loaded.space.num_classes), torch.full((6, loaded.space.num_classes), 1 / 3)
    torch.testing.assert_close(
        loaded.evaluator.evaluate(classes, beliefs), trainer.search.evaluator.evaluate(classes, beliefs), atol=1e-5, rtol=0.0
    )


def test_an_unknown_encoder_is_refused() -> None:
    with pytest.raises(TacitError, match="encoder must be one of classes, features, not 'pixels'"):
        preset("cpu").with_settings({"encoder": "pixels"})
