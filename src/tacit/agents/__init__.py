"""What plays: agents, and the table they sit at."""
