"""Leaf values: evaluators of the public belief states beyond a depth limit."""
