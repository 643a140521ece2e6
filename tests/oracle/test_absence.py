"""Queries with EXISTS, NOT EXISTS, IN, NOT IN, SEMI, ANTI and LEFT joins: every answer, replayed
and live, as DuckDB answers the same text over every prefix, of which it shows an answer without
something from its deadline on; and whatever comes later, none is taken back."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.rewriter.algebra.bound_differences import bound_differences
from ontoweir.rewriter.model.add_views import extend_catalog, tables_of
from ontoweir.rewriter.model.spj import AbsencePart
from ontoweir.rewriter.sql.parse_sql import parse_sql
from tests.oracle.budget import SEEDS, budget
from tests.oracle.random_queries import Case
from tests.oracle.test_sql_nulls import CATALOG, MARKERS, make_data, upto
from tests.oracle.test_stacked_queries import Prefixes, Stacked, _micros, count, make_job, run_live
from tests.runtime.in_process import replay_here, store

HELD = {"s": "abgh", "t": "abgh", "r": "hag"}


def _after(time: str, steps: int) -> str:
    sign, steps = ("-", -steps) if steps < 0 else ("+", steps)
    return f"{time} {sign} INTERVAL '{steps}' MICROSECOND"


@dataclass(frozen=True)
class Rows:
    """Rows beside those of a query: FROM, its conditions, and until when they may come, for
    DuckDB."""

    tables: str
    conditions: tuple[str, ...]
    deadlines: tuple[str, ...]
    shown: str


def make_rows(random: Random, around: list[tuple[str, str]], alias: str) -> Rows:
    """Rows of one or two tables, of which the first is bounded by the times around."""
    table = random.choice(["s", "t", "t", "r"])
    one, of = random.choice([a for a in around if a[1] != "r"])
    conditions, deadlines = [], []
    if table != "r":
        low = random.choice([None, None, -4, -1, 0, 1])
        high = random.choice([-1, 0, 0, 1, 3])
        if low is None or low > high:
            low = None if random.random() < 0.7 else high - 2
        strict = random.random() < 0.3
        op = "<" if strict else "<="
        conditions.append(f"{alias}.ts {op} {_after(f'{one}.ts', high)}")
        deadlines.append(_after(f"{one}.ts", high - strict))
        if low is not None:
            conditions.append(f"{alias}.ts >= {_after(f'{one}.ts', low)}")
    ties = [c for c in HELD[table] if c in HELD[of]]
    for _ in range(random.choice([0, 1, 1, 2])):
        column = random.choice(ties)
        op = random.choice(["=", "=", "=", "<", ">=", "<>"]) if column != "g" else "="
        conditions.append(f"{alias}.{column} {op} {one}.{column}")
    if random.random() < 0.2:
        conditions.append(random.choice([f"{alias}.h = 1", f"{alias}.a > 0", f"{alias}.g = 'x'"]))
    if random.random() < 0.1 and len(ties) > 1:
        other = random.choice([c for c in ties if c != "g"])
        conditions.append(f"({alias}.{other} = {one}.{other} OR {alias}.{other} = 1)")
    tables = f"{table} AS {alias}"
    if table != "r" and random.random() < 0.25:
        low, high = random.choice([(-2, 0), (0, 1), (-1, 2)])
        tables += f", s AS {alias}2"
        conditions.append(f"{alias}2.ts >= {_after(f'{alias}.ts', low)}")
        conditions.append(f"{alias}2.ts <= {_after(f'{alias}.ts', high)}")
        deadlines.append(_after(deadlines[0], high))
        if random.random() < 0.7:
            conditions.append(f"{alias}2.h = {alias}.h")
    return Rows(tables, tuple(conditions), tuple(deadlines), random.choice(HELD[table]))


def make_query(random: Random) -> tuple[Stacked, frozenset[str]]:
    """A query, and those of its columns that may be NULL in its answers."""
    around = [("x", random.choice("sst"))]
    conditions: list[str] = []
    if random.random() < 0.4:
        around.append(("y", random.choice("str")))
        if around[1][1] == "r":
            conditions.append("x.h = y.h")
        else:
            conditions.append(f"y.ts >= {_after('x.ts', random.choice([-1, 0, 1]))}")
            if random.random() < 0.8:
                conditions.append(f"y.ts <= {_after('x.ts', random.choice([1, 2, 4]))}")
            conditions += ["x.h = y.h"] if random.random() < 0.6 else []
    if random.random() < 0.2:
        conditions.append(random.choice(["x.a > -2", "x.h IN (0, 1)", "x.g IS NOT NULL"]))
    tables = ", ".join(f"{t} AS {a}" for a, t in around)
    joins, duck_joins = "", ""
    duck = list(conditions)
    shown = [f"{a}.{c}" for a, t in around for c in HELD[t]]
    optional: list[str] = []
    rejecting = ""
    for n in range(random.choice([1, 1, 1, 2])):
        alias = f"p{n}"
        rows = make_rows(random, around, alias)
        where = " AND ".join(rows.conditions) or "TRUE"
        body = f"FROM {rows.tables}" + (f" WHERE {where}" if rows.conditions else "")
        final = [f"{d} <= (SELECT now FROM clock)" for d in rows.deadlines]
        kind = random.choice(["NOT EXISTS", "NOT EXISTS", "EXISTS", "NOT IN", "IN", "JOIN", "LEFT"])
        looked = [f"{a}.{rows.shown}" for a, t in around if rows.shown in HELD[t]]
        if kind in ("IN", "NOT IN") and looked:
            made = f"{random.choice(looked)} {kind} (SELECT {alias}.{rows.shown} {body})"
        elif kind in ("JOIN", "LEFT") and "," not in rows.tables:
            if kind == "JOIN":
                side = random.choice(["ANTI", "SEMI"])
                if side == "ANTI" and not rows.tables.startswith("r ") and random.random() < 0.5:
                    joins += f" LEFT JOIN {rows.tables} ON {where}"
                    column = random.choice(["ts", "ts", "a", "h"])
                    conditions.append(f"{alias}.{column} IS NULL")
                    if column != "ts":  # a partner has a value there
                        body += (
                            " AND " if rows.conditions else " WHERE "
                        ) + f"{alias}.{column} IS NOT NULL"
                else:
                    joins += f" LEFT {side} JOIN {rows.tables} ON {where}"
                kind = "NOT EXISTS" if side == "ANTI" else "EXISTS"
                duck.append(f"{kind} (SELECT 1 {body})")
                duck += final if kind == "NOT EXISTS" else []
                continue
            table = rows.tables.split()[0]
            joins += f" LEFT JOIN {rows.tables} ON {where}"
            with_mark = f"(SELECT *, TRUE AS there FROM {table}) AS {alias}"
            duck_joins += f" LEFT JOIN {with_mark} ON {where}"
            duck.append(f"({alias}.there OR ({' AND '.join(final) or 'TRUE'}))")
            optional += [f"{alias}.{c}" for c in HELD[table]]
            optional += [f"{alias}.a + 1", f"{alias}.h * 2 - x.h"]
            continue
        else:
            kind = "NOT EXISTS" if kind.startswith("NOT") or kind == "LEFT" else "EXISTS"
            made = f"{kind} (SELECT 1 {body})"
        conditions.append(made)
        duck.append(made)
        duck += final if kind.startswith("NOT") else []
    chosen = random.sample(shown, k=random.randint(1, 3))
    if optional:
        chosen += random.sample(optional, k=random.randint(1, 2))
        if random.random() < 0.15:
            rejecting = f"{optional[0].split('.')[0]}.h = 1"
            conditions.append(rejecting)
            duck.append(rejecting)
    names = tuple(f"c{i}" for i in range(len(chosen)))
    listed = ", ".join(f"{c} AS {n}" for c, n in zip(chosen, names, strict=True))
    distinct = "DISTINCT " if random.random() < 0.3 else ""
    more = f", x.{random.choice(HELD[around[0][1]])} AS more"
    inside = not distinct and random.random() < 0.3  # what it shows too is NULL, or not

    def text(joined: str, every: list[str]) -> str:
        where = f" WHERE {' AND '.join(every)}" if every else ""
        # a comma binds weaker than JOIN
        items = tables.replace(", ", " CROSS JOIN ")
        whole = f"SELECT {distinct}{listed}{more if inside else ''} FROM {items}{joined}{where}"
        return f"SELECT {', '.join(names)} FROM ({whole}) AS w" if inside else whole

    nulls = frozenset(n for n, c in zip(names, chosen, strict=True) if c in optional)
    if len(optional) and rejecting:
        gone = rejecting.split(".")[0]  # it is an inner join
        nulls = frozenset(
            n for n, c in zip(names, chosen, strict=True) if n in nulls and c.split(".")[0] != gone
        )
    return Stacked(text(joins, conditions), text(duck_joins, duck), names), nulls


class Finals(Prefixes):
    """DuckDB's answers over prefixes."""

    nulls: frozenset[str] = frozenset()

    def rows(self, query: Stacked, marker: int) -> Counter[object]:
        known = tuple(n for n in query.names if n not in self.nulls)
        there = " AND ".join(f"{n} IS NOT NULL" for n in known) or "TRUE"
        inner = f"SELECT * FROM ({query.duck}) AS w WHERE {there}"
        shown = replace(query, duck=inner, names=())
        return super().rows(shown, marker)


