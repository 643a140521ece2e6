"""The latest row of another stream, by LATERAL, subqueries as values and the greatest time: every
answer, replayed and live, as DuckDB answers the same text over every prefix."""

from random import Random

from hypothesis import example, given

from tests.oracle.budget import SEEDS, budget
from tests.oracle.test_earlier import HELD, check


def make_lateral(random: Random, key: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """A query, its columns, and those that may be NULL."""
    form = random.choice(["lateral", "left", "comma", "value", "greatest"])
    local = random.choice(["", "", " AND y.a > -2", " AND (y.g = 'x' OR y.b > 0)"])
    time = random.choice(["y.ts <= x.ts", "y.ts < x.ts", "x.ts >= y.ts", "x.ts > y.ts"])
    equal = " AND ".join(random.choice([f"x.{c} = y.{c}", f"y.{c} = x.{c}"]) for c in key)
    table = random.choice(["t", "t", "s"])
    mine = [f"x.{c}" for c in random.sample([*HELD, "ts"], k=random.randint(1, 3))]
    theirs = random.sample(HELD, k=random.randint(1, 3))
    order = f"WHERE {equal} AND {time}{local} ORDER BY y.ts DESC LIMIT 1"
    inner = f"SELECT {', '.join(f'y.{c}' for c in theirs)} FROM {table} AS y {order}"
    shown = [*mine, *(f"z.{c}" for c in theirs)]
    match form:
        case "lateral":
            source = f"s AS x JOIN LATERAL ({inner}) AS z ON TRUE"
        case "left":
            source = f"s AS x LEFT JOIN LATERAL ({inner}) AS z ON TRUE"
        case "comma":
            source = f"s AS x, LATERAL ({inner}) AS z"
        case "value":
            values = [f"(SELECT y.{c} FROM {table} AS y {order})" for c in theirs[:2]]
            shown, source = [*mine, *values], "s AS x"
        case _:
            most = f"SELECT MAX(y.ts) FROM {table} AS y WHERE {equal} AND {time}"
            on = equal.replace("y.", "z.")
            source = f"s AS x JOIN {table} AS z ON {on} AND z.ts = ({most})"
    listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown))
    names = [f"c{i}" for i in range(len(shown))]
    optional = form in ("left", "value")
    nulls = [n for n, c in zip(names, shown, strict=True) if optional and not c.startswith("x.")]
    return f"SELECT {listed} FROM {source}", names, nulls


@budget(0.12)
@given(seed=SEEDS)
@example(seed=169)  # the greatest time of the same stream
def test_rows_meet_the_latest_row_of_another_stream(seed: int) -> None:
    check(seed, (make_lateral,))
