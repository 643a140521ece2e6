"""The first of solutions in windows, and of what is joined of groups, rows and the latest of keys,
by ORDER BY, LIMIT and OFFSET: what holds at every time is what rdflib finds with NOW() as that
time, replayed in one range and in several, live, as changes and as snapshots, within the bound.
"""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_composed_solutions import make_query as make_composed
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_joined_solutions import WINDOW, run_seed
from tests.sparql_counts.test_joined_solutions import make_query as make_joined


def make_query(random: Random) -> tuple[str, tuple[str, ...]]:
    """A query, and the names of its columns."""
    kind = random.random()
    if kind < 0.25:
        window = WINDOW.format(n=1, m=random.choice([5, 10, 20]))
        rows = f"GRAPH ?t1 {{ ?x :{random.choice('nmp')} ?n }} {window}"
        head = f"SELECT {random.choice(['', 'DISTINCT '])}?x ?n"
        text = f"{PREFIXES}{head} {{ {rows} {random.choice(['', '?x :f ?f .'])} }}"
        names: tuple[str, ...] = ("x", "n")
    else:
        text, names = (make_composed if kind < 0.8 else make_joined)(random)
    order = random.sample(names, k=len(names))
    by = " ".join(random.choice([f"DESC(?{v})", f"?{v}"]) for v in order)
    skipped = random.choice(["", "", " OFFSET 1"])
    return f"{text.rstrip()}\nORDER BY {by} LIMIT {random.choice([1, 1, 2, 3])}{skipped}\n", names


def run(seed: int, folder: Path) -> str:
    """What came of the query of a seed."""
    return run_seed(seed, folder, make_query)


def test_most_are_answered(tmp_path: Path) -> None:
    told = Counter(run(seed, tmp_path / str(seed)) for seed in range(5))
    assert told["with answers"] > 1, told


@given(SEEDS)
@budget(0.2)
def test_the_first_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        event(run(seed, Path(folder, "case")))
