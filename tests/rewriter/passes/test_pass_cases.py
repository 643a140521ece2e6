"""Runs `cases/*.md`: each pass of semantic optimisation, before and after, and where it does not.

A case is a query, `sql`, over the file's catalog, `toml`, and what one pass makes of it: `sql
after`, `dropped` (the reason), or nothing, which a twin has. For the pass on axioms the query is
`sparql`, and the axioms are `owl`, in functional syntax. Queries in SQL are also answered before
and after by DuckDB, over small random data that keeps what the catalog declares; those in SPARQL
have answers over small random data that keeps the axioms where the pass leaves them, else none.
"""

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from duckdb import DuckDBPyConnection

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import TBox
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion
from ontoweir.rewriter.passes.prune_disjuncts import Candidate
from ontoweir.rewriter.passes.run_passes import (
    PASSES,
    DropPass,
    Pass,
    QueryPass,
    run_passes,
)
from ontoweir.rewriter.sql import parse_sql as reader
from ontoweir.rewriter.sql.print_sql import print_sql
from tests.case_files import Case, Golden, read_folder
from tests.oracle.random_rows import random_rows, sql_types
from tests.oracle.relational import Row, answer, load
from tests.read_given import read_branch, read_catalog, read_tbox
from tests.rewriter.ucq.chase import answers, close, is_consistent, random_facts

CASES = read_folder(Path(__file__).parent / "cases")
SEEDS = range(8)
ASKED = ConjunctiveQuery("q", (), (), (), True)


def find_pass(case: Case) -> Pass:
    """The pass of a case's file: "self-joins on keys" has self-joins-on-keys.md."""
    (found,) = [rule for rule in PASSES if rule.name.replace(" ", "-") == case.file.stem]
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_pass(case: Case, tmp_path: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = find_pass(case)
    if isinstance(rule, QueryPass):
        query, tbox = read_branch(case), read_tbox(case, tmp_path)
        # what is not in a GRAPH is mapped from static relations
        atoms = tuple(replace(atom, always=atom.time is None) for atom in query.atoms)
        query = replace(query, atoms=atoms)
        reason = rule.reason(query, tbox)
        assert (reason is None) == case.is_twin
        golden(case, "dropped", reason or "")
        if len({atom.time for atom in query.atoms} - {None}) < 2:
            assert _has_answers(query, tbox) == case.is_twin
        return
    catalog = read_catalog(case.given("toml"))
    # the query as it is written: reading SQL propagates equalities otherwise
    monkeypatch.setattr(reader, "propagate_equalities", lambda query, catalog: query)
    before = reader.parse_sql(case.given("sql"), catalog, name="q", file="q.sql")
    after = replace(before, disjuncts=_run(rule, before, catalog))
    assert (after.disjuncts == before.disjuncts) == case.is_twin
    if isinstance(rule, DropPass):
        reasons = [rule.reason(query, catalog) for query in before.disjuncts]
        golden(case, "dropped", "\n".join(filter(None, reasons)))
    else:
        golden(case, "sql after", "" if case.is_twin else print_sql(after, catalog, comments=False))
    if not case.is_twin:
        total = _compare_answers(case, before, after, catalog)
        assert (total == 0) == (not after.disjuncts), "the random data says nothing"


def _run(rule: Pass, union: SpjUnion, catalog: Catalog) -> tuple[SpjQuery, ...]:
    return run_passes(
        [Candidate(query, ASKED, n) for n, query in enumerate(union.disjuncts, 1)],
        catalog,
        distinct=union.distinct,
        skip=frozenset({other.name for other in PASSES} - {rule.name}),
    )


def _has_answers(query: ConjunctiveQuery, tbox: TBox) -> bool:
    """Whether a query of one state has answers over random data that keeps the axioms."""
    found = (close(random_facts(query, tbox, Random(seed)), tbox) for seed in range(200))
    return any(answers(query, facts) for facts in found if is_consistent(facts, tbox))


def _compare_answers(case: Case, before: SpjUnion, after: SpjUnion, catalog: Catalog) -> int:
    """How many answers there are over random data, which are the same before and after."""
    total = 0
    for base in _bases(case.given("toml")):
        first, second = (_answer(union, base, catalog) for union in (before, after))
        assert first == second
        total += first.total()
    return total


@cache
def _bases(toml: str) -> tuple[DuckDBPyConnection, ...]:
    """Databases of random rows of a catalog."""
    catalog = read_catalog(toml)
    return tuple(load(random_rows(catalog, seed), sql_types(catalog)) for seed in SEEDS)


def _answer(union: SpjUnion, base: DuckDBPyConnection, catalog: Catalog) -> Counter[Row]:
    timestamps = {s.name: s.timestamp for s in catalog.streams.values()}
    found: Counter[Row] = Counter()
    for query in union.disjuncts:
        found += answer(base, query, timestamps, distinct=union.distinct, upto=100)
    return Counter(dict.fromkeys(found, 1)) if union.distinct else found
