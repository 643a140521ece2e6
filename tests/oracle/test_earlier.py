"""ASOF JOIN, LAG and moving aggregates: every answer, replayed and live, as DuckDB has it."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case, Tables
from tests.oracle.test_absence import Finals
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Stacked, count, make_job, run_live
from tests.runtime.in_process import replay_here, store

Maker = Callable[[Random, tuple[str, ...]], tuple[str, list[str], list[str]]]
HELD = "abgh"
_CONDITIONS = ("{0}.a > -2", "{0}.h IN (0, 1)", "{0}.g = 'x' OR {0}.b > 0", "{0}.a + {0}.h > 0")

_NO_VALUE = ("which may be NULL", "of which no condition says that it has a value")


def make_world(random: Random) -> tuple[Catalog, tuple[str, ...]]:
    """A catalog whose streams have one row of a key at a time."""
    key = tuple(random.sample("hga", k=random.choice([1, 1, 2])))
    null = random.sample([c for c in HELD if c not in key], k=random.choice([0, 0, 1, 2]))
    streams = {
        name: replace(
            stream,
            keys=((*key, "ts"),),
            columns=tuple(replace(c, nullable=c.name in null) for c in stream.columns),
        )
        for name, stream in CATALOG.streams.items()
    }
    return replace(CATALOG, streams=streams), key


def make_rows(random: Random, key: tuple[str, ...]) -> Tables:
    """Data of few keys, some of them NULL."""
    data: Tables = make_data(random)
    few: dict[str, list[Any]] = {"h": [0, 1, None], "g": ["x", "y", None], "a": [-1, 0, None]}
    for name in ("s", "t"):
        columns, rows = data[name]
        seen, kept = set(), []
        for row in random.sample(rows * 3, k=min(len(rows) * 3, 20)):
            cells = dict(zip(columns, row, strict=True))
            cells |= {c: random.choices(few[c], [6, 6, 1])[0] for c in key}
            cells["ts"] = random.randrange(MARKERS)
            at = tuple(cells[c] for c in (*key, "ts"))
            if at not in seen:
                seen.add(at)
                kept.append(tuple(cells[c] for c in columns))
        data[name] = columns, sorted(kept, key=lambda row: row[-1])
    return data


def make_asof(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """A query, its columns, and those that may be NULL."""
    left = random.random() < 0.5
    right = "t AS y"
    if random.random() < 0.4:
        right = f"(SELECT * FROM t WHERE {random.choice(_CONDITIONS).format('t')}) AS y"
    if random.random() < 0.2:
        right = "s AS y"
    equal = [f"x.{c} = y.{c}" for c in key]
    equal.append(random.choice(["x.ts >= y.ts", "x.ts > y.ts", "y.ts <= x.ts", "y.ts < x.ts"]))
    random.shuffle(equal)
    shown = [f"x.{c}" for c in (*HELD, "ts")] + [f"y.{c}" for c in HELD]
    shown = random.sample(shown, k=random.randint(2, 5))
    if left and random.random() < 0.4:
        shown.append("y.ts")
    if random.random() < 0.3:
        shown.append(random.choice(["x.a - y.a", "y.h * 2", "COALESCE(y.g, 'none')"]))
    where = random.choice(["", "", f" WHERE {random.choice(_CONDITIONS).format('x')}"])
    if random.random() < 0.2:
        where = f" WHERE {random.choice(_CONDITIONS).format('y')}"
    kind = "ASOF LEFT JOIN" if left else "ASOF JOIN"
    listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown))
    distinct = random.choice(["", "", "", "DISTINCT "])
    text = f"SELECT {distinct}{listed} FROM s AS x {kind} {right} ON {' AND '.join(equal)}{where}"
    nulls = [f"c{i}" for i, c in enumerate(shown) if (left and "y." in c) or "(" in c]
    return text, [f"c{i}" for i in range(len(shown))], nulls


def make_lag(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """As make_asof."""
    window = f"(PARTITION BY {', '.join(key)} ORDER BY ts)"
    values = ["a", "b", "g", "h", "ts", "a + h"]
    lags = [f"LAG({v}) OVER {window}" for v in random.sample(values, k=random.randint(1, 2))]
    lags.append(f"a - LAG(a) OVER {window}")
    lags.append(f"LAG(h, 1, 7) OVER {window}")
    lags = random.sample(lags, k=random.randint(1, 2))
    shown = [*random.sample([*HELD, "ts"], k=random.randint(1, 3)), *lags]
    listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown))
    there = " AND ".join(f"{c} IS NOT NULL" for c in key)
    where = random.choice(["", f" AND ({random.choice(_CONDITIONS).format('s')})"])
    text = f"SELECT {listed} FROM s WHERE {there}{where}"
    names = [f"c{i}" for i in range(len(shown))]
    if random.random() < 0.3:
        text = f"{text.replace(' FROM s WHERE', ' FROM s AS z WHERE')}"
        text = text.replace("s.", "z.") if "s." in text else text
        text = text.replace("PARTITION BY ", "PARTITION BY z.").replace("BY ts)", "BY z.ts)")
    if random.random() < 0.3:
        outer = random.choice(["c0 IS NOT NULL", f"{names[-1]} IS NOT NULL"])
        text = f"SELECT * FROM ({text}) AS w WHERE {outer}"
    return text, names, [n for n, c in zip(names, shown, strict=True) if "LAG" in c]


def make_moving(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """As make_asof: windows that end with the row."""
    first, last = random.choice([(0, 0), (1, 0), (2, 0), (5, 0), (1, 1), (5, 1), (5, 3)])
    ends = [f"INTERVAL '{n}' MICROSECOND PRECEDING" if n else "CURRENT ROW" for n in (first, last)]
    by = f"PARTITION BY {', '.join(key)} " if random.random() < 0.7 else ""
    window = f"({by}ORDER BY ts RANGE BETWEEN {ends[0]} AND {ends[1]})"
    calls = ["COUNT(*)", "SUM(a)", "AVG(b)", "MAX(h)", "MIN(a + h)", "COUNT(g)"]
    chosen = [f"{c} OVER {window}" for c in random.sample(calls, k=random.randint(1, 2))]
    if random.random() < 0.4:
        chosen.append(f"a - MIN(a) OVER {window}")
    if random.random() < 0.4:
        chosen.append(f"{make_spread(random)} OVER {window}, 9)")
    plain = [*HELD, "ts", "a + h"]
    shown = [*random.sample(plain, k=random.randint(0, 3)), *chosen]
    random.shuffle(shown)
    there = " AND ".join(f"{c} IS NOT NULL" for c in key)
    where = random.choice(["", f" AND ({random.choice(_CONDITIONS).format('s')})"])
    listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown))
    text = f"SELECT {listed} FROM s WHERE {there}{where}"
    if random.random() < 0.2:
        text += f" QUALIFY h < COUNT(*) OVER {window}"
    names = [f"c{i}" for i in range(len(shown))]
    return text, names, [n for n, c in zip(names, shown, strict=True) if "OVER" in c]


def make_spread(random: Random) -> str:
    """The beginning of a spread, to some digits: DuckDB's is not the nearest double to it."""
    call = random.choice(["VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV", "STDDEV_POP"])
    return f"ROUND({call}({random.choice(['a', 'b', 'h', 'a + h'])})"


