"""Search trees that grow where the search looks: growing-tree CFR for any game, many trees in one batch."""
