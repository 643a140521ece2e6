"""Where much is held of rows that come and go, joined, a few new ones look at what they meet."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.run.prepare_jobs import plan_job
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.sources.read_source import BAD
from ontoweir.runtime.spans.spans import Spans
from ontoweir.runtime.told import advance_joined, join_few

KEYS = 20_000
COLUMNS = (
    Column("k", IntType(), minimum=0, maximum=KEYS - 1),
    Column("g", IntType(), minimum=0, maximum=KEYS - 1),
)
NOTHING = DataSource("parquet", "none")
CATALOG = Catalog({n: Stream(n, NOTHING, "ts", 1, 2 * KEYS, COLUMNS) for n in "st"}, {})
LATEST = "(SELECT k, g FROM t QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1) AS y"
FIRST = (
    "(SELECT k, g FROM t WHERE ts > NOW() - INTERVAL '50' MICROSECOND "
    "QUALIFY RANK() OVER (PARTITION BY k ORDER BY g DESC) = 1) AS y"
)
WINDOW = "x.ts > NOW() - INTERVAL '50' MICROSECOND"
QUERIES = {
    "the latest": f"SELECT x.g, y.g AS h FROM s AS x JOIN {LATEST} ON x.k = y.k WHERE {WINDOW}",
    "the first": f"SELECT x.g, y.g AS h FROM s AS x JOIN {FIRST} ON x.k = y.k WHERE {WINDOW}",
    "LEFT": f"SELECT x.g, y.g AS h FROM s AS x LEFT JOIN {LATEST} ON x.k = y.k WHERE {WINDOW}",
    "once": f"SELECT DISTINCT y.g FROM s AS x JOIN {LATEST} ON x.k = y.k WHERE {WINDOW}",
}


def _rows(cells: Sequence[tuple[int, int, int]]) -> pa.Table:
    columns = {n: [row[place] for row in cells] for place, n in enumerate(("k", "g", "ts"))}
    return pa.table({**columns, BAD: pa.nulls(len(cells), pa.string())})


def _run(text: str, batches: Sequence[Mapping[str, pa.Table]]) -> list[list[dict[str, Any]]]:
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    query = replace(plan_job(check_query(union, CATALOG), CATALOG), emit=Emit.CHANGES)
    job = make_live_job([query], CATALOG, {}, {})
    state, told = begin_live(job), []
    for batch in batches:
        outcome = advance_live(job, state, batch, 0.0)
        state = outcome.state
        told.append(outcome.answers[0].to_pylist())
    return told


BATCHES = [
    {n: _rows([(k, k // 2, 1) for k in range(KEYS)]) for n in "st"},
    {"s": _rows([(3, 7, 5)]), "t": _rows([(4, 9, 5)])},
    {"s": _rows([(5, 7, 9), (6, 7, 9)]), "t": _rows([(3, 1, 9)])},
    {"s": _rows([(5, 7, 12)]), "t": _rows([(5, 1, 12)])},
    {"s": _rows([(8, 7, 15)]), "t": _rows([(8, 1, 15)])},
]


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
def test_rows_that_meet_are_looked_at(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []

    def count(*given: Any) -> Spans | None:
        made = join_few.join_few(*given)
        assert made is not None
        looked_at.append(len(made.begins))
        return made

    monkeypatch.setattr(advance_joined, "join_few", count)
    few = _run(text, BATCHES)
    assert looked_at
    assert max(looked_at) < 20
    monkeypatch.setattr(advance_joined, "join_few", lambda *_: None)
    assert few == _run(text, BATCHES)
    assert any(few[2:])


def test_rows_beside_which_there_are_none_do_not_find_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`y` is compared with `x` and with `z`, which are not found by each other: a row of `x` has
    those of `z` beside it also where no `y` fits both."""
    some = LATEST.replace("FROM t", "FROM t WHERE k < 2").replace("AS y", "AS z")
    text = (
        f"SELECT x.g, z.g AS f, y.g AS h FROM s AS x JOIN {some} ON z.g < x.g "
        f"LEFT JOIN {LATEST} ON y.k = x.k AND y.k = z.k WHERE {WINDOW}"
    )
    few = _run(text, BATCHES)
    monkeypatch.setattr(advance_joined, "join_few", lambda *_: None)
    assert few == _run(text, BATCHES)
    assert few[2]