def make_moving_joins(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """As make_asof: windows over the matches of a stream with a static relation, or of different
    values; they end with the row."""
    first = random.choice([0, 1, 2, 5])
    begin = f"INTERVAL '{first}' MICROSECOND PRECEDING" if first else "CURRENT ROW"
    joined = random.random() < 0.6
    of = "s." if joined else ""
    keys = random.choice([list(key), list(key)[:1], ["r.a"] if joined else list(key), []])
    by = f"PARTITION BY {', '.join(k if '.' in k else of + k for k in keys)} " if keys else ""
    begin = "INTERVAL '0' MICROSECOND PRECEDING" if not first else begin
    window = f"({by}ORDER BY {of}ts RANGE BETWEEN {begin} AND CURRENT ROW)"
    calls = [f"COUNT(DISTINCT {of}a)", f"SUM({of}a)", f"MAX({of}h)", f"AVG({of}b)", "COUNT(*)"]
    calls += [f"COUNT(DISTINCT {of}g)"] + (["SUM(r.a)", "SUM(s.a - r.a)"] if joined else [])
    chosen = random.sample(calls, k=random.randint(1, 2))
    if not joined and not any("DISTINCT" in c for c in chosen):
        chosen.append("COUNT(DISTINCT h)")
    plain = [of + c for c in (*HELD, "ts")] + (["r.g", "r.a"] if joined else [])
    shown = [*random.sample(plain, k=random.randint(0, 3)), *(f"{c} OVER {window}" for c in chosen)]
    random.shuffle(shown)
    there = [f"{of}{c} IS NOT NULL" for c in key]
    there += [f"{k} IS NOT NULL" for k in keys if "." in k]
    where = random.choice(["", f" AND {of}a > -2", f" AND {of}h < 2", " AND r.a >= 0"])
    where = "" if "r.a" in where and not joined else where
    listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown))
    tables = random.choice(["s JOIN r ON s.h = r.h", "r JOIN s ON r.h = s.h"]) if joined else "s"
    text = f"SELECT {listed} FROM {tables} WHERE {' AND '.join(there)}{where}"
    names = [f"c{i}" for i in range(len(shown))]
    return text, names, [n for n, c in zip(names, shown, strict=True) if "OVER" in c]


