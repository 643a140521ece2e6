"""Rows of static relations beside which rows of streams are, or are not: their changes and
snapshots, replayed and live, as DuckDB answers the same text at every time from the first row on,
with NOW() as that time."""

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_changes import compare_changes
from tests.oracle.compare_told import compare_told, draw_data
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_windows_beside import At


def _us(n: int) -> str:
    return f"INTERVAL '{n}' MICROSECOND"


def _window(random: Random, alias: str) -> str:
    """A condition that rows of a stream are in a window; of some none."""
    if random.random() < 0.25:
        return ""
    return f" AND {alias}.ts {random.choice(['>', '>', '>='])} NOW() - {_us(random.randint(1, 4))}"


_TIES = [
    "y.h = x.h",
    "y.h = x.h AND y.a > x.a",
    "y.a = x.a",
    "y.h = x.h AND y.g = x.g",
    "y.a < x.a",
]


def _rows(random: Random) -> str:
    """The rows that are looked for."""
    tie, window = random.choice(_TIES), _window(random, "y")
    more = random.choice(["", "", " AND y.a > -2"])
    joined = ""
    if window and random.random() < 0.2:
        joined = " JOIN s AS z ON z.h = y.h AND z.ts < y.ts AND z.ts > NOW() - " + _us(3)
    return f"SELECT 1 FROM {random.choice('st')} AS y{joined} WHERE {tie}{window}{more}"


def _shown(random: Random) -> list[str]:
    return random.sample(["x.h", "x.a", "x.g"], k=random.choice([1, 1, 2, 3]))


def _mine(random: Random) -> str:
    return random.choice(["", "", " AND x.a > -2", " AND x.g IS NOT NULL"])


def _spell(word: str, rows: str, random: Random) -> str:
    """EXISTS or NOT EXISTS, at times compared with TRUE or FALSE."""
    if random.random() < 0.7:
        return f"{word} {rows}"
    there = ["= TRUE", "<> FALSE", "IS TRUE", "IS NOT FALSE", "IS NOT DISTINCT FROM TRUE"]
    none = ["= FALSE", "<> TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT DISTINCT FROM FALSE"]
    if word == "EXISTS":
        return f"(EXISTS {rows}) {random.choice(there)}"
    return f"(EXISTS {rows}) {random.choice(none)}"


def _beside(random: Random) -> tuple[str, int]:
    """EXISTS and NOT EXISTS, one or several."""
    columns = _shown(random)
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(columns))
    word = random.choice(["NOT EXISTS", "NOT EXISTS", "EXISTS"])
    conditions = [_spell(word, f"({_rows(random)})", random)]
    if word == "NOT EXISTS" and random.random() < 0.3:
        conditions.append(f"NOT EXISTS ({_rows(random)})")
    keyed = "x.h" in columns or all("y.h = x.h" in c for c in conditions)
    if word == "NOT EXISTS" and keyed and random.random() < 0.3:
        conditions.insert(random.randint(0, len(conditions)), f"EXISTS ({_rows(random)})")
    if random.random() < 0.15:
        columns, listed = [*columns, "1"], f"{listed}, 'one' AS c{len(columns)}"
    where = " AND ".join(conditions) + _mine(random)
    return f"SELECT {listed} FROM r AS x WHERE {where}", len(columns)


def _phrased(random: Random) -> tuple[str, int]:
    """SEMI and ANTI JOIN, IN and NOT IN, LEFT JOIN … IS NULL."""
    columns, stream = _shown(random), random.choice("st")
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(columns))
    tie, window, mine = random.choice(_TIES), _window(random, "y"), _mine(random)
    key = random.choice("ha")
    match random.randint(0, 2):
        case 0:
            kind = random.choice(["SEMI", "ANTI"])
            body = f"r AS x {kind} JOIN {stream} AS y ON {tie}{window} WHERE TRUE{mine}"
        case 1:
            word = random.choice(["NOT IN", "NOT IN", "IN"])
            rows = f"SELECT y.{key} FROM {stream} AS y WHERE y.g IS NOT NULL{window}"
            body = f"r AS x WHERE x.{key} {word} ({rows}){mine}"
            if random.random() < 0.3:
                said = random.choice(["= FALSE", "<> TRUE", "IS FALSE"])
                said = said if word == "NOT IN" else random.choice(["= TRUE", "IS TRUE"])
                body = f"r AS x WHERE (x.{key} IN ({rows})) {said}{mine}"
        case _:
            column = "h" if tie.startswith("y.h = x.h") and random.random() < 0.5 else "ts"
            body = f"r AS x LEFT JOIN {stream} AS y ON {tie}{window} WHERE y.{column} IS NULL{mine}"
    if random.random() < 0.3:  # by name
        rows = f"(SELECT h, a, g, ts FROM {stream} WHERE a IS NOT NULL)"
        if random.random() < 0.5:
            body = body.replace(f" {stream} AS y", f" {rows} AS y")
        else:
            body = body.replace(f" {stream} AS y", " held AS y")
            listed = f"WITH held AS {rows} SELECT {listed}"
            return f"{listed} FROM {body}".replace("WHERE TRUE AND", "WHERE"), len(columns)
    return f"SELECT {listed} FROM {body}".replace("WHERE TRUE AND", "WHERE"), len(columns)


