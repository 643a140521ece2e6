"""The rows with the first numbers of each key: how they are read, what is kept, what is refused."""

from dataclasses import replace

import pytest

from ontoweir.checker.decide.bound_changes import bound_changes
from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.aggregation import FirstRows, Numbering
from ontoweir.rewriter.model.spj import NullOutput
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.test_sql_nulls import CATALOG


def make_world(*keys: tuple[str, ...]) -> Catalog:
    stream = replace(CATALOG.streams["s"], keys=keys)
    return replace(CATALOG, streams={**CATALOG.streams, "s": stream})


WORLD = make_world(("h", "ts"))
BEST = "(PARTITION BY h ORDER BY b DESC, ts)"
NUMBERED = f"SELECT h, b, ROW_NUMBER() OVER {BEST} AS n FROM s"
UNTIED = NUMBERED.replace(", ts", "")
STARRED = f"SELECT *, ROW_NUMBER() OVER {BEST} AS a FROM s"
WINDOW = "ts > NOW() - INTERVAL '3' MICROSECOND"
RANKED = "SELECT h, b, RANK() OVER (PARTITION BY h ORDER BY b DESC) AS n FROM s"


def read(text: str, catalog: Catalog = WORLD) -> FirstRows:
    union = parse_sql(text, catalog, name="q", file="q.sql")
    assert union.standing is not None
    assert union.standing.first is not None
    return union.standing.first


@pytest.mark.parametrize(
    ("text", "limit", "number"),
    [
        (f"SELECT h, b FROM ({NUMBERED}) WHERE n <= 3", 3, None),
        (f"SELECT w.b AS v, w.n AS place FROM ({NUMBERED}) AS w WHERE w.n < 3", 2, "place"),
        (f"SELECT * FROM ({NUMBERED}) WHERE 3 >= n", 3, "n"),
        (f"WITH w AS ({NUMBERED}) SELECT b FROM w WHERE n = 1", 1, None),
        (f"SELECT b FROM s QUALIFY ROW_NUMBER() OVER {BEST} <= 5", 5, None),
        (f"SELECT b, ROW_NUMBER() OVER {BEST} AS n FROM s QUALIFY n <= 5", 5, "n"),
        (f"SELECT b FROM s WHERE a > 1 QUALIFY ROW_NUMBER() OVER {BEST} = 1", 1, None),
        ("SELECT DISTINCT ON (h) h, b FROM s ORDER BY h, b DESC, ts", 1, None),
    ],
)
def test_read(text: str, limit: int, number: str | None) -> None:
    first = read(text)
    assert (first.numbering, first.limit) == (Numbering.ROWS, limit)
    assert first.single == ("h", "ts")
    assert first.number == number
    assert [how for _, *how in first.order] == [[True, False], [False, True]]


INSIDE = f"({NUMBERED} WHERE {WINDOW})"
GREATER = "SELECT 1 FROM s AS y WHERE y.h = x.h AND y.b > x.b"

NO_GREATER = (
    f"SELECT x.h, x.b FROM s AS x WHERE x.{WINDOW} AND NOT EXISTS ({GREATER} AND y.{WINDOW})"
)


@pytest.mark.parametrize(
    ("text", "numbering"),
    [
        (f"SELECT h, b FROM ({NUMBERED} WHERE {WINDOW}) WHERE n <= 3", Numbering.ROWS),
        (f"SELECT b FROM s WHERE {WINDOW} QUALIFY ROW_NUMBER() OVER {BEST} = 1", Numbering.ROWS),
        (f"SELECT b FROM s WHERE {WINDOW} QUALIFY RANK() OVER (ORDER BY ts) <= 2", Numbering.RANKS),
        (f"SELECT b FROM s WHERE {WINDOW} ORDER BY b, ts, h LIMIT 2", Numbering.ROWS),
        (NO_GREATER, Numbering.RANKS),
        (f"SELECT h, COUNT(*) AS m FROM {INSIDE} AS w WHERE n <= 3 GROUP BY h", Numbering.ROWS),
    ],
)
def test_of_a_window_the_rows_that_it_shows_are_kept(text: str, numbering: Numbering) -> None:
    """Whatever the values are; a row is of one of the disjuncts that differ in what is NULL."""
    world = replace(
        WORLD, streams={**WORLD.streams, "s": replace(WORLD.streams["s"], max_per_timestamp=5)}
    )
    union = parse_sql(text, world, name="q", file="q.sql")
    assert union.standing is not None
    assert union.standing.first is not None
    assert union.standing.first.numbering is numbering
    verdict = check_query(union, world)
    assert verdict.tier is Tier.WINDOW_BOUNDED
    assert verdict.bound is not None
    assert verdict.bound.rows in (5 * 3, 3 * 3)  # or by the key, h and the time
    assert bound_changes(verdict, world) == verdict.bound


