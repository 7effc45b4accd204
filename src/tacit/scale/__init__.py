"""Work in many processes, on this machine or on a Ray cluster.

A *job* (`job.py`) can be sent anywhere; workers open it and answer orders. A *crew* (`crew.py`) is some workers and a way to
reach them: processes (`local.py`) or actors (`ray_crew.py`). `Orders` (`orders.py`) keeps a crew at work and returns every
answer once, even if workers die; the `Engine` (`engine.py`) has a crew generate the examples of a run. Workers answer with
safetensors and a JSON header, so the learner unpickles nothing.
"""
