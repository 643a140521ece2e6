"""Groups of rows of a key that follow each other: by the hour in which each began that lasted until
the next, by numbers that rise where something changes, by differences of numbers; and windows of
them: every answer, replayed and live, as DuckDB has those that are over."""

from dataclasses import replace
from random import Random

from hypothesis import event, given

from ontoweir.errors import QueryError
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_earlier import _limit, compare_answers, make_rows
from tests.oracle.test_sql_nulls import CATALOG
from tests.oracle.test_stacked_queries import Stacked

KEYED = replace(
    CATALOG,
    streams={n: replace(s, keys=(("h", "ts"),)) for n, s in CATALOG.streams.items()},
)
BY = "PARTITION BY h ORDER BY ts"
LASTED = f"(SELECT *, LEAD(ts) OVER ({BY}) AS nxt FROM s WHERE h IS NOT NULL) AS x"
TOLD = "WHERE nxt IS NOT NULL"
CHANGES = (
    "CASE WHEN {0} IS DISTINCT FROM LAG({0}) OVER (" + BY + ") THEN 1 ELSE 0 END",
    "CASE WHEN LAG({0}) OVER (" + BY + ") = {0} THEN 0 ELSE 2 END",
    "CASE WHEN {0} = 'x' AND LAG({0}) OVER (" + BY + ") <> 'x' THEN 1 END",
)
CALLS = ("COUNT(*)", "SUM(a)", "MIN(a)", "MAX(b)", "AVG(b)", "COUNT(g)", "MIN(ts)", "MAX(ts)")


def make_runs(random: Random) -> tuple[str, str, str, str]:
    """Rows, what they are grouped by, with and without their key, and how DuckDB knows those that
    are given: all, or those with a row after them."""
    match random.randint(0, 4):
        case 0 | 1:
            width = random.choice([2, 3, 5])
            run = f"TIME_BUCKET(INTERVAL '{width}' MICROSECOND, ts)"
            return LASTED, run, "h", TOLD
        case 2 | 3:
            starts = random.choice(CHANGES).format("g")
            rows = f"(SELECT *, {starts} AS began FROM s WHERE h IS NOT NULL) AS y"
            total = random.choice(["SUM(began)", "SUM(COALESCE(began, 0))", "COUNT(began)"])
            inner = f"(SELECT *, {total} OVER ({BY}) AS n FROM {rows}) AS x"
            if random.random() < 0.5:
                return inner, "n", "h", ""
            told = "AND" not in starts  # or else g may change within a run
            return inner, "n, g" if told else "n", "h" if told else "h, g", ""
        case _:
            both = f"ROW_NUMBER() OVER ({BY}) - ROW_NUMBER() OVER ({BY.replace('h', 'h, g', 1)})"
            rows = "FROM s WHERE h IS NOT NULL AND g IS NOT NULL"
            return f"(SELECT *, {both} AS n {rows}) AS x", "n, g", "h", ""


def make_groups(random: Random) -> tuple[str, str, list[str], list[str]]:
    """A query, what DuckDB is asked, its columns, and those that may be NULL."""
    rows, run, key, told = make_runs(random)
    calls = random.sample(CALLS, k=random.randint(1, 3))
    calls = [f"ROUND({c}, 9)" if "AVG" in c else c for c in calls]  # DuckDB's, by windows or not
    if random.random() < 0.3:
        calls.append("COUNT(*) FILTER (WHERE a > 0)")
    if told and random.random() < 0.4:
        calls.append("ROUND(SUM(EXTRACT(EPOCH FROM nxt - ts)) * 1000000)")
    kept = random.choice(["", "", "a > -1", "b IS NOT NULL"])
    where = f" WHERE {kept}" if kept else ""
    having = random.choice(["", "", " HAVING COUNT(*) > 1", " HAVING MAX(a) >= 0"])
    shown = [*key.split(", "), *run.split(", g")[:1], *calls]
    listed = ", ".join(f"{made} AS c{n}" for n, made in enumerate(shown))
    names = [f"c{n}" for n in range(len(shown))]
    by = f"{run}, {key}" if random.random() < 0.5 else f"{key}, {run}"
    text = f"SELECT {listed} FROM {rows}{where} GROUP BY {by}{having}"
    duck_where = " AND ".join(filter(None, [kept, "nxt IS NOT NULL" if told else ""]))
    duck_where = f" WHERE {duck_where}" if duck_where else ""
    number = "nxt" if told else "ts"
    over = f"MAX({number}) < MAX(MAX({number})) OVER (PARTITION BY {key})"
    inner = f"{listed}, {over} AS past, {having[8:] or 'TRUE'} AS held"
    duck = f"SELECT {inner} FROM {rows}{duck_where} GROUP BY {by}"
    duck = f"SELECT {', '.join(names)} FROM ({duck}) AS w WHERE past AND held"
    if random.random() < 0.3 and (key, run[:3]) != ("h", "n, "):
        keys = len(key.split(", "))
        over = f"PARTITION BY {', '.join(names[:keys])} ORDER BY {names[keys]} NULLS FIRST"
        before = f"LAG({names[-1]}) OVER ({over})"
        text, duck = (f"SELECT *, {before} AS c9 FROM ({t}) AS z" for t in (text, duck))
        names = [*names, "c9"]
    return text, duck, names, names[1:]


def make_windows(random: Random) -> tuple[str, str, list[str], list[str]]:
    """As make_groups."""
    rows, run, key, told = make_runs(random)
    calls = random.sample(CALLS, k=random.randint(1, 2))
    frame = random.choice(["", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"])
    over = f"(PARTITION BY {key}, {run} ORDER BY ts{frame})"
    shown = [*key.split(", "), "ts", *(f"{c} OVER {over}" for c in calls)]
    listed = ", ".join(f"{made} AS c{n}" for n, made in enumerate(shown))
    names = [f"c{n}" for n in range(len(shown))]
    text = f"SELECT {listed} FROM {rows}"
    return text, f"{text} {told}", names, names[1:]


def check(seed: int, groups: bool) -> None:
    random = Random(seed)
    text, duck, names, nulls = (make_groups if groups else make_windows)(random)
    data = make_rows(random, ("h",))
    nullable = random.random() < 0.5
    streams = {n: _limit(s, data) for n, s in KEYED.streams.items()}
    if nullable:
        columns = {
            n: tuple(replace(c, nullable=c.name in "abg") for c in s.columns)
            for n, s in streams.items()
        }
        streams = {n: replace(s, columns=columns[n]) for n, s in streams.items()}
    else:
        fill = {"a": 0, "b": 1, "g": "y"}
        for name in ("s", "t"):
            heads, cells = data[name]
            data[name] = (
                heads,
                [
                    tuple(
                        fill.get(c, v) if v is None else v for c, v in zip(heads, row, strict=True)
                    )
                    for row in cells
                ],
            )
    catalog = replace(KEYED, streams=streams)
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:
        event(f"refused: {error.what[:80]}")
        return
    compare_answers(random, Stacked(text, duck, tuple(names)), nulls, union, (catalog, data))


@budget(0.8)
@given(seed=SEEDS)
def test_groups_of_runs(seed: int) -> None:
    check(seed, True)


@budget(0.4)
@given(seed=SEEDS)
def test_windows_of_runs(seed: int) -> None:
    check(seed, False)
