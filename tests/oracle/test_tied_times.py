"""The latest, or first, rows by time of keys that are limited, with other columns that are not: of
rows that are equal in the order there are no more than of one time. They are what DuckDB finds at
every time, within the bound."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.windows.choose_emit import Emit, choose_emit
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_told, fill_nulls
from tests.oracle.test_sql_nulls import make_data
from tests.oracle.test_units import with_units


def _catalog() -> Catalog:
    catalog = with_units(1, 1, wide=True)
    streams = {n: replace(s, max_per_timestamp=6) for n, s in catalog.streams.items()}
    return replace(catalog, streams=streams)


def make_text(random: Random) -> str:
    table, numbering = random.choice("st"), random.choice(["RANK", "RANK", "DENSE_RANK"])
    order = random.choice(["ts DESC", "ts DESC", "ts", "ts DESC, a NULLS FIRST"])
    least = random.choice([1, 1, 2, 3])
    if order.endswith("FIRST"):
        numbered = f"{numbering}() OVER (PARTITION BY {{}} ORDER BY ts DESC, x.a NULLS FIRST)"
    else:
        numbered = f"{numbering}() OVER (PARTITION BY {{}} ORDER BY {order})"
    latest = f"SELECT x.h, x.a FROM {table} x QUALIFY {numbered.format('x.h')} <= {least}"
    one = f"SELECT x.a AS c0, x.b AS c1 FROM {table} x WHERE x.h = 1"
    return random.choice(
        [
            f"SELECT r.h AS c0, l.a AS c1 FROM ({latest}) l JOIN r ON r.h = l.h",
            (
                f"SELECT x.h AS c0, x.a AS c1 FROM {table} x JOIN r ON r.h = x.h "
                f"QUALIFY {numbered.format('x.h')} <= {least}"
            ),
            f"{one} QUALIFY {numbered.format('x.h')} <= {least}",
        ]
    )


def check(seed: int) -> str:
    random, catalog = Random(seed), _catalog()
    data = make_data(random)
    data = fill_nulls(data) if random.random() < 0.5 else data
    text = make_text(random)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        return f"refused: {error.what[:50]}"
    if choose_emit(union) is not Emit.CHANGES:
        return "rows alone"
    read = {o.table for q in union.disjuncts for o in q.occurrences} & {"s", "t"}
    since = min((row[-1] for name in read for row in data[name][1]), default=0)
    return compare_told(random, text, ("c0", "c1"), union, (catalog, data), since)


@budget(0.25)
@given(seed=SEEDS)
def test_rows_of_one_time_are_within_the_bound(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize("order", ["ts DESC", "a DESC"])
def test_it_is_the_time_that_limits_them(order: str) -> None:
    latest = f"SELECT h, a, b FROM t QUALIFY RANK() OVER (PARTITION BY h ORDER BY {order}) = 1"
    text = f"SELECT l.b FROM ({latest}) l JOIN r ON r.h = l.h"
    catalog = _catalog()
    verdict = check_query(parse_sql(text, catalog, name="q", file="q.sql"), catalog)
    assert (verdict.tier is Tier.UNDECIDED) is (order == "a DESC")
    assert (verdict.bound is not None) is (order == "ts DESC")
