"""Assertions by how the IRIs of a term begin: those of other IRIs never meet."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    TemplateMap,
    TermMap,
)
from ontoweir.rewriter.model.spj import ConstantOutput, IriOutput, Output


class PrefixIndex:
    """Assertions by the fixed text that the IRIs of one of their terms begin with."""

    def __init__(self, assertions: Iterable[tuple[MappingAssertion, TermMap | None]]) -> None:
        self._others: list[int] = []
        self._by_prefix: dict[str, list[int]] = {}
        self._assertions: list[MappingAssertion] = []
        for number, (assertion, term) in enumerate(assertions):
            self._assertions.append(assertion)
            prefix = _prefix_of(term)
            if prefix is None:
                self._others.append(number)
            else:
                self._by_prefix.setdefault(prefix, []).append(number)
        self._sorted = sorted(self._by_prefix)

    def meeting(self, known: Output) -> Sequence[MappingAssertion] | None:
        """The assertions, in order, that a bound term may meet (None: any)."""
        prefix = _begin(known)
        if prefix is None:
            return None
        numbers = list(self._others)
        for length in range(len(prefix)):  # fixed text that goes on with a column
            numbers += self._by_prefix.get(prefix[:length], ())
        first = bisect_left(self._sorted, prefix)
        for longer in self._sorted[first:]:
            if not longer.startswith(prefix):
                break
            numbers += self._by_prefix[longer]
        return [self._assertions[n] for n in sorted(numbers)]


def _begin(output: Output) -> str | None:
    """What the text of a bound IRI begins with."""
    match output:
        case ConstantOutput(value=value, is_iri=True):
            return value
        case IriOutput(parts=(str() as first, *_)):
            return first
        case _:
            return None


def _prefix_of(term: TermMap | None) -> str | None:
    match term:
        case ConstantMap(value=value, is_iri=True):
            return value
        case TemplateMap(parts=(str() as first, *_), kind="iri"):
            return first
        case TemplateMap() | ConstantMap() | ColumnMap() | None:
            return None
