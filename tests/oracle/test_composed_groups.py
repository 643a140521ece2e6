"""Groups of windows that are joined with each other and with rows, computed with, and grouped
again: their changes and snapshots, replayed in ranges and live, as DuckDB answers the same text at
every time, with NOW() as that time."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import event, given

from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.compare_told import compare_text, compare_told, draw_data, union_streams
from tests.oracle.test_sql_nulls import CATALOG


def _window(random: Random, alias: str) -> str:
    least, width = random.randint(1, 6), random.choice([2, 3, 4])
    made = f"{alias}.ts > NOW() - INTERVAL '{least}' MICROSECOND"
    if random.random() < 0.25:  # it begins later, or is on a grid
        now = random.choice(["NOW()", f"time_bucket(INTERVAL '{width}' MICROSECOND, NOW())"])
        made = f"{alias}.ts >= {now} - INTERVAL '{least + width}' MICROSECOND AND "
        made += f"{alias}.ts < {now} - INTERVAL '{random.choice([0, least])}' MICROSECOND"
    return made + random.choice(["", "", "", f" AND {alias}.a <> 1", f" AND {alias}.g = 'x'"])


def _draw_part(random: Random, alias: str) -> tuple[str, list[str], bool]:
    """An item of FROM, its columns that are numbers, and whether it has the column h."""
    table, kind = random.choice("st"), random.random()
    calls = ["COUNT(*)", "SUM(v.a)", "MAX(v.a)", "COUNT(v.g)", "COUNT(DISTINCT v.a)", "AVG(v.a)"]
    calls += ["MIN(v.b)", "SUM(v.b)"]
    if kind < 0.25:
        return (
            f"(SELECT h, a, b FROM {table} AS v WHERE {_window(random, 'v')}) AS {alias}",
            ["a"],
            True,
        )
    one, other = random.sample(calls, k=2)
    if kind < 0.4:
        text = f"SELECT {one} AS n, {other} AS m FROM {table} AS v WHERE {_window(random, 'v')}"
        return f"({text}) AS {alias}", ["n", "m"], False
    having = random.choice(["", "", "", " HAVING COUNT(*) > 1"])
    text = f"SELECT v.h, {one} AS n, {other} + 1 AS m FROM {table} AS v"
    text += f" WHERE {_window(random, 'v')} GROUP BY v.h{having}"
    return f"({text}) AS {alias}", ["n", "m"], True


def _draw_value(random: Random, numbers: Sequence[str]) -> str:
    one, other = random.choice(numbers), random.choice(numbers)
    kinds = [one, f"{one} - {other}", f"COALESCE({one}, 7)", f"{one} > {other}", f"{one} IS NULL"]
    kinds += [f"CASE WHEN {one} > 1 THEN {other} ELSE 0 END"]
    return random.choice(kinds)


def _draw_scalar(random: Random, keys: Sequence[str]) -> str:
    """A subquery that is a value."""
    calls = ["COUNT(*)", "SUM(w.a)", "MAX(w.a)", "AVG(w.b) - 1", "COUNT(w.g) + 1"]
    calls += [
        "COUNT(*) FILTER (WHERE w.a > 0)",
        "SUM(1)",
        "SUM(w.a) FILTER (WHERE w.a > 0) + COUNT(*)",
    ]
    call = random.choice(calls)
    where = _window(random, "w")
    if keys and random.random() < 0.6:
        where += f" AND w.h = {random.choice(keys)}"
    return f"(SELECT {call} FROM {random.choice('st')} AS w WHERE {where})"


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, perhaps around another one, and the names of its columns."""
    text, names = _make_inner(random)
    if random.random() > 0.25:
        return text, names
    one, more = names[0], random.choice(names)
    shown = random.choice(
        [f"COUNT(*) AS k, COUNT(q.{one}) AS l", f"q.{one} AS k, COUNT(q.{more}) AS l"]
    )
    group = f" GROUP BY q.{one}" if shown.startswith("q.") else ""
    where = random.choice(["", "", f" WHERE q.{more} IS NOT NULL"])
    return f"SELECT {shown} FROM ({text}) AS q{where}{group}", ("k", "l")


