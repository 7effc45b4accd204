"""Fuzzing: every input from outside, mutated from valid ones, may be refused in a line and nothing else.

    python -m tests.fuzz --inputs 1000000 --seconds 600      all targets
    python -m tests.fuzz --target ranges --seconds 60        one of them
    python -m tests.fuzz --replay out/fuzz/ranges-1a2b3c4d   an input that failed

`tests/unit/test_fuzz.py` gives every target a few inputs; hypothesis chooses the mutations there, and makes what fails small.
"""
