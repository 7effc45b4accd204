"""Rules only: the `Game` protocol, the games, and loading games by name."""

from tacit.games.base import CHANCE, TERMINAL, Game, GameSize, InfostateGame, KnownValue
from tacit.games.registry import AnyGame, game_source, load_game, recall_game, register_game, registered_games

__all__ = [
    "CHANCE",
    "TERMINAL",
    "AnyGame",
    "Game",
    "GameSize",
    "InfostateGame",
    "KnownValue",
    "game_source",
    "load_game",
    "recall_game",
    "register_game",
    "registered_games",
]
