"""Read SELECT with aggregates, and GROUP BY, of a SPARQL query."""

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NoReturn

import rdflib

from ontoweir.errors import Source
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.expressions.read_computation import ComputationReader
from ontoweir.rewriter.expressions.read_expression import CASTS, NotReadError, read_expression
from ontoweir.rewriter.expressions.type_call import USER
from ontoweir.rewriter.groups.lift_aggregates import lift_aggregates, list_aggregates
from ontoweir.rewriter.groups.name_quantiles import PERCENTILE, QUANTILE
from ontoweir.rewriter.groups.read_fraction import read_fraction
from ontoweir.rewriter.model.aggregation import (
    Aggregate,
    AggregateFunction,
    AggregateKey,
    Aggregation,
    Listing,
)
from ontoweir.rewriter.model.query import (
    ComputedVariable,
    GroupTerms,
    Iri,
    NamedBuckets,
    TermExpression,
    Variable,
    expression_variables,
)
from ontoweir.rewriter.sparql.read_sparql_buckets import (
    NamedSession,
    read_sparql_buckets,
    read_sparql_session,
)
from ontoweir.rewriter.sparql.read_terms import Refuse, Terms
from ontoweir.rewriter.syntax.locate_tokens import Tokens
from ontoweir.rewriter.syntax.node import Node

_FUNCTIONS = "COUNT, SUM, AVG, MIN, MAX, COUNT DISTINCT, MEDIAN and ow:quantile"
_WHY = f"groups have their variables, and {_FUNCTIONS} of variables"
_NAMES = {
    "Aggregate_Count": AggregateFunction.COUNT,
    "Aggregate_Sum": AggregateFunction.SUM,
    "Aggregate_Avg": AggregateFunction.AVG,
    "Aggregate_Min": AggregateFunction.MIN,
    "Aggregate_Max": AggregateFunction.MAX,
    "Aggregate_GroupConcat": AggregateFunction.LIST,
    "Aggregate_Sample": AggregateFunction.MEDIAN,  # parse_sparql writes SAMPLE for MEDIAN
    QUANTILE: AggregateFunction.QUANTILE,
    PERCENTILE: AggregateFunction.PERCENTILE,
}
_DISTINCT = {
    AggregateFunction.SUM: AggregateFunction.SUM_DISTINCT,
    AggregateFunction.AVG: AggregateFunction.AVG_DISTINCT,
    AggregateFunction.LIST: AggregateFunction.LIST_DISTINCT,
}


def read_aggregation(
    query: Node,
    tokens: Tokens,
    terms: Terms,
    file: str,
    refuse: Refuse,
    computed: ComputationReader,
    times: Collection[Variable],
) -> tuple[Aggregation | None, tuple[NamedBuckets, ...], GroupTerms]:
    """The grouping and the aggregates of a query as rdflib parsed it (None if it has neither);
    the buckets of time that it groups by, and the times that it groups by or aggregates; and what
    is computed of groups.

    COUNT(?x) is COUNT(*): in the query language every variable of a match has a value.

    Raises:
        QueryError: a column is neither a variable nor made of standard aggregates, a selected
            variable is not grouped, or a grouped one is not selected.
    """
    reader = _Reader(tokens, terms, file, refuse, computed, times)
    made = reader.read(query)
    return made, tuple(reader.buckets), reader.terms_of_groups