def _is_never(part: AbsencePart) -> bool:
    catalog = extend_catalog(CATALOG, part.hits)
    found = [bound_differences(q, catalog, domains=False) for q in part.hits.disjuncts]
    return None in found


def check(seed: int) -> None:
    random = Random(seed)
    compare(random, *make_query(random))


def compare(random: Random, query: Stacked, nulls: frozenset[str]) -> None:
    """Assert that a query, if it is bounded, is answered as DuckDB does."""
    data = make_data(random)
    union = parse_sql(query.ours, CATALOG, name="q", file="q.sql")
    verdict = check_query(union, CATALOG)
    event(str(verdict.tier))
    if any(map(_is_never, (p for b in union.blocks if b.absence for p in b.absence.parts))):
        return  # what is never there is absent at once
    if verdict.plans is None or verdict.tier is Tier.UNSATISFIABLE:
        return
    if any(v.tier is Tier.UNSATISFIABLE for v in verdict.blocks):
        return  # nor is its stream read, whose rows would say that time has passed
    assert verdict.bound is not None
    case = Case(CATALOG, union, data, MARKERS)
    oracle = Finals(case)
    oracle.nulls = nulls
    expected = [oracle.rows(query, m) for m in range(MARKERS)]
    read = tables_of(union)
    last = max((row[-1] for n in ("s", "t") if n in read for row in data[n][1]), default=-1)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        catalog, statics = store(case, random, Path(folder))
        job = make_job(verdict, union, catalog)
        options = {"statics": statics, "rows_per_range": 1}
        whole, told = replay_here(patch, job, Path(folder, "1.parquet"), **options, ranges=1)
        most = verdict.bound.rows
        assert most is None or told.state_rows_max <= most, (query.ours, told.state_rows_max, most)
        for marker in range(last + 1):
            found = count(upto(whole, marker), query.names)
            assert found == expected[marker], (query.ours, marker, found, expected[marker])
        assert all(_micros(row["at"]) <= last for row in whole)
        live, done = run_live(case, verdict, random, Path(folder))
        for marker in range(done + 1):
            assert count(upto(live, marker), query.names) == expected[marker], (query.ours, marker)


@budget(0.15)
@given(seed=SEEDS)
def test_answers_beside_which_nothing_is_equal_duckdb(seed: int) -> None:
    check(seed)
