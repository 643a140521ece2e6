"""Mappings whose SQL computes: the tables of random cases by expressions of the same types."""

from dataclasses import replace
from random import Random

from tests.sparql_counts.case import Case
from tests.sparql_counts.random_tables import COLUMNS


def compute_maps(random: Random, case: Case) -> Case:
    """The case with expressions in the SQL of its maps: where a map has a table, it has columns of
    the same names and types that are computed from it."""
    maps = tuple(
        replace(m, source=_make_sql(random, m.source, _kind(case, m.source)))
        if m.source in COLUMNS and random.random() < 0.85
        else m
        for m in case.maps
    )
    return replace(case, maps=maps, note=f"{case.note}, computed")


def _kind(case: Case, name: str) -> str:
    """The type of the last column of a table, "" if it has none."""
    found = dict(case.table(name).columns)
    return found.get(COLUMNS[name][3], "")


def _make_sql(random: Random, name: str, kind: str) -> str:
    other = COLUMNS[name][3]
    last = [f"{_other(random, name, kind)} AS {other}"] if kind else []
    if name in ("s", "r") and random.random() < 0.15:
        return _join(random, name, last)
    selects = [_select(random, name, last)]
    if random.random() < 0.12:
        union = random.choice(("UNION", "UNION ALL"))
        return f" {union} ".join((*selects, _select(random, name, last)))
    if random.random() < 0.1:
        return selects[0].replace("SELECT", "SELECT DISTINCT", 1)
    return selects[0]


def _select(random: Random, name: str, last: list[str]) -> str:
    first, number, text, _ = COLUMNS[name]
    columns = [
        f"{_number(random, name)} AS {first}",
        f"{_number(random, name)} AS {number}",
        f"{_text(random, name)} AS {text}",
        *last,
    ]
    where = f" WHERE {_condition(random, name)}" if random.random() < 0.5 else ""
    return f"SELECT {', '.join(columns)} FROM {name}{where}"


def _join(random: Random, name: str, last: list[str]) -> str:
    """A join with a static relation on what is computed of both."""
    first, number, text, other = COLUMNS[name]
    there = "w" if name == "r" else "r"
    one, value, word, _ = COLUMNS[there]
    columns = [
        f"{name}.{first} AS {first}",
        f"{there}.{value} + 1 AS {number}",
        f"UPPER({there}.{word}) AS {text}",
        *(f"{name}.{other} AS {other}" for _ in last),
    ]
    mine = random.choice((f"{name}.{number} % 2", f"{name}.{number} * 2 - 1"))
    theirs = random.choice((f"{there}.{one} % 2", f"{there}.{one}", f"3 - {there}.{one}"))
    return f"SELECT {', '.join(columns)} FROM {name} JOIN {there} ON {mine} = {theirs}"


def _number(random: Random, name: str) -> str:
    first, number, text, _ = COLUMNS[name]
    a, b = random.choice(((first, number), (number, first), (first, first)))
    return random.choice(
        (
            a,
            b,
            first,
            f"{a} % 2",
            f"{a} % 3",
            f"{a} + {b}",
            f"{a} * 2",
            f"3 - {a}",
            f"{a} + 1",
            f"- {a}",
            f"ABS({a} - 2)",
            f"CASE WHEN {a} > 1 THEN {b} ELSE {a} END",
            f"CASE {a} WHEN 1 THEN 2 WHEN 2 THEN {b} END",
            f"COALESCE({a}, {b})",
            f"COALESCE({a}, 1)",
            f"NULLIF({a}, 1)",
            f"GREATEST({a}, {b})",
            f"LENGTH({text})",
        )
    )


def _text(random: Random, name: str) -> str:
    first, number, text, _ = COLUMNS[name]
    return random.choice(
        (
            text,
            f"UPPER({text})",
            f"{text} || '-'",
            f"'k' || {number}",
            f"'k' || ({number} + 1) || {text}",
            f"LOWER({text}) || {first}",
            f"CASE WHEN {number} = 1 THEN 'x' ELSE {text} END",
            f"CASE WHEN {text} = 'x' THEN 'y' WHEN {first} > 1 THEN 'x' END",
            f"COALESCE({text}, 'x')",
            f"SUBSTRING({text}, 1, 1)",
            f"CAST({number} + 1 AS VARCHAR)",
        )
    )


def _other(random: Random, name: str, kind: str) -> str:
    _, number, _, other = COLUMNS[name]
    choices = [other, f"CASE WHEN {number} > 1 THEN {other} END", f"COALESCE({other}, {other})"]
    if kind.startswith("decimal"):
        choices += [f"{other} * 1.5", f"{other} + {number}", f"ABS({other})", f"{other} - 0.25"]
    if kind == "boolean":
        choices += [f"NOT {other}", f"({other} OR {number} > 1)", f"{number} > 1"]
    return random.choice(choices)


def _condition(random: Random, name: str) -> str:
    first, number, text, _ = COLUMNS[name]
    return random.choice(
        (
            f"{number} + {first} > 2",
            f"{number} * 2 < 5",
            f"{text} IS NULL",
            f"{number} IS NULL OR {first} > 1",
            f"NOT ({number} > 1 AND {text} = 'x')",
            f"{number} > 1 OR {text} = 'x'",
            f"UPPER({text}) = 'X'",
            f"{number} % 2 = {first} % 2",
            f"({number} > 1) = ({first} > 1)",
            f"CASE WHEN {number} > 1 THEN {first} ELSE 1 END = 1",
            f"COALESCE({number}, 0) BETWEEN 0 AND 2",
            f"{number} * 2 IN (2, 4, {first})",
            f"{text} LIKE 'x%'",
            f"{number} <> {first} + 1",
        )
    )
