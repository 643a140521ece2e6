"""A query on its way from its text to the tables."""

from dataclasses import dataclass, field

from ontoweir.mappings.model.assertion import RefusedMap
from ontoweir.rewriter.algebra.trace_steps import TraceStep
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjUnion


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query on its way down: as written (its branches; none for plain SQL), rewritten over the
    TBox, unfolded into SPJ. `incomplete`: the triples maps that are refused and left out, and could
    make what it asks for. `text`: what it was read from, and `kept_as` what it
    is kept as between runs, with its verdict (None: not known, not kept)."""

    name: str
    branches: tuple[ConjunctiveQuery, ...]
    rewritten: tuple[ConjunctiveQuery, ...]
    union: SpjUnion
    warnings: tuple[str, ...] = ()
    trace: tuple[TraceStep, ...] = ()
    incomplete: tuple[RefusedMap, ...] = ()
    text: str | None = field(default=None, compare=False, repr=False)
    kept_as: str | None = field(default=None, compare=False, repr=False)
