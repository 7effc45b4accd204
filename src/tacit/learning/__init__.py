"""Shared by systems that search with a value network: examples, the replay buffer, learners, random situations, loading."""
