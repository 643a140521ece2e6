"""Counterexamples against SPARQL over the ward's streams (ward.py), whose patients have no domain:
rdflib tells all subsets of their optional tuples apart."""

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.checker.witness.witness import WitnessRow
from ontoweir.rewriter.model.share_steps import share_steps
from tests.sparql_counts.case import Case
from tests.sparql_counts.parcels import compile_text
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.test_computed_absence import PREFIXES
from tests.sparql_counts.test_random_windows import ask_at_each, step_of
from tests.sparql_counts.ward import make_ward
from tests.sparql_counts.write_case import write_case

DOSE = "GRAPH ?t { ?g a :Dose ; :of ?p ; :mg ?m }"
LATER = "GRAPH ?u { ?h a :Dose ; :of ?p ; :mg ?x } FILTER(?u > ?t)"
MOVED = "GRAPH ?u { ?p :inWard ?x } FILTER(?u > ?t)"
QUERIES = [
    f"SELECT ?p ?m {{ {DOSE} FILTER NOT EXISTS {{ {LATER} }} }}",
    f"SELECT ?m (COUNT(*) AS ?n) {{ {DOSE} FILTER NOT EXISTS {{ {LATER} }} }} GROUP BY ?m",
    f"SELECT ?p ?w {{ GRAPH ?t {{ ?p :inWard ?w }} FILTER NOT EXISTS {{ {MOVED} }} }}",
]


@pytest.mark.parametrize("query", QUERIES)
def test_rdflib_tells_all_subsets_apart(query: str, tmp_path: Path) -> None:
    case, text = make_ward(Random(1)), f"{PREFIXES}{query}"
    write_case(case, tmp_path)
    workspace, compiled = compile_text(text, tmp_path)
    catalog = workspace.project.catalog
    verdict = check_query(compiled.union, catalog, size=2)
    assert verdict.tier is Tier.UNBOUNDED
    witness = verdict.witness
    assert witness is not None
    step_us = share_steps(catalog, compiled.union.step_us)
    seen = set[Any]()
    for chosen in product((False, True), repeat=witness.size):
        there = [o for o, taken in zip(witness.optional, chosen, strict=True) if taken]
        told = []
        for suffix in witness.suffixes:
            rows = [*witness.fixed, *there, *suffix]
            units = {n: s.step_us for n, s in step_us.streams.items()}
            told.append(_change(case, text, rows, len(suffix), units, tmp_path / str(len(seen))))
        assert tuple(told) not in seen
        seen.add(tuple(told))


def _change(
    case: Case,
    text: str,
    rows: list[WitnessRow],
    last: int,
    units: dict[str, int],
    folder: Path,
) -> frozenset[Any]:
    """What the last rows change, by rdflib."""

    def step(row: WitnessRow) -> int:
        return (row.step or 0) * units[row.table] // 300_000_000

    timed = [row for row in rows if row.step is not None]
    first = min(map(step, timed)) // 6 * 6
    held: dict[str, Any] = {}
    for table in case.tables:
        names = [name for name, _ in table.columns]
        mine = [(dict(row.values), row) for row in rows if row.table == table.name]
        held[table.name] = tuple(
            (*((step(row) - first,) if table.stream else ()), *(of[n] for n in names))
            for of, row in sorted(mine, key=lambda one: one[1].step or 0)
        )
    folder.mkdir(exist_ok=True)
    write_case(replace(case, rows=held), folder)
    for file in folder.glob("*.csv"):  # it writes the minutes of an hour
        written = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"2020-01-01 00:(\d+):00", _spell, written), encoding="utf-8")
    told = dict(ask_at_each(text, Project(folder).read_graphs()))
    begin = min(step(row) for row in rows[-last:]) - first
    before = [m for m in told if step_of(m) < begin]
    changed: Counter[Any] = Counter(told[max(told)])
    changed.subtract(told[max(before)] if before else Counter())
    return frozenset((row, n) for row, n in changed.items() if n)


def _spell(found: re.Match[str]) -> str:
    return (datetime(2020, 1, 1) + timedelta(minutes=int(found[1]))).isoformat(" ")
