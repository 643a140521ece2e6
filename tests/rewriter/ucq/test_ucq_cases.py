"""Runs `cases/*.md`: the rewriting of existential axioms, with twins that stay as they are.

A case is a query, `sparql`, and axioms, `owl`; and its union of conjunctive queries, `ucq after`,
which finds the certain answers: those over the chase of small random data.
"""

from pathlib import Path
from random import Random

import pytest

from ontoweir.ontology.tbox import TBox
from ontoweir.rewriter.model.query import ClassAtom, ConjunctiveQuery
from ontoweir.rewriter.ucq.rewrite_existentials import rewrite_existentials
from ontoweir.rewriter.ucq.show_ucq import format_cq
from tests.case_files import Case, Golden, read_folder
from tests.read_given import EX, read_branch, read_tbox
from tests.rewriter.ucq.chase import Fact, answers, certain_answers, close

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
    data = _make_facts(query, tbox, Random(seed))
    closed = close(data, tbox)
    rows = {row for made in found for row in answers(made, closed)}
    assert rows == certain_answers(query, data, tbox.axioms)
    return len(rows)


def _make_facts(query: ConjunctiveQuery, tbox: TBox, random: Random) -> set[Fact]:
    """A few facts about three individuals, of the predicates of the query and the axioms."""
    asked = {a.cls for a in query.atoms if isinstance(a, ClassAtom)}
    classes = sorted(tbox.classes | asked)
    properties = sorted(
        tbox.object_properties | {a.prop for a in query.atoms if not isinstance(a, ClassAtom)}
    )
    names = [f"{EX}ada", f"{EX}ben", f"{EX}logic"]
    found: set[Fact] = set()
    for _ in range(4):
        if classes and random.random() < 0.5:
            found.add((random.choice(classes), random.choice(names)))
        else:
            found.add((random.choice(properties), random.choice(names), random.choice(names)))
    return found
