"""The first rows, and groups, of what is joined of groups of windows and of rows, by LIMIT, OFFSET,
QUALIFY and numbers that are shown: their changes and snapshots, replayed in ranges and live, as
DuckDB answers the same text at every time, with NOW() as that time."""

from random import Random

import pytest
from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text
from tests.oracle.test_composed_groups import COUNTED, LATER, LATEST, make_query
from tests.oracle.test_sql_nulls import CATALOG


def _draw_order(random: Random, names: tuple[str, ...], *, whole: bool) -> str:
    columns = list(names) if whole else random.sample(names, k=1)
    random.shuffle(columns)
    nulls = [f"{c}{random.choice(['', ' DESC'])} NULLS {{}}" for c in columns]
    return ", ".join(n.format(random.choice(["FIRST", "LAST"])) for n in nulls)


def make_first(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    text, names = make_query(random)
    kind, size = random.random(), random.choice([1, 1, 2, 3])
    if kind < 0.4:
        skip = random.choice(["", "", " OFFSET 1"])
        return f"{text} ORDER BY {_draw_order(random, names, whole=True)} LIMIT {size}{skip}", names
    rank = random.choice(["RANK()", "DENSE_RANK()", "ROW_NUMBER()"])
    order = _draw_order(random, names, whole=rank == "ROW_NUMBER()")
    by = random.choice(["", "", f"PARTITION BY {names[-1]} "])
    number = f"{rank} OVER ({by}ORDER BY {order})"
    if random.random() < 0.2:  # beside a register
        inner = f"SELECT {names[0]} AS c0 FROM ({text}) AS q QUALIFY {number} <= {size}"
        return f"SELECT p.c0, u.a AS c1 FROM ({inner}) AS p JOIN r AS u ON u.h = p.c0", ("c0", "c1")
    if kind < 0.6:
        return f"SELECT {', '.join(names)} FROM ({text}) AS q QUALIFY {number} <= {size}", names
    inner = f"SELECT {', '.join(names)}, {number} AS place FROM ({text}) AS q"
    more = random.choice(["", "", f" AND {names[0]} IS NOT NULL"])
    shown = (*names, "place") if random.random() < 0.5 else names[:1]
    limit = random.choice([f"place <= {size}", f"place <= {size}", "place >= 1"])
    if kind > 0.95:
        return inner, (*names, "place")
    return f"SELECT {', '.join(shown)} FROM ({inner}) AS p WHERE {limit}{more}", shown


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    text, names = make_first(random)
    return compare_text(text, names, random)


@budget(0.1)
@given(seed=SEEDS)
def test_the_first_of_what_is_joined_are_duckdbs(seed: int) -> None:
    event(check(seed))


JOINED = f"FROM {COUNTED} AS x JOIN {LATEST} AS l ON l.h = x.h"
SINGLE = [
    f"SELECT x.h AS c0, x.n AS c1 {JOINED} ORDER BY x.n DESC, x.h LIMIT 2",
    f"SELECT x.h AS c0, x.n AS c1 {JOINED} ORDER BY l.a, 1, 2 LIMIT 1",
    f"SELECT x.h AS c0, l.a AS c1 {JOINED} QUALIFY RANK() OVER (ORDER BY x.n DESC) = 1",
    f"SELECT x.n AS c0, COUNT(*) AS c1 {JOINED} GROUP BY x.n ORDER BY c1 DESC, c0 LIMIT 1",
    (
        f"SELECT t.h AS c0, t.a AS c1 FROM t JOIN {COUNTED} AS x ON x.h = t.h WHERE {LATER} "
        "ORDER BY t.a DESC NULLS LAST, t.h LIMIT 1 OFFSET 1"
    ),
]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT DISTINCT x.n AS c0 {JOINED} QUALIFY RANK() OVER (ORDER BY x.n DESC) <= 2",
        f"SELECT DISTINCT x.n AS c0, RANK() OVER (ORDER BY x.n DESC) AS c1 {JOINED}",
    ],
)
def test_rows_are_numbered_before_equal_ones_are_left_out(text: str) -> None:
    """The numbers of a SELECT DISTINCT are of all of its rows."""
    assert "refused" in compare_text(text, ("c0", "c1"), Random(0))


def test_distinct_rows_are_numbered_around_them() -> None:
    inner = f"SELECT DISTINCT x.n AS c0, l.a AS c1 {JOINED}"
    text = f"SELECT c0, c1 FROM ({inner}) AS q QUALIFY RANK() OVER (ORDER BY c0 DESC) <= 2"
    assert "refused" not in compare_text(text, ("c0", "c1"), Random(0))
    with pytest.raises(QueryError, match="DISTINCT rows that do not show"):
        parse_sql(f"{inner} ORDER BY l.b LIMIT 1", CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize("text", SINGLE)
def test_what_was_refused_is_duckdbs(text: str) -> None:
    assert "refused" not in compare_text(text, ("c0", "c1"), Random(len(text)))
