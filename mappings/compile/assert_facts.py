"""The facts of an ontology as mapping assertions over no table."""

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from ontoweir.errors import Source
from ontoweir.mappings.model.assertion import (
    ConstantMap,
    MappingAssertion,
    MappingSet,
    MappingSource,
)
from ontoweir.ontology.tbox import ClassFact, Fact, RoleFact, Value


def assert_facts(mappings: MappingSet, facts: Iterable[Fact]) -> MappingSet:
    """The mappings, and for each fact an assertion that makes its triple of nothing.

    The product of no tables has one row. So a fact holds always, as a static relation's rows do,
    and a match of an atom with it adds no occurrence.
    """
    made = tuple(map(_assert, facts))
    return replace(mappings, assertions=(*mappings.assertions, *made)) if made else mappings


def _assert(fact: Fact) -> MappingAssertion:
    value: ConstantMap | None
    match fact:
        case ClassFact(cls=predicate, individual=subject):
            value = None
        case RoleFact(prop=predicate, subject=subject, object=made):
            if isinstance(made, Value):
                value = ConstantMap(made.lexical, False, made.datatype, made.language)
            else:
                value = ConstantMap(made, is_iri=True)
        case _ as unreachable:
            assert_never(unreachable)
    because = fact.because
    return MappingAssertion(
        id=because.text,
        predicate=predicate,
        source=MappingSource(()),
        subject=ConstantMap(subject, is_iri=True),
        object=value,
        place=because.source or Source("ontology"),
    )
