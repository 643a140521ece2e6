"""The saturated hierarchy: shortest justifications, cycles, and large ontologies."""

import time

from ontoweir.ontology.tbox import (
    THING,
    Because,
    Exists,
    NamedClass,
    Role,
    SubConcept,
    SubExists,
    SubRole,
    TBox,
)

A, B, C = NamedClass("A"), NamedClass("B"), NamedClass("C")
P, Q = Role("P"), Role("Q")


def why(text: str) -> Because:
    return Because(text)


def test_the_concept_itself_comes_first_without_justification() -> None:
    assert TBox().subconcepts(A) == ((A, ()),)
    assert TBox().subroles(P) == ((P, ()),)


def test_a_shortest_justification_is_given() -> None:
    tbox = TBox(
        (
            SubConcept(A, B, why("1")),
            SubConcept(B, C, why("2")),
            SubConcept(A, C, why("3")),
        )
    )
    assert dict(tbox.subconcepts(C)) == {C: (), B: (why("2"),), A: (why("3"),)}


def test_a_qualified_existential_counts_once_and_its_auxiliary_role_is_hidden() -> None:
    tbox = TBox((SubExists(A, P, (B,), why("1")), SubRole(P, Q, why("2"))))
    assert dict(tbox.subconcepts(Exists(Q))) == {
        Exists(Q): (),
        Exists(P): (why("2"),),
        A: (why("1"), why("2")),
    }
    assert dict(tbox.subconcepts(B)) == {B: ()}
    assert dict(tbox.subroles(Q.inverted())) == {Q.inverted(): (), P.inverted(): (why("2"),)}


def test_cycles_end() -> None:
    tbox = TBox(
        (
            SubConcept(A, B, why("1")),
            SubConcept(B, A, why("2")),
            SubRole(P, Q.inverted(), why("3")),
            SubRole(Q, P.inverted(), why("4")),
        )
    )
    assert {b for b, _ in tbox.subconcepts(A)} == {A, B}
    assert {r for r, _ in tbox.subroles(P)} == {P, Q.inverted()}


def test_everything_is_a_thing_but_values() -> None:
    tbox = TBox(
        (SubConcept(A, Exists(Q), why("1")),), data_properties=frozenset({"Q"}), classes=frozenset()
    )
    assert {b for b, _ in tbox.subconcepts(THING)} == {THING, A, Exists(Q)}


def test_ten_thousand_axioms_take_seconds() -> None:
    chain = tuple(
        SubConcept(NamedClass(f"C{i}"), NamedClass(f"C{i // 2}"), why(str(i)))
        for i in range(1, 10_000)
    )
    start = time.perf_counter()
    tbox = TBox(chain)
    assert len(tbox.subconcepts(NamedClass("C0"))) == 10_000
    for i in range(10_000):
        tbox.subconcepts(NamedClass(f"C{i}"))
    assert time.perf_counter() - start < 5
