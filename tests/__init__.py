"""Tests of tacit."""