def make_counted(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """As make_asof: rows that are counted, some of them after the row; with what DuckDB is asked,
    where a row is an answer when those after it have come."""
    by = f"PARTITION BY {', '.join(key)} ORDER BY ts"
    after = random.choice([0, 0, 0, 1, 2])
    whole = by
    loose = not after and random.random() < 0.3
    if loose:  # several rows of one key at a time, which other columns tell apart
        by = random.choice(["ORDER BY ts", f"PARTITION BY {key[0]} ORDER BY ts"])
        tie = [f"{c} {random.choice(['DESC', 'ASC'])} NULLS FIRST" for c in key]
        whole = f"{by}, {', '.join(tie)}"
    calls = ["COUNT(*)", "SUM(a)", "AVG(b)", "MAX(h)", "MIN(a + h)", "COUNT(g)", "SUM(b)"]
    calls += ["FIRST_VALUE(g)", "LAST_VALUE(a)", "LAST_VALUE(b IGNORE NULLS)"]
    calls += ["COUNT(*) FILTER (WHERE a > 0)"]
    chosen = []
    for call in random.sample(calls, k=random.randint(1, 3)):
        first, last = random.choice(["UNBOUNDED", "5", "2", "1", "0"]), random.choice([0, 0, 1, 2])
        if first != "UNBOUNDED" and int(first) < last:
            last = 0
        ends = f"{first} PRECEDING", f"{last} PRECEDING" if last else "CURRENT ROW"
        kind = random.choice(["ROWS", "ROWS", "RANGE"])
        if kind == "RANGE":
            most = random.randint(0, 4)
            span = f"INTERVAL '{most}' MICROSECOND PRECEDING"
            least = f"INTERVAL '{random.randint(1, max(most, 1))}' MICROSECOND PRECEDING"
            until = random.choice(["CURRENT ROW", "CURRENT ROW EXCLUDE GROUP", least])
            ends = (
                random.choice([span, "UNBOUNDED PRECEDING"]) if most else "UNBOUNDED PRECEDING",
                until,
            )
            if ends[0] != span and until == least:
                ends = ends[0], "CURRENT ROW EXCLUDE GROUP"
        told = kind == "RANGE" and not call.startswith(("FIRST", "LAST"))
        kind = "RANGE" if told else "ROWS"
        odd = "INTERVAL" in ends[0] or ends[1] not in ("CURRENT ROW", f"{last} PRECEDING")
        ends = ("1 PRECEDING", "CURRENT ROW") if odd and not told else ends
        chosen.append(f"{call} OVER ({by if told else whole} {kind} BETWEEN {' AND '.join(ends)})")
    by = whole
    chosen += random.sample(
        [
            f"LAG(a, {random.randint(1, 3)}) OVER ({by})",
            f"LAG(ts, 2) OVER ({by})",
            f"LAG(g, 1, 'none') OVER ({by})",
            f"ROW_NUMBER() OVER ({by})",
            f"SUM(h) OVER ({by})",
            f"LAG(b IGNORE NULLS) OVER ({by})",
        ],
        k=random.randint(0, 2),
    )
    if after:
        chosen.append(f"LEAD({random.choice(['a', 'ts', 'g'])}, {after}) OVER ({by})")
        if random.random() < 0.5:
            chosen = chosen[-1:]
        both = f"{random.choice([1, 2])} PRECEDING AND {random.randint(1, after)} FOLLOWING"
        if random.random() < 0.5:
            chosen.append(f"SUM(a) OVER ({by} ROWS BETWEEN {both})")
    elif random.random() < 0.4:
        chosen += make_ranks(random, key)
    elif random.random() < 0.4:
        first = (
            f"{random.randint(1, 5)} PRECEDING AND {random.choice(['1 PRECEDING', 'CURRENT ROW'])}"
        )
        chosen.append(f"{make_spread(random)} OVER ({by} ROWS BETWEEN {first}), 9)")
    shown = [*random.sample([*HELD, "ts"], k=random.randint(0, 3)), *chosen]
    random.shuffle(shown)
    there = " AND ".join(f"{c} IS NOT NULL" for c in key)
    where = random.choice(["", f" AND ({random.choice(_CONDITIONS).format('s')})"])
    if not after and random.random() < 0.3:  # begun anew in each bucket of time
        bucket = f"time_bucket(INTERVAL '{random.choice([2, 3, 5])}' MICROSECOND, ts)"
        begun = [c.replace("PARTITION BY ", f"PARTITION BY {bucket}, ", 1) for c in shown]
        anew = [c.replace("(ORDER BY ts", f"(PARTITION BY {bucket} ORDER BY ts", 1) for c in begun]
        shown = [
            o if "PARTITION BY ts" in o or " ts ORDER" in o or ", ts)" in o else c
            for o, c in zip(shown, anew, strict=True)
        ]
    listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown))
    text = f"SELECT {listed} FROM s WHERE {there}{where}"
    names = [f"c{i}" for i in range(len(shown))]
    return text, names, [n for n, c in zip(names, shown, strict=True) if "OVER" in c]


