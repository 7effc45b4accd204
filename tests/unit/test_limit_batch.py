"""Limit hold'em in tensors, against the generic game: strengths, equities, rules and encodings."""

import numpy as np
import pytest
import torch

from tacit.agents.table import Table
from tacit.cards.deck import parse_cards
from tacit.cards.equity import random_hand_equities
from tacit.cards.hands import HANDS, hand_index
from tacit.cards.strength import seven_card_strengths
from tacit.cards.torch_equity import sampled_equities
from tacit.cards.torch_strength import seven_card_strengths as torch_strengths
from tacit.cards.torch_strength import tensor_tables
from tacit.games.base import CHANCE, TERMINAL
from tacit.games.betting import CALL, FOLD
from tacit.games.holdem import HoldemState, LimitHoldem
from tacit.games.limit_batch import DEALT, RAISE, LimitRules, deal, where_over
from tacit.games.public_hand import PublicHand
from tacit.nfsp.limit.encoding import NUM_BITS, Encoder, encode_all_hands

GAME = LimitHoldem()
LONGEST_HAND = 23
"""Decisions in a hand: five before the flop (call, three raises, call), then six per street (check, four raises, call)."""


def random_cards(count: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.stack([generator.permutation(52)[:DEALT] for _ in range(count)])


def test_strengths_are_those_of_numpy() -> None:
    cards = random_cards(15_000, 0)[:, :7]
    flushes = np.array([parse_cards(text) for text in ("AsKsQsJsTs2c3d", "5h4h3h2hAhKdKc", "9c7c5c3c2cAdAh")])
    for some in (cards, flushes, cards.reshape(5, 3_000, 7)):
        found = torch_strengths(torch.from_numpy(some), tensor_tables("cpu"))
        np.testing.assert_array_equal(found.numpy(), seven_card_strengths(some))


@pytest.mark.parametrize("board", ["", "Ts9s2d", "Ts9s2d2c", "Ts9s2d2cAh"])
def test_sampled_equities_are_near_the_others(board: str) -> None:
    cards = parse_cards(board)
    exact = random_hand_equities(cards)
    hands = np.flatnonzero(exact > 0)
    boards = torch.tensor(cards, dtype=torch.int64).expand(len(hands), -1)
    found = sampled_equities(torch.from_numpy(HANDS[hands]), boards, tensor_tables("cpu")).numpy()
    # All hands share the same samples, so errors do not average out: 200 samples have a standard error of 0.035.
    assert np.abs(found - exact[hands]).mean() < 0.05
    assert np.corrcoef(found, exact[hands])[0, 1] > 0.95


def begin(cards: np.ndarray) -> HoldemState:
    state = GAME.initial_state()
    for card in cards[:4].tolist():
        state = GAME.apply(state, card)
    return state


def words_encoding(player: int, hands: tuple[int, ...], words: list[str]) -> np.ndarray:
    """Returns the vector of section 4.1 from what a player observes at a table: its own cards, and public words."""
    cards, betting = np.zeros((4, 52)), np.zeros((2, 4, 5, 2))
    cards[0, list(hands[2 * player : 2 * player + 2])] = 1
    street, actor, raises = 0, 1, 0
    for word in filter(None, words):
        if word in ("check", "call") or " to " in word:
            betting[actor, street, raises, int(" to " in word)] = 1
            raises += " to " in word
            actor = 1 - actor
        else:
            street, actor, raises = street + 1, 0, 0
            cards[street, list(parse_cards(word))] = 1
    return np.concatenate((cards.ravel(), betting.ravel()))


@pytest.mark.parametrize("gentle", [0.0, 0.8])
def test_hands_in_lock_step_with_the_generic_game(gentle: float) -> None:
    """Thousands of random hands; finished ones are dealt again, as in self-play."""
    count, generator, ended = 150, np.random.default_rng(3), 0
    rules, encoder = LimitRules.of(GAME), Encoder()
    cards = random_cards(count, 1)
    hands = rules.begin(torch.from_numpy(cards))
    states = [begin(row) for row in cards]
    heard: list[list[str]] = [[] for _ in range(count)]
    for step in range(2 * LONGEST_HAND):
        bits, legal = encoder.encode(hands, hands.actor), rules.legal(hands).numpy()
        assert torch.equal(encoder.unpack(encoder.pack(bits)), bits.float())
        menus, actors = [GAME.legal_actions(state) for state in states], [GAME.actor(state) for state in states]
        assert hands.actor.tolist() == actors
        assert legal.tolist() == [[FOLD in menu, CALL in menu, max(menu) > CALL] for menu in menus]
        expected = [words_encoding(actors[i], states[i].hands, heard[i]) for i in range(count)]
        np.testing.assert_array_equal(bits.numpy(), np.stack(expected))
        calm = generator.random(count) < gentle
        actions = (generator.random((count, 3)) * legal - (calm[:, None] & (np.arange(3) == FOLD))).argmax(1)
        outcome = rules.step(hands, torch.from_numpy(actions))
        fresh, over, payoff = random_cards(count, 10 + step), outcome.over.tolist(), outcome.payoff.tolist()
        for i in range(count):
            state = GAME.apply(states[i], menus[i][-1] if actions[i] == RAISE else int(actions[i]))
            heard[i].append(state.news)
            while GAME.actor(state) == CHANCE:
                state = GAME.apply(state, int(cards[i, 4 + len(state.board)]))
                heard[i].append(state.news)
            ends = GAME.actor(state) == TERMINAL
            assert (over[i], payoff[i]) == (ends, GAME.returns(state)[0] if ends else 0.0)
            if ends:
                state, cards[i], heard[i] = begin(fresh[i]), fresh[i], []
                ended += 1
            states[i] = state
        hands = where_over(outcome.over, rules.begin(torch.from_numpy(fresh)), outcome.hands)
    assert ended > 500


def test_the_longest_hand() -> None:
    rules, generator = LimitRules.of(GAME), torch.Generator().manual_seed(0)
    hands, over = rules.begin(deal(4, generator)), torch.zeros(4, dtype=torch.bool)
    lines = [CALL, RAISE, RAISE, RAISE, CALL] + 3 * [CALL, RAISE, RAISE, RAISE, RAISE, CALL]
    assert len(lines) == LONGEST_HAND
    for action in lines:
        assert not over.any()
        assert rules.legal(hands)[:, action].all()
        hands, over, payoff = rules.step(hands, torch.full((4,), action))
    assert over.all()
    assert set(payoff.abs().tolist()) <= {240.0, 0.0}  # 10 + 3 * 10, 4 * 10, 4 * 20, 4 * 20 chips


def test_deals_are_uniform() -> None:
    cards = deal(20_000, torch.Generator().manual_seed(0))
    assert int(cards.sort(1).values.diff(dim=1).min()) > 0
    counts = torch.stack([torch.bincount(column, minlength=52) for column in cards.T])
    expected = 20_000 / 52
    assert float((counts - expected).abs().max()) < 6 * expected**0.5


def test_all_hands_at_once_are_encoded_like_one() -> None:
    generator, decisions = np.random.default_rng(5), 0
    for _ in range(25):
        table, public = Table(GAME, generator), PublicHand.start(GAME)
        hands: list[int] = []
        heard: list[str] = []
        while table.actor != TERMINAL:
            for sight in table.sights:
                assert sight is not None
                hands += [card for word in sight.private for card in parse_cards(word)]
            words = table.sights[0].public  # type: ignore[union-attr]
            heard += words
            for word in filter(None, words):
                public = public.hear(word)
            own = hands[2 * table.actor : 2 * table.actor + 2]
            bits = encode_all_hands(public)
            assert bits.shape == (1_326, NUM_BITS) == (1_326, 288)
            np.testing.assert_array_equal(bits[hand_index(*own)].numpy(), words_encoding(table.actor, tuple(hands), heard))
            assert public.actions == table.sights[table.actor].legal_actions  # type: ignore[union-attr]
            decisions += 1
            table.play(int(generator.choice(public.actions[-2:])))
    assert decisions > 100
