"""Matches between agents and their evaluation, and adapters through which other programs play hold'em with ours."""
