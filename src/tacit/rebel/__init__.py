"""ReBeL: self-play with search over public belief states (Brown et al. 2020)."""
