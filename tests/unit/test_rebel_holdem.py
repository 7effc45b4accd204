"""ReBeL at hold'em: values of round ends, from the cards that can come to networks that play."""

import dataclasses

import numpy as np
import pytest
import torch

from tacit.agents.hand_search import HandSearch, RoundEnds
from tacit.arena.endgames import endgame_quality
from tacit.cards.board_tensors import BoardTable, BoardTensors, canonical_boards
from tacit.cards.dealing import deal, no_cards
from tacit.cards.deck import NUM_CARDS, parse_cards
from tacit.cards.hands import NUM_HANDS, hand_index
from tacit.cards.suits import RENAMED_HANDS
from tacit.errors import TacitError
from tacit.games import load_game
from tacit.games.betting import ALL_IN, TURN, NoLimitBetting
from tacit.games.holdem import Holdem
from tacit.kernels.hand_leaves import HandStates
from tacit.kernels.street_passes import StreetStates
from tacit.leaves.check_down import CheckDownLeaves
from tacit.leaves.solved_hands import SolvedHandLeaves
from tacit.leaves.solved_streets import SolvedRivers
from tacit.nets.round_end_leaves import RoundEndLeaves
from tacit.nets.round_end_net import RoundEndNet, public_features
from tacit.nets.round_net import Helps
from tacit.rebel.holdem import selfplay as selfplay_module
from tacit.rebel.holdem.config import PRESETS, HoldemConfig
from tacit.rebel.holdem.learner import MOST_HELD, RoundEndLearner
from tacit.rebel.holdem.selfplay import HoldemSelfPlay, Played, RoundEndExamples, card_factor
from tacit.rebel.holdem.situations import draw_ranges, draw_rules
from tacit.rebel.holdem.starts import RoundStarts
from tacit.rebel.holdem.train import HoldemTrainer
from tacit.tree.betting_street import betting_streets
from tacit.tree.subgame import ROUND

BOARD = parse_cards("3s7hTdKs")
RULES = NoLimitBetting(5_000, 100, 100, TURN, 2_000, (0.5, ALL_IN), (1.0,))
LEAVES = [betting for _, betting in betting_streets(RULES, 4, depth=ROUND)[0].deals]
SMOKE = PRESETS["smoke"]
NO_STARTS = RoundStarts({}, {})


def noisy_net(seed: int = 0) -> RoundEndNet:
    torch.manual_seed(seed)
    net = RoundEndNet(16, 2, 8)
    with torch.no_grad():
        net.out.weight.mul_(100.0)
    return net


def some_beliefs(boards: BoardTensors, leaves: int) -> torch.Tensor:
    weights = torch.rand(2, leaves, *boards.hand.shape, generator=torch.Generator().manual_seed(1)) ** 4
    return weights / weights.sum(3, keepdim=True)


def test_the_mean_over_next_cards_is_what_a_hand_leads_by_now() -> None:
    boards = BoardTensors(torch.tensor([BOARD]))
    weights = some_beliefs(boards, 1)[0]
    total, count = torch.zeros(1, 1_128), torch.zeros(1, 1_128)
    for card in set(range(NUM_CARDS)) - set(BOARD):
        after = BoardTensors(torch.tensor([[*BOARD, card]]))
        lane = torch.searchsorted(boards.hand, after.hand)
        found = after.leads(weights.gather(2, lane[None]))[0]
        total.scatter_add_(1, lane, found)
        count.scatter_add_(1, lane, torch.ones_like(found))
    torch.testing.assert_close(card_factor(boards, 1) * total / count, boards.leads(weights)[0], rtol=0, atol=1e-5)


