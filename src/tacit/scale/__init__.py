"""Work in many processes, on this machine or on a Ray cluster.

A *job* (`job.py`) can be sent anywhere; workers open it and answer orders. A *crew* (`crew.py`) is some workers and a way to
reach them: processes (`local.py`) or actors (`ray_crew.py`). `Orders` (`orders.py`) keeps a crew at work and returns every
answer once, whatever dies; the `Engine` (`engine.py`) has it generate what a run learns from. Between learner and workers go
frames of safetensors with a JSON header, nothing that has to be unpickled.
"""