def test_another_window_of_what_is_greater_is_no_rank() -> None:
    longer = "y.ts > NOW() - INTERVAL '4' MICROSECOND"
    text = f"SELECT x.h, x.b FROM s AS x WHERE x.{WINDOW} AND NOT EXISTS ({GREATER} AND {longer})"
    assert parse_sql(text, WORLD, name="q", file="q.sql").standing is None


def test_groups_of_the_first_rows_have_no_row_without_a_key() -> None:
    """A row whose key may be NULL is not told apart: it is not shown, nor is a group of it."""
    text = f"SELECT h, COUNT(*) AS m FROM ({NUMBERED}) AS w WHERE n <= 3 GROUP BY h"
    union = parse_sql(text, WORLD, name="q", file="q.sql")
    assert not any(isinstance(o, NullOutput) for q in union.disjuncts for _, o in q.outputs[:1])


def test_the_latest_n_rows_are_the_first_by_time() -> None:
    window = "(PARTITION BY h ORDER BY ts DESC)"
    assert read(f"SELECT b FROM s QUALIFY ROW_NUMBER() OVER {window} <= 3").limit == 3
    union = parse_sql(
        f"SELECT h, b FROM s QUALIFY ROW_NUMBER() OVER {window} = 1",
        WORLD,
        name="q",
        file="q.sql",
    )
    assert union.standing is not None
    assert union.standing.first is None  # it is the latest row


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"SELECT b FROM ({NUMBERED}) WHERE n <= 3", 9),  # 3 of each of 3 values of h
        ("SELECT a FROM s QUALIFY ROW_NUMBER() OVER (ORDER BY b, ts, h) <= 4", 4),
        # of 3 keys and NULL: those before the last rank, and of this as many as differ
        (f"SELECT b FROM ({RANKED}) WHERE n <= 3", 2 * 4 + 4),
        (f"SELECT h FROM ({RANKED.replace('RANK', 'DENSE_RANK')}) WHERE n <= 3", 3 * 4),
        (f"SELECT g FROM ({RANKED.replace('b,', 'g,')}) WHERE n <= 1", 4 * 3),
        (f"SELECT f FROM ({RANKED.replace('b,', 'f,')}) WHERE n <= 1", None),
        ("SELECT b FROM s QUALIFY RANK() OVER (PARTITION BY f ORDER BY b) <= 2", "unbounded"),
    ],
)
def test_what_is_kept(text: str, rows: int | str | None) -> None:
    verdict = check_query(parse_sql(text, WORLD, name="q", file="q.sql"), WORLD)
    if not isinstance(rows, int):
        assert verdict.tier is Tier(rows or "undecided")
        return
    assert verdict.bound is not None
    assert verdict.bound.rows == rows


def test_a_key_of_the_whole_stream_is_a_condition() -> None:
    world = make_world(("a",))
    text = "SELECT b FROM s QUALIFY ROW_NUMBER() OVER (ORDER BY b DESC, a) <= 3"
    verdict = check_query(parse_sql(text, world, name="q", file="q.sql"), world)
    assert [c.text for c in verdict.conditions] == ["s has the key (a)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"SELECT h FROM ({NUMBERED} LIMIT 5) WHERE n <= 3", "besides a join"),
        (f"SELECT h FROM ({NUMBERED.replace('FROM s', 'FROM s, r')}) WHERE n <= 3", "besides a"),
        (f"SELECT n, n AS m FROM ({NUMBERED}) WHERE n <= 3", "twice"),
        (f"SELECT c FROM ({NUMBERED}) WHERE n <= 3", "the column 'c'"),
        (f"SELECT h AS n, n FROM ({NUMBERED}) WHERE n <= 3", "a second column called n"),
        (f"SELECT h FROM ({STARRED}) WHERE a < 3", "a second column called a"),
        (
            f"SELECT *, ROW_NUMBER() OVER {BEST} AS A FROM s QUALIFY A < 3",
            "the name of a number and of a column",
        ),
        (f"SELECT h FROM ({NUMBERED}) WHERE n <= 0", ""),
        (
            f"SELECT h FROM (SELECT DISTINCT h FROM s QUALIFY ROW_NUMBER() OVER {BEST} <= 3) AS w",
            "is outside",
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_sql(text, WORLD, name="q", file="q.sql")
    assert message in str(caught.value)


def test_equal_rows_follow_each_other_by_a_key() -> None:
    texts = [f"SELECT h FROM ({inner}) WHERE n <= 3" for inner in (NUMBERED, UNTIED)]
    whole, tied = (parse_sql(text, WORLD, name="q", file="q.sql") for text in texts)
    assert tied.standing == whole.standing
    assert whole.ties == ()
    (said,) = tied.ties
    assert said.endswith(" follow each other by s.ts")


def test_a_key_that_may_be_null_does_not_tell_rows_apart() -> None:
    stream = WORLD.streams["s"]
    columns = tuple(replace(c, nullable=c.name == "h") for c in stream.columns)
    world = replace(WORLD, streams={**WORLD.streams, "s": replace(stream, columns=columns)})
    assert read(f"SELECT b FROM ({NUMBERED}) WHERE n <= 3", world).single is None
