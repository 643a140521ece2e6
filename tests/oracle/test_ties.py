"""Orders that leave rows equal: the first rows, the latest ones, those before another and groups,
as DuckDB answers the text with what we say that such rows follow each other by."""

import re
from random import Random
from typing import Any

import pytest
from hypothesis import example, given

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.ties.note_ties import list_ties
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Tables
from tests.oracle.test_earlier import ask_duck, compare_answers, list_null, make_counted
from tests.oracle.test_earlier import make_rows as make_earlier
from tests.oracle.test_earlier import make_world as make_begun
from tests.oracle.test_latest import make_rows as make_keyed
from tests.oracle.test_latest import make_world
from tests.oracle.test_sql_nulls import CATALOG
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_standing import compare, make_rows

KINDS = ("limit", "numbered", "latest", "on", "values", "extreme", "mean", "inside")


def make_query(random: Random, kind: str, key: tuple[str, ...]) -> Stacked:
    """A text, and what DuckDB reads: with the whole order, of rows that have a key."""
    rest = ["ts", *(c for c in key if c != "ts")] if key else []
    by = random.choice("abgh")
    down = random.choice([" DESC NULLS LAST", " NULLS FIRST"])
    shown = random.sample("abgh", k=random.randint(1, 3))
    part = random.choice("gh")
    names = tuple(f"c{n}" for n in range(len(shown)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(shown, names, strict=True))
    apart = " AND ".join(f"{c} IS NOT NULL" for c in key) or "TRUE"
    where = random.choice(["a > -5", "b < 4"])
    said, known = f"WHERE {where}", f"WHERE {where} AND {apart}"
    size = random.randint(1, 3)

    def order(of: str, *more: str) -> str:
        whole = [c for c in more or (rest or ["ts", *shown]) if c not in (of, *parts)]
        return ", ".join([f"{of}{down}", *(f"{c} ASC NULLS FIRST" for c in dict.fromkeys(whole))])

    parts: tuple[str, ...] = ()
    match kind:
        case "limit":
            ours = f"SELECT {listed} FROM s {said} ORDER BY {by}{down} LIMIT {size}"
            duck = f"SELECT {listed} FROM s {known} ORDER BY {order(by)} LIMIT {size}"
        case "numbered" | "latest":
            by, size = ("ts", 1) if kind == "latest" else (by, size)
            down = " DESC NULLS LAST" if kind == "latest" else down
            parts = (part,)
            text = "SELECT {c} FROM s {w} QUALIFY ROW_NUMBER() OVER (PARTITION BY {p} {o}) <= {n}"
            ours = text.format(c=listed, w=said, p=part, o=f"ORDER BY {by}{down}", n=size)
            duck = text.format(c=listed, w=known, p=part, o=f"ORDER BY {order(by)}", n=size)
        case "on":
            parts, by, down = (part,), "ts", " DESC NULLS LAST"
            ours = f"SELECT DISTINCT ON ({part}) {listed} FROM s {said} ORDER BY {part}, ts DESC"
            duck = f"SELECT {listed} FROM s {known} QUALIFY ROW_NUMBER() OVER (PARTITION BY {part} "
            duck += f"ORDER BY {order('ts')}) = 1"
        case "values" | "extreme":
            by, down = ("ts", " DESC NULLS LAST") if kind == "values" else (by, down)
            value = random.choice([c for c in "abgh" if c not in (by, part)])
            call = "ARG_MAX" if "DESC" in down else "ARG_MIN"
            ours = f"SELECT {part} AS c0, {call}({value}, {by}) AS c1 FROM s {said} GROUP BY {part}"
            parts, shown = (part,), [part, value]
            duck = f"SELECT {part} AS c0, {value} AS c1 FROM s {known} AND {value} IS NOT NULL AND "
            duck += f"{by} IS NOT NULL QUALIFY ROW_NUMBER() OVER (PARTITION BY {part} "
            duck += f"ORDER BY {order(by)}) = 1"
            names = ("c0", "c1")
        case _:
            calls = random.sample(["SUM(a)", "MIN(b)", "COUNT(*)", "MAX(g)"], k=2)
            listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(calls))
            used = [c for c in "abg" if any(f"({c})" in call for call in calls)]
            text = "SELECT {c} FROM (SELECT a, b, g, h, ROW_NUMBER() OVER (PARTITION BY h {o}) AS n"
            text += " FROM s {w}) AS x WHERE n <= {n}"
            parts = ("h",)
            if kind == "inside":
                text = "SELECT {c} FROM (SELECT a, b, g FROM s {w} {o} LIMIT {n}) AS x"
                parts = ()
            by = random.choice("abg")
            whole = order(by) if key else order(by, "ts", *used)
            ours = text.format(c=listed, o=f"ORDER BY {by}{down}", w=said, n=size)
            duck = text.format(c=listed, o=f"ORDER BY {whole}", w=known, n=size)
            names = ("c0", "c1")
    return Stacked(ours, duck, names)


def make_equal(random: Random) -> Tables:
    """Rows of which some are the same, at one time."""
    data = make_rows(random)
    columns, rows = data["s"]
    again = [row for row in rows if random.random() < 0.3]
    return {**data, "s": (columns, sorted([*rows, *again], key=lambda row: row[-1]))}


def check(seed: int, kind: str | None = None) -> None:
    random = Random(seed)
    catalog: Catalog
    key: tuple[str, ...]
    if random.random() < 0.5:
        catalog, key = make_world(random)
        data: Any = make_keyed(random, key)
        key = (*key, "ts")
    else:
        catalog, key, data = CATALOG, (), make_equal(random)
    query = make_query(random, kind or random.choice(KINDS), key)
    union = parse_sql(query.ours, catalog, name="q", file="q.sql")
    if not list_ties(union):
        assert key, query.ours  # what it is ordered and parted by is a key
    compare(query, union, random, catalog, {**data, "t": (data["t"][0], [])})


@budget(0.4)
@given(seed=SEEDS)
@example(seed=400067)  # the latest of a key that is not shown, and is NULL in a row
def test_equal_rows_follow_each_other_as_is_said(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("kind", KINDS)
@budget(0.1)
@given(seed=SEEDS)
def test_each_kind(kind: str, seed: int) -> None:
    check(seed, kind)


def check_before(seed: int) -> None:
    """Windows of so many rows, and of those before, whose order is not written whole."""
    random = Random(seed)
    text = tie = ""
    while not tie or tie not in text:
        catalog, key = make_begun(random)
        text, names, nulls = make_counted(random, key)
        tie = f", {', '.join(f'{c} ASC NULLS FIRST' for c in key)}"
    ours = ""
    for item in re.split(r"(?<= AS c\d)", text):
        call = item.removeprefix("SELECT ").removeprefix(", ")
        short = "ROWS BETWEEN" in call or call.startswith(("LAG(", "ROW_NUMBER("))
        ours += item.replace(tie, "") if short and "ARG_M" not in call else item
    union = parse_sql(ours, catalog, name="q", file="q.sql")
    query = Stacked(ours, ask_duck(text, key), tuple(names))
    nulls += list_null(text, catalog)
    compare_answers(random, query, nulls, union, (catalog, make_earlier(random, key)))


@budget(0.2)
@given(seed=SEEDS)
def test_rows_of_one_time_are_before_each_other_as_is_said(seed: int) -> None:
    check_before(seed)
