"""What a condition says where the columns of a table are NULL, as DuckDB computes it."""

from random import Random

import duckdb
import pytest
import sqlglot

from ontoweir.rewriter.nulls.fold_nulls import NotFoldedError, fold_nulls


def _value(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.4:
        return random.choice(["r.a", "r.b", "n.c", "n.d", "1", "2", "NULL"])
    left, right = (_value(random, depth - 1) for _ in range(2))
    if random.random() < 0.3:
        return f"COALESCE({left}, {right})"
    if random.random() < 0.3:
        asked = random.choice([f"CASE WHEN {_asked(random)}", f"CASE {right} WHEN 2"])
        return f"{asked} THEN {left} {random.choice(['', f'ELSE {right}'])} END"
    if random.random() < 0.1:
        return f"IF({_asked(random)}, {left}, {right})"
    return f"({left} {random.choice('+-*')} {right})"


def _asked(random: Random) -> str:
    one, two = _value(random, 0), _value(random, 0)
    return random.choice([f"{one} IS NULL", f"{one} = {two}", f"NOT ({one} > {two} OR r.a = 1)"])


def _condition(random: Random, depth: int) -> str:
    if depth and random.random() < 0.6:
        left, right = (_condition(random, depth - 1) for _ in range(2))
        if random.random() < 0.3:
            return f"NOT ({left})"
        if random.random() < 0.2:
            return f"COALESCE({left}, {random.choice(['TRUE', 'FALSE'])})"
        return f"({left} {random.choice(['AND', 'OR'])} {right})"
    one, two, three = (_value(random, 2) for _ in range(3))
    match random.randrange(7):
        case 6:
            asked = random.choice([f"q.e = {one}", f"q.e > {one} OR {two} IS NULL"])
            return f"{random.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM q WHERE {asked})"
        case 4:
            return f"{one} IN ({two}, {three}, 2)"
        case 5:
            return f"ABS({random.choice(['r.a', 'n.c'])}) > 1"
        case 0:
            return f"{one} IS NULL"
        case 1:
            return f"NOT {one} IS NULL"
        case 2:
            return f"{one} BETWEEN {two} AND {three}"
        case _:
            return f"{one} {random.choice(['<', '<=', '=', '<>', '>', '>='])} {two}"


def test_what_is_left_holds_where_the_condition_does() -> None:
    """Of values and NULLs in the other table; fails where FALSE and NULL are taken for one."""
    random, base = Random(11), duckdb.connect()
    base.execute("CREATE TABLE r AS FROM (VALUES (0, 1), (1, NULL), (2, 2), (NULL, NULL)) t(a, b)")
    base.execute("CREATE TABLE q AS FROM (VALUES (1), (2), (NULL)) t(e)")
    base.execute("CREATE TABLE n AS SELECT NULL::INT AS c, NULL::INT AS d")
    known = set[object]()
    for _ in range(400):
        text = _condition(random, 3)
        left = fold_nulls(sqlglot.parse_one(text, dialect="duckdb"), "n")
        known.add(left if isinstance(left, bool) else None)
        made = str(left) if isinstance(left, bool) else left.sql("duckdb")
        assert "n." not in made
        rows = [
            base.execute(f"SELECT r.rowid FROM r, n WHERE {one} ORDER BY 1").fetchall()
            for one in (text, made)
        ]
        assert rows[0] == rows[1], text
    assert known == {True, False, None}


@pytest.mark.parametrize(
    "text",
    [
        "GREATEST(n.c, 3) > 2",
        "CASE WHEN n.c > 1 THEN TRUE END",
        "(n.c IS NULL) = (r.a > 1)",
        "EXISTS (SELECT MAX(q.e) FROM q WHERE q.e = n.c)",
        "EXISTS (SELECT 1 FROM q JOIN m ON m.a = n.c WHERE q.e = n.c)",
        "EXISTS (SELECT 1 FROM q AS n WHERE n.c = 1)",
        "r.a IN (SELECT q.e FROM q WHERE q.e = n.c)",
    ],
)
def test_what_is_not_looked_into_is_said(text: str) -> None:
    with pytest.raises(NotFoldedError):
        fold_nulls(sqlglot.parse_one(text), "n")
