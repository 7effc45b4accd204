"""Agents, and the table at which they play."""
