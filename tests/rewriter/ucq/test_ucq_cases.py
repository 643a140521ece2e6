"""Runs `cases/*.md`: the rewriting of existential axioms, with twins that stay as they are.

A case is a query, `sparql`, and axioms, `owl`; and its union of conjunctive queries, `ucq after`,
which finds the certain answers: those over the chase of small random data.
"""

from pathlib import Path
from random import Random

import pytest

from ontoweir.ontology.tbox import TBox
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.ucq.rewrite_existentials import rewrite_existentials
from ontoweir.rewriter.ucq.show_ucq import format_cq
from tests.case_files import Case, Golden, read_folder
from tests.read_given import read_branch, read_tbox
from tests.rewriter.ucq.chase import answers, certain_answers, close, random_facts

CASES = read_folder(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rewriting(case: Case, tmp_path: Path, golden: Golden) -> None:
    query, tbox = read_branch(case), read_tbox(case, tmp_path)
    found = rewrite_existentials(query, tbox)
    assert (found == (query,)) == case.is_twin
    golden(case, "ucq after", "" if case.is_twin else "\n".join(map(format_cq, found)))
    if all(atom.time is None for atom in query.atoms):
        total = sum(_compare_answers(query, found, tbox, seed) for seed in range(20))
        assert total or case.is_twin, "the random data says nothing"


def _compare_answers(
    query: ConjunctiveQuery, found: tuple[ConjunctiveQuery, ...], tbox: TBox, seed: int
) -> int:
    """How many answers the rewriting finds in random data closed under the hierarchy: the certain
    ones."""
    data = random_facts(query, tbox, Random(seed))
    closed = close(data, tbox)
    rows = {row for made in found for row in answers(made, closed)}
    assert rows == certain_answers(query, data, tbox.axioms)
    return len(rows)
