"""Networks of a run in half precision: `python checkpoints/ship.py RUN FILE [--play]`.

With `--play` only those that play are kept, as they are shipped; else those that serve training as well, for the next piece.
"""

import argparse

from tacit.nets.checkpoint import load_tensors, save_tensors
from tacit.training.folder import network_file

parser = argparse.ArgumentParser()
parser.add_argument("run", help="a run folder, or a file of networks")
parser.add_argument("file")
parser.add_argument("--play", action="store_true")
given = parser.parse_args()
tensors, header = load_tensors(network_file(given.run))
kept = {name: part.half().contiguous() for name, part in tensors.items() if not given.play or not name.startswith("start")}
save_tensors(given.file, kept, header)