def _make_inner(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    first, numbers, keyed = _draw_part(random, "x")
    text, said = first, list[str]()
    columns = [f"x.{c}" for c in numbers]
    keys = ["x.h"] if keyed else []
    several = random.choice([0, 1, 1, 1, 2])
    if several and random.random() < 0.15:
        text, columns, keys = "r AS x", ["x.a"], ["x.h"]
    if several and random.random() < 0.25:
        text = f"{random.choice('st')} AS x"
        said.append(_window(random, "x"))
        columns, keys = ["x.a", "x.b"], ["x.h"]
    for alias in "yz"[:several]:
        item, numbers, keyed = _draw_part(random, alias)
        on = []
        if keyed and keys:
            on.append(f"{alias}.h = {random.choice(keys)}")
        if random.random() < 0.3:
            plus = random.choice(["", "", " + 1"])
            on.append(f"{alias}.{numbers[0]}{plus} {random.choice(['<', '>=', '<>'])} {columns[0]}")
        left = random.random() < 0.35
        if on or left:
            text += f" {'LEFT ' if left else ''}JOIN {item} ON {' AND '.join(on) or '1 = 1'}"
        else:
            text += f" CROSS JOIN {item}"
        columns += [f"{alias}.{c}" for c in numbers]
        keys += [f"{alias}.h"] if keyed else []
    if random.random() < 0.2:
        on = [f"u.h = {random.choice(keys)}"] if keys else ["u.a > 0"]
        on += [] if random.random() < 0.7 else [f"u.a <= {random.choice(columns)}"]
        text += f" {random.choice(['', '', 'LEFT '])}JOIN r AS u ON {' AND '.join(on)}"
        columns.append("u.a")
    if random.random() < 0.25:
        said.append(f"{random.choice(columns)} >= {_draw_scalar(random, keys)}")
    if random.random() < 0.4:
        one, other = random.choice(columns), random.choice(columns)
        said.append(
            random.choice([f"{one} > {other}", f"{one} + 1 > {other}", f"{one} IS NOT NULL"])
        )
    where = f" WHERE {' AND '.join(said)}" if said else ""
    if random.random() < 0.4:
        return _group(random, f"{text}{where}", columns, keys)
    shown = [_draw_value(random, columns) for _ in range(random.choice([1, 2]))]
    if random.random() < 0.2:
        shown.append(_draw_scalar(random, keys))
    shown += random.sample(keys, k=min(len(keys), random.choice([0, 1])))
    listed = ", ".join(f"{v} AS c{n}" for n, v in enumerate(shown))
    once = random.choice(["", "", "DISTINCT "])
    return f"SELECT {once}{listed} FROM {text}{where}", tuple(f"c{n}" for n in range(len(shown)))


def _group(
    random: Random, text: str, columns: Sequence[str], keys: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """A query of groups of joined rows."""
    one, value = random.choice(columns), _draw_value(random, columns)
    number = f"{one} - {random.choice(columns)}"
    calls = [
        "COUNT(*)",
        f"COUNT({one})",
        "SUM(1)",
        f"BOOL_OR({one} > 1)",
        f"SUM({one})",
        f"MAX({value})",
        f"AVG({number}) > 1.7",
    ]
    calls += [
        f"COUNT(DISTINCT {value})",
        f"SUM({number}) + COUNT(*)",
        f"COUNT(*) FILTER (WHERE {one} > 1)",
    ]
    chosen = random.sample(calls, k=random.choice([1, 2]))
    by = random.choice([*keys, f"{one} > 2", None]) if keys else random.choice([f"{one} > 2", None])
    shown = [*([] if by is None else [by]), *chosen]
    group = "" if by is None else f" GROUP BY {random.choice([by, '1', 'c0'])}"
    having = random.choice(["", "", " HAVING COUNT(*) > 1"])
    if random.random() < 0.25:
        scalar = _draw_scalar(random, [k for k in keys if k == by])
        shown.append(f"COUNT(*) - {scalar}")
        having = random.choice([having, f" HAVING COUNT(*) >= {scalar}"])
    listed = ", ".join(f"{v} AS c{n}" for n, v in enumerate(shown))
    return f"SELECT {listed} FROM {text}{group}{having}", tuple(f"c{n}" for n in range(len(shown)))


def check(seed: int) -> str:
    """One random query over random rows: what came of it."""
    random = Random(seed)
    return compare_text(*make_query(random), random)


@budget(0.1)
@given(seed=SEEDS)
def test_what_is_made_of_groups_is_duckdbs(seed: int) -> None:
    event(check(seed))


WITHIN = "s.ts > NOW() - INTERVAL '4' MICROSECOND"
BESIDE = f"FROM r LEFT JOIN s ON s.h = r.h AND {WITHIN}"
ABSENT = f"NOT EXISTS (SELECT 1 FROM s WHERE s.h = r.h AND s.a <= r.a AND {WITHIN})"
LATEST = "(SELECT h, a, b, g FROM s QUALIFY RANK() OVER (PARTITION BY h ORDER BY ts DESC) = 1)"
COUNTED = f"(SELECT h, COUNT(*) AS n FROM s WHERE {WITHIN} GROUP BY h)"
LATER = "t.ts > NOW() - INTERVAL '3' MICROSECOND"
OFTEN, MORE = f"SELECT s.h FROM s WHERE {WITHIN}", "HAVING COUNT(*) > 1"
OFTEN_OF_T = f"({OFTEN} AND s.h = t.h GROUP BY s.h {MORE})"
OF_T = f"(SELECT COUNT(*) FILTER (WHERE s.a > 0) + 1 FROM s WHERE s.h = t.h AND {WITHIN})"
OF_ALL = f"(SELECT MAX(s.a) FROM s WHERE {WITHIN})"
REGISTERED = f"FROM r LEFT JOIN {LATEST} AS l ON l.h = r.h"
SINGLE = [
    f"WITH x AS {COUNTED} SELECT h AS c0, n AS c1 FROM x WHERE n > (SELECT AVG(n) FROM x)",
    f"SELECT h AS c0, x.n + y.n AS c1 FROM {COUNTED} AS x JOIN {COUNTED} AS y USING (h)",
    f"SELECT h AS c0, x.n + y.n AS c1 FROM {COUNTED} AS x LEFT JOIN {COUNTED} AS y USING (h)",
    f"SELECT t.h AS c0, t.a AS c1 FROM t WHERE {LATER} AND t.h IN ({OFTEN} GROUP BY s.h {MORE})",
    f"SELECT t.h AS c0, COUNT(*) AS c1 FROM t WHERE {LATER} AND EXISTS {OFTEN_OF_T} GROUP BY t.h",
    f"SELECT t.h AS c0, t.a AS c1 FROM t WHERE {LATER} AND NOT EXISTS {OFTEN_OF_T}",
    f"SELECT r.h AS c0 FROM r WHERE NOT EXISTS ({OFTEN} AND s.h = r.h GROUP BY s.h {MORE})",
    f"SELECT t.h AS c0 FROM t WHERE {LATER} AND t.a IN (SELECT MAX(s.a) FROM s WHERE {WITHIN})",
    f"SELECT t.h AS c0, {OF_T} AS c1 FROM t WHERE {LATER}",
    f"SELECT t.h AS c0, SUM(t.a - {OF_ALL}) AS c1 FROM t WHERE {LATER} GROUP BY t.h",
    f"SELECT t.h AS c0, SUM(t.a - {OF_ALL}) - {OF_ALL} AS c1 FROM t WHERE {LATER} GROUP BY t.h",
    f"SELECT r.g AS c0, COUNT(*) AS c1 {BESIDE} GROUP BY r.g",
    f"SELECT r.h AS c0, SUM(r.a) AS c1 {BESIDE} GROUP BY r.h",
    f"SELECT r.h AS c0, MIN(COALESCE(s.a, 0)) AS c1 {BESIDE} GROUP BY r.h",
    f"SELECT r.h AS c0, COUNT_IF(NOT (s.a > 1 AND r.a > 0)) AS c1 {BESIDE} GROUP BY r.h",
    f"SELECT s.a AS c0, MAX(r.h) AS c1 {BESIDE} GROUP BY s.a",
    f"SELECT s.a + 1 AS c0, MAX(r.h) AS c1 {BESIDE} GROUP BY c0",
    f"SELECT DISTINCT r.h AS c0, s.a AS c1 {BESIDE}",
    f"SELECT DISTINCT r.g AS c0 FROM r WHERE {ABSENT}",
    f"SELECT MEDIAN(r.h) AS c0, COUNT(*) AS c1 FROM r WHERE {ABSENT}",
    f"SELECT r.h AS c0 FROM r LEFT JOIN {LATEST} AS l ON l.h = r.h AND l.a > 0",
    f"SELECT r.h AS c0, l.a AS c1 FROM r LEFT JOIN {LATEST} AS l ON l.a = r.a",
    f"SELECT r.h AS c0, l.a AS c1 {REGISTERED} LEFT JOIN {LATEST} AS m ON m.h = r.a",
    f"SELECT l.a AS c0, u.g AS c1 FROM {LATEST} AS l JOIN r AS u ON u.a = l.a",
    f"SELECT x.n AS c0, l.a AS c1 FROM {COUNTED} AS x JOIN {LATEST} AS l ON l.h = x.h",
    f"SELECT COUNT(*) AS c0, SUM(l.a) AS c1 FROM t JOIN {LATEST} AS l ON l.h = t.h WHERE {LATER}",
    f"SELECT x.h AS c0, x.n AS c1 FROM {COUNTED} AS x JOIN r AS u ON u.a = x.h",
    f"SELECT 1 AS c0 FROM (SELECT COUNT(*) AS n FROM s WHERE {WITHIN}) AS x",
    f"SELECT s.h AS c0, s.a - t.a AS c1 FROM s JOIN t ON t.h = s.h WHERE {WITHIN} AND {LATER}",
]


def check_text(text: str, seed: int) -> str:
    """A query over random rows: what came of it."""
    random = Random(seed)
    catalog, data = draw_data(random)
    catalog = replace(catalog, relations=CATALOG.relations)
    names = ("c0", "c1") if " AS c1" in text else ("c0",)
    union = parse_sql(text, catalog, name="q", file="q.sql")
    streams = union_streams(union)
    since = min((row[-1] for n in "st" if n in streams for row in data[n][1]), default=0)
    return compare_told(random, text, names, union, (catalog, data), since)


@pytest.mark.parametrize("text", SINGLE)
def test_what_was_refused_is_duckdbs(text: str) -> None:
    check_text(text, len(text))
