"""MIN, MAX and ANY_VALUE of texts without a domain: running, by buckets and over sliding windows,
replayed and live, as DuckDB answers over the prefix, within the bound."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Column, StringType
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle import test_buckets, test_sliding_groups, test_sql_nulls
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Tables
from tests.oracle.test_sql_nulls import Query, make_data, make_query

_WORDS = [
    "",
    "a",
    "b",
    "ab",
    "é",
    "z",
    "zz",
    "\U0001f600",
    "a long text, longer than 8 bytes",
    "a l",
]
CATALOG = replace(
    test_sql_nulls.CATALOG,
    streams={
        name: replace(
            stream,
            columns=tuple(
                Column("g", StringType()) if c.name == "g" else c for c in stream.columns
            ),
        )
        for name, stream in test_sql_nulls.CATALOG.streams.items()
    },
)


def make_texts(random: Random) -> Tables:
    """The tables, with other texts in those of streams."""
    data = make_data(random)
    for name in ("s", "t"):
        columns, rows = data[name]
        place = columns.index("g")
        data[name] = (
            columns,
            [
                row
                if row[place] is None
                else (*row[:place], random.choice(_WORDS), *row[place + 1 :])
                for row in rows
            ],
        )
    return data


def _make_query(random: Random) -> Query:
    """A query that asks for the least or the greatest text, grouped by what has a domain."""
    query = make_query(random)
    kept = tuple(c for c in query.columns if not c[1].endswith(".g"))
    group = tuple(g for g in query.group if not g.endswith(".g"))
    tables = query.rest.split(" WHERE ")[0].split(", ")
    text = random.choice([f"{t}.g" for t in tables])
    function = random.choice(["MIN", "MAX", "ANY_VALUE"])
    duck = "MIN" if function == "ANY_VALUE" else function
    columns = (*kept, ("x_text", f"{function}({text})", f"{duck}({text})"))
    return replace(query, columns=columns, group=group)


@budget(0.15)
@given(seed=SEEDS)
def test_chosen_texts_equal_duckdb(seed: int) -> None:
    random = Random(seed)
    query = _make_query(random)
    event(str(test_sql_nulls.compare(random, query, CATALOG, make_texts(random)).tier))


@pytest.mark.parametrize("module", [test_buckets, test_sliding_groups])
@budget(0.08)
@given(seed=SEEDS)
def test_chosen_texts_of_windows_equal_duckdb(module: Any, seed: int) -> None:
    random = Random(seed)
    query = _make_query(random)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CATALOG", CATALOG)
        patch.setattr(module, "make_data", make_texts)
        if module is test_sliding_groups:
            query = test_sliding_groups.add_windows(random, query)
        module.compare(random, query)


@pytest.mark.parametrize(
    ("sql", "tier"),
    [
        # one text a group, however many there are
        ("SELECT h, MIN(g) AS x FROM s GROUP BY h", Tier.CONDITIONALLY_BOUNDED),
        # a group for each of unboundedly many values
        ("SELECT f, MIN(g) AS x FROM s GROUP BY f", Tier.UNBOUNDED),
        # each row of s may still meet one of t
        ("SELECT s.h, MIN(s.g) AS x FROM s, t WHERE s.f = t.f AND s.ts < t.ts GROUP BY s.h", None),
    ],
)
def test_only_one_text_of_a_group_is_kept(sql: str, tier: Tier | None) -> None:
    catalog = CATALOG
    if "t.f" in sql:
        other = replace(CATALOG.streams["s"], name="t")
        catalog = replace(CATALOG, streams={**CATALOG.streams, "t": other})
    verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
    assert verdict.tier is tier if tier is not None else verdict.plans is None


def test_no_sum_of_texts() -> None:
    with pytest.raises(QueryError, match="which is string"):
        parse_sql("SELECT SUM(g) AS x FROM s", CATALOG, name="q", file="q.sql")
