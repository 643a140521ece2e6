"""AsOfIndex among events, against counting."""

from random import Random

import numpy as np
from hypothesis import given

from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.kept.asof_index import AsOfIndex
from tests.oracle.budget import SEEDS, budget


@budget(1.0)
@given(seed=SEEDS)
def test_ranks_count_what_comes_before(seed: int) -> None:
    random = Random(seed)
    groups, rows = random.randint(1, 4), random.randint(1, 12)
    # markers close together are looked up in a table, those far apart are searched
    step = random.choice([1, 1, 1 << 20, 1 << 50])
    moments = [LONG_AGO, *(step * random.randint(-5, 5) for _ in range(4))]
    codes = np.array([random.randrange(groups) for _ in range(rows)])
    events = np.array([random.choice(moments) for _ in range(rows)])
    asked = [
        (random.randrange(groups), random.choice(moments) + random.choice([0, 0, 1, -1, 7]))
        for _ in range(9)
    ]
    asked = [(g, max(at, LONG_AGO)) for g, at in asked]
    ranks = AsOfIndex(codes, groups, events, len(asked))
    if ranks.order is not None:
        codes, events = codes[ranks.order], events[ranks.order]
    held = list(zip(codes.tolist(), events.tolist(), strict=True))
    assert held == sorted(held)
    group, before = (np.array(column, dtype=np.int64) for column in zip(*asked, strict=True))
    assert ranks.rank(group, before).tolist() == [sum(h < a for h in held) for a in asked]
