"""The sizes of minimal UCQs that were published for the REQUIEM ontologies (ISWC 2009).

The ontologies are not part of the project (`../shared/suites/requiem`); without them these tests
are skipped, and counted as skipped.
"""

import re

import pytest

from ontoweir.ontology.load_ontology import load_ontology
from ontoweir.ontology.tbox import TBox
from ontoweir.rewriter.model.query import Atom, ClassAtom, ConjunctiveQuery, PropertyAtom, Variable
from ontoweir.rewriter.ucq.show_ucq import show_ucq
from tests.paths import SHARED

SUITE = SHARED / "suites/requiem"
PUBLISHED = {
    "V": (15, 10, 72, 185, 30),
    "P1": (2, 2, 2, 2, 2),
    "P5": (6, 10, 13, 15, 16),
    "S": (6, 2, 4, 4, 8),
    "U": (2, 1, 4, 2, 10),
    "A": (27, 50, 104, 224, 624),
}
CASES = [(name, i, size) for name, sizes in PUBLISHED.items() for i, size in enumerate(sizes)]


def read_requiem(name: str, tbox: TBox) -> list[ConjunctiveQuery]:
    """The suite's queries over an ontology; predicates are found by IRI fragment."""
    section = re.split(r"//-{10,}\n", (SUITE / "queries.txt").read_text())
    block = next(s for s in section if name in re.split(r"[/ \n]+", s.split("//Q")[0]))
    iris = tbox.classes | tbox.object_properties | tbox.data_properties
    named = {iri.rsplit("#", 1)[-1]: iri for iri in iris}
    made = []
    for head, body in re.findall(r"//Q\(([^)]*)\) <- (.*)", block):
        atoms: list[Atom] = []
        for predicate, args in re.findall(r"([\w-]+)\(([^)]*)\)", body):
            terms = [Variable("x" + v.strip("? ")) for v in args.split(",")]
            iri = named.get(predicate, predicate)
            if len(terms) == 1:
                atoms.append(ClassAtom(iri, terms[0]))
            else:
                atoms.append(PropertyAtom(iri, terms[0], terms[1]))
        variables = tuple(Variable("x" + v.strip("? ")) for v in head.split(","))
        made.append(ConjunctiveQuery("Q", variables, tuple(atoms), (), True))
    return made


@pytest.mark.skipif(not SUITE.is_dir(), reason=f"REQUIEM ontologies are not at {SUITE}")
@pytest.mark.parametrize(("name", "number", "size"), CASES)
def test_minimal_ucq_has_the_published_size(name: str, number: int, size: int) -> None:
    tbox = load_ontology([SUITE / f"{name}.owl"], warn=lambda _: None)
    assert len(show_ucq(read_requiem(name, tbox)[number], tbox)) == size