def _set(random: Random) -> tuple[str, int]:
    """EXCEPT and INTERSECT ALL."""
    columns = random.sample("hag", k=random.choice([1, 1, 2]))
    listed = ", ".join(f"y.{c} AS {c}" for c in columns)
    first = f"SELECT {', '.join(columns)} FROM r"
    rows = f"SELECT {listed} FROM {random.choice('st')} AS y WHERE y.a > -3{_window(random, 'y')}"
    kind = random.choice(["EXCEPT", "EXCEPT ALL", "INTERSECT ALL"])
    names = ", ".join(f"{c} AS c{n}" for n, c in enumerate(columns))
    return f"{first.replace(', '.join(columns), names)} {kind} {rows}", len(columns)


def _left(random: Random) -> tuple[str, int]:
    """LEFT JOIN: rows, and groups."""
    on = f"{random.choice(_TIES)}{_window(random, 'y')}"
    where = random.choice(["", "", " WHERE x.a > -2"])
    body = f"r AS x LEFT JOIN {random.choice('st')} AS y ON {on}{where}"
    if random.random() < 0.35:
        columns = [*_shown(random), *random.sample(["y.a", "y.g", "y.h", "y.ts"], k=1)]
        rest = ""
    else:
        group = random.sample(["x.h", "x.g", "x.a"], k=random.choice([0, 1, 1, 2]))
        calls = ["COUNT(y.a)", "COUNT(y.ts)", "SUM(y.a)", "MAX(y.b)", "MIN(y.ts)", "MAX(x.a)"]
        calls += ["COUNT(DISTINCT y.g)", "SUM(CASE WHEN y.a > 0 THEN 1 ELSE 0 END)", "AVG(y.a)"]
        calls += ["COUNT(*) FILTER (WHERE y.g = 'x')", *(["COUNT(*)"] if "x.h" in group else [])]
        columns = [*group, *random.sample(calls, k=random.choice([1, 2, 3]))]
        rest = f" GROUP BY {', '.join(group)}" if group else ""
        if group and random.random() < 0.4:
            having = [
                "COUNT(y.a) < 2",
                "MAX(y.a) > 0",
                "COUNT(y.h) = 0",
                f"MAX(y.ts) {_old(random)}",
            ]
            having += [f"MAX(y.ts) IS NULL OR MAX(y.ts) {_old(random)}"]
            rest += f" HAVING {random.choice(having)}"
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(columns))
    return f"SELECT {listed} FROM {body}{rest}", len(columns)


def _count(random: Random) -> tuple[str, int]:
    """How many there are, or are not, and aggregates of their columns."""
    group = random.sample(["x.g", "x.a"], k=random.choice([0, 1, 1, 2]))
    word, rows = random.choice(["NOT EXISTS", "NOT EXISTS", "EXISTS"]), _rows(random)
    where = f"{word} ({rows}){_mine(random)}"
    if random.random() < 0.3:
        rows = f"SELECT y.h FROM s AS y WHERE y.g IS NOT NULL{_window(random, 'y')}"
        where = f"x.h NOT IN ({rows}){_mine(random)}"
    calls = ["COUNT(*)", "SUM(x.a)", "MAX(x.a)", "COUNT(DISTINCT x.g)", "COUNT(x.a)", "MIN(x.h)"]
    plain = random.random() < 0.5
    columns = [*group, *(["COUNT(*)"] if plain else random.sample(calls, k=random.randint(1, 3)))]
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(columns))
    rest = f" GROUP BY {', '.join(group)}" if group else ""
    rest += random.choice(["", " HAVING COUNT(*) > 1"]) if group else ""
    return f"SELECT {listed} FROM r AS x WHERE {where}{rest}", len(columns)


