"""Buckets of time of solutions beside which patterns match later, or do not, in any combination:
the groups that are over are those that rdflib counts of the same text."""

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import event, given

from tests.oracle.budget import SEEDS, budget
from tests.sparql_counts.test_absence_choices import ERRORS, make_choice
from tests.sparql_counts.test_computed_absence import BUCKET, make_text, run_seed


def make_buckets(random: Random) -> tuple[str, str]:
    """A query that counts by buckets what is beside something."""
    while True:
        if random.random() < 0.7:
            made = make_text(random)
        else:
            made = make_text(random, make_choice, ERRORS)
        if BUCKET in made[0] and "EXISTS" in made[0]:
            return made


def test_some_have_answers(tmp_path: Path) -> None:
    """What random cases say is not said of nothing."""
    told = Counter[str]()
    for seed in range(4):
        told += run_seed(seed, tmp_path / str(seed), make_buckets)
    assert told["with buckets"] > 4, told


@budget(0.1)
@given(seed=SEEDS)
def test_buckets_beside_are_rdflibs(seed: int) -> None:
    with TemporaryDirectory() as folder:
        for kind in run_seed(seed, Path(folder, "case"), make_buckets):
            event(kind)
