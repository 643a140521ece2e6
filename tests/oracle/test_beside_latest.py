"""The latest row of a stream beside each row of a register, in all phrasings: changes and
snapshots, replayed and live, as DuckDB answers the text at every time from the first row on."""

import re
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_changes import compare_changes
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_sql_nulls import CATALOG as PLAIN
from tests.oracle.test_sql_nulls import MARKERS, make_data
from tests.oracle.test_stacked_queries import Stacked
from tests.oracle.test_windows_beside import At

KEYED = {n: replace(s, keys=(("h", "ts"),)) for n, s in PLAIN.streams.items()}
CATALOG = replace(PLAIN, streams=KEYED)
LATEST = "QUALIFY ROW_NUMBER() OVER (PARTITION BY y.h ORDER BY y.ts DESC) = 1"
NUMBER = "ROW_NUMBER() OVER (PARTITION BY y.h ORDER BY y.ts DESC) AS n"
FORMS = (
    *("qualify", "number", "around", "with", "greatest", "own", "later", "join"),
    *("lateral", "numbered", "inside", "distinct", "right", "using"),
)


def make_rows(random: Random) -> Tables:
    """Few keys; of the register some twice, some without a key."""
    data = make_data(random)
    columns, rows = data["s"]
    seen: set[tuple[int, int]] = set()
    kept = []
    for row in rows * 3:
        cells = dict(zip(columns, row, strict=True))
        cells["h"], cells["ts"] = random.choice([0, 1, 2]), random.randrange(MARKERS)
        if (cells["h"], cells["ts"]) not in seen:
            seen.add((cells["h"], cells["ts"]))
            kept.append(tuple(cells[c] for c in columns))
    data["s"] = columns, sorted(kept, key=lambda row: row[-1])[: random.randint(1, 12)]
    keys = [k for k in (0, 1, 2, None, None) if random.random() < 0.8]
    data["r"] = (
        data["r"][0],
        [(k, random.choice([-1, 0, 1, None]), random.choice(["x", "y", None])) for k in keys],
    )
    return data


def make_from(random: Random, form: str) -> tuple[str, str, str]:
    """What is before SELECT, FROM, and what follows WHERE; the latest row is called l."""
    local = random.choice(["", "", "y.a > -2", "y.g = 'x'"])
    where, also = (f"{word} {local}" if local else "" for word in ("WHERE", "AND"))
    rows = f"(SELECT y.* FROM s y {where} {LATEST}) AS l"
    most = f"(SELECT MAX(z.ts) FROM s z WHERE z.h = {random.choice(['l.h', 'r.h'])})"
    match form:
        case "qualify":
            return "", f"r LEFT JOIN {rows} ON l.h = r.h", ""
        case "number":
            numbered = f"(SELECT y.h, y.a, y.g, y.b, y.ts, {NUMBER} FROM s y {where}) AS l"
            return "", f"r LEFT JOIN {numbered} ON l.h = r.h AND l.n = 1", ""
        case "around":
            numbered = f"(SELECT y.*, {NUMBER} FROM s y {where})"
            inner = f"SELECT h, a, g, b, ts FROM {numbered} WHERE n = 1"
            return "", f"r LEFT JOIN ({inner}) AS l ON r.h = l.h", ""
        case "with":
            return f"WITH l AS {rows[: -len(' AS l')]} ", "r LEFT JOIN l ON l.h = r.h", ""
        case "greatest":
            return "", f"r LEFT JOIN s l ON l.h = r.h AND l.ts = {most}", ""
        case "own":
            groups = f"(SELECT y.h, MAX(y.ts) AS m FROM s y {where} GROUP BY y.h) AS x"
            if local:
                return "", f"r LEFT JOIN {rows} ON l.h = r.h", ""
            on = "l.h = x.h AND l.ts = x.m"
            return "", f"r LEFT JOIN {groups} ON x.h = r.h LEFT JOIN s l ON {on}", ""
        case "later":
            more = "NOT EXISTS (SELECT 1 FROM s z WHERE z.h = l.h AND z.ts > l.ts)"
            return "", f"r LEFT JOIN s l ON l.h = r.h AND {more}", ""
        case "join":
            groups = "(SELECT h, MAX(ts) AS m FROM s GROUP BY h) AS x"
            on = "x.h = y.h AND x.m = y.ts"
            inner = f"SELECT y.h, y.a, y.g, y.b, y.ts FROM s y JOIN {groups} ON {on}"
            return "", f"r LEFT JOIN ({inner}) AS l ON l.h = r.h", ""
        case "lateral":
            inner = f"SELECT y.h, y.a, y.g, y.b, y.ts FROM s y WHERE y.h = r.h {also}"
            return "", f"r LEFT JOIN LATERAL ({inner} ORDER BY y.ts DESC LIMIT 1) AS l ON TRUE", ""
        case "numbered" | "inside" | "distinct":
            on = f"l.h = r.h {also.replace('y.', 'l.')}"
            return "", f"r LEFT JOIN s l ON {on}", form
        case "right":
            return "", f"{rows} RIGHT JOIN r ON l.h = r.h", ""
        case _:
            return "", f"r LEFT JOIN {rows} USING (h)", ""


