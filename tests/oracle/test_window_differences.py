"""Rows of windows less those of others, and beside which those of others are, or are not: their
changes and snapshots, replayed and live, as DuckDB answers the same text at every time, with NOW()
as that time."""

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Bounded, Tier, Verdict
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_changes import compare_changes
from tests.oracle.compare_told import fill_nulls
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_windows_beside import At


def _us(n: int) -> str:
    return f"INTERVAL '{n}' MICROSECOND"


def _window(random: Random, alias: str) -> str:
    if random.random() < 0.04:
        return (
            f"{alias}.ts <= NOW() - {_us(random.randint(1, 2))} AND {alias}.ts > NOW() - {_us(5)}"
        )
    return f"{alias}.ts > NOW() - {_us(random.randint(1, 4))}"


def _side(random: Random, columns: list[str]) -> str:
    """The rows of one table, or of two, in windows."""
    table = random.choice("st")
    shown = ", ".join(f"x.{c} AS {c}" for c in columns)
    window, more = _window(random, "x"), random.choice(["", "", " AND x.a > -2"])
    if random.random() < 0.7:
        return f"SELECT {shown} FROM {table} AS x WHERE {window}{more}"
    on = random.choice(["y.h = x.h", "y.a > x.a AND y.ts > x.ts", "y.g = x.g AND y.ts <= x.ts"])
    also = f" AND {_window(random, 'y')}" if random.random() < 0.6 else ""
    other = random.choice("st")
    return f"SELECT {shown} FROM {table} AS x JOIN {other} AS y ON {on} WHERE {window}{also}{more}"


def _set(random: Random) -> tuple[str, list[str]]:
    columns = random.sample(["h", "a", "g", "b"], k=random.choice([1, 1, 2]))
    first, other = _side(random, columns), _side(random, columns)
    if random.random() < 0.3:
        first = f"({first} UNION ALL {_side(random, columns)})"
    kind = random.choice(["EXCEPT ALL", "EXCEPT ALL", "EXCEPT", "INTERSECT ALL"])
    text = f"{first} {kind} {other}"
    if kind == "EXCEPT ALL" and random.random() < 0.3:
        text += f" EXCEPT ALL {_side(random, columns)}"
    return text, columns


def _joined(random: Random) -> tuple[str, list[str]]:
    """A difference as a table, by itself or joined with others."""
    columns = random.sample(["h", "a", "g"], k=random.choice([1, 2, 2]))
    tie = random.choice(list(columns))
    first, other = _side(random, columns), _side(random, columns)
    if random.random() < 0.3:
        first = f"({first} UNION ALL {_side(random, columns)})"
    rows = f"({first} EXCEPT ALL {other}) AS d"
    shown = [f"d.{c}" for c in random.sample(columns, k=random.randint(1, len(columns)))]
    more = random.choice(["", "", " AND d.h > 0"]) if "h" in columns else ""
    where = " WHERE TRUE" + more
    if random.random() < 0.7:
        table = random.choice(["s", "t", "t", "r"])
        tie = random.choice([c for c in columns if table != "r" or c in "hag"])
        shown += random.choice([[], ["z.a"], ["z.g"]])
        rows = random.choice([f"{rows} JOIN {table} AS z", f"{table} AS z JOIN {rows}"])
        every = random.random() < 0.4 and (table != "r" or "b" not in columns)
        ties = [f"z.{c} = d.{c}" for c in columns]
        rows += f" ON z.{tie} {random.choice(['=', '=', '<>'])} d.{tie}"
        rows += f" AND {' AND '.join(ties)}" if every else ""
        if every and random.random() < 0.7:
            shown = [c for c in shown if c.startswith("d.")]
            rows = rows.replace(" <> ", " = ")
        if table != "r" and random.random() < 0.7:
            where += f" AND {_window(random, 'z')}"
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
    return f"SELECT {listed} FROM {rows}{where}", [f"c{n}" for n in range(len(shown))]


def _beside(random: Random) -> tuple[str, list[str]]:
    table, other = random.choice("st"), random.choice("st")
    ties = ["y.h = x.h", "y.h = x.h AND y.g = x.g", "y.a > x.a", "y.h = x.h AND y.ts > x.ts"]
    tie = random.choice([*ties, "y.ts = x.ts AND y.a <> x.a", "y.a = x.h"])
    rows = f"{other} AS y"
    if random.random() < 0.3:
        rows += " JOIN s AS z ON z.h = y.h AND y.ts < z.ts AND " + _window(random, "z")
    word = random.choice(["NOT EXISTS", "NOT EXISTS", "EXISTS"])
    columns = random.sample(["h", "a", "g"], k=random.choice([1, 1, 2]))
    listed = ", ".join(f"x.{c} AS {c}" for c in columns)
    once = random.choice(["", "", "", "DISTINCT "])
    mine = random.choice(["", "", " AND x.a > -2"])
    if random.random() < 0.15:
        key = random.choice("ha")
        found = f"SELECT y.{random.choice(['h', key])} FROM {rows} WHERE {_window(random, 'y')}"
        window = _window(random, "x")
        text = f"SELECT {once}{listed} FROM {table} AS x WHERE {window}{mine}"
        return f"{text} AND x.{key} IN ({found})", columns
    return (
        f"SELECT {once}{listed} FROM {table} AS x WHERE {_window(random, 'x')}{mine} AND {word} "
        f"(SELECT 1 FROM {rows} WHERE {tie} AND {_window(random, 'y')})"
    ), columns


