"""Every system that fits a game, given the same time on the same kind of core: who gets how far."""
