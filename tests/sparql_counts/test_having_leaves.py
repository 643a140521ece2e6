"""HAVING that may hold of a group, and later not, of one or many streams under one class: groups
come and go, and what holds at every time is what is found by hand; it is bounded by the keys."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import mean

import pytest

import ontoweir
from ontoweir.errors import OntoweirError
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_joined_solutions import run_seed
from tests.sparql_counts.test_latest_of_classes import BEGIN, ROW, write_classes

CONDITIONS: dict[str, Callable[[list[int]], bool]] = {
    "AVG(?v) > 2": lambda values: mean(values) > 2,
    "COUNT(*) < 4": lambda values: len(values) < 4,
    "SUM(?v) = 6 || COUNT(?v) = 1": lambda values: sum(values) == 6 or len(values) == 1,
    "MAX(?v) - MIN(?v) <= 2 && SUM(?v) != 6": lambda values: (
        max(values) - min(values) <= 2 and sum(values) != 6
    ),
}


@pytest.mark.parametrize("streams", [1, 3, 9])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_groups_come_and_go(tmp_path: Path, streams: int, condition: str) -> None:
    rows = write_classes(tmp_path, streams, Random(f"{streams} {condition}"), apart=False)
    text = f"""PREFIX : <http://ex.org/>
SELECT ?s (COUNT(*) AS ?n) (MAX(?v) AS ?m) {{ GRAPH ?t {{ {ROW} }} }} GROUP BY ?s
HAVING ({condition})"""
    project = ontoweir.open_project(tmp_path)
    checked = project.check(text)
    assert checked.bound is not None, checked.tier
    answers = project.replay(text)
    told = answers.to_arrow().to_pylist()
    assert answers.summary["state_rows_max"] <= answers.summary["bound_rows"]
    holding: Counter[object] = Counter()
    last, left = max(at for at, *_ in rows), 0
    for minute in range(13):
        now = BEGIN + timedelta(minutes=minute)
        if now > last:
            break
        for row in told:
            if row["at"].replace(tzinfo=None) == now:
                left += row["op"] == "-"
                holding[row["s"], row["n"], row["m"]] += 1 if row["op"] == "+" else -1
        wanted: Counter[object] = Counter()
        for sensor in range(4):
            values = [v for at, _, s, v in rows if s == sensor and at <= now]
            if values and CONDITIONS[condition](values):
                wanted[f"http://ex.org/sensor/{sensor}", len(values), max(values)] += 1
        assert +holding == wanted, (minute, text)
    assert left or streams == 1


def test_what_is_not_grouped_is_refused(tmp_path: Path) -> None:
    write_classes(tmp_path, 2, Random(1), apart=False)
    text = f"PREFIX : <http://ex.org/> SELECT (AVG(?v) AS ?m) {{ GRAPH ?t {{ {ROW} }} }} "
    with pytest.raises(OntoweirError, match="may hold of a group, and later not"):
        ontoweir.open_project(tmp_path).check(f"{text} HAVING (AVG(?v) > 2)")


WINDOW = 'GRAPH ?t { ?x :n ?n } FILTER(?t > NOW() - "PT20M"^^xsd:dayTimeDuration)'
SO_FAR = "{{ SELECT ?x (SUM(?w) AS ?a) {{ GRAPH ?u {{ ?x :m ?w }} }} GROUP BY ?x HAVING ({}) }}"


@pytest.mark.parametrize("having", ["SUM(?w) > 2", "COUNT(*) < 3", "MAX(?w) = 1"])
@pytest.mark.parametrize("clause", ["", "FILTER NOT EXISTS "])
def test_as_a_part_they_come_and_go(tmp_path: Path, having: str, clause: str) -> None:
    names = ("x", "n") if clause else ("x", "n", "a")
    shown = " ".join(f"?{name}" for name in names)
    text = f"{PREFIXES}SELECT {shown} {{ {WINDOW} {clause}{SO_FAR.format(having)} }}"
    for seed in range(3):
        assert run_seed(seed, tmp_path / f"{seed}", lambda _: (text, names)).startswith("with")
