"""Compares every system that fits a game, with the same time on the same kind of core."""
