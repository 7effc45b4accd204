"""Agents against others: matches and what they tell, and the plugs through which other programs play hold'em with us."""
