"""OWL 2 QL: basic concepts and roles, axioms as a closed union, and the saturated hierarchy."""

from dataclasses import dataclass, field

from ontoweir.ontology.axioms import (
    THING,
    Axiom,
    Basic,
    Because,
    ClassFact,
    DataRange,
    DisjointConcepts,
    DisjointRoles,
    Exists,
    Fact,
    IrreflexiveRole,
    NamedClass,
    ReflexiveRole,
    Role,
    RoleFact,
    SubConcept,
    SubExists,
    SubRole,
    Value,
)
from ontoweir.ontology.saturate_tbox import SaturatedHierarchy, saturate_tbox

__all__ = [
    "THING",
    "Axiom",
    "Basic",
    "Because",
    "ClassFact",
    "DataRange",
    "DisjointConcepts",
    "DisjointRoles",
    "Exists",
    "Fact",
    "IrreflexiveRole",
    "NamedClass",
    "ReflexiveRole",
    "Role",
    "RoleFact",
    "SubConcept",
    "SubExists",
    "SubRole",
    "TBox",
    "Value",
]


@dataclass(frozen=True, slots=True)
class TBox:
    """An ontology: axioms, facts, vocabulary, and the hierarchy they entail.

    The vocabulary is completed on construction with every name in the axioms and facts (a
    property is an
    object property unless `data_properties` says otherwise). `hierarchy` is a function of the
    other fields. Unsatisfiable concepts are not put below everything: in consistent data they
    are empty.
    """

    axioms: tuple[Axiom, ...] = ()
    classes: frozenset[str] = frozenset()
    object_properties: frozenset[str] = frozenset()
    data_properties: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    hierarchy: SaturatedHierarchy = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        concepts, roles = _names(self.axioms, self.facts)
        object.__setattr__(self, "classes", (self.classes | concepts) - {THING.iri})
        objects = self.object_properties | (roles - self.data_properties)
        object.__setattr__(self, "object_properties", objects)
        saturated = saturate_tbox(
            self.axioms, self.classes, self.object_properties, self.data_properties
        )
        object.__setattr__(self, "hierarchy", saturated)

    def subconcepts(self, basic: Basic) -> tuple[tuple[Basic, tuple[Because, ...]], ...]:
        """Every basic concept B with T ⊨ B ⊑ `basic`, itself first, each with a shortest
        justification (of itself: empty)."""
        return self.hierarchy.subconcepts(basic)

    def subroles(self, role: Role) -> tuple[tuple[Role, tuple[Because, ...]], ...]:
        """Every role R with T ⊨ R ⊑ `role`, itself first, each with a shortest justification."""
        return self.hierarchy.subroles(role)

    def knows(self, iri: str) -> bool:
        """Is `iri` a class or a property of this ontology (or owl:Thing)?"""
        return (
            iri in self.classes
            or iri in self.object_properties
            or iri in self.data_properties
            or iri == THING.iri
        )

    def are_disjoint(self, a: Basic, b: Basic) -> bool:
        """T ⊨ a ⊓ b ⊑ ⊥, also because one of them is unsatisfiable."""
        return self.hierarchy.are_disjoint(a, b)

    def are_disjoint_roles(self, a: Role, b: Role) -> bool:
        """No pair is in both roles: disjoint themselves, or their domains or ranges are."""
        return self.hierarchy.are_disjoint_roles(a, b)

    def is_irreflexive(self, role: Role) -> bool:
        """R(x, x) for no x: by itself, a role above it, or because it shares no pair with its
        inverse (an asymmetric role, say)."""
        return self.hierarchy.is_irreflexive(role)


def _names(
    axioms: tuple[Axiom, ...], facts: tuple[Fact, ...]
) -> tuple[frozenset[str], frozenset[str]]:
    """(class IRIs, property IRIs) in the axioms and facts."""
    concepts = {fact.cls for fact in facts if isinstance(fact, ClassFact)}
    roles = {fact.prop for fact in facts if isinstance(fact, RoleFact)}

    def add(basic: Basic) -> None:
        match basic:
            case NamedClass(iri=iri):
                concepts.add(iri)
            case Exists(role=role):
                roles.add(role.iri)

    for axiom in axioms:
        match axiom:
            case SubConcept(sub=sub, sup=sup):
                add(sub)
                add(sup)
            case SubExists(sub=sub, role=role, fillers=fillers):
                roles.add(role.iri)
                for basic in (sub, *fillers):
                    add(basic)
            case DisjointConcepts(left=a, right=b):
                add(a)
                add(b)
            case SubRole(sub=r, sup=s) | DisjointRoles(left=r, right=s):
                roles.update((r.iri, s.iri))
            case ReflexiveRole(role=role) | IrreflexiveRole(role=role) | DataRange(role=role):
                roles.add(role.iri)
    return frozenset(concepts), frozenset(roles)
