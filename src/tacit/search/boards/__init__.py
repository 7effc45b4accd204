"""Growing-tree CFR on boards: dense trees, one position per node."""