def make_query(random: Random, form: str) -> tuple[str, int]:
    """A query, and how many columns it shows."""
    head, source, kind = make_from(random, form)
    shown = ["r.h", "r.a", "r.g", "l.a", "l.b", "l.g", "l.ts", "l.a + r.a", "COALESCE(l.a, 9)"]
    where = random.choice(["", "", "", " WHERE r.a > -1", " WHERE r.a IS NULL OR r.g = 'x'"])
    if not kind and random.random() < 0.4:
        where = random.choice(
            [" WHERE l.a IS NULL", " WHERE l.a > 0 OR l.h IS NULL", " WHERE l.a < r.a AND r.a > -1"]
        )
    rest = ""
    if not kind and random.random() < 0.35:
        group = random.sample(["r.g", "l.a", "r.a"], k=random.choice([1, 1, 2]))
        calls = random.sample(["COUNT(*)", "COUNT(l.a)", "SUM(l.a)", "MAX(l.b)"], k=2)
        columns, rest = [*group, *calls], f" GROUP BY {', '.join(group)}"
    else:
        columns = random.sample(shown, k=random.randint(1, 4))
    key = "r.h" if kind else ""
    columns = [key, *(c for c in columns if c != key)] if key else columns
    listed = ", ".join(f"{c} AS c{n}" for n, c in enumerate(columns))
    number = "ROW_NUMBER() OVER (PARTITION BY r.h ORDER BY l.ts DESC)"
    body = f" FROM {source}{where}"
    match kind:
        case "numbered":
            text = f"SELECT {listed}{body} QUALIFY {number} = 1"
        case "inside":
            names = ", ".join(f"c{n}" for n in range(len(columns)))
            listed = f"{listed}, {number} AS place"
            text = f"SELECT {names} FROM (SELECT {listed}{body}) AS x WHERE place = 1"
        case "distinct":
            text = f"SELECT DISTINCT ON (r.h) {listed}{body} ORDER BY r.h, l.ts DESC"
        case _:
            set_ = "DISTINCT " if not rest and random.random() < 0.15 else ""
            text = f"{head}SELECT {set_}{listed}{body}{rest}"
    return text, len(columns)


def compare(random: Random, text: str, width: int, data: Tables) -> str:
    """Assert that a query's changes are what DuckDB answers; what its verdict is."""
    query = Stacked(text, text, tuple(f"c{n}" for n in range(width)))
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    assert verdict.plans is not None, (text, verdict)
    case = Case(CATALOG, union, data, MARKERS)
    oracle = At(case)
    times = [row[-1] for row in data["s"][1]]
    first, last = min(times, default=MARKERS), max(times, default=-1)
    expected = [oracle.holding(query, m) if m >= first else Counter() for m in range(MARKERS)]
    told = compare_changes(case, verdict, query, expected, last, random)
    return f"{verdict.tier}, answers: {told}"


def check(seed: int) -> str:
    """One random query over random rows."""
    random = Random(seed)
    form = random.choice(FORMS)
    text, width = make_query(random, form)
    data = make_rows(random)
    if form in ("numbered", "inside", "distinct"):  # which number rows of no key as one
        columns, rows = data["r"]
        data["r"] = columns, [row for row in rows if row[0] is not None]
    return f"{form}: {compare(random, text, width, data)}"


def check_in_window(seed: int) -> str:
    """One random query of the latest rows in a window, over random rows."""
    random = Random(seed)
    form = random.choice(["qualify", "number", "around", "with", "right"])
    text, width = make_query(random, form)
    window = f"y.ts > NOW() - INTERVAL '{random.randint(1, 4)}' MICROSECOND"
    before, rows, after = text.partition("FROM s y")
    after = after.removeprefix(" ").removeprefix(" ")
    said = f" AND {after.removeprefix('WHERE ')}" if after.startswith("WHERE ") else f" {after}"
    text = f"{before}{rows} WHERE {window}{said}"
    try:
        return f"{form}: {compare(random, text, width, make_rows(random))}"
    except QueryError as refused:  # what is computed of both rows does not leave with one of them
        if "NOW() beside an expression of several rows" not in str(refused):
            raise
        return "refused"


@budget(0.06)
@given(seed=SEEDS)
def test_the_latest_row_in_a_window_beside_each_registered_one_equals_duckdb(seed: int) -> None:
    event(check_in_window(seed))


@budget(0.06)
@given(seed=SEEDS)
def test_the_latest_row_beside_each_registered_one_equals_duckdb(seed: int) -> None:
    event(check(seed))