def _several(random: Random) -> tuple[str, list[str]]:
    """NOT EXISTS and EXISTS of several kinds of rows; NOT IN, which knows NULL."""
    columns = random.sample(["h", "a", "g"], k=random.choice([1, 2, 3]))
    listed = ", ".join(f"x.{c} AS {c}" for c in columns)
    alone = [f"y.{c} = x.{c}" for c in columns if c != "g"] or ["y.g = x.g"]
    once = random.choice(["", "", "", "DISTINCT "])
    ties = alone if once else [*alone, "y.h = x.h", "y.a > x.a", "y.h = x.h AND y.ts > x.ts"]
    said = list[str]()
    for _ in range(random.choice([1, 2, 2, 3])):
        key, other = random.choice(columns if once else "ha"), random.choice("st")
        window = _window(random, "y")
        if random.random() < 0.4 and key != "g":
            mine = random.choice(["", " AND y.g = 'x'"])
            found = f"SELECT y.{random.choice(['h', key])} FROM {other} AS y WHERE {window}{mine}"
            said.append(f"x.{key} NOT IN ({found})")
            continue
        word = random.choice(["EXISTS", "NOT EXISTS", "NOT EXISTS"])
        more = random.choice(["", "", " AND y.a > -2"])
        rows = f"SELECT 1 FROM {other} AS y WHERE {random.choice(ties)} AND {window}{more}"
        said.append(f"{word} ({rows})")
    random.shuffle(said)
    table, where = random.choice("st"), " AND ".join(said)
    text = f"SELECT {once}{listed} FROM {table} AS x WHERE {_window(random, 'x')} AND {where}"
    return text, columns


def _around(random: Random) -> tuple[str, list[str]]:
    """Groups of rows beside which others are, or are not."""
    text, _ = _several(random)
    _, _, body = text.partition(" FROM ")
    group = random.sample(["x.h", "x.a", "x.g"], k=random.choice([0, 1, 1, 2]))
    calls = [
        "COUNT(*)",
        "COUNT(x.a)",
        "SUM(x.a + 1)",
        "MAX(x.h)",
        "MIN(x.b)",
        "COUNT(DISTINCT x.g)",
    ]
    shown = [*group, *random.sample(calls, k=random.choice([1, 2, 3]))]
    having = random.choice(["", "", " HAVING COUNT(*) < 3", " HAVING MAX(x.a) > 0"])
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
    by = f" GROUP BY {', '.join(group)}" if group else ""
    return f"SELECT {listed} FROM {body}{by}{having}", [f"c{n}" for n in range(len(shown))]


def _latest(random: Random) -> tuple[str, list[str]]:
    """Rows of a window with the latest row of their key, which later ones replace."""
    shown = random.sample(["x.h", "x.a", "l.a", "l.g"], k=2)
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(shown))
    inner = random.choice(["", "", " WHERE a > -2"])
    more = random.choice(["", "", " AND l.a > x.a", " AND x.a > -2", " AND l.a < 2"])
    number = "ROW_NUMBER() OVER (PARTITION BY h ORDER BY ts DESC)"
    rows = random.choice(
        [
            f"SELECT h, a, g FROM t{inner} QUALIFY {number} = 1",
            f"SELECT h, a, g FROM (SELECT h, a, g, {number} AS n FROM t{inner}) AS w WHERE n = 1",
        ]
    )
    once = random.choice(["", "", "DISTINCT "])
    return (
        f"SELECT {once}{listed} FROM {random.choice('st')} AS x JOIN ({rows}) AS l ON l.h = x.h "
        f"WHERE {_window(random, 'x')}{more}"
    ), ["c0", "c1"]


def _keyed(data: Tables) -> Tables:
    """The rows, of which one at a time has a key."""
    made = dict(data)
    for name in ("s", "t"):
        columns, rows = data[name]
        h, ts = columns.index("h"), columns.index("ts")
        first = {(r[h], r[ts]): r for r in reversed(rows) if r[h] is not None}
        made[name] = (columns, sorted(first.values(), key=lambda r: r[ts]))
    return made


_KEYED = replace(
    CATALOG, streams={n: replace(s, keys=(("h", "ts"),)) for n, s in CATALOG.streams.items()}
)


def check(seed: int) -> str:
    """One random query over random rows."""
    random = Random(seed)
    make = random.choice([_set, _beside, _several, _latest])
    (text, columns), data, catalog = make(random), make_data(random), CATALOG
    if make is _latest:
        data, catalog = _keyed(data), _KEYED
    if random.random() < 0.5:  # of what is selected, rows with NULL are none, if not declared so
        return compare(random, text, columns, fill_nulls(data), catalog)
    null = {
        n: replace(s, columns=tuple(replace(c, nullable=True) for c in s.columns))
        for n, s in catalog.streams.items()
    }
    return compare(random, text, columns, data, replace(catalog, streams=null))


