"""What queries share of the sets that the assertions of predicates are made."""

from dataclasses import dataclass, field

from ontoweir.mappings.model.assertion import MappingAssertion
from ontoweir.rewriter.algebra.trace_steps import TraceStep

Ends = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SetsMade:
    """What was made of assertions, and what was told of it."""

    given: tuple[MappingAssertion, ...]
    made: tuple[MappingAssertion, ...]
    steps: tuple[TraceStep, ...]


@dataclass(frozen=True, slots=True)
class KnownSets:
    """Of queries over one catalog: the sets that need no view of their own, and what the IRIs of
    subjects and objects begin and end with (None: it is no IRI); by the ids of assertions, which
    are kept here, so that no other has them."""

    sets: dict[tuple[int, ...], SetsMade] = field(default_factory=dict)
    ends: dict[int, tuple[MappingAssertion, Ends | None, Ends | None]] = field(default_factory=dict)
