"""Live jobs of rows that come and go, joined: large micro-batches, which are looked at whole, and
small ones, of which only what they meet is."""

from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.run.prepare_jobs import plan_job
from ontoweir.runtime.kept import kept_rows
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.spans.spans import Spans
from ontoweir.runtime.told import advance_joined, join_few

KEYS, LARGE, MUCH = 40, 120, 60
"""So many keys, rows of a large micro-batch, and rows that are held before it pays to look at a few
only."""
COLUMNS = tuple(Column(c, IntType(), minimum=0, maximum=KEYS - 1) for c in "kg")
NOTHING = DataSource("parquet", "none")
CATALOG = Catalog({n: Stream(n, NOTHING, "ts", 1, LARGE, COLUMNS) for n in "st"}, {})
_LATEST = "(SELECT k, g FROM {0} QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1)"
_FIRST = (
    "(SELECT k, g FROM {0} WHERE ts > NOW() - INTERVAL '9' MICROSECOND "
    "QUALIFY RANK() OVER (PARTITION BY k ORDER BY g DESC) <= 2)"
)


def choose_joined(seed: int) -> tuple[LiveJob, list[dict[str, pa.Table]]]:
    """A random join and its micro-batches, of which some are looked at whole and some are not,
    with the same answers as if all were."""
    with pytest.MonkeyPatch.context() as patch:
        for own in range(seed, seed + 999):
            random = Random(own)
            job, batches = _make_job(random), _make_batches(random)
            patch.setattr(kept_rows, "_SMALL", 1 << 30)
            whole, _ = _run(job, batches)
            patch.setattr(kept_rows, "_SMALL", MUCH)
            found, few = _run(job, batches)
            assert found == whole, own
            if 3 <= few <= len(batches) - 3 and sum(map(bool, found)) > 5:
                kept_rows._SMALL = MUCH  # from here on, in this process
                return job, batches
    raise AssertionError


def _make_job(random: Random) -> LiveJob:
    kind, left = random.choice([_LATEST, _LATEST, _FIRST]), random.choice(["", "LEFT "])
    once = random.choice(["", "", "DISTINCT "])
    beside = random.choice(["y.k = x.k", "y.k = x.g", "y.g = x.k AND y.k <> x.g"])
    more = random.choice(["", "", f"JOIN {_LATEST.format('s')} AS z ON z.k = x.k "])
    text = (
        f"SELECT {once}x.k, x.g, y.g AS h FROM s AS x {left}JOIN {kind.format('t')} AS y "
        f"ON {beside} {more}WHERE x.ts > NOW() - INTERVAL '{random.randint(3, 9)}' MICROSECOND"
    )
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    query = replace(plan_job(check_query(union, CATALOG), CATALOG), emit=Emit.CHANGES)
    return make_live_job([query], CATALOG, {}, {})


def _make_batches(random: Random) -> list[dict[str, pa.Table]]:
    made, time = [], 0
    for _ in range(14):
        time += random.choice([1, 1, 2, 4])
        large = random.random() < 0.35
        batch = {}
        for name in "st":
            size = random.randint(LARGE // 2, LARGE) if large else random.randint(0, 2)
            rows = [(random.randrange(KEYS), random.randrange(KEYS)) for _ in range(size)]
            columns = {"k": [k for k, _ in rows], "g": [g for _, g in rows], "ts": [time] * size}
            typed = {n: pa.array(v, pa.int64()) for n, v in columns.items()}
            batch[name] = pa.table({**typed, BAD: pa.nulls(size, pa.string())})
        made.append(batch)
    return made


def _run(job: LiveJob, batches: list[dict[str, pa.Table]]) -> tuple[list[list[str]], int]:
    """The answers, and of how many micro-batches only what they meet was looked at."""
    few = 0

    def count(*given: Any) -> Spans | None:
        nonlocal few
        made = join_few.join_few(*given)
        few += made is not None
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(advance_joined, "join_few", count)
        state, told = begin_live(job), []
        for batch in batches:
            outcome = advance_live(job, state, batch, 0.0)
            state = outcome.state
            rows = outcome.answers[0].to_pylist()
            told.append(sorted(map(repr, rows)))
    return told, few
