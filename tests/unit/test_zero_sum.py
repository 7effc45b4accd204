"""Networks whose values are zero-sum, and the features that poker gives them."""

import pytest
import torch

from tacit.games import load_game
from tacit.learning.networks import make_value_net
from tacit.nets.encoders import FeatureEncoder
from tacit.nets.forward import forward_pass
from tacit.nets.zero_sum import ZeroSumPass
from tacit.sog.config import PRESETS
from tacit.tree.search_space import game_space


@pytest.mark.parametrize("name", ["pot_limit_leduc", "liars_dice(dice=1,faces=3)"])
def test_what_one_player_wins_the_other_loses(name: str) -> None:
    space = game_space(load_game(name), 1)
    torch.manual_seed(0)
    net = make_value_net(space, PRESETS["smoke"], 100.0)
    torch.nn.init.normal_(net.out.weight)
    net.eval()
    fast = forward_pass(net)
    assert isinstance(fast, ZeroSumPass)
    H, count = space.tables.num_private_states, 500
    classes = torch.randint(0, space.num_classes, (count,)).sort().values
    exists = torch.stack([torch.arange(H) < torch.from_numpy(t.num_roots)[classes][:, None] for t in space.tables.players], 1)
    beliefs = torch.rand(count, 2, H) * exists
    beliefs[0, 0], beliefs[0, 1] = 0.0, 0.0  # beliefs that exclude each other: nothing to correct
    beliefs = beliefs / beliefs.sum(2, keepdim=True).clamp_min(1e-9)
    values = net(classes, beliefs.flatten(1)).detach().view(count, 2, H)
    joint = beliefs[:, 0, :, None] * torch.from_numpy(space.tables.deals)[classes] * beliefs[:, 1, None]
    expected = (joint.sum(2) * values[:, 0]).sum(1) + (joint.sum(1) * values[:, 1]).sum(1)
    torch.testing.assert_close(expected, torch.zeros(count), atol=1e-3, rtol=0.0)
    plain = make_value_net(space, PRESETS["smoke"], 100.0)
    plain.load_state_dict(net.state_dict())
    plain.deals = None
    shift = values - plain(classes, beliefs.flatten(1)).detach().view(count, 2, H)
    assert shift.abs().max() > 10.0  # it was not zero-sum before
    torch.testing.assert_close(shift.flatten(1).std(1), torch.zeros(count), atol=1e-3, rtol=0.0)  # alike for all private states
    found = fast.evaluate(classes, beliefs.flatten(1).T.contiguous())
    torch.testing.assert_close(found.T.view(count, 2, H), values, atol=0.02 * float(values.abs().max()), rtol=0.0)
    exact = ZeroSumPass(_Plain(plain), net.deals)  # type: ignore[arg-type]
    torch.testing.assert_close(
        exact.evaluate(classes, beliefs.flatten(1).T.contiguous()).T.view(count, 2, H), values, atol=1e-3, rtol=1e-4
    )


class _Plain:
    counterfactual = False

    def __init__(self, net: torch.nn.Module) -> None:
        self.evaluate = net.evaluate


def test_poker_tells_networks_its_cards_who_acts_and_the_bets() -> None:
    game = load_game("pot_limit_leduc")
    #                                                       Js   Jh   Qs   Qh   Ks   Kh  first second  bets of 1,200
    assert game.public_features(0, ["bet", "call", "Qh"]) == (0, 0, 0, 1, 0, 0, 1, 0, 0.75, 0.75)
    assert game.public_features(1, ["check", "bet", "raise"]) == (0, 0, 0, 0, 0, 0, 0, 1, 1.0, 0.75)
    assert load_game("liars_dice(dice=1,faces=3)").public_features(0, []) is None
    for name in (
        "leduc_poker",
        "pot_limit_leduc",
        "kuhn_poker",
    ):  # limit Leduc has states that only the number of raises tells apart
        space = game_space(load_game(name), 1)
        encoder = make_value_net(space, PRESETS["smoke"]).public
        assert isinstance(encoder, FeatureEncoder)
        assert len({tuple(row) for row in encoder.features.tolist()}) == space.num_classes
