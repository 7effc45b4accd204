"""Measuring players: matches with duplicate deals, AIVAT, local best response."""
