"""Nodes that have their time in their names, such as observations: what is said of them outside
GRAPH is said in the graph of their time. Answers are rdflib's over the merge of all graphs."""

import sys
from collections import Counter
from pathlib import Path

from hypothesis import settings

from tests.sparql_counts.random_dated import make_dated, random_dated
from tests.sparql_counts.test_random_absence import compare

PROJECTS = settings().max_examples // 3


def test_answers_are_rdflibs(tmp_path: Path) -> None:
    told = Counter[str]()
    for seed in range(PROJECTS):
        told += compare(seed, tmp_path, make_dated, random_dated)
    assert told["with answers"], told


if __name__ == "__main__":
    import tempfile

    total = Counter[str]()
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        with tempfile.TemporaryDirectory() as place:
            total += compare(number, Path(place) / "case", make_dated, random_dated)
    for kind, count in total.most_common(40):
        print(count, kind)
