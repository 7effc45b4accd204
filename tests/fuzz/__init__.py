"""Fuzzing: mutations of valid inputs from outside may be refused in one line, and must do nothing worse.

    python -m tests.fuzz --inputs 1000000 --seconds 600      all targets
    python -m tests.fuzz --target ranges --seconds 60        one of them
    python -m tests.fuzz --replay out/fuzz/ranges-1a2b3c4d   an input that failed

`tests/unit/test_fuzz.py` gives every target a few inputs; there hypothesis chooses the mutations and shrinks failing inputs.
"""
