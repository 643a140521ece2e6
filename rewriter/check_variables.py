"""Check that every variable of a query is used as it can be."""

from collections.abc import Callable

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.query import Atom, ClassAtom, Filter, Variable


def check_variables(
    head: tuple[Variable, ...] | None,
    atoms: tuple[Atom, ...],
    filters: tuple[Filter, ...],
    times: frozenset[Variable],
    *,
    locate: Callable[[Variable], int | None],
    source: Source,
) -> tuple[Variable, ...]:
    """The answer variables; without a head (SELECT *) all values in order of appearance.

    Args:
        head: the variables of SELECT, None for `*`.
        atoms: the patterns.
        filters: the comparisons.
        times: the variables that name a GRAPH.
        locate: the line of a variable in the text.
        source: where the query starts.

    Raises:
        QueryError: there is no pattern, a variable is both time and value, a time is selected, or
            a variable is bound by no pattern.
    """
    values: dict[Variable, int | None] = {}
    for atom in atoms:
        terms = (atom.term,) if isinstance(atom, ClassAtom) else (atom.subject, atom.object)
        for term in terms:
            if isinstance(term, Variable):
                values.setdefault(term, atom.source.line if atom.source else None)
    if not atoms:
        fix = "write at least one pattern, such as ?x a :Sensor"
        raise _error(
            source.file, "the query has no pattern", "it asks for nothing", fix, source.line
        )
    for time in sorted(times):
        if time in values:
            raise _error(
                source.file,
                f"?{time.name} is both a time and a value: comparing a time with a value",
                f"GRAPH ?{time.name} makes it a time, which is no subject or object",
                "use two variables",
                values[time],
            )
    for f in filters:
        for side in (f.left, f.right):
            if isinstance(side, Variable) and side not in values and side not in times:
                raise _error(
                    source.file,
                    f"?{side.name} is in a FILTER but in no pattern",
                    "a filter compares variables that patterns or GRAPH bind",
                    f"write a pattern with ?{side.name}; if it is a time, "
                    f"GRAPH ?{side.name} {{ … }}",
                    f.source.line if f.source else None,
                )
    if head is None:
        return tuple(v for v in values if not v.name.startswith("_b"))
    for variable in head:
        place = locate(variable)
        if variable in times:
            raise _error(
                source.file,
                f"the time ?{variable.name} is in SELECT",
                "results carry `at`, the timestamp of the step that produced them",
                f"remove ?{variable.name} from SELECT",
                place,
            )
        if variable not in values:
            raise _error(
                source.file,
                f"?{variable.name} is in SELECT but in no pattern",
                "an answer variable is bound by a pattern",
                f"write a pattern with ?{variable.name}, or remove it from SELECT",
                place,
            )
    return head


def _error(file: str, what: str, why: str, fix: str, line: int | None) -> QueryError:
    return QueryError(what, why=why, fix=fix, source=Source(file, line))
