"""Parse a FILTER of a query: comparisons of values, or of times, joined by && || ! and IN."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation, localcontext
from typing import Any, NamedTuple

import rdflib

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.column_types import XSD, parse_instant
from ontoweir.rewriter.buckets.read_width import read_width
from ontoweir.rewriter.expressions.read_expression import coalesced_condition
from ontoweir.rewriter.model.query import (
    Filter,
    Iri,
    Literal,
    Term,
    TimeFilter,
    ValueFilter,
    Variable,
)
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.rounded.wrap_sums import ComparedSumError
from ontoweir.rewriter.sparql.patterns import AllOf, AnyOf, Comparison, Formula, Negation, Untrue
from ontoweir.rewriter.sparql.read_sparql_buckets import NAMESPACE
from ontoweir.rewriter.syntax.node import Node
from ontoweir.rewriter.windows.read_sparql_windows import NOW, Now, now_on

_EXACT = {
    XSD + sign + size
    for sign, sizes in (
        ("", ("integer", "decimal", "long", "int", "short", "byte")),
        ("unsigned", ("Long", "Int", "Short", "Byte")),
        ("non", ("NegativeInteger", "PositiveInteger")),
        ("", ("negativeInteger", "positiveInteger")),
    )
    for size in sizes
}
_NUMERIC = _EXACT | {XSD + "double", XSD + "float"}
_OPS = {"<": Op.LT, "<=": Op.LE, "=": Op.EQ, ">=": Op.GE, ">": Op.GT, "!=": Op.NE}
_FORMS = (
    "write comparisons such as ?v > 3, ?v <= ?w + 3, ?x = :a, ?t1 < ?t2 or "
    '?t2 - ?t1 <= "PT30M"^^xsd:dayTimeDuration, joined by &&, || and !'
)
_WHY = "a FILTER is made of comparisons, &&, ||, ! and IN"
_FIXES = {"BOUND": "remove it: every variable of a pattern is bound"}
_WRAPPERS = {
    "ConditionalOrExpression",
    "ConditionalAndExpression",
    "RelationalExpression",
    "AdditiveExpression",
    "MultiplicativeExpression",
}


class _Sides(NamedTuple):
    """The sides of a comparison: the variable on the left, with its sign (1 or -1) before all was
    brought there; the operator; the variable on the right (None: there is none)."""

    left: Variable
    right: Variable | None
    op: Op
    sign: int


@dataclass(slots=True)
class _Sum:
    """A linear expression: variables with coefficients, numbers, durations, and other constants."""

    variables: dict[Variable, int] = field(default_factory=dict)
    number: Decimal = Decimal(0)
    numbers: list[Literal] = field(default_factory=list)
    duration: timedelta | None = None
    constants: list[tuple[Iri | Literal, int]] = field(default_factory=list)


def parse_filter(
    expression: object,
    *,
    times: frozenset[Variable],
    read_term: Callable[[object], Term],
    locate: Callable[[], Source],
) -> Formula:
    """The formula of a FILTER as rdflib parsed it.

    Args:
        expression: what rdflib made of the expression.
        times: the variables that are times.
        read_term: reads an IRI, literal or variable of the query.
        locate: called once for each comparison, in order: its place.

    Raises:
        QueryError: something other than linear comparisons and their connectives.
    """
    return _Reader(times, read_term, locate).formula(expression)


def _unwrap(node: object) -> object:
    """Without the layers of the grammar that hold a single expression."""
    while (
        isinstance(node, Node) and node.name in _WRAPPERS and not ("other" in node or "op" in node)
    ):
        node = node["expr"]
    return node


@dataclass(slots=True)
class _Reader:
    times: frozenset[Variable]
    read_term: Callable[[object], Term]
    locate: Callable[[], Source]
    source: Source = field(default_factory=lambda: Source(""))

    def formula(self, node: object) -> Formula:
        node = _unwrap(node)
        if not isinstance(node, Node):
            self.source = self.locate()
            raise self._refuse_form(node)
        match node.name:
            case "ConditionalAndExpression":
                return AllOf(tuple(self.formula(p) for p in (node["expr"], *node["other"])))
            case "ConditionalOrExpression":
                return AnyOf(tuple(self.formula(p) for p in (node["expr"], *node["other"])))
            case "UnaryNot":
                return Negation(self.formula(node["expr"]))
            case "Builtin_COALESCE" if (condition := coalesced_condition(node)) is not None:
                return Negation(Untrue(self.formula(condition)))
            case "RelationalExpression":
                self.source = self.locate()
                op = str(node["op"])
                if op in _OPS:
                    return Comparison(self._compare(node["expr"], _OPS[op], node["other"]))
                return self._membership(node["expr"], op, node.get("other"))
            case _:
                self.source = self.locate()
                raise self._refuse_form(node)

    def _membership(self, value: object, op: str, choices: Any) -> Formula:
        """IN and NOT IN: an alternative of equations."""
        nodes = [] if isinstance(choices, str) else list(choices or ())  # () is the IRI rdf:nil
        if not nodes:
            raise self._error(
                f"{op.upper()} with an empty list",
                "nothing is in it",
                "name at least one value, or remove the FILTER",
            )
        either = AnyOf(tuple(Comparison(self._compare(value, Op.EQ, n)) for n in nodes))
        return either if op.upper() == "IN" else Negation(either)

    def _error(self, what: str, why: str, fix: str) -> QueryError:
        return QueryError(what, why=why, fix=fix, source=self.source)

    def _refuse_form(self, node: object) -> QueryError:
        name = node.name if isinstance(node, Node) else ""
        if name in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
            word = "EXISTS" if name == "Builtin_EXISTS" else "NOT EXISTS"
            fix = f"write FILTER {word} {{ … }} by itself, or beside &&; inside of another EXISTS, "
            fix += 'map a view to a property: source = { view = "SELECT … WHERE NOT EXISTS (…)" }'
            return self._error(f"FILTER {word}", _WHY, fix)
        if name.startswith("Builtin_"):
            fix = _FIXES.get(name[8:], _FORMS)
            return self._error(f"function {name[8:]} in FILTER", _WHY, fix)
        if name.startswith("Aggregate_"):
            word = "MEDIAN" if name == "Aggregate_Sample" else name[10:].upper()
            return self._error(f"aggregate {word} in FILTER", _WHY, _FORMS)
        if name == "Function":
            return self._error("a function call in FILTER", _WHY, _FORMS)
        connectives = ("ConditionalAndExpression", "ConditionalOrExpression", "UnaryNot")
        if name in connectives or name == "RelationalExpression":
            return self._error("a truth value as a number in FILTER", _WHY, _FORMS)
        return self._error("a FILTER that is not a comparison", _WHY, _FORMS)

    def _add(self, total: _Sum, node: object, sign: int) -> None:
        """Add `sign` times the expression to the sum."""
        node = _unwrap(node)
        name = node.name if isinstance(node, Node) else ""
        if isinstance(node, Node) and name == "AdditiveExpression":
            self._add(total, node["expr"], sign)
            for op, part in zip(node["op"], node["other"], strict=True):
                self._add(total, part, sign if op == "+" else -sign)
        elif isinstance(node, Node) and name in ("UnaryMinus", "UnaryPlus"):
            self._add(total, node["expr"], -sign if name == "UnaryMinus" else sign)
        elif isinstance(node, Node) and name == "MultiplicativeExpression":
            raise self._error(
                f"{' and '.join(dict.fromkeys(node['op']))} in FILTER",
                "comparisons add or subtract constants only, so that bounds can be computed",
                _FORMS,
            )
        elif name == "Builtin_NOW":
            self._add_term(total, NOW, sign)
        elif isinstance(node, Node) and name == "Function":
            self._add_term(total, self._floor(node), sign)
        elif isinstance(node, Node) and name not in ("literal", "pname"):
            raise self._refuse_form(node)
        elif isinstance(node, rdflib.Variable | rdflib.URIRef | rdflib.Literal | Node):
            self._add_term(total, self.read_term(node), sign)
        else:
            raise self._refuse_form(node)

    def _floor(self, call: Node) -> Now:
        """ow:floor(NOW(), step): the last time of a grid."""
        function = self.read_term(call["iri"])
        given = [_unwrap(part) for part in call.get("expr", ())]
        if not isinstance(function, Iri) or function.value != f"{NAMESPACE}floor":
            raise self._refuse_form(call)
        time, *more = given if given else [None]
        known = isinstance(time, Node) and time.name == "Builtin_NOW" and len(more) in (1, 2)
        grid = read_width(*[*map(self.read_term, more), None][:2]) if known else None
        if grid is None:
            raise self._error(
                "ow:floor without NOW() and a step",
                "a window with a step moves when a step is over",
                'write ow:floor(NOW(), "PT5M"^^xsd:dayTimeDuration), with PREFIX ow: '
                "<urn:ontoweir:>",
            )
        return now_on(grid)

    def _add_term(self, total: _Sum, term: Term, sign: int) -> None:
        if isinstance(term, Variable):
            total.variables[term] = total.variables.get(term, 0) + sign
        elif isinstance(term, Literal) and term.datatype in _NUMERIC:
            try:
                value = Decimal(term.lexical.strip())
            except InvalidOperation:
                value = Decimal("nan")
            if not value.is_finite():
                raise self._error(
                    f"{term.lexical!r} is not a number",
                    f"its datatype is xsd:{term.datatype.removeprefix(XSD)}",
                    "write a decimal number",
                )
            try:
                with localcontext(Context(prec=28, traps=[Inexact])):
                    total.number += sign * value
            except Inexact:
                raise self._error(
                    "numbers of more than 28 digits",
                    "constants are added up exactly",
                    "write fewer digits",
                ) from None
            total.numbers.append(term)
        elif (
            isinstance(term, Literal)
            and (term.datatype or "").startswith(XSD)
            and ((term.datatype or "").endswith("uration"))
        ):
            total.duration = (total.duration or timedelta(0)) + sign * self._duration(term)
        else:
            total.constants.append((term, sign))

    def _duration(self, literal: Literal) -> timedelta:
        """The exact length of an xsd:dayTimeDuration."""
        parts = re.fullmatch(
            r"(-)?P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,6}0*)?)S)?)?",
            literal.lexical.strip(),
        )
        fix = 'write it as "PT30M"^^xsd:dayTimeDuration or "P1DT12H"^^xsd:dayTimeDuration'
        if parts is None:
            raise self._error(
                f"{literal.lexical!r} is not a duration in days, hours, minutes and seconds",
                "a duration is exact, down to microseconds; years and months vary in length",
                fix,
            )
        sign, days, hours, minutes, seconds = parts.groups()
        try:
            length = timedelta(
                days=int(days or 0),
                hours=int(hours or 0),
                minutes=int(minutes or 0),
                microseconds=int(Decimal(seconds or 0) * 1_000_000),
            )
        except OverflowError:
            raise self._error(
                f"the duration {literal.lexical!r} is too long", "it exceeds 999999999 days", fix
            ) from None
        return -length if sign else length

    def _compare(self, left: object, op: Op, right: object) -> Filter:
        a, b, total = _Sum(), _Sum(), _Sum()
        self._add(a, left, 1)
        self._add(b, right, 1)
        for part, sign in ((a, 1), (b, -1)):
            for variable, count in part.variables.items():
                total.variables[variable] = total.variables.get(variable, 0) + sign * count
            total.number += sign * part.number
            total.numbers.extend(part.numbers)
            total.constants.extend((c, sign * s) for c, s in part.constants)
            if part.duration is not None:
                total.duration = (total.duration or timedelta(0)) + sign * part.duration
        involved = {*a.variables, *b.variables}
        if not involved:
            raise self._error(
                "a comparison of constants", "it does not depend on the data", "remove it"
            )
        left_var, right_var, op, sign = self._sides(total, a, b, op)
        # left - right + (the rest) op 0, with the sides exchanged where sign is -1
        dates = any(
            isinstance(c, Literal) and c.datatype == XSD + "dateTime" for c, _ in total.constants
        )
        now = any(isinstance(v, Now) for v in involved)
        if now or involved & self.times or total.duration is not None:
            return self._time(total, left_var, op, right_var, sign, dates)
        return self._value(total, left_var, op, right_var, sign)

    def _sides(self, total: _Sum, a: _Sum, b: _Sum, op: Op) -> _Sides:
        counts = {v: n for v, n in total.variables.items() if n != 0}
        if not counts and len(total.variables) == 1:
            only = next(iter(total.variables))
            return _Sides(only, only, op, 1)
        if (
            not 1 <= len(counts) <= 2
            or any(abs(n) != 1 for n in counts.values())
            or (len(counts) == 2 and sum(counts.values()) != 0)
        ):
            why = "a comparison is between two variables at most, each once, on either side"
            what = "a comparison of sums of variables"
            raise ComparedSumError(what, why=why, fix=_FORMS, source=self.source)
        ordered = [v for v in (*a.variables, *b.variables) if v in counts]
        first = ordered[0]
        second = next((v for v in counts if v != first), None)
        sign = counts[first]
        return _Sides(first, second, op if sign == 1 else op.flipped(), sign)

    def _time(
        self, total: _Sum, left: Variable, op: Op, right: Variable | None, sign: int, dates: bool
    ) -> TimeFilter:
        if total.numbers:
            raise self._error(
                f"comparing a time with a number: ?{left.name} and {total.numbers[0].lexical}",
                "times compare with times, differences of times with durations",
                'write "2014-08-04T00:00:00"^^xsd:dateTime or "PT30M"^^xsd:dayTimeDuration',
            )
        offset = -sign * (total.duration or timedelta(0))
        constants = total.constants
        if right is not None and not constants:
            return TimeFilter(left, op, right, offset, self.source)
        if right is None and dates and len(constants) == 1 and constants[0][1] == -sign:
            point = constants[0][0]
            assert isinstance(point, Literal)
            try:
                parse_instant(point.lexical)
            except ValueError as error:
                raise self._error(
                    f"{point.lexical!r} is not an xsd:dateTime",
                    str(error),
                    'write it as "2014-08-04T00:00:00"^^xsd:dateTime (without a zone: UTC)',
                ) from None
            return TimeFilter(left, op, point, offset, self.source)
        if not constants:
            raise self._error(
                f"?{left.name} is compared with a duration",
                "a duration is the difference of two times",
                f"compare a difference, as in ?{left.name} - ?t1 <= …, or with an xsd:dateTime",
            )
        shown = _show(constants[0][0])
        raise self._error(
            f"comparing the time ?{left.name} with {shown}",
            "a time is compared with times, an xsd:dateTime, or times and a duration",
            'type the literal: "2014-08-04T00:00:00"^^xsd:dateTime, "PT30M"^^xsd:dayTimeDuration',
        )

    def _value(
        self, total: _Sum, left: Variable, op: Op, right: Variable | None, sign: int
    ) -> ValueFilter:
        offset = -sign * total.number + 0  # no negative zero
        if not total.constants:
            if right is not None:
                moved = any(Decimal(n.lexical) for n in total.numbers)
                return ValueFilter(left, op, right, format(offset, "f"), self.source, moved)
            if len(total.numbers) == 1:
                datatype = total.numbers[0].datatype
                text = format(offset, "f") if datatype in _EXACT else total.numbers[0].lexical
                if datatype not in _EXACT and Decimal(text) != offset:
                    text = str(offset)
            else:
                datatype, text = XSD + "decimal", format(offset, "f")
            moved = len(total.numbers) > 1
            return ValueFilter(left, op, Literal(text, datatype), "0", self.source, moved)
        constant, factor = total.constants[0]
        if right is not None or len(total.constants) > 1 or total.numbers or factor != -sign:
            raise self._error(
                f"arithmetic with {_show(constant)}",
                "only numbers and durations are added or subtracted",
                _FORMS,
            )
        if isinstance(constant, Iri) and op not in (Op.EQ, Op.NE):
            raise self._error(
                f"{op.value} with an IRI, {_show(constant)}",
                "IRIs have no order",
                "compare with = or !=",
            )
        return ValueFilter(left, op, constant, "0", self.source)


def _show(term: Iri | Literal) -> str:
    return f"<{term.value}>" if isinstance(term, Iri) else f'"{term.lexical}"'
