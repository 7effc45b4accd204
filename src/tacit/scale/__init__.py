"""Self-play in many processes, for systems whose trainers can `generate`.

A *crew* is some workers and a way to reach them (`local.py`); the `Engine` gives them orders and hands what they
make to the learner. Between them go frames of safetensors with a JSON header, nothing that has to be unpickled.
"""
