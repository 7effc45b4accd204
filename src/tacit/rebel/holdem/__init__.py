"""ReBeL at hold'em: betting rounds searched in batches on random boards, and networks for what follows a round's end."""