def make_correlated(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """As make_asof: aggregates of the rows before a row, as subqueries."""
    calls = ["COUNT(*)", "SUM(z.a)", "AVG(b)", "MAX(z.h)", "MIN(a + h)", "COUNT(z.g)"]

    def ask() -> str:
        held = [f"z.{k} = s.{k}" for k in random.sample(key, k=random.randint(0, len(key)))]
        first, last = random.choice([(0, 0), (1, 0), (5, 0), (4, 2), (None, 0)])
        ends = ["z.ts < s.ts", "s.ts >= z.ts", "z.ts <= s.ts"]
        if last:
            ends = [f"z.ts <= s.ts - INTERVAL '{last}' MICROSECOND"]
        if first is not None:
            by = f"INTERVAL '{first}' MICROSECOND"
            begins = [f"z.ts >= s.ts - {by}", f"s.ts <= z.ts + {by}", f"z.ts > s.ts - {by}"]
            begin = random.choice(begins if first > 1 else begins[:2])
            held.append(begin)
            if not first:
                ends = ends[1:]
        elif random.random() < 0.5:
            held = [f"z.{k} = s.{k}" for k in key]
        held.append(random.choice(ends))
        if random.random() < 0.4:
            held.append(random.choice(["z.a > 0", "(h < 2 OR a < 1)"]))
        random.shuffle(held)
        return f"(SELECT {random.choice(calls)} FROM s z WHERE {' AND '.join(held)})"

    shown = [*random.sample([*HELD, "ts"], k=random.randint(1, 3)), ask()]
    there = " AND ".join(f"s.{c} IS NOT NULL" for c in key)
    where = random.choice(["", f" AND s.a <= {ask()}", f" AND {ask()} >= 2", " AND s.h < 2"])
    listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown))
    names = [f"c{i}" for i in range(len(shown))]
    return f"SELECT {listed} FROM s WHERE {there}{where}", names, names[-1:]


def make_ranks(random: Random, key: tuple[str, ...]) -> list[str]:
    """Windows of the rows of one time, all or those of one key."""
    by = f"PARTITION BY {', '.join(random.choice([['ts'], ['ts', key[0]], [key[0], 'ts']]))}"
    order = [
        f"{c} {random.choice(['ASC', 'DESC'])} NULLS {random.choice(['FIRST', 'LAST'])}"
        for c in random.sample(["a", "b", "g", "h"], k=random.randint(1, 2))
    ]
    whole = ", ".join([*order, *key])
    calls = ["RANK()", "DENSE_RANK()"]
    ranks = [f"{random.choice(calls)} OVER ({by} ORDER BY {', '.join(order)})"]
    ranks.append(f"ROW_NUMBER() OVER ({by} ORDER BY {whole})")
    ranks += [f"{call} OVER ({by})" for call in ("COUNT(*)", "SUM(a)", "MAX(b)", "AVG(h)")]
    return random.sample(ranks, k=random.randint(1, 2))


