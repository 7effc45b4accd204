"""Depth-limited search from public belief states, many at once."""
