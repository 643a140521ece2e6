"""What is told as an answer is final: whatever comes after it, of all rows of a small domain at the
next two times, one or two of them, DuckDB finds it again. Two rows are as many as what must not be
beside an answer is made of, in most of the queries."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle import test_absence, test_outer_joins
from tests.oracle.budget import SEEDS, budget
from tests.oracle.free_shapes import FreeShapes
from tests.oracle.odd_shapes import OddShapes
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_latest import fold
from tests.oracle.test_nested_absence import make_query as make_nested
from tests.oracle.test_sql_nulls import CATALOG, upto
from tests.oracle.test_stacked_queries import Prefixes, Stacked, make_job
from tests.runtime.in_process import replay_here, store

LAST = 5
"""The last time of the rows that have come."""
FAR = 60
NEXT = (1, 2)
"""So long after an answer further rows come."""
_NAMES = ("h", "a", "g", "b")


def _make_row(h: int, a: int) -> tuple[Any, ...]:
    return h, a, "xy"[h], a


def _draw_odd(random: Random) -> tuple[str, tuple[str, ...]]:
    text, names = "NOW()", tuple[str, ...]()
    while "NOW()" in text or not any(w in text for w in ("EXISTS", "LEFT", "NOT IN")):
        text, names = random.choice([FreeShapes, OddShapes])(random).draw()
    return text, names


def draw(random: Random, *, odd: bool) -> Stacked:
    """A query, and what DuckDB is asked for, when all is over."""
    if odd:
        text, names = _draw_odd(random)
        return Stacked(text, text, names)
    kind = random.random()
    made = test_absence.make_query(random)[0] if kind < 0.6 else None
    return made or (make_nested(random) if kind < 0.8 else test_outer_joins.make_query(random)[0])


def draw_rows(random: Random) -> Tables:
    """Some rows of two streams and of a static relation, and a row of each far away."""
    data: Tables = {}
    for name in "st":
        rows = [
            (*_make_row(random.randint(0, 1), random.randint(0, 1)), random.randint(0, LAST))
            for _ in range(random.randint(2, 5))
        ]
        rows.append((*_make_row(0, 0), FAR))
        data[name] = [*_NAMES, "ts"], sorted(rows, key=lambda row: row[-1])
    data["r"] = ["h", "a", "g"], [_make_row(h, random.randint(0, 1))[:3] for h in (0, 1)]
    return data


def _tables() -> Catalog:
    streams = {
        n: replace(s, columns=tuple(c for c in s.columns if c.name in _NAMES))
        for n, s in CATALOG.streams.items()
    }
    return replace(CATALOG, streams=streams)


class Continued(Prefixes):
    """DuckDB over the rows until a time, and further ones."""

    def continue_from(self, text: str, time: int, told: Counter[Any]) -> int:
        """Assert that what was told holds whatever comes after a time: how much that was."""
        cells = list(product("st", (0, 1), (0, 1), NEXT))
        more = [(t, *_make_row(h, a), time + n) for t, h, a, n in cells]
        worlds = [(), *combinations(range(len(more)), 1), *combinations(range(len(more)), 2)]
        columns = ", ".join((*_NAMES, "ts"))
        cast = "h, a, g, b, make_timestamp(step) AS ts"
        kinds = "world INT, stream TEXT, h BIGINT, a BIGINT, g TEXT, b DECIMAL(6,2), step BIGINT"
        self.base.execute(f"CREATE OR REPLACE TEMP TABLE more ({kinds})")
        rows = [(n, *more[i]) for n, world in enumerate(worlds) for i in world]
        values = ", ".join(map(repr, rows))
        self.base.execute(f"INSERT INTO more VALUES {values}")
        for name in "st":
            self.base.execute(
                f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT {columns} FROM all_{name} WHERE ts "
                f"<= make_timestamp({time}) UNION ALL SELECT {cast} FROM more "
                f"WHERE stream = '{name}' AND world = getvariable('world')"
            )
        self.base.execute("CREATE OR REPLACE TEMP VIEW r AS FROM all_r")
        later = f"SELECT make_timestamp({FAR * 10}) AS now"
        self.base.execute(f"CREATE OR REPLACE TEMP VIEW clock AS {later}")
        for number, world in enumerate(worlds):
            self.base.execute(f"SET VARIABLE world = {number}")
            found = Counter(self.base.execute(text).fetchall())
            assert told <= found, (text, time, [more[i] for i in world], told - found)
        return len(worlds)


def check(seed: int, *, odd: bool = False) -> str:
    """One query over random rows: how much is told, and what may come after."""
    random = Random(seed)
    query, catalog = draw(random, odd=odd), _tables()
    names = query.names
    try:
        union = parse_sql(query.ours, catalog, name="q", file="q.sql")
    except QueryError:
        return "refused"
    final = choose_emit(union) is Emit.ANSWERS and union.aggregation is None
    if not final or not tables_of(union) & {"s", "t"}:
        return "changes"
    verdict = check_query(union, catalog)
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    data = draw_rows(random)
    case = Case(catalog, union, data, FAR + 1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = replace(make_job(verdict, union, stored), emit=Emit.ANSWERS)
        options: dict[str, Any] = {"statics": statics, "rows_per_range": 1, "ranges": 1}
        whole, _ = replay_here(patch, job, Path(folder, "1.parquet"), **options)
    times = [m for m in range(LAST + 6) if fold(upto(whole, m), names)]
    if not times:
        return "nothing is told"
    time = random.choice(times)
    Continued(case).continue_from(query.duck, time, fold(upto(whole, time), names))
    return "final"


@budget(0.25)
@given(seed=SEEDS)
def test_answers_hold_whatever_comes_after_them(seed: int) -> None:
    event(check(seed))


def test_what_is_told_too_early_is_seen() -> None:
    """A row that has nothing beside it yet, of which something may come."""
    text = "SELECT x.h AS c0 FROM s AS x WHERE NOT EXISTS (SELECT 1 FROM t AS y WHERE y.ts > x.ts)"
    data: Tables = {n: ([*_NAMES, "ts"], [(*_make_row(0, 0), 2)]) for n in "st"}
    data["r"] = ["h", "a", "g"], []
    union = parse_sql("SELECT s.h FROM s", CATALOG, name="q", file="q.sql")
    with pytest.raises(AssertionError):
        Continued(Case(_tables(), union, data, FAR)).continue_from(text, 2, Counter([(0,)]))
