"""`tacit bench nfsp`: NFSP on Leduc with the paper's settings, beside OpenSpiel's (PyTorch), each on one thread.

Both learn while they play: networks of one hidden layer with 64 units, batches of 128, and two updates of each network of each
player for every 128 decisions. OpenSpiel's agents count their own decisions, so theirs learn after every 32.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tacit.bench.timing import best_seconds
from tacit.games import load_game
from tacit.nfsp.system import NFSP
from tacit.threads import one_thread

GAME = "leduc_poker"
WARM = 500
"""Rounds before a measurement, in which memories fill a batch and kernels are compiled."""


@dataclass(frozen=True)
class NfspSpeed:
    """The speed of learning agents.

    Attributes:
      steps_per_second: Decisions per second in self-play, of both players together.
      updates_per_second: Gradient steps per second, of all networks together.
    """

    steps_per_second: float
    updates_per_second: float


def measure_ours(window: float, seed: int) -> NfspSpeed:
    """Returns our speed: the best of three windows of about `window` seconds each."""
    config = NFSP.presets["paper"].with_settings({"epoch_rounds": str(WARM), "seed": str(seed)})
    trainer = NFSP.trainer(load_game(GAME), config, "cpu")
    trainer.run_epoch()
    steps, updates = trainer.steps, trainer.networks.updates[:, (0, 2)].sum()
    trainer.run_epoch()
    steps, updates = trainer.steps - steps, trainer.networks.updates[:, (0, 2)].sum() - updates  # the same in every later epoch
    seconds = best_seconds(trainer.run_epoch, window)
    return NfspSpeed(steps / seconds, float(updates / seconds))


def missing_peer() -> str | None:
    """Returns why OpenSpiel's NFSP cannot be imported, None if it can."""
    try:
        import open_spiel.python.pytorch.nfsp  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def measure_openspiel(window: float, seed: int) -> NfspSpeed:
    """Returns the speed of OpenSpiel's agents over one window, after their memories are full enough for learning to start."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    made = [0]

    def count(*_: object) -> None:
        made[0] += 1

    hook = register_optimizer_step_post_hook(count)
    try:
        with one_thread():
            play = _openspiel_agents(seed)
            while not made[0]:
                play()
            steps, before, start = 0, made[0], time.perf_counter()
            while time.perf_counter() - start < window:
                steps += play()
            seconds = time.perf_counter() - start
    finally:
        hook.remove()
    return NfspSpeed(steps / seconds, (made[0] - before) / seconds)


def _openspiel_agents(seed: int) -> Callable[[], int]:
    """Returns a function that plays a game between two learning agents and returns its number of decisions."""
    from open_spiel.python import rl_environment
    from open_spiel.python.pytorch import nfsp

    environment = rl_environment.Environment(GAME)
    environment.seed(seed)
    size, actions = environment.observation_spec()["info_state"][0], environment.action_spec()["num_actions"]
    agents = [
        nfsp.NFSP(
            player, size, actions, [64], int(2e6), 0.1, batch_size=128, rl_learning_rate=0.1, sl_learning_rate=0.005,
            min_buffer_size_to_learn=1_000, learn_every=32, optimizer_str="sgd", seed=seed + player,
            replay_buffer_capacity=int(2e5), update_target_network_every=300, epsilon_start=0.06, epsilon_end=0.001,
            epsilon_decay_duration=int(1e6),
        )
        for player in (0, 1)
    ]  # fmt: skip

    def play() -> int:
        now, decisions = environment.reset(), 0
        while not now.last():
            now = environment.step([agents[now.observations["current_player"]].step(now).action])
            decisions += 1
        for agent in agents:
            agent.step(now)
        return decisions

    return play