class _Reader:
    def __init__(
        self,
        tokens: Tokens,
        terms: Terms,
        file: str,
        refuse: Refuse,
        computed: ComputationReader,
        times: Collection[Variable],
    ) -> None:
        self.tokens, self.terms, self.file, self.refuse = tokens, terms, file, refuse
        self.computed, self.times = computed, times
        self.buckets: list[NamedBuckets] = []
        self.final = False
        self.session: NamedSession | None = None
        self.aggregates: list[Aggregate] = []
        self.names: dict[AggregateKey, str] = {}
        self.terms_of_groups = GroupTerms()

    def read(self, query: Node) -> Aggregation | None:
        projection = query.get("projection", "*")
        grouped = "groupby" in query
        found = [] if projection == "*" else list_aggregates([i.get("expr") for i in projection])
        if not grouped and not found and "having" not in query:
            return None
        line = self.tokens.line_of("GROUP") or self.tokens.line_of("SELECT")
        if projection == "*":
            raise self.refuse(
                "SELECT * with GROUP BY",
                "the columns of groups are the grouped variables and aggregates",
                "name them, such as SELECT ?x (COUNT(*) AS ?n)",
                line,
            )
        group = self.read_group(query["groupby"]["condition"], line) if grouped else ()
        begins = None if self.session is None else self.session.name
        columns: list[str] = []
        computed: list[ComputedVariable] = []
        for item in projection:
            name = str(item["var"] if "var" in item else item["evar"])
            place = self.tokens.line_of(f"?{name}", f"${name}")
            if "var" in item and name == begins:
                columns += [name] if name not in columns else []
                continue
            if "var" in item:
                if name not in columns:
                    columns.append(name)
                if name not in group:
                    self.ungrouped(name, place)
                continue
            if name in (*columns, *group, begins):
                raise self.refuse(
                    f"?{name} is two columns",
                    "a column of the result has one value",
                    "give what is computed another name after AS",
                    place,
                )
            call, known = _unwrap(item["expr"]), {*group, *columns}
            columns.append(name)
            if isinstance(call, Node) and call.name.startswith("Aggregate_"):
                made = self.read_aggregate(name, call, f"as ?{name}", place)
                self.aggregates.append(made)
                self.names.setdefault(made.key, name)
                continue
            expression = self.read_expression(item["expr"], known, f"as ?{name}", place)
            variable = Variable(name)
            computed.append(ComputedVariable(variable, expression, Source(self.file, place)))
        self.read_having(query, set(group), computed)
        for name in group:
            if name not in columns:
                raise self.refuse(
                    f"?{name} is in GROUP BY but not in SELECT",
                    "a result is an update of a group, and the group must be told apart",
                    f"select ?{name} too",
                    line,
                )
        if self.session is not None:
            self.begin_session(self.session, columns, line)
        if not self.aggregates and self.final:  # a group is there when it has a row
            hidden = self.terms.make_variable("_a").name
            source = Source(self.file, line)
            self.aggregates.append(Aggregate(hidden, AggregateFunction.COUNT, None, source))
        if not self.aggregates:
            raise self.refuse(
                "GROUP BY without an aggregate",
                "the groups alone are the distinct values",
                "write SELECT DISTINCT without GROUP BY, select an aggregate, or group by a bucket "
                "of time, whose groups are final",
                line,
            )
        gap = None if self.session is None else self.session.gap_us
        return Aggregation(group, tuple(self.aggregates), tuple(columns), session_us=gap)

    def begin_session(
        self, session: NamedSession, columns: Sequence[str], line: int | None
    ) -> None:
        """Note where sessions begin: the least time of their rows; also if it is not shown, as it
        says how long before they are there the times of rows are."""
        shown = session.name in columns
        name = session.name if shown else self.terms.make_variable("_a").name
        self.show_time(session.time)
        source = Source(self.file, line)
        made = Aggregate(name, AggregateFunction.MIN, session.time.name, source)
        self.aggregates.insert(0, made)

    def read_having(
        self, query: Node, known: set[str], computed: Sequence[ComputedVariable]
    ) -> None:
        """HAVING, where groups have some variables; and note what is computed of them."""
        line = self.tokens.line_of("HAVING")
        conditions = query["having"]["condition"] if "having" in query else ()
        having = tuple(self.read_expression(c, known, "in HAVING", line) for c in conditions)
        self.terms_of_groups = GroupTerms(tuple(computed), having, Source(self.file, line))

    def read_expression(
        self, node: object, known: set[str], what: str, line: int | None
    ) -> TermExpression:
        """An expression over the row of a group, which has some variables, and aggregates."""
        hidden: set[str] = set()

        def name_aggregate(call: Node) -> str:
            fresh = self.terms.make_variable("_a")
            made = self.read_aggregate(fresh.name, call, what, line)
            name = self.names.setdefault(made.key, fresh.name)
            if name == fresh.name:
                self.aggregates.append(made)
            hidden.add(name)
            return name

        try:
            made = read_expression(lift_aggregates(node, name_aggregate), self.terms.read)
        except NotReadError as error:
            raise self.refuse(
                f"an expression of groups, {what}, has {error}, which is not read",
                "docs/query-language.md lists the operators and functions that are read",
                error.fix or "select the aggregates, and compute on the results",
                line,
            ) from None
        given = {a.name: a for a in self.aggregates}
        for variable in sorted(expression_variables(made)):
            if variable.name not in known | hidden:
                instead = given.get(variable.name)
                raise self.refuse(
                    f"?{variable.name} in an expression of groups, {what}, is neither grouped nor "
                    "aggregated",
                    "a group has many values of it; a name that SELECT gives is known after it, "
                    "and not in HAVING (SPARQL 1.1, 18.2.4)",
                    f"write {instead} itself"
                    if instead is not None
                    else f"write an aggregate such as MAX(?{variable.name}), GROUP BY "
                    f"?{variable.name}, or what SELECT computes itself",
                    line,
                )
        return made

    def read_group(self, conditions: list[object], line: int | None) -> tuple[str, ...]:
        names: list[str] = []
        for condition in conditions:
            variable = _plain(condition)
            if variable is None and self.is_computed(condition):
                assert isinstance(condition, Node)
                name = str(condition["var"])
                variable = self.computed.name(
                    condition["expr"], name, f"GROUP BY, as ?{name},", line
                )
            session = read_sparql_session(condition, self.times, self.terms, self.refuse, line)
            if session is not None and self.session is not None:
                raise self.refuse("two kinds of sessions", "groups are of one", "write one", line)
            if session is not None:
                self.final, self.session = True, session
                continue
            if variable is None:
                self.final = True
                bucket = self.read_bucket(condition, line)
                self.buckets.append(bucket)
                names.append(bucket.name)
                continue
            self.show_time(variable)
            names.append(variable.name)
        return tuple(dict.fromkeys(names))

    def is_computed(self, condition: object) -> bool:
        """Whether it is (expression AS ?name), and no bucket of time."""
        if not isinstance(condition, Node) or "var" not in condition:
            return False
        call = _unwrap(condition["expr"])
        if not isinstance(call, Node) or call.name != "Function":
            return True
        iri = self.terms.read(call["iri"])
        return isinstance(iri, Iri) and (iri.value in CASTS or iri.value.startswith(USER))

    def read_bucket(self, condition: object, line: int | None) -> NamedBuckets:
        """(ow:tumble(…) AS ?name)."""
        named = isinstance(condition, Node) and condition.name == "GroupAs"
        call = _unwrap(condition["expr"]) if named and isinstance(condition, Node) else condition
        if not isinstance(call, Node) or call.name != "Function":
            raise self.refuse(
                "GROUP BY an expression",
                "groups are made of the values of variables, and of buckets of time",
                "name it, GROUP BY (HOURS(?t) AS ?name), and write ?name in SELECT; a bucket of "
                "time is (ow:tumble(?t, …) AS ?name)",
                line,
            )
        if not named or not isinstance(condition, Node):
            raise self.refuse(
                "GROUP BY a function without a name",
                "the groups must be told apart in the results",
                "write (… AS ?name) in GROUP BY, and ?name in SELECT",
                line,
            )
        name = str(condition["var"])
        return read_sparql_buckets(name, call, self.terms, self.refuse, line)

    def read_aggregate(self, name: str, call: Node, place: str, line: int | None) -> Aggregate:
        """An aggregate that is called `name`; `place`: where it stands, in words."""
        if call.name not in _NAMES:
            word = call.name.removeprefix("Aggregate_").upper()
            raise self.refuse(f"aggregate {word}, {place}", _WHY, f"use one of {_FUNCTIONS}", line)
        function = _NAMES[call.name]
        distinct = call.get("distinct") == "DISTINCT"
        argument = _plain(call.get("vars"))
        star = call.get("vars") == "*"
        if argument is None and not star:
            what = f"{function} of an expression, {place},"
            argument = self.computed.name(call["vars"], None, what, line, bound=True)
        if distinct and star:
            fix = "write COUNT(DISTINCT ?x) for one of the variables"
            raise self.refuse(f"COUNT(DISTINCT *), {place}", _WHY, fix, line)
        if distinct and function in (
            AggregateFunction.MEDIAN,
            AggregateFunction.QUANTILE,
            AggregateFunction.PERCENTILE,
        ):
            raise self.refuse(
                f"{function} of DISTINCT values, {place}",
                _WHY,
                f"write {function} without DISTINCT, or SELECT DISTINCT the values and aggregate "
                "the results",
                line,
            )
        if distinct:
            function = _DISTINCT.get(function, function)
        source = Source(self.file, line)
        if function is AggregateFunction.COUNT:
            if not distinct:
                late = argument is not None and argument.name in self.computed.late
                counted = argument.name if late and argument is not None else None
                return Aggregate(name, function, counted, source)
            function = AggregateFunction.COUNT_DISTINCT
        assert argument is not None
        self.show_time(argument)
        fraction = None
        if function.takes_fraction:
            fraction = self.read_fraction(call.get("arguments", []), place, line)
        listing = None
        if function.lists:
            if argument.name in self.computed.late:
                raise self.refuse(
                    f"GROUP_CONCAT of ?{argument.name}, which may have no value, {place}",
                    "of no value it is the empty text, and no aggregate is here",
                    f'write COALESCE(?{argument.name}, "") in a BIND',
                    line,
                )
            given = call.get("separator")
            listing = Listing(" " if given is None else str(given))
        return Aggregate(name, function, argument.name, source, fraction, listing=listing)

    def read_fraction(self, given: list[object], place: str, line: int | None) -> Fraction:
        """The fraction of a quantile."""
        inner = _unwrap(given[0]) if len(given) == 1 else None
        found = read_fraction(str(inner)) if isinstance(inner, rdflib.Literal) else None
        if found is None:
            fix = "write a number from 0 to 1, as in ow:quantile(?x, 0.9)"
            raise self.refuse(f"ow:quantile without a fraction, {place}", _WHY, fix, line)
        return found

    def show_time(self, variable: Variable) -> None:
        """Note that a variable's values are needed, if it is a time."""
        time = NamedBuckets(variable.name, variable, TimeBucket(Moments()))
        if variable in self.times and time not in self.buckets:
            self.buckets.append(time)

    def ungrouped(self, name: str, line: int | None) -> NoReturn:
        raise self.refuse(
            f"?{name} is in SELECT but neither grouped nor aggregated",
            "a group has many values of it",
            f"write GROUP BY ?{name}, or an aggregate such as (MAX(?{name}) AS ?most)",
            line,
        )


def aggregated_variables(query: Node) -> frozenset[str]:
    """The variables inside aggregates: also those of COUNT(?x), which counts matches."""
    projection = query.get("projection", "*")
    items = [] if projection == "*" else [item.get("expr") for item in projection]
    found = list_aggregates([*items, query.get("having")])
    arguments = (_plain(call.get("vars")) for call in found)
    return frozenset(argument.name for argument in arguments if argument is not None)


def _plain(node: object) -> Variable | None:
    """The variable that an expression is, if it is one."""
    inner = _unwrap(node)
    return Variable(str(inner)) if isinstance(inner, rdflib.Variable) else None


def _unwrap(node: object) -> object:
    """An expression without the levels that rdflib puts around it."""
    while isinstance(node, Node) and set(node) == {"expr"} and not node.name.startswith("Unary"):
        node = node["expr"]
    return node
