"""Matrix products at the ends of search trees, compared with the sparse lists of meeting rows."""

import numpy as np
import pytest
import torch

from tacit.games import load_game
from tacit.search.batch import make_batch
from tacit.search.ends import DenseEnds
from tacit.tree.compiler import compile_game
from tacit.tree.search_space import search_space


@pytest.mark.parametrize(
    ("name", "depth"),
    [("pot_limit_leduc", "round"), ("leduc_poker", None), ("liars_dice(dice=1,faces=3)", 2), ("goofspiel(cards=3)", 1)],
)
def test_products_sum_what_rows_meet(name: str, depth: int | str | None) -> None:
    space, generator = search_space(compile_game(load_game(name)), depth), np.random.default_rng(0)
    tables, ends = space.tables, DenseEnds(space, "cpu")
    batch = make_batch(tables, generator.integers(0, space.num_classes, 40))
    for player in (0, 1):
        mine, other = tables.players[player], torch.rand(int(batch.row_offset[1 - player][-1]))
        for at_leaves in (False, True):
            sums = torch.full((int(batch.row_offset[player][-1]),), torch.nan)
            ends.write(batch, player, other, at_leaves, sums)
            for group in batch:
                found = batch.view(sums, batch.row_offset[player], group)
                reach = batch.view(other, batch.row_offset[1 - player], group)
                for row in range(len(found)):
                    table = int(mine.row_start[group.public_class]) + row
                    meets = slice(*mine.meeting_start[table : table + 2])
                    if meets.start == meets.stop or (mine.leaf[table] >= 0 and not at_leaves):
                        assert found[row].isnan().all()  # left unwritten
                    else:
                        weight = torch.from_numpy(mine.meeting_weight[meets])
                        torch.testing.assert_close(found[row], weight @ reach[torch.from_numpy(mine.meeting_row[meets]).long()])
