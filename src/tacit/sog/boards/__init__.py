"""Student of Games on boards: growing trees over positions, and a convolutional network."""