NEVER = "NOT EXISTS (SELECT 1 FROM s y WHERE y.h = r.h{also})"
OF_ALL = "NOT EXISTS (SELECT 1 FROM s z WHERE z.h = s.h AND z.ts > s.ts{also})"
ASKED = {
    "union": (
        f"SELECT s.h AS c0, s.a AS c1 FROM s WHERE {OF_ALL.format(also='')} UNION ALL "
        f"SELECT r.h, NULL FROM r WHERE {NEVER.format(also='')}"
    ),
    "conditions": (
        "SELECT h AS c0, a AS c1 FROM s WHERE g = 'x' QUALIFY RANK() OVER (PARTITION BY h ORDER BY "
        "ts DESC) = 1 UNION ALL SELECT r.h, 0 FROM r LEFT JOIN s ON s.h = r.h AND s.g = 'x' "
        "WHERE s.h IS NULL AND r.a > -1"
    ),
    "values": (
        "SELECT r.h AS c0, (SELECT s.a FROM s WHERE s.h = r.h ORDER BY s.ts DESC LIMIT 1) AS c1, "
        "(SELECT s.b FROM s WHERE s.h = r.h ORDER BY s.ts DESC LIMIT 1) AS c2, "
        "(SELECT MAX(s.ts) FROM s WHERE s.h = r.h) AS c3 FROM r"
    ),
    "last": "SELECT r.h AS c0, (SELECT MAX(s.ts) FROM s WHERE s.h = r.h) AS c1 FROM r",
    "when": (
        "SELECT r.h AS c0, l.m AS c1 FROM r LEFT JOIN (SELECT h, MAX(ts) AS m FROM s GROUP BY h) l "
        "ON l.h = r.h"
    ),
    "chosen": (
        "SELECT r.h AS c0, ARG_MAX(s.a, s.ts) AS c1, MAX(s.ts) AS c2 FROM r LEFT JOIN s ON s.h = "
        "r.h AND s.a > -3 GROUP BY r.h"
    ),
    "in a window": (
        "SELECT h AS c0, a AS c1, ts AS c2, g AS c3, a + 1 AS c4 FROM s WHERE ts > NOW() - "
        "INTERVAL '4' MICROSECOND AND a > -3 QUALIFY ROW_NUMBER() OVER (PARTITION BY h ORDER BY "
        "ts DESC) = 1"
    ),
    "the first in a window": (
        "SELECT h AS c0, b AS c1, f AS c2, a AS c3 FROM s WHERE ts >= NOW() - INTERVAL '3' "
        "MICROSECOND QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts) = 1"
    ),
    "distinct in a window": (
        "SELECT DISTINCT ON (h) h AS c0, CASE WHEN g = 'x' THEN 1 ELSE a END AS c1 FROM s WHERE "
        "ts > NOW() - INTERVAL '4' MICROSECOND ORDER BY h, ts DESC"
    ),
    "the last value of groups": (
        "SELECT h AS c0, LAST(a ORDER BY ts) AS c1, FIRST(b ORDER BY ts) AS c2, COUNT(*) AS c3 "
        "FROM s WHERE ts > NOW() - INTERVAL '4' MICROSECOND GROUP BY h"
    ),
    "the first, inner": (
        "SELECT r.h AS c0, l.a AS c1 FROM r JOIN (SELECT h, a, ROW_NUMBER() OVER (PARTITION BY h "
        "ORDER BY a DESC, ts) AS n FROM s) l ON l.h = r.h AND l.n = 1"
    ),
    "inner": (
        "SELECT r.g AS c0, s.a AS c1 FROM r JOIN s ON s.h = r.h QUALIFY ROW_NUMBER() OVER "
        "(PARTITION BY r.h ORDER BY s.ts DESC) <= 2"
    ),
}


@pytest.mark.parametrize("name", list(ASKED))
def test_other_words_equal_duckdb(name: str) -> None:
    random = Random(name)
    data = make_rows(random)
    columns, rows = data["r"]
    data["r"] = columns, [row for row in rows if row[0] is not None]
    text = ASKED[name]
    compare(random, text, len(set(re.findall(r"AS (c\d)", text))), data)


OF_G = LATEST.replace("BY y.h", "BY y.g")
ROWS = f"(SELECT y.* FROM s y {LATEST})"
GROUPED = "FROM r LEFT JOIN s ON s.h = r.h GROUP BY r.h"
ALONE = f"SELECT s.h, s.a FROM s WHERE {OF_ALL.format(also='')}"
REFUSED = {
    "two times": (
        f"SELECT r.h, ARG_MAX(s.a, s.ts) AS a, MAX(s.ts) AS m {GROUPED}",
        "add s.a IS NOT NULL to ON",
    ),
    "other rows": (
        f"{ALONE} UNION ALL SELECT r.h, 0 FROM r WHERE {NEVER.format(also=' AND y.a > 0')}",
        "is never final",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_the_latest_row_of_the_key_is_refused(name: str) -> None:
    text, why = REFUSED[name]
    with pytest.raises(QueryError, match=why):
        parse_sql(text, CATALOG, name="q", file="q.sql")


def test_a_wide_row_is_one_disjunct() -> None:
    """NULL that is only shown is no case of its own."""
    text = f"SELECT r.*, l.* FROM r LEFT JOIN (SELECT y.* FROM s y {LATEST}) AS l ON l.h = r.h"
    assert len(parse_sql(text, CATALOG, name="q", file="q.sql").disjuncts) == 2
