"""How long a person waits for the opponent: N tabs play at once, each after a pause to think.

    python benchmarks/web_load.py --tabs 20 --hands 10

Prints JSON lines: the quantiles of the time from a move to the next table where the person may act or the hand is over.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time

import numpy as np
from websockets.asyncio.client import connect

GAMES = ["kuhn_poker", "leduc_poker", "pot_limit_leduc", "liars_dice(dice=1,faces=4)", "liars_dice(dice=1,faces=6)"]


async def play(address: str, number: int, games: list[str], hands: int, pause: float, waits: dict[str, list[float]]) -> None:
    """Plays some hands in one tab."""
    chooser, game = random.Random(number), games[number % len(games)]
    async with connect(address.replace("http", "ws") + "/ws", origin=address, max_size=None) as socket:

        async def send(**message: object) -> None:
            await socket.send(json.dumps({"desk": "play", **message}))

        async def table() -> dict:
            while True:
                frame = json.loads(await socket.recv())
                assert frame["type"] not in ("error", "lost"), frame
                if frame["type"] == "table" and frame["turn"] != "it":
                    return frame

        await send(do="hello", player=f"load-test-{number}")
        await send(do="open", game=game)
        shown = await table()
        for _ in range(hands):
            while shown["turn"] == "you":
                await asyncio.sleep(chooser.uniform(0.5, 1.5) * pause)
                began = time.perf_counter()
                await send(do="act", action=chooser.choice(shown["choices"])["action"])
                shown = await table()
                waits[game].append(time.perf_counter() - began)
            await asyncio.sleep(chooser.uniform(0.5, 1.5) * pause)
            await send(do="next")
            shown = await table()


async def main() -> None:
    """Runs all tabs at once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="http://127.0.0.1:8710")
    parser.add_argument("--tabs", type=int, default=20)
    parser.add_argument("--hands", type=int, default=10)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds that a person thinks, on average")
    parser.add_argument("--games", nargs="*", default=GAMES)
    given = parser.parse_args()
    waits: dict[str, list[float]] = {game: [] for game in given.games}
    await asyncio.gather(*(play(given.address, n, given.games, given.hands, given.pause, waits) for n in range(given.tabs)))
    together = [wait for part in waits.values() for wait in part]
    for name, seconds in [*waits.items(), ("all", together)]:
        if seconds:
            quantiles = np.quantile(seconds, [0.5, 0.95, 0.99, 1.0]).round(4).tolist()
            shares = dict(zip(("median", "p95", "p99", "max"), quantiles, strict=True))
            under = round(float(np.mean(np.array(seconds) < 0.3)), 4)
            print(json.dumps({"game": name, "tabs": given.tabs, "moves": len(seconds), **shares, "under_300_ms": under}))


if __name__ == "__main__":
    asyncio.run(main())
