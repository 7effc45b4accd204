"""How another library trains on a game of this one: REINFORCE (Williams 1992) through the PettingZoo interface.

A small network learns to beat a player that moves at random in Kuhn poker, from either seat. It sees what its seat sees and
nothing else. The most that anybody could win against that player is known exactly, so the result can be judged.

    python examples/pettingzoo_reinforce.py
"""

from typing import Any

import torch
from torch import nn

import tacit
from tacit.pettingzoo import env


def play(game: Any, policy: nn.Module, learner: str) -> tuple[list[torch.Tensor], float]:
    """Returns the log-probabilities of the learner's moves in one game against a random player, and its payoff."""
    moves, won = [], 0.0
    game.reset()
    for agent in game.agent_iter():
        observation, reward, termination, truncation, _ = game.last()
        won += reward if agent == learner else 0.0
        if termination or truncation:
            game.step(None)
        elif agent != learner:
            game.step(game.action_space(agent).sample(observation["action_mask"]))
        else:
            scores = policy(torch.from_numpy(observation["observation"]))
            legal = torch.from_numpy(observation["action_mask"]).bool()
            log_probabilities = scores.masked_fill(~legal, -torch.inf).log_softmax(0)
            move = int(torch.multinomial(log_probabilities.exp(), 1))
            moves.append(log_probabilities[move])
            game.step(move)
    return moves, won


def main(updates: int = 80, games: int = 32) -> float:
    """Trains, prints the mean payoff at first and in the end, and returns that of the last quarter of training."""
    torch.manual_seed(0)
    game = env("kuhn_poker")
    game.reset(seed=0)
    for agent in game.possible_agents:
        game.action_space(agent).seed(0)
    size, actions = game.observation_space("player_0")["observation"].shape[0], int(game.action_space("player_0").n)
    policy = nn.Sequential(nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, actions))
    optimizer = torch.optim.Adam(policy.parameters(), 0.05)
    won: list[float] = []
    for _ in range(updates):
        played = [play(game, policy, f"player_{number % 2}") for number in range(games)]
        won += [payoff for _, payoff in played]
        baseline = sum(payoff for _, payoff in played) / games
        loss: Any = -torch.stack([(payoff - baseline) * move for moves, payoff in played for move in moves]).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    first, last = (sum(part) / len(part) for part in (won[: len(won) // 8], won[-len(won) // 4 :]))
    most = tacit.evaluate(tacit.open("random", "kuhn_poker").strategy()).figure
    print(f"mean payoff against a random player: {first:+.3f} at first, {last:+.3f} in the end")
    print(f"a best response wins {most:.3f}, the exploitability of random play")
    assert last > most / 2
    return last


if __name__ == "__main__":
    main()
