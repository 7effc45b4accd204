"""What systems that search with a value network share: examples, the replay buffer, learners, random situations, loading."""
