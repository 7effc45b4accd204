"""`tacit` for soak tests: it checkpoints constantly and logs every lot it learns from.

python -m tests.soak_train LOTS train rebel kuhn_poker ...
"""

import hashlib
import json
import os
import sys

from tacit.cli.main import main
from tacit.scale.engine import Engine
from tacit.scale.orders import Answer
from tacit.training import run

count = Engine._count


def count_and_note(engine: Engine, answer: Answer) -> None:
    """Counts a lot and logs its digest, which worker made it, and the session and epoch that learn from it."""
    count(engine, answer)
    digest = hashlib.sha256(b"".join(part.contiguous().numpy().tobytes() for part in answer.tensors.values())).hexdigest()
    made_by = {name: answer.facts[name] for name in ("worker", "life", "lot")}
    examples = len(answer.tensors["values.beliefs"])
    line = {"session": os.getpid(), "epoch": engine._trainer.epoch, "examples": examples, "digest": digest, **made_by}
    with open(sys.argv[1], "a") as lots:
        lots.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    run.CHECKPOINT_SECONDS, run.CHECKPOINT_SHARE = 0.2, 0.5
    Engine._count = count_and_note  # type: ignore[method-assign]
    main(sys.argv[2:])
