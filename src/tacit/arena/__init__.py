"""Agents against others: matches, and the plugs through which other programs play hold'em with us."""
