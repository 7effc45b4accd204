"""Policy gradients that reduce regret (Srinivasan et al. 2018): RPG, QPG and RMPG on games that compile."""
