"""Neural Fictitious Self-Play (Heinrich & Silver 2016) and DQN beside it: memories, networks, self-play and training."""
