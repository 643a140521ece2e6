"""What the rewriter asks of a TBox."""

from typing import Protocol

from ontoweir.ontology.tbox import Basic, Because, Role


class Hierarchy(Protocol):
    """The saturated hierarchy of an ontology; `ontology.tbox.TBox` is one."""

    @property
    def classes(self) -> frozenset[str]:
        """All class IRIs."""
        ...

    @property
    def object_properties(self) -> frozenset[str]:
        """All object property IRIs."""
        ...

    @property
    def data_properties(self) -> frozenset[str]:
        """All data property IRIs."""
        ...

    def subconcepts(self, basic: Basic, /) -> tuple[tuple[Basic, tuple[Because, ...]], ...]:
        """All basic concepts below, itself first, each with the axioms that put it there."""
        ...

    def subroles(self, role: Role, /) -> tuple[tuple[Role, tuple[Because, ...]], ...]:
        """All roles below, itself first, each with the axioms that put it there."""
        ...

    def knows(self, iri: str, /) -> bool:
        """Whether the ontology declares or uses `iri`."""
        ...

    def are_disjoint(self, a: Basic, b: Basic, /) -> bool:
        """Whether nothing is in both; of a concept and itself: whether it is empty."""
        ...

    def are_disjoint_roles(self, a: Role, b: Role, /) -> bool:
        """Whether two roles can share no pair."""
        ...

    def is_irreflexive(self, role: Role, /) -> bool:
        """Whether the role holds between nothing and itself."""
        ...
