"""The words of OWL 2 QL: roles, basic concepts, and axioms as a closed union.

[C] Calvanese, De Giacomo, Lembo, Lenzerini, Rosati: Tractable Reasoning and Efficient Query
Answering in Description Logics: The DL-Lite Family. JAR 39 (2007). OWL 2 QL is DL-Lite_R.
"""

from dataclasses import dataclass
from typing import TypeAlias

from ontoweir.errors import Source


@dataclass(frozen=True, slots=True, order=True)
class Role:
    """An object or data property, or the inverse of an object property."""

    iri: str
    inverse: bool = False

    def inverted(self) -> "Role":
        """P⁻ for P, P for P⁻."""
        return Role(self.iri, not self.inverse)


@dataclass(frozen=True, slots=True, order=True)
class NamedClass:
    """A class name."""

    iri: str


@dataclass(frozen=True, slots=True, order=True)
class Exists:
    """∃R, all that has an R-successor (for R = P⁻: the range of P)."""

    role: Role


Basic: TypeAlias = NamedClass | Exists
"""A basic concept of DL-Lite_R."""


@dataclass(frozen=True, slots=True)
class Because:
    """An axiom in functional syntax, and where it is written."""

    text: str
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class SubConcept:
    """B1 ⊑ B2. With B2 = ∃R this makes anonymous R-successors."""

    sub: Basic
    sup: Basic
    because: Because


@dataclass(frozen=True, slots=True)
class SubExists:
    """B ⊑ ∃R.(C1 ⊓ … ⊓ Cn), n > 0: an anonymous R-successor that is in every Ci."""

    sub: Basic
    role: Role
    fillers: tuple[Basic, ...]
    because: Because


@dataclass(frozen=True, slots=True)
class SubRole:
    """R1 ⊑ R2, and with it R1⁻ ⊑ R2⁻. Inverse and symmetric properties are made of these."""

    sub: Role
    sup: Role
    because: Because


@dataclass(frozen=True, slots=True)
class DisjointConcepts:
    """B1 ⊓ B2 ⊑ ⊥; with B1 = B2 the concept is empty."""

    left: Basic
    right: Basic
    because: Because


@dataclass(frozen=True, slots=True)
class DisjointRoles:
    """R1 and R2 share no pair. Asymmetric R: R and R⁻."""

    left: Role
    right: Role
    because: Because


@dataclass(frozen=True, slots=True)
class ReflexiveRole:
    """R(x, x) for every individual x."""

    role: Role
    because: Because


@dataclass(frozen=True, slots=True)
class IrreflexiveRole:
    """R(x, x) for no individual x."""

    role: Role
    because: Because


@dataclass(frozen=True, slots=True)
class DataRange:
    """The values of a data property are of a datatype: constrains data, entails no atom."""

    role: Role
    datatype: str
    because: Because


Axiom: TypeAlias = (
    SubConcept
    | SubExists
    | SubRole
    | DisjointConcepts
    | DisjointRoles
    | ReflexiveRole
    | IrreflexiveRole
    | DataRange
)
"""An OWL 2 QL axiom in normal form; one axiom of a file can make several of these."""


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """A literal: lexical form, datatype IRI (None for a plain string), language tag."""

    lexical: str
    datatype: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class ClassFact:
    """C(a): the individual with the IRI `individual` is in a named class."""

    cls: str
    individual: str
    because: Because


@dataclass(frozen=True, slots=True)
class RoleFact:
    """P(a, b): `object` is an individual's IRI or, for data properties, a value."""

    prop: str
    subject: str
    object: "str | Value"
    because: Because


Fact: TypeAlias = ClassFact | RoleFact
"""An assertion about named individuals. Different IRIs are different individuals here."""

THING = NamedClass("http://www.w3.org/2002/07/owl#Thing")
"""Top, over individuals (literals are not in it)."""