def ask_duck(text: str, key: tuple[str, ...]) -> str:
    """The same, without rows after which so many have not come."""
    found = re.finditer(r"LEAD\(\w+, (\d)\)|(\d) FOLLOWING", text)
    after = [int(one[1] or one[2]) for one in found]
    if not after:
        return text
    by = f"PARTITION BY {', '.join(key)} ORDER BY ts"
    return f"{text} QUALIFY LEAD(ts, {max(after)}) OVER ({by}) IS NOT NULL"


def open_keys(random: Random, text: str, key: tuple[str, ...]) -> str:
    """The same, where nothing says that keys have values, or not of all: rows without one are no
    results, and count in no window."""
    windows = re.findall(r"OVER \((.*?)(?: ROWS| RANGE|\))", text)
    named = [c for c in key if any(re.search(rf"\b{c}\b", w) for w in windows)]
    if not named or random.random() < 0.5:
        return text
    for one in random.sample(named, k=random.randint(1, len(named))):
        there = f"{one} IS NOT NULL"
        for said in (f" AND {there}", f"{there} AND ", f" WHERE {there}"):
            if said in text:
                text = text.replace(said, "")
                break
    return text


def _limit(stream: Stream, data: Tables) -> Stream:
    """With as many rows at a time as there are."""
    rate = Counter(row[-1] for row in data[stream.name][1])
    return replace(stream, max_per_timestamp=max(rate.values(), default=1))


MAKERS = (make_asof, make_lag, make_moving, make_counted, make_counted)


def make_spans(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """As make_asof: aggregates of a span, or of a bucket, of time, whose keys may be any."""
    calls = ["COUNT(*)", "SUM(a)", "AVG(b)", "MAX(h)", "MIN(a + h)", "COUNT(g)"]
    by = random.choice(["ORDER BY ts", f"PARTITION BY {', '.join(key)} ORDER BY ts"])
    if random.random() < 0.5:
        first = random.randint(1, 4)
        ends = ["CURRENT ROW", f"INTERVAL '{random.randint(1, first)}' MICROSECOND PRECEDING"]
        span = f"INTERVAL '{first}' MICROSECOND PRECEDING"
        frames = [f"{by} RANGE BETWEEN {span} AND {random.choice(ends)}" for _ in range(2)]
    else:
        bucket = f"time_bucket(INTERVAL '{random.choice([2, 3, 5])}' MICROSECOND, ts)"
        by = f"PARTITION BY {', '.join([bucket, *key])} ORDER BY ts"
        frames = [by, f"{by} ROWS BETWEEN {random.randint(1, 3)} PRECEDING AND CURRENT ROW"]
        calls += ["LAST_VALUE(a)", "FIRST_VALUE(g)"]
    chosen = [
        f"{c} OVER ({random.choice(frames)})" for c in random.sample(calls, k=random.randint(1, 2))
    ]
    shown = [*random.sample([*HELD, "ts"], k=random.randint(1, 3)), *chosen]
    there = " AND ".join(f"{c} IS NOT NULL" for c in key)
    where = random.choice(["", f" AND ({random.choice(_CONDITIONS).format('s')})"])
    listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown))
    names = [f"c{i}" for i in range(len(shown))]
    return f"SELECT {listed} FROM s WHERE {there}{where}", names, names[-len(chosen) :]