def test_boards_are_dealt_up_to_names_of_suits_and_hands_keep_their_places() -> None:
    before = deal(no_cards(64, "cpu"), 3, np.random.default_rng(0))
    after = deal(before.boards, 1, np.random.default_rng(1))
    lane = after.lane
    assert (lane.sort(1).values.diff() > 0).all()  # no hand comes from two places
    # Ranks stay, suits are renamed.
    old_ranks = before.boards.cards.gather(1, lane[..., None].expand(-1, -1, 2)) // 4
    assert torch.equal(old_ranks.sort(2).values, (after.boards.cards // 4).sort(2).values)


def test_values_are_zero_sum_and_the_same_in_both_layouts() -> None:
    boards = BoardTensors(torch.tensor([BOARD]))
    leaves, beliefs = RoundEndLeaves({4: noisy_net()}, RULES.stack), some_beliefs(boards, len(LEAVES))
    states = StreetStates(boards, LEAVES, 1.0, RULES.stack)
    values = leaves.evaluate(states, beliefs)
    sums = (values * beliefs).sum(3).sum(0)
    torch.testing.assert_close(sums, torch.zeros_like(sums), rtol=0, atol=2e-3)
    spread = torch.zeros(2, NUM_HANDS, len(LEAVES)).index_copy_(1, boards.hand[0], beliefs[:, :, 0].transpose(1, 2))
    found = leaves.evaluate(HandStates([BOARD] * len(LEAVES), LEAVES), spread.view(2 * NUM_HANDS, -1)).view(spread.shape)
    torch.testing.assert_close(found[:, boards.hand[0]].transpose(1, 2), values[:, :, 0], rtol=0, atol=1e-3)
    odds = CheckDownLeaves().evaluate(HandStates([BOARD] * len(LEAVES), LEAVES), spread.view(2 * NUM_HANDS, -1))
    assert float((found.view(odds.shape) - odds).abs().mean()) > 1.0  # chips: the network adds to the odds


def test_a_network_does_not_know_the_names_of_suits() -> None:
    net, names = noisy_net(), np.array([2, 0, 3, 1])
    renamed = tuple(int(card // 4 * 4 + names[card % 4]) for card in BOARD)
    boards = [BoardTensors(torch.tensor([board])) for board in (BOARD, renamed)]
    beliefs = some_beliefs(boards[0], 1)
    cards = boards[0].cards[0].numpy()
    there = np.sort(cards // 4 * 4 + names[cards % 4], axis=1)
    lane = torch.searchsorted(boards[1].hand[0], torch.from_numpy(there[:, 1] * (there[:, 1] - 1) // 2 + there[:, 0]))
    moved = torch.zeros_like(beliefs)
    moved[..., lane] = beliefs
    leaves = RoundEndLeaves({4: net}, RULES.stack)
    first, second = (
        leaves.evaluate(StreetStates(board, LEAVES[:1], 1.0, RULES.stack), part)
        for board, part in zip(boards, (beliefs, moved), strict=True)
    )
    torch.testing.assert_close(second[..., lane], first, rtol=0, atol=1e-2)


def test_an_untrained_network_says_what_the_odds_say() -> None:
    net = RoundEndNet(16, 1, 8)
    with torch.no_grad():
        net.out.weight.zero_()
    boards = BoardTensors(torch.tensor([BOARD]))
    beliefs = some_beliefs(boards, len(LEAVES))
    spread = torch.zeros(2, NUM_HANDS, len(LEAVES)).index_copy_(1, boards.hand[0], beliefs[:, :, 0].transpose(1, 2))
    states, flat = HandStates([BOARD] * len(LEAVES), LEAVES), spread.view(2 * NUM_HANDS, -1)
    ours, odds = (part.evaluate(states, flat) for part in (RoundEndLeaves({4: net}, RULES.stack), CheckDownLeaves()))
    torch.testing.assert_close(ours, odds, rtol=0, atol=2e-2)


def test_a_network_learns_what_depends_on_beliefs_and_hands() -> None:
    config = dataclasses.replace(SMOKE, hidden=64, layers=2, embedding=16, batch_size=32, replay_size=96, learning_rate=3e-3)
    torch.manual_seed(0)
    learner = RoundEndLearner(RoundEndNet(64, 2, 16), BoardTable(4, "cpu"), dataclasses.replace(config, ratio=40.0), "cpu")
    new = learnable(96)
    still = learner.error(new)[1]
    learner.learn(new, 3e-3, torch.Generator().manual_seed(0))
    assert learner.error(learnable(16, seed=9))[0] < 0.4 * still


def test_the_loss_counts_hands_by_how_likely_they_are_held_as_far_as_it_is_told() -> None:
    """Only one hand has an error, so its share of the loss is its share of the weight."""
    torch.manual_seed(0)
    net, table = RoundEndNet(16, 1, 8, Helps(zero_sum=False)), BoardTable(4, "cpu")
    torch.nn.init.zeros_(net.out.weight)
    table.meet(torch.tensor(KINDS))
    new = learnable(1)
    new.beyond.zero_()
    new.met.fill_(1.0)
    new.beliefs[0, 0, :4] = torch.tensor([0.0, 1.0, 3.0, 100.0])
    for share in (0.0, 0.75, 1.0):
        learner = RoundEndLearner(net, table, dataclasses.replace(SMOKE, belief_weight=share), "cpu")
        weight = 1.0 - share + share * new.beliefs.clamp(max=MOST_HELD)
        for hand in range(4):
            wrong = dataclasses.replace(new, beyond=new.beyond.clone())
            wrong.beyond[0, 0, hand] = 0.1
            wanted = 0.5 * 0.1**2 * float(weight[0, 0, hand] / weight.sum())
            assert float(learner.loss(wrong).detach()) == pytest.approx(wanted, rel=1e-3, abs=1e-12)


KINDS = (0, 900)
TWO_BOARDS = BoardTensors(torch.from_numpy(canonical_boards(4)[0][list(KINDS)]))


def learnable(count: int, seed: int = 0) -> RoundEndExamples:
    """Returns examples on two boards; a player's strong hands win more, the fewer of them the other holds."""
    generator = torch.Generator().manual_seed(seed)
    which = torch.arange(count) % len(KINDS)
    kind = torch.tensor(KINDS)[which]
    boards = BoardTensors(torch.from_numpy(canonical_boards(4)[0][kind.numpy()]))
    boards.margins = TWO_BOARDS.margins[which]  # computed once
    weights = torch.rand(2, count, 1_128, generator=generator) ** (1 + 4 * torch.rand(2, count, 1, generator=generator))
    ranks = boards.margins.sum(2).argsort(1).argsort(1) / 1_128.0
    weights = weights * torch.exp(3.0 * torch.randn(2, count, 1, generator=generator) * ranks)
    beliefs = weights / weights.sum(2, keepdim=True)
    odds, met = boards.leads(beliefs.flip(0)), boards.meetings(beliefs.flip(0))
    strength = (beliefs * ranks).sum(2, keepdim=True)
    beyond = 0.5 * (ranks - 0.5) * (1.0 - strength.flip(0))
    both = beliefs * met
    beyond = beyond - ((both * beyond).sum(2).sum(0) / both.sum(2).sum(0))[None, :, None]
    public = public_features(boards, LEAVES[:1], RULES.stack)[0]
    return RoundEndExamples(kind, public, *(part.transpose(0, 1) for part in (beliefs * 1_128, odds / met, met, beyond)))


def test_self_play_makes_examples_whose_values_are_those_of_a_search_after_the_card() -> None:
    config = dataclasses.replace(SMOKE, games=2, branches=1, iterations=3, river_iterations=60)
    leaves = RoundEndLeaves({4: RoundEndNet(16, 1, 8)}, RULES.stack)
    play = HoldemSelfPlay(RULES, config, leaves, NO_STARTS, {}, np.random.default_rng(0))
    (part,) = play.advance().ends[4]
    assert play.searches == 2 + 2
    known = ~part.beyond.isnan()
    assert known.sum(2).eq(1_128 - 47).all()  # hands that hold the card have no value here
    value = (part.beyond.float().nan_to_num(0.0) * part.met.float() * part.beliefs.float()).sum(2) / 1_128
    assert float(value.sum(1).abs().max()) < 0.05  # zero-sum, except for the search's few iterations
    assert float(value.abs().max()) > 1e-4


def test_what_a_card_does_to_the_odds_is_not_learnt() -> None:
    rules = NoLimitBetting(1_100, 100, 100, TURN, 2_000, (ALL_IN,))
    leaf = betting_streets(rules, 4, depth=ROUND)[0].deals[0][1]
    config = dataclasses.replace(SMOKE, games=2, river_iterations=20)
    play = HoldemSelfPlay(rules, config, RoundEndLeaves({4: RoundEndNet(16, 1, 8)}), NO_STARTS, {}, np.random.default_rng(0))
    dealt = deal(no_cards(2, "cpu"), 4, np.random.default_rng(1))
    played = Played()
    play._play_on(rules, leaf, dealt, some_beliefs(dealt.boards, 1)[:, 0], None, played)
    (part,) = played.ends[4]
    # Only a tenth of the pot is left to bet, so a card changes the odds by more than betting can add.
    assert float(part.beyond.float().nan_to_num(0.0).abs().mean()) < 0.1
    assert float(part.odds.float().abs().mean()) > 0.3


def test_random_beliefs_ask_no_search_before_them() -> None:
    config = dataclasses.replace(SMOKE, games=2, branches=1, river_iterations=2, beliefs="random")
    play = HoldemSelfPlay(
        RULES, config, RoundEndLeaves({4: RoundEndNet(16, 1, 8)}, RULES.stack), NO_STARTS, {}, np.random.default_rng(0)
    )
    (part,) = play.advance().ends[4]
    assert play.searches == 2  # rivers only
    torch.testing.assert_close(part.beliefs.float().mean(2), torch.ones(2, 2), rtol=0, atol=1e-3)
    assert float(part.beliefs.float().std()) == pytest.approx(1.0, abs=0.1)  # exponential variables, scaled to a mean of 1


def test_a_run_begins_with_the_networks_of_another_if_these_fit() -> None:
    game = load_game("turn_endgame_holdem")
    first, second = HoldemTrainer(game, SMOKE), HoldemTrainer(game, dataclasses.replace(SMOKE, seed=5))
    assert any(not torch.equal(first.weights()[name], part) for name, part in second.weights().items())
    HoldemTrainer.check_start(game, second.config, first.header())
    second.start_from({name: part.half() for name, part in first.weights().items()})
    for name, part in second.weights().items():
        torch.testing.assert_close(part, first.weights()[name], rtol=1e-3, atol=1e-6)
    with pytest.raises(TacitError, match="--set hidden=16"):
        HoldemTrainer.check_start(game, dataclasses.replace(SMOKE, hidden=32), first.header())
    with pytest.raises(TacitError, match="says nothing about the rounds"):
        HoldemTrainer.check_start(game, SMOKE, {"game": "kuhn_poker"})


def test_rules_of_training_stay_around_those_of_the_game() -> None:
    drawn = [draw_rules(RULES, 0.1, np.random.default_rng(seed)) for seed in range(50)]
    stacks = [rules.stack for rules in drawn]
    assert min(stacks) >= 1_100
    assert max(stacks) <= 12_500
    assert len(set(stacks)) > 40
    assert all(abs(rules.bets[0] - 0.5) <= 0.1 and rules.bets[-1] == ALL_IN for rules in drawn)


def test_a_run_that_was_killed_ends_alike() -> None:
    game = load_game("turn_endgame_holdem")
    whole, first = HoldemTrainer(game, SMOKE), HoldemTrainer(game, SMOKE)
    for _ in range(2):
        whole.run_epoch()
    first.run_epoch()
    before = flat(first.weights())
    second = HoldemTrainer(game, SMOKE)
    second.restore(*first.state())
    assert torch.equal(flat(second.weights()), before)
    # The state holds neither examples nor the tables of their boards. This checks that it holds everything else.
    second.learners["turn"].replay, second.learners["turn"].table = first.learners["turn"].replay, first.learners["turn"].table
    second.run_epoch()
    # Gradient means are kept to three digits, everything else to the last bit.
    moved, apart = (flat(whole.weights()) - part for part in (before, flat(second.weights())))
    assert 0.0 < float(apart.norm()) < 0.01 * float(moved.norm())


def flat(weights: dict[str, torch.Tensor]) -> torch.Tensor:
    return torch.cat([part.flatten() for part in weights.values()])


def test_what_knows_more_than_the_odds_is_less_exploitable() -> None:
    game = load_game("no_limit_holdem(board=3s7hTdKs,pot=500,stack=1000,bets=1|allin,raises=allin)")
    assert isinstance(game, Holdem)
    zero = RoundEndNet(16, 1, 8)
    with torch.no_grad():
        zero.out.weight.zero_()
    ends = RoundEnds(RoundEndLeaves({4: zero}, game.rules.stack), "modified-cfr-ave", (4,), looks_further=False)
    short = endgame_quality(game, [HandSearch(game, iterations=40, ends=ends)], lambda *_: None)
    whole = endgame_quality(game, [HandSearch(game, iterations=40)], lambda *_: None)
    assert whole.exploitability < 0.5 * short.exploitability
    assert short.exploitability < 0.25 * 500


def test_solved_rivers_say_what_a_tree_of_all_rivers_says() -> None:
    rules = NoLimitBetting(1_600, 100, 100, TURN, 2_000, (ALL_IN,))
    leaf = next(betting for _, betting in betting_streets(rules, 4, depth=ROUND)[0].deals)
    boards = BoardTensors(torch.tensor([BOARD]))
    beliefs = some_beliefs(boards, 1)[:, :, 0]
    spread = torch.zeros(2, NUM_HANDS, 1).index_copy_(1, boards.hand[0], beliefs.transpose(1, 2)).view(-1, 1)
    states, games = HandStates([BOARD], [leaf]), StreetStates(boards, [leaf], 500.0, rules.stack)

    def of_hands(values: torch.Tensor) -> torch.Tensor:
        """Returns `[2, H]` chips from values in the layout of all hands."""
        return values.view(2, NUM_HANDS)[:, boards.hand[0]]

    whole, odds = (of_hands(leaves.evaluate(states, spread)) for leaves in (SolvedHandLeaves(rules, 60), CheckDownLeaves()))
    parts, again = (
        500.0 * leaves.evaluate(games, beliefs[:, None])[:, 0, 0]
        for leaves in (SolvedRivers(rules, 40), SolvedHandLeaves(rules, 60))
    )
    torch.testing.assert_close(again, whole)
    assert float((parts - whole).abs().mean()) < 0.01 * 1_000
    assert float((parts - whole).abs().mean()) < 0.15 * float((odds - whole).abs().mean())
    own = beliefs[:, 0]
    assert abs(float((whole * own).sum())) < 1e-5 * float((whole * own).abs().sum())  # what one wins the other loses


def test_networks_of_round_ends_promise_nothing_for_single_cards() -> None:
    game = load_game("turn_endgame_holdem")
    assert isinstance(game, Holdem)
    ends = RoundEnds(RoundEndLeaves({4: RoundEndNet(16, 1, 8)}, game.rules.stack), "cfr-d", (4,))
    with pytest.raises(TacitError, match="sampled or unsafe"):
        HandSearch(game, safety="re-solving", ends=ends)


@pytest.mark.parametrize("game", ["kuhn_poker", "limit_holdem", "no_limit_holdem(board=3s7hTdKs2c,pot=200)"])
def test_games_without_rounds_to_learn_are_refused(game: str) -> None:
    with pytest.raises(TacitError):
        HoldemTrainer(load_game(game), HoldemConfig())


def test_ranges_that_are_drawn_are_narrow_capped_or_blurred_and_know_no_suits() -> None:
    ranges = draw_ranges(600, np.random.default_rng(0))
    assert ranges.shape == (600, NUM_HANDS)
    assert (ranges >= 0).all()
    assert ranges.any(axis=1).all()
    np.testing.assert_array_equal(ranges[:, RENAMED_HANDS[7]], ranges)
    aces, trash = (ranges[:, hand_index(*parse_cards(cards))] for cards in ("AsAh", "7s2h"))
    share = (ranges > 0).mean(axis=1)
    assert 0.2 < ((aces > 0) & (trash == 0)).mean() < 0.5  # the usual kind
    assert 0.05 < ((aces == 0) & (share > 0.1)).mean() < 0.3  # capped
    assert 0.2 < (share == 1.0).mean() < 0.8
    assert 0.05 < (share < 0.3).mean() < 0.4


def test_some_hands_of_training_have_fewer_bets_and_networks_are_told() -> None:
    rules = trainable_game().rules
    drawn = [draw_rules(rules, 0.0, np.random.default_rng(seed), 0.5).most_raises for seed in range(40)]
    assert 10 < drawn.count(rules.most_raises) < 30
    assert {2, 3} < set(drawn)
    boards = BoardTensors(torch.tensor([BOARD]))
    few, many = (public_features(boards, LEAVES[:1], RULES.stack, count)[0, 0] for count in (2, 7))
    assert (few != many).nonzero().flatten().tolist() == [len(few) - 1]


def trainable_game() -> Holdem:
    game = load_game("no_limit_holdem")
    assert isinstance(game, Holdem)
    return game


def test_values_of_a_leaf_depend_on_the_menu_once_a_network_was_told() -> None:
    boards, net = BoardTensors(torch.tensor([BOARD])), noisy_net()
    states, beliefs = StreetStates(boards, LEAVES, 1.0, RULES.stack), some_beliefs(boards, len(LEAVES))
    found = [RoundEndLeaves({4: net}, num_sizes=count).evaluate(states, beliefs) for count in (2, 7)]
    assert float((found[0] - found[1]).abs().max()) > 1e-3


def test_flops_of_shaped_ranges_teach_all_rounds_but_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfplay_module, "FLOPS", 1)
    config = dataclasses.replace(SMOKE, games=2, branches=1, iterations=1, river_iterations=1, shaped=0.5)
    trainer = HoldemTrainer(load_game("no_limit_holdem(stack=400,bets=1|allin,raises=allin)"), config)
    seen: list[torch.Tensor] = []
    shape = trainer.selfplay._shape

    def watched(beliefs: torch.Tensor) -> None:
        before = beliefs.clone()
        shape(beliefs)
        torch.testing.assert_close(beliefs.sum(2), torch.ones(beliefs.shape[:2]))
        seen.append(beliefs / before.clamp(min=1e-12))

    monkeypatch.setattr(trainer.selfplay, "_shape", watched)
    played = trainer.selfplay.advance()
    assert [part.shape[1] for part in seen] == [1]  # one of two flops
    assert float(seen[0].std()) > 0.1
    assert [len(part.kind) for part in played.ends[0]] == [1]
    assert [len(part.kind) for part in played.ends[3]] == [2]
    # There are two bet sizes, and both networks and examples encode that.
    assert float(played.ends[3][0].public[0, -1]) == 1.0 / trainer.selfplay.rules.most_raises
    assert trainer.leaves.num_sizes == trainer.selfplay.rules.most_raises
