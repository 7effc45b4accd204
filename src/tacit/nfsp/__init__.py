"""Neural Fictitious Self-Play (Heinrich & Silver 2016) and DQN: one trainer over two engines.

`tabular/` plays any game that compiles into a tree, in numba; `limit/` plays limit hold'em in torch tensors.
"""
