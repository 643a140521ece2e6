"""Groups of windows, joined with rows, groups and the latest, and grouped again: a few rows that
come look at what they meet, and tell what is told where all is looked at."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from ontoweir.run.prepare_jobs import plan_job
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from ontoweir.runtime.statics.evaluate_view import evaluate_view
from ontoweir.runtime.told import advance_joined, join_few
from tests.oracle.random_queries import Case
from tests.oracle.run_kernel import few_touched
from tests.oracle.test_composed_groups import SINGLE, make_query
from tests.oracle.test_free_shapes import NULLABLE
from tests.oracle.test_sql_nulls import CATALOG
from tests.runtime.live_cases import make_table

MARKERS = 20
WITHIN = "s.ts > NOW() - INTERVAL '8' MICROSECOND"
LATER = "t.ts > NOW() - INTERVAL '9' MICROSECOND"
COUNTED = f"(SELECT h, COUNT(*) AS n, SUM(a) AS m FROM s WHERE {WITHIN} GROUP BY h)"
AGAIN = COUNTED.replace("FROM s", "FROM t").replace("s.ts", "t.ts")
OFTEN = f"(SELECT s.h FROM s WHERE {WITHIN} AND s.h = t.h GROUP BY s.h HAVING COUNT(*) > 1)"
QUERIES = {
    "groups inner": f"SELECT x.h, x.n - y.m AS d FROM {COUNTED} AS x JOIN {AGAIN} AS y USING (h)",
    "groups left": f"SELECT r.h, COALESCE(x.n, 0) AS n FROM r LEFT JOIN {COUNTED} AS x USING (h)",
    "groups present": f"SELECT t.h, t.a FROM t WHERE {LATER} AND EXISTS {OFTEN}",
    "groups absent": f"SELECT t.h, t.a FROM t WHERE {LATER} AND NOT EXISTS {OFTEN}",
    "groups inner, grouped": "SELECT t.g, SUM(x.n) AS n, COUNT(*) AS c FROM t JOIN "
    f"{COUNTED} AS x ON x.h = t.h WHERE {LATER} GROUP BY t.g",
    "groups inner, once": f"SELECT DISTINCT t.g, x.n FROM t JOIN {COUNTED} AS x ON x.h = t.h "
    f"WHERE {LATER}",
}
"""By what is seen of them."""


def _draw_text(random: Random) -> str:
    return random.choice(SINGLE) if random.random() < 0.2 else make_query(random)[0]


def _draw_rows(random: Random, *, nulls: bool) -> dict[str, Any]:
    """Rows of the two streams, and the relation."""
    keys, share = random.choice([4, 8]), random.choice([0.1, 0.3]) if nulls else 0.0

    def cell(column: str) -> Any:
        if random.random() < share:
            return None
        match column:
            case "a":
                return random.randint(-3, 3)
            case "b":
                return Decimal(random.randint(-200, 200)) / 100
            case "g":
                return random.choice("xy")
            case _:
                return random.randrange(keys)

    data: dict[str, Any] = {}
    for name in "st":
        times = sorted(random.randrange(MARKERS) for _ in range(random.randint(50, 80)))
        rows = [(*map(cell, "abgh"), None, None, time) for time in times]
        cut = rows if name == "s" else [(*row[:4], row[-1]) for row in rows]
        data[name] = (([*"abghdf"] if name == "s" else [*"abgh"]) + ["ts"], cut)
    data["r"] = ("hag", [(key, cell("a"), cell("g")) for key in range(keys)])
    return data


def _make_job(case: Case) -> LiveJob | None:
    """The live job of a query (None: it is refused, or its rows are told as they come)."""
    catalog, union = case.catalog, case.query
    verdict = check_query(union, catalog)
    if verdict.plans is None or choose_emit(union) is not Emit.CHANGES:
        return None
    statics = {n: make_table(case, n, case.data[n][1]) for n in catalog.relations}
    for made in union.statics:
        rows = evaluate_view(made, made.data.view or "", catalog, statics.__getitem__)
        assert rows is not None
        statics[made.name] = rows
    query = replace(plan_job(verdict, catalog), emit=Emit.CHANGES)
    return make_live_job([query], catalog, statics, {})


def _cut(case: Case, random: Random) -> list[dict[str, pa.Table]]:
    """Micro-batches of few rows: of a time or two, where one stream may be behind."""
    made, ends = list[dict[str, pa.Table]](), {"s": 0, "t": 0}
    for time in range(1, MARKERS + 1):
        batch = {}
        for name, since in ends.items():
            if random.random() < 0.8:
                rows = [row for row in case.data[name][1] if since <= row[-1] < time]
                batch[name] = make_table(case, name, rows)
                ends[name] = time
        made.append(batch)
    return made


def _run(job: LiveJob, batches: Sequence[Any], *, few: bool) -> list[list[dict[str, Any]]]:
    state, told = begin_live(job), []
    with few_touched() if few else nullcontext():
        for batch in batches:
            outcome = advance_live(job, state, batch, 0.0)
            state = outcome.state
            told.append(outcome.answers[0].to_pylist())
    return told


def check(seed: int, text: str = "") -> tuple[str, ...]:
    """One query, or a random one, over random rows, told both ways: how rows were joined where few
    came."""
    random, seen = Random(seed), Counter[str]()
    text = text or _draw_text(random)
    nulls = random.random() < 0.5
    catalog = replace(NULLABLE if nulls else CATALOG, relations=CATALOG.relations)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError:
        return ()
    case = Case(catalog, union, _draw_rows(random, nulls=nulls), MARKERS)
    job = _make_job(case)
    if job is None:
        return ()
    batches = _cut(case, random)

    def count(*given: Any) -> Any:
        of, made = given[0], join_few.join_few(*given)
        assert made is not None
        seen.update([*{f"groups {p.part.kind}" for p in of.parts if p.groups is not None}])
        seen["grouped"] += of.groups is not None
        seen["once"] += of.joined.distinct
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(advance_joined, "join_few", count)
        found = _run(job, batches, few=True)
    assert found == _run(job, batches, few=False), (seed, text)
    seen["many answers"] += sum(map(len, found)) > MARKERS
    return tuple(name for name, often in seen.items() if often)


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
def test_what_a_few_rows_meet_is_what_changes(text: str, request: pytest.FixtureRequest) -> None:
    seen = check(len(text), text)
    assert {"many answers", *request.node.callspec.id.split(", ")} <= set(seen)
