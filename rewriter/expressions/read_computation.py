"""Gather what a SPARQL query computes, while its patterns are read."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.expressions.read_expression import (
    NotReadError,
    is_variable,
    list_conditions,
    list_variables,
    read_expression,
    uses_functions,
)
from ontoweir.rewriter.model.query import (
    Computation,
    ComputedVariable,
    NamedBuckets,
    Term,
    TermExpression,
    Variable,
    expression_variables,
)

_LANGUAGE = "docs/query-language.md lists the operators and functions that are read"


@dataclass(frozen=True, slots=True)
class FoundComputation:
    """What a query computes; `variables`: its answer variables (None: all); `inputs`: what the
    patterns must give for it; `moments`: the times of GRAPH that it reads."""

    variables: tuple[str, ...] | None
    computed: tuple[ComputedVariable, ...]
    filters: tuple[tuple[TermExpression, Source | None], ...]
    inputs: tuple[Variable, ...]
    moments: tuple[NamedBuckets, ...]

    def needed(self, head: Sequence[Variable]) -> tuple[Variable, ...]:
        """The variables of the patterns that answers are made from."""
        made = {c.variable for c in self.computed}
        return tuple(dict.fromkeys((*(v for v in head if v not in made), *self.inputs)))

    def computation(self, head: Sequence[Variable]) -> Computation:
        """What is computed, where `head` is all that the patterns give."""
        names = self.variables
        if names is None:
            named = (c.variable.name for c in self.computed)
            names = (*(v.name for v in head), *named)
        return Computation(names, self.computed, self.filters)


@dataclass(slots=True)
class ComputationReader:
    """The expressions of a query; `scopes`: of the groups that are open, what they compute;
    `choices`: how many UNIONs are open; `late`: variables that may have no value."""

    read_term: Callable[[object], Term]
    make_variable: Callable[[str], Variable]
    times: Callable[[], frozenset[Variable]]
    file: str
    refuse: Callable[[str, str, str, int | None], QueryError]
    computed: list[ComputedVariable] = field(default_factory=list)
    filters: list[tuple[TermExpression, Source | None]] = field(default_factory=list)
    scopes: list[set[Variable]] = field(default_factory=lambda: [set()])
    choices: int = 0
    late: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[Variable]:
        """The variables that are computed."""
        return frozenset(c.variable for c in self.computed)

    def takes_filter(self, node: object) -> bool:
        """Whether a FILTER is more than comparisons of what patterns bind."""
        used = list_variables(node)
        made = not self.names.isdisjoint(map(Variable, used))
        return (
            made
            or any(uses_functions(c) or is_variable(c) for c in list_conditions(node))
            or not self.late.isdisjoint(used)
        )

    def open_group(self) -> None:
        """A group begins."""
        self.scopes.append(set())

    def close_group(self) -> None:
        """A group ends: what it computes is seen by the one around it."""
        inner = self.scopes.pop()
        self.scopes[-1] |= inner

    def add_bind(
        self, node: object, variable: Variable, bound: frozenset[Variable], line: int
    ) -> None:
        """BIND (node AS variable), where the group has bound some variables before.

        Raises:
            QueryError: it is not read, or uses what is not bound before it.
        """
        if variable in bound | self.names:
            raise self.refuse(
                f"BIND of ?{variable.name}, which is bound already",
                "SPARQL 1.1 section 18.2.1 forbids it",
                f"compare in a FILTER: FILTER(?{variable.name} = …)",
                line,
            )
        expression = self._read(node, f"BIND, as ?{variable.name},", line)
        self._check_bound(expression, bound, f"BIND, as ?{variable.name},", line)
        self.computed.append(ComputedVariable(variable, expression, Source(self.file, line)))
        self.scopes[-1].add(variable)

    def add_filter(self, node: object, bound: frozenset[Variable], line: int) -> None:
        """FILTER (node) of a group that binds some variables.

        Raises:
            QueryError: it is not read, or uses what the group does not bind.
        """
        expression = self._read(node, "FILTER", line)
        self._check_bound(expression, bound, "FILTER", line)
        self.filters.append((expression, Source(self.file, line)))

    def name(
        self, node: object, name: str | None, what: str, line: int | None, *, bound: bool = False
    ) -> Variable:
        """The variable of an expression in SELECT, GROUP BY or an aggregate, called `name` (None:
        it has no name); `bound`: it must have a value.

        Raises:
            QueryError: it is not read.
        """
        expression = self._read(node, what, line)
        variable = self.make_variable("_e") if name is None else Variable(name)
        if name is not None and variable in self.names:
            raise self.refuse(
                f"?{name} is computed twice",
                "a variable has one value",
                "write another name after AS",
                line,
            )
        used = [expression_variables(c.expression) for c in self.computed]
        if any(variable in names for names in (expression_variables(expression), *used)):
            raise self.refuse(
                f"?{variable.name} is used before it is computed",
                "an expression of SELECT sees what SELECT computes before it",
                f"write the expression as ?{variable.name} first",
                line,
            )
        source = Source(self.file, line)
        self.computed.append(ComputedVariable(variable, expression, source, bound))
        return variable

    def finish(
        self,
        variables: Sequence[str] | None,
        patterns: frozenset[Variable],
        named: Set[str],
        counted: Set[Variable],
    ) -> "FoundComputation | None":
        """What is computed; None: nothing is.

        Args:
            variables: the answer variables (None: all).
            patterns: what the patterns bind.
            named: the times that have columns anyway.
            counted: what is aggregated, which must have a value.

        Raises:
            QueryError: a computed variable is in a pattern, or an expression uses what nothing
                binds.
        """
        if not self.computed and not self.filters:
            return None
        needed: dict[Variable, None] = {}
        known = patterns | self.times()
        made = self.names
        ordered = _order(self.computed)
        computed = tuple(replace(c, bound=c.bound or c.variable in counted) for c in ordered)
        for one in computed:
            place = one.source.line if one.source else None
            if one.variable in known:
                raise self.refuse(
                    f"?{one.variable.name} is computed and is in a pattern",
                    "patterns match data, not what is computed",
                    f"write another name, and FILTER(?{one.variable.name} = …)",
                    place,
                )
            for v in sorted(expression_variables(one.expression)):
                self._check_known(v, known | made, place)
                needed[v] = None
        for expression, source in self.filters:
            for v in sorted(expression_variables(expression)):
                self._check_known(v, known | made, source.line if source else None)
                needed[v] = None
        times = self.times()
        inputs = tuple(v for v in needed if v not in made | times)
        names = None if variables is None else tuple(variables)
        moments = tuple(
            NamedBuckets(v.name, v, TimeBucket(Moments()))
            for v in needed
            if v in times and v.name not in named
        )
        return FoundComputation(names, computed, tuple(self.filters), inputs, moments)

    def _check_known(
        self, variable: Variable, known: frozenset[Variable], line: int | None
    ) -> None:
        if variable not in known:
            raise self.refuse(
                f"?{variable.name} is in an expression but in no pattern",
                "it would have no value, and neither would the expression",
                f"write a pattern with ?{variable.name}",
                line,
            )

    def _read(self, node: object, what: str, line: int | None) -> TermExpression:
        if self.choices:
            raise self.refuse(
                f"{what} computes inside a UNION",
                "it is computed of the solutions of the whole query",
                "write it after the UNION",
                line,
            )
        try:
            return read_expression(node, self.read_term)
        except NotReadError as error:
            raise self.refuse(
                f"{what} has {error}, which is not read",
                _LANGUAGE,
                error.fix or "compute it before, as a column of the data, or in the results",
                line,
            ) from None

    def _check_bound(
        self, expression: TermExpression, bound: frozenset[Variable], what: str, line: int
    ) -> None:
        seen = bound | self.scopes[-1] | self.times()
        for variable in sorted(expression_variables(expression) - seen):
            raise self.refuse(
                f"{what} uses ?{variable.name}, which is not bound there",
                "it sees what its own { … } binds, BIND only what is written before it",
                f"write a pattern with ?{variable.name} there, or move it to where there is one",
                line,
            )


def _order(computed: Sequence[ComputedVariable]) -> list[ComputedVariable]:
    """In an order in which each uses earlier ones only: what SELECT computes is read before the
    BINDs that it uses."""
    made = {c.variable for c in computed}
    placed: dict[Variable, ComputedVariable] = {}
    while len(placed) < len(made):
        ready = [
            c
            for c in computed
            if c.variable not in placed
            and (expression_variables(c.expression) & made) <= placed.keys()
        ]
        placed |= {c.variable: c for c in ready}
    return list(placed.values())
