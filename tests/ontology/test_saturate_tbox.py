"""The saturated hierarchy: shortest justifications, cycles, and large ontologies."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

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


def _ask_all(size: int) -> None:
    """Everything below each class of a binary tree."""
    tbox = TBox(
        tuple(
            SubConcept(NamedClass(f"C{i}"), NamedClass(f"C{i // 2}"), why(str(i)))
            for i in range(1, size)
        )
    )
    assert len(tbox.subconcepts(NamedClass("C0"))) == size
    for i in range(size):
        tbox.subconcepts(NamedClass(f"C{i}"))


def _count_calls(action: Callable[[], None]) -> int:
    """How many functions are called, of Python and of C: the same number on every machine."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls


def test_twice_the_axioms_are_twice_the_work() -> None:
    """A tree of twice the size is one level deeper: n log n."""
    once, twice = _count_calls(partial(_ask_all, 1_000)), _count_calls(partial(_ask_all, 2_000))
    assert twice < 2.5 * once
