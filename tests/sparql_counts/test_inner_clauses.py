"""SELECTs within a query that say what is beside solutions, and groups that must not be beside
them: the answers are rdflib's of the same text, at every time."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts import test_computed_absence as computed
from tests.sparql_counts.case import Branch, Query
from tests.sparql_counts.compare_answers import Equal, Refused, compare_queries
from tests.sparql_counts.test_shared_variables import CASE, make_item, make_pattern, make_rows


def make_query(random: Random) -> Query:
    """SELECTs within a query, with clauses inside and beside them."""
    inside = " ".join(make_item(random, True) for _ in range(random.choice([0, 1])))
    outer = f"GRAPH ?t {{ ?x :n ?n . {inside} }}"
    static = random.random() < 0.6
    clauses = " ".join(make_item(random, False) for _ in range(random.choice([1, 1, 2])))
    pattern = f"{make_pattern(random, False)} ." if static else outer
    shown = random.choice(["?x", "?x ?v", "?x ?n", "?x (COALESCE(?v, 7) + 1 AS ?k)"])
    if "?v" in shown and "?v" not in f"{pattern} {clauses}":
        shown = "?x"
    inner = f"{{ SELECT {shown} {{ {pattern} {clauses} }} }}"
    body = f"{outer} {inner}" if static or random.random() < 0.3 else inner
    if random.random() < 0.4:
        body += f" {make_item(random, False)}"
    names = ["x", *(["n"] if outer in body.replace(inner, "") or "?n" in shown else [])]
    names += [v for v in "vk" if f"?{v}" in shown and f"(?{v}" not in shown and f"AS ?{v}" in shown]
    return Query(
        tuple(f"?{n}" for n in names), (Branch((), (body,)),), distinct=random.random() < 0.2
    )


def make_minus(random: Random) -> Query:
    """A query with MINUS inside of NOT EXISTS or EXISTS. (Where it has no variable in common with
    what is before it, rdflib has those of the query around.)"""
    word, static = random.choice(["NOT EXISTS", "EXISTS"]), random.random() < 0.7
    first, last = (make_pattern(random, not static) for _ in range(2))
    subject = random.choice(["?x", "?y"])
    other = f"{subject} :{random.choice('fg' if static else 'mp')} {first.split()[-1]}"
    inner = f"{first} . MINUS {{ {other} }} {last if random.random() < 0.3 else ''}"
    clause = f"FILTER {word} {{ {inner} }}"
    body = "GRAPH ?t { ?x :n ?n . %s }" % ("" if static else clause)
    return Query(("?x", "?n"), (Branch((), (f"{body} {clause if static else ''}",)),))


def run_seed(seed: int, folder: Path, make: Callable[[Random], Query] = make_query) -> str:
    """Compare the query of a seed, over two contents of its tables."""
    random = Random(seed)
    query = make(random)
    rows = [make_rows(random) for _ in range(2)]
    for outcome in compare_queries(CASE, [query], rows, folder)[0]:
        if isinstance(outcome, Refused):
            return f"refused: {outcome.reason}"
        assert isinstance(outcome, Equal), f"{seed}\n{outcome}"
    return "equal"


def make_groups(random: Random) -> tuple[str, str]:
    """A query of rows beside which there is no group of a bucket; and the same of what is final at
    a time, @."""
    width = random.choice([5, 10])
    tie = random.choice(["?h <= ?t", f'?h <= ?t - "PT{width}M"^^xsd:dayTimeDuration'])
    since = f'?h > ?t - "PT{random.choice([10, 20, 25])}M"^^xsd:dayTimeDuration'
    what = random.choice(["?c > 1", "?c >= ?n", "?c < 9"])
    bucket = f'ow:tumble(?u, "PT{width}M"^^xsd:dayTimeDuration)'
    floored = f"FLOOR(?u / {60 * width}) * {60 * width}"
    word = random.choice(["NOT EXISTS", "NOT EXISTS", "EXISTS"])
    over = f'"PT{width}M"^^xsd:dayTimeDuration <= "@"^^xsd:dateTime'
    told = f"FILTER(?t + {over})" if word == "NOT EXISTS" and "- " not in tie else ""
    there = f"&& ?h + {over}" if word == "EXISTS" else ""

    def write(of: str, there: str, final: str) -> str:
        group = f"GROUP BY ?x ({of} AS ?h)"
        inner = f"{{ SELECT ?x ?h (COUNT(*) AS ?c) WHERE {{ GRAPH ?u {{ ?x :p ?p }} }} {group} }}"
        clause = f"FILTER {word} {{ {inner} FILTER({what} && {tie} && {since} {there}) }}"
        start = f"{computed.PREFIXES}SELECT ?x ?n\nWHERE {{\n  GRAPH ?t {{ ?x :n ?n }}"
        return f"{start} {clause} {final}\n}}\n"

    return write(bucket, "", ""), write(floored, there, told)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter(run_seed(seed, tmp_path / str(seed))[:7] for seed in range(7))
    assert told["equal"] >= 2, told


@budget(0.1)
@given(seed=SEEDS)
def test_inner_clauses_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run_seed(seed, Path(folder, "case")))
        event(run_seed(seed, Path(folder, "minus"), make_minus))


def test_groups_that_are_absent_are_rdflibs(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(2):
        told += computed.run_seed(seed, tmp_path / str(seed), make_groups)
    assert told["with answers"] > 1, told
