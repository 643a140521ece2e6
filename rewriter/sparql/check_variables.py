"""Check that every variable of a query is used as it can be."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.model.query import Variable, atom_terms, filter_variables
from ontoweir.rewriter.sparql.distribute_unions import Branch
from ontoweir.rewriter.sparql.patterns import (
    Join,
    Pattern,
    bound_variables,
    formula_filters,
    pattern_atoms,
    pattern_values,
)
from ontoweir.rewriter.sparql.read_terms import Refuse
from ontoweir.rewriter.windows.read_sparql_windows import Now


@dataclass(frozen=True, slots=True)
class UsedVariables:
    """What the variables of a query are used for.

    `times`: they name a GRAPH. `hidden`: made for blank nodes and paths. `counted`: counted, and so
    must have a value, without being answers. `aggregates`: the query has aggregates, which need no
    answer variable.
    """

    times: frozenset[Variable]
    hidden: frozenset[Variable]
    counted: frozenset[Variable]
    aggregates: bool
    bare: bool = False


def check_variables(
    head: tuple[Variable, ...] | None,
    pattern: Pattern,
    branches: Sequence[Branch],
    used: UsedVariables,
    locate: Callable[[Variable], int | None],
    source: Source,
) -> tuple[Variable, ...]:
    """The answer variables; without a head (SELECT *) all values in order of appearance.

    Args:
        head: the variables of SELECT, None for `*`.
        pattern: the WHERE clause.
        branches: its branches.
        used: what the variables outside the head are used for.
        locate: the line of a variable in the text.
        source: where the query starts.

    Raises:
        QueryError: there is no pattern or no answer variable, a variable is both time and value,
            a time is selected, or an answer variable is not bound by every branch.
    """
    values: dict[Variable, int | None] = {}
    for atom in pattern_atoms(pattern):
        for term in atom_terms(atom):
            if isinstance(term, Variable):
                values.setdefault(term, atom.source.line if atom.source else None)
    for time in sorted(used.times):
        if time in values:
            raise _error(
                source.file,
                f"?{time.name} is both a time and a value: comparing a time with a value",
                f"GRAPH ?{time.name} makes it a time, which is not a subject or object",
                "use two variables",
                values[time],
            )
    for rows in pattern_values(pattern):
        for variable in rows.variables:
            values.setdefault(variable, rows.source.line)
    if not used.bare and not all(branch.atoms for branch in branches):
        several = len(branches) > 1
        raise _error(
            source.file,
            "a branch of the query has no pattern" if several else "the query has no pattern",
            "it asks for nothing in the data",
            "write at least one pattern, such as ?x a :Sensor" + " in each" * several,
            source.line,
        )
    if head is None:
        head = tuple(v for v in values if v not in used.hidden)
    if not head and not used.aggregates:
        raise _error(
            source.file,
            "the query selects no variable",
            "its results would have no columns",
            "write a variable in place of a constant, and a FILTER, or select another one",
            source.line,
        )
    for variable in (*head, *sorted(used.counted - set(head))):
        _check_answer(variable, values, branches, used.times, locate(variable), source)
    return head


def _suggest(name: str, values: Iterable[Variable]) -> str:
    """A variable spelled almost so."""
    close = get_close_matches(name, [v.name for v in values], n=1)
    return f"; did you mean ?{close[0]}?" if close else ""


def _check_answer(
    variable: Variable,
    values: dict[Variable, int | None],
    branches: Sequence[Branch],
    times: frozenset[Variable],
    place: int | None,
    source: Source,
) -> None:
    name = variable.name
    if variable in times:
        raise _error(
            source.file,
            f"the time ?{name} is in SELECT",
            "results carry `at`, the timestamp of the step that produced them",
            f"remove ?{name} from SELECT",
            place,
        )
    if variable not in values:
        raise _error(
            source.file,
            f"?{name} is in SELECT but in no pattern",
            "an answer variable is bound by a pattern",
            f"write a pattern with ?{name}, or remove it from SELECT{_suggest(name, values)}",
            place,
        )
    for branch in branches:
        terms = {t for atom in branch.atoms for t in atom_terms(atom)}
        if variable not in terms and variable not in branch.values:
            raise _error(
                source.file,
                f"?{name} is in SELECT but not in every branch of UNION",
                "an answer has a value for each answer variable",
                f'write a pattern with ?{name} in each branch, BIND("none" AS ?{name}) where '
                "there is none, or register two queries",
                place,
            )


def _error(file: str, what: str, why: str, fix: str, line: int | None) -> QueryError:
    return QueryError(what, why=why, fix=fix, source=Source(file, line))


def check_scope(group: Join, error: Refuse) -> None:
    """Nothing, if what a group filters is what its own patterns bind.

    Raises:
        QueryError: a filter is over something else.
    """
    bound = bound_variables(group)
    bound |= {group.time} if group.time is not None else set()
    for f in (f for formula in group.filters for f in formula_filters(formula)):
        for variable in filter_variables(f):
            if variable not in bound and not isinstance(variable, Now):
                raise error(
                    f"?{variable.name} is in a FILTER but in no pattern of its group",
                    "a filter compares what the patterns or GRAPH in its { … } bind",
                    f"write a pattern with ?{variable.name} there (if it is a time, "
                    f"GRAPH ?{variable.name} {{ … }}), or move the FILTER out of the braces",
                    f.source.line if f.source else None,
                )
