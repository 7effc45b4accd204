"""The engine for games that compile into a tree: self-play, memories and networks in numba kernels."""