def make_filtered(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """As make_asof: of rows that a subquery chooses first."""
    text, names, nulls = random.choice([make_lag, make_counted])(random, key)
    alias = "z" if " FROM s AS z" in text else "s"
    column = random.choice(["h", "a", "g"])
    some = random.choice(["", f" WHERE r.a {random.choice(['>', '<='])} 0"])
    inside = f"{alias}.{column} IN (SELECT r.{column} FROM r{some})"
    if random.random() < 0.5:
        held = f"r.{column} = {alias}.{column}{some.replace(' WHERE', ' AND')}"
        inside = f"{random.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM r WHERE {held})"
    before, rows, after = text.partition(
        " FROM s AS z WHERE " if alias == "z" else " FROM s WHERE "
    )
    return f"{before}{rows}{inside} AND {after}", names, nulls


def _open_domains(catalog: Catalog) -> Catalog:
    """Where columns may have any value."""

    def free(stream: Stream) -> Stream:
        columns = tuple(replace(c, minimum=None, maximum=None, enum=None) for c in stream.columns)
        return replace(stream, columns=columns, references=())

    return replace(catalog, streams={n: free(s) for n, s in catalog.streams.items()})


def check(seed: int, makers: Sequence[Maker] = MAKERS) -> None:
    random = Random(seed)
    catalog, key = make_world(random)
    if makers == (make_spans,):
        catalog = _open_domains(catalog)
    make = random.choice(makers)
    text, names, nulls = make(random, key)
    plain = not any(part in text for part in (" JOIN r ", "JOIN s", "(SELECT 1", "(SELECT r."))
    opened = open_keys(random, text, key) if plain else text
    query = Stacked(opened, ask_duck(text, key), tuple(names))
    text = query.ours
    data = make_rows(random, key)
    catalog = replace(catalog, streams={n: _limit(s, data) for n, s in catalog.streams.items()})
    try:
        union = parse_sql(text, catalog, name="q", file="q.sql")
    except QueryError as error:  # of rows without a key it is not known what they are
        matches = make is make_moving_joins and "that is not selected" in error.what
        unknown = any(words in error.what for words in _NO_VALUE) and (
            text != query.duck or make is make_correlated
        )
        numbered = makers == (make_filtered,) and "beside a subquery in WHERE" in error.what
        if not matches and not unknown and not numbered:
            raise
        event("refused")
        return
    if "DISTINCT" in text and "y.ts" in text.partition(" FROM ")[0]:
        return  # times without an end are told apart
    nulls += list_null(text, catalog)
    compare_answers(random, replace(query, ours=text), nulls, union, (catalog, data))


def list_null(text: str, catalog: Catalog) -> list[str]:
    """The columns that a text makes of some of s that may be NULL."""
    null = {c.name for c in catalog.streams["s"].columns if c.nullable}
    shown = re.findall(r"(.*?) AS (c\d+)(?:, | FROM)", text)
    mine = [(re.sub(r"\br\.\w", "", made), name) for made, name in shown]
    return [name for made, name in mine if null & set(re.findall(r"\b[a-z]\b", made))]


def compare_answers(
    random: Random,
    query: Stacked,
    nulls: Sequence[str],
    union: SpjUnion,
    over: tuple[Catalog, Tables],
) -> None:
    """Assert that a query is bounded, and that its answers are, at every time and live, those that
    DuckDB has, also to it as it is printed.

    Args:
        random: cuts the history.
        query: its text, and what DuckDB is asked.
        nulls: the columns that may be NULL.
        union: the query, read.
        over: the tables.
    """
    text, (catalog, data) = query.ours, over
    verdict = check_query(union, catalog)
    event(str(verdict.tier))
    assert verdict.plans is not None, text  # every key has a domain
    if verdict.tier is Tier.UNSATISFIABLE:
        return
    assert verdict.bound is not None
    case = Case(catalog, union, data, MARKERS)
    oracle = Finals(case)
    oracle.nulls = frozenset(nulls)
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    printed = print_sql(union, catalog, dialect="duckdb", comments=False)
    assert oracle.rows(replace(query, duck=printed), MARKERS) == expected[-1], printed
    read = tables_of(union)
    last = max((row[-1] for n in ("s", "t") if n in read for row in data[n][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        stored, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, stored)
        options = {"statics": statics, "rows_per_range": 1}
        options["rows_per_chunk"] = random.choice([1, 2, 5, 100])
        whole, summary = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        most = verdict.bound.rows
        assert most is None or summary.state_rows_max <= most, (text, summary.state_rows_max, most)
        for marker in range(last + 1):
            found = count(upto(whole, marker), query.names)
            assert found == expected[marker], (text, marker, found, expected[marker])
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert count(upto(live, marker), query.names) == expected[marker], (text, marker)


@budget(0.1)
@given(seed=SEEDS)
def test_moving_aggregates_of_matches_and_of_different_values(seed: int) -> None:
    check(seed, (make_moving_joins,))


@budget(0.1)
@given(seed=SEEDS)
def test_aggregates_of_the_rows_before_a_row(seed: int) -> None:
    check(seed, (make_correlated,))


@budget(0.25)
@given(seed=SEEDS)
def test_aggregates_of_a_span_by_keys_of_any_number(seed: int) -> None:
    check(seed, (make_spans,))


@budget(0.15)
@given(seed=SEEDS)
def test_rows_that_a_subquery_chooses(seed: int) -> None:
    check(seed, (make_filtered,))


@budget(0.25)
@given(seed=SEEDS)
def test_rows_meet_the_row_before(seed: int) -> None:
    check(seed)