def _old(random: Random) -> str:
    return f"{random.choice(['<', '<', '<=', '>', '>='])} NOW() - {_us(random.randint(1, 4))}"


def _last(random: Random) -> tuple[str, int]:
    """Groups whose latest row is long ago."""
    group = random.choice(["y.h", "y.g", "y.h, y.g"])
    body = random.choice(["s AS y", "t AS y", "r AS x JOIN s AS y ON y.h = x.h"])
    calls = ["COUNT(*)", "SUM(y.a)", "MAX(y.ts)", "COUNT(y.b)", "MIN(y.a)", "COUNT(y.ts)"]
    columns = [*group.split(", "), *random.sample(calls, k=random.choice([0, 1, 2]))]
    more = random.choice(["", "", " AND COUNT(*) > 1", " AND MIN(y.a) < 2"])
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(columns))
    text = f"SELECT {listed} FROM {body} GROUP BY {group} HAVING MAX(y.ts) {_old(random)}{more}"
    return text, len(columns)


def check(seed: int) -> str:
    """One random query over random rows."""
    random = Random(seed)
    make = random.choice([_beside, _phrased, _set, _left, _left, _last, _count])
    (text, width), data = make(random), make_data(random)
    return f"{make.__name__}: {compare(random, text, width, data)}"


def compare(random: Random, text: str, width: int, data: Tables) -> str:
    """Assert that a query's changes are what DuckDB answers; what its verdict is."""
    query = Stacked(text, text, tuple(f"c{n}" for n in range(width)))
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    if verdict.plans is None:
        return str(verdict.tier)
    if verdict.tier is Tier.UNSATISFIABLE:
        return str(verdict.tier)
    case = Case(CATALOG, union, data, MARKERS)
    oracle = At(case)
    read = set(re.findall(r"(?:FROM|JOIN) ([st])\b", text))
    times = [row[-1] for n in read for row in data[n][1]]
    first, last = min(times, default=MARKERS), max(times, default=-1)
    expected = [oracle.holding(query, m) if m >= first else Counter() for m in range(MARKERS)]
    told = compare_changes(case, verdict, query, expected, last, random)
    return f"{verdict.tier}, answers: {told}"


@budget(0.1)
@given(seed=SEEDS)
def test_registers_equal_duckdb(seed: int) -> None:
    event(check(seed))


@pytest.mark.parametrize("column", ["h", "a"])
def test_not_in_of_null_is_unknown(column: str) -> None:
    """A row with NULL in the window, or NULL in the register beside any row: no answer."""
    data = dict(make_data(Random(1)))
    data["r"] = (data["r"][0], [(0, 1, "x"), (1, None, "y")])
    rest = (None, None)
    data["s"] = (
        data["s"][0],
        [(1, None, "x", None, *rest, 1), (1, None, "x", 0, *rest, 4), (1, None, "x", 1, *rest, 8)],
    )
    text = (
        f"SELECT x.h AS c0 FROM r AS x WHERE x.{column} NOT IN (SELECT y.h FROM s AS y WHERE "
        "y.a > -3 AND y.ts > NOW() - INTERVAL '3' MICROSECOND)"
    )
    assert "answers: True" in compare(Random(2), text, 1, data)


ASKED_AFTER = (
    "y.a IS NULL OR y.a > 0",
    "y.h IS NULL OR y.g = 'x'",
    "COALESCE(y.a, 1) > 0",
    "x.a > 0 OR y.a > 0",
    "(y.a > 0 AND y.g = 'x') IS NOT TRUE",
)
SHOWN_AFTER = (
    "SELECT x.h AS c0, y.a AS c1 FROM {} WHERE {}",
    "SELECT x.h AS c0, COUNT(y.h) AS c1 FROM {} WHERE {} GROUP BY x.h",
)


@pytest.mark.parametrize("said", ASKED_AFTER)
def test_what_where_says_of_partners_is_asked_after_the_join(said: str) -> None:
    """A row of the register whose partners do not meet it is no answer without one."""
    told = Counter[str]()
    for seed in range(4):
        random = Random(seed)
        catalog, data = draw_data(random)
        on = f"y.h = x.h AND y.ts > NOW() - {_us(random.randint(2, 4))}"
        text = random.choice(SHOWN_AFTER).format(f"r AS x LEFT JOIN s AS y ON {on}", said)
        union = parse_sql(text, catalog, name="q", file="q.sql")
        since = min((row[-1] for row in data["s"][1]), default=MARKERS)
        told[compare_told(random, text, ("c0", "c1"), union, (catalog, data), since)] += 1
    assert any("answers: True" in one for one in told), told
