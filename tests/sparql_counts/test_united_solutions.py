"""UNION of groups of windows, solutions in windows, what is joined of such, and registered ones
that are, or are not, beside a window; FILTER, GROUP BY, ORDER BY and LIMIT around: what holds at
every time is what rdflib finds with that time as NOW(), replayed in one range and in several, live,
as changes and as snapshots, within the bound."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_joined_solutions import WINDOW, run_seed


def _draw_side(random: Random, number: int) -> str:
    """A side that binds ?x and ?c, a number."""
    t, w, p = f"?t{number}", f"?w{number}", random.choice("nmp")
    window = WINDOW.format(n=number, m=random.choice([5, 10, 12, 20]))
    rows = f"GRAPH {t} {{ ?x :{p} {w} }} {window}"
    call = random.choice(["COUNT(*)", f"SUM({w})", f"MAX({w})", f"COUNT(DISTINCT {w}) + 1"])
    having = random.choice(["", "", " HAVING (COUNT(*) > 1)"])
    groups = f"{{ SELECT ?x ({call} AS ?c) {{ {rows} }} GROUP BY ?x{having} }}"
    no = random.choice(["NOT ", "NOT ", ""])
    return random.choice(
        [
            groups,
            groups,
            f"{{ {rows.replace(w, '?c')} }}",
            f"{{ SELECT DISTINCT ?x (7 AS ?c) {{ {rows} }} }}",
            f"{{ ?x :f ?f{number} FILTER {no}EXISTS {{ {rows} }} BIND(3 AS ?c) }}",
            f"{{ {groups} ?x :f ?f{number} FILTER(?c > 0) }}",
        ]
    )


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    sides = [_draw_side(random, n) for n in range(random.choice([2, 2, 3]))]
    where = " UNION ".join(sides)
    around = random.random()
    if around < 0.2:
        where += " FILTER(?c > 1)"
    if around < 0.4:
        text = f"SELECT ?x (COUNT(*) AS ?k) {{ {where} }} GROUP BY ?x"
        return PREFIXES + text, ("x", "k")
    distinct = random.choice(["", "", "DISTINCT "])
    last = random.choice(["", "", " ORDER BY DESC(?c) ?x LIMIT 2", " ORDER BY ?x ?c LIMIT 1"])
    return f"{PREFIXES}SELECT {distinct}?x ?c {{ {where} }}{last}", ("x", "c")


def run(seed: int, folder: Path) -> str:
    """What came of the query of a seed."""
    return run_seed(seed, folder, make_query)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter(run(seed, tmp_path / str(seed)) for seed in range(8))
    assert told["with answers"] > 2, told


@given(SEEDS)
@budget(0.15)
def test_united_solutions_equal_rdflib(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder, "case")))


OFTEN = f"GRAPH ?t1 {{ ?x :n ?n }} {WINDOW.format(n=1, m=20)}"


@pytest.mark.parametrize(
    "where",
    [
        (
            f"{{ SELECT ?x ('often' AS ?c) {{ {OFTEN} }} GROUP BY ?x HAVING (COUNT(*) > 1) }} "
            f"UNION {{ ?x :f ?f FILTER NOT EXISTS {{ {OFTEN} }} BIND('silent' AS ?c) }}"
        ),
        (
            f"{{ {OFTEN} BIND(?n AS ?c) }} UNION "
            f"{{ SELECT ?x (MAX(?n) AS ?c) {{ {OFTEN} }} GROUP BY ?x }}"
        ),
    ],
)
def test_what_was_refused_is_rdflibs(where: str, tmp_path: Path) -> None:
    text = f"{PREFIXES}SELECT ?x ?c {{ {where} }}"
    assert run_seed(5, tmp_path / "case", lambda _: (text, ("x", "c"))) == "with answers"