@budget(0.05)
@given(seed=SEEDS)
def test_several_beside_equal_duckdb(seed: int) -> None:
    random = Random(seed)
    text, columns = _several(random)
    event(compare(random, text, columns, make_data(random), CATALOG))


@budget(0.05)
@given(seed=SEEDS)
def test_groups_of_rows_beside_others_equal_duckdb(seed: int) -> None:
    random = Random(seed)
    text, columns = _around(random)
    event(compare(random, text, columns, make_data(random), CATALOG))


def compare(random: Random, text: str, columns: list[str], data: Tables, catalog: Catalog) -> str:
    """Assert that a query's changes are what DuckDB answers; what its verdict is."""
    query = Stacked(text, text, tuple(columns))
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        # what is compared is not shown; or rows of one side alone begin later
        if "DISTINCT" not in text and "has no delay" not in str(error):
            raise
        return "refused"
    verdict = check_query(union, catalog)
    assert verdict.plans is not None, text
    if verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    case = Case(catalog, union, data, MARKERS)
    oracle = At(case)
    expected = [oracle.holding(query, m) for m in range(MARKERS)]
    null = all(c.nullable for s in catalog.streams.values() for c in s.columns)
    if union.aggregation is None and union.joined is None and not null:
        # a join, whose rows with NULL are not shown
        expected = [Counter({r: n for r, n in e.items() if None not in r}) for e in expected]
    read = _list_read(verdict, text)
    if union.aggregation is not None and not union.aggregation.told.group:
        first = min(
            (row[-1] for n in tables_of(union) if n in "st" for row in data[n][1]), default=9
        )
        expected = [e if m >= first else Counter() for m, e in enumerate(expected)]
    last = max((row[-1] for n in read for row in data[n][1]), default=-1)
    told = compare_changes(case, verdict, query, expected, last, random)
    return f"{verdict.tier}, answers: {told}"


def _list_read(verdict: Verdict, text: str) -> set[str]:
    """The streams of the parts that may have rows; of rows that have met others, both."""
    if verdict.union.blocks:
        return {"s", "t"} if " s AS x" in text else {"t"}
    if verdict.union.joined is not None:
        return {o.table for d in verdict.union.disjuncts for o in d.occurrences} - {"r"}
    decided = (d for p in verdict.parts for d in p.disjuncts if isinstance(d, Bounded))
    return {o.table for d in decided for o in d.query.occurrences} - {"r"}


@budget(0.1)
@given(seed=SEEDS)
def test_joins_with_differences_equal_duckdb(seed: int) -> None:
    random = Random(seed)
    text, columns = _joined(random)
    event(compare(random, text, columns, make_data(random), CATALOG))


@budget(0.1)
@given(seed=SEEDS)
def test_differences_of_windows_equal_duckdb(seed: int) -> None:
    event(check(seed))


def test_what_is_null_equals_nothing() -> None:
    """A row whose key is NULL is beside none, though both are in one group."""
    text = (
        "SELECT x.h AS h FROM s AS x WHERE x.ts > NOW() - INTERVAL '9' MICROSECOND AND NOT EXISTS "
        "(SELECT 1 FROM t AS y WHERE y.h = x.h AND y.ts > NOW() - INTERVAL '9' MICROSECOND)"
    )
    random = Random(3)
    data = dict(make_data(random))
    rest = (None, None, 1)
    data["s"] = (data["s"][0], [(1, None, "x", None, *rest), (1, None, "x", 2, *rest)])
    data["t"] = (data["t"][0], [(1, None, "x", None, 2), (1, None, "x", 2, 2)])
    assert "answers: True" in compare(random, text, ["h"], data, CATALOG)


def test_a_value_that_is_grouped_by_and_aggregated() -> None:
    """Columns that are always equal are one value of the rows that are grouped."""
    held = "x.ts > NOW() - INTERVAL '5' MICROSECOND AND y.ts > NOW() - INTERVAL '5' MICROSECOND"
    absent = "NOT EXISTS (SELECT 1 FROM t AS z WHERE z.ts > NOW() - INTERVAL '2' MICROSECOND)"
    rows = f"FROM s AS x JOIN s AS y ON y.h = x.h WHERE {held} AND {absent}"
    text = f"SELECT y.h AS c0, MAX(x.h) AS c1, COUNT(x.h) AS c2 {rows} GROUP BY y.h"
    random = Random(4)
    told = compare(random, text, ["c0", "c1", "c2"], make_data(random), CATALOG)
    assert "answers: True" in told
    twice = f"SELECT x.h AS c0, y.h AS c1, COUNT(*) AS c2 {rows} GROUP BY x.h, y.h"
    told = compare(random, twice, ["c0", "c1", "c2"], make_data(Random(4)), CATALOG)
    assert "answers: True" in told
