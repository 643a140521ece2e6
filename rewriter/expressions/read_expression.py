"""Read an expression of SPARQL from rdflib's tree."""

from collections.abc import Callable, Iterator

import rdflib

from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.expressions.type_call import USER
from ontoweir.rewriter.model.query import Iri, Operation, Term, TermExpression
from ontoweir.rewriter.syntax.node import Node

ROUND_RELATIVE = "urn:ontoweir:roundRelative"
"""ow:roundRelative(?x): a number, rounded by less than 1 %."""
SECONDS_OF = "urn:ontoweir:seconds"
"""ow:seconds(?later - ?earlier): how long a time is after another one."""
CASTS = {XSD + name for name in ("integer", "decimal", "double", "string", "boolean", "dateTime")}
"""Datatypes that values are cast to."""
_ARGUMENTS = {
    "Builtin_REGEX": ("text", "pattern", "flags"),
    "Builtin_REPLACE": ("arg", "pattern", "replacement", "flags"),
    "Builtin_SUBSTR": ("arg", "start", "length"),
}
_LEVELS = (
    "ConditionalOrExpression",
    "ConditionalAndExpression",
    "RelationalExpression",
    "AdditiveExpression",
    "MultiplicativeExpression",
)
_CONNECTIVES = ("ConditionalOrExpression", "ConditionalAndExpression", "UnaryNot")


_DATES = {XSD + name for name in ("date", "time", "gYear", "gYearMonth", "gMonth", "gDay")}
_BUCKET = '(ow:tumble(?t, "P1D"^^xsd:dayTimeDuration) AS ?day), or YEAR(?t), MONTH(?t), DAY(?t), …'
_INSTEAD = {
    "urn:ontoweir:tumble": "a bucket of time is in GROUP BY, or in a BIND whose variable is there: "
    f"GROUP BY {_BUCKET}; in a FILTER it is compared by =, <, <=, > or >= with an xsd:dateTime, or "
    "with a ?day that is (ow:tumble(?u, …) AS ?day) of the same width in a SELECT within, and in "
    "no pattern",
    **dict.fromkeys(_DATES, f"group by the time of a GRAPH ?t: GROUP BY {_BUCKET}"),
}


class NotReadError(Exception):
    """A part of an expression is not read; its text names it. `fix`: what to write instead."""

    def __init__(self, text: str, fix: str | None = None) -> None:
        super().__init__(text)
        self.fix = fix


def read_expression(node: object, read_term: Callable[[object], Term]) -> TermExpression:
    """The expression that is written.

    Args:
        node: what rdflib made of it.
        read_term: reads an IRI, literal or variable.

    Raises:
        NotReadError: it has a function that is not read.
    """

    def read(inner: object) -> TermExpression:
        return read_expression(inner, read_term)

    if not isinstance(node, Node) or node.name in ("literal", "pname"):
        return read_term(node)
    match node.name:
        case "ConditionalOrExpression" | "ConditionalAndExpression" if "other" in node:
            name = "||" if node.name == "ConditionalOrExpression" else "&&"
            made = read(node["expr"])
            for other in node["other"]:
                made = Operation(name, (made, read(other)))
            return made
        case "RelationalExpression" if "op" in node:
            left, op, other = read(node["expr"]), str(node["op"]), node["other"]
            if op in ("IN", "NOT IN"):
                others = other if isinstance(other, list) else [other]
                made = Operation("IN", (left, *map(read, others)))
                return made if op == "IN" else Operation("!", (made,))
            return Operation(op, (left, read(other)))
        case "AdditiveExpression" | "MultiplicativeExpression" if "op" in node:
            made = read(node["expr"])
            ops = node["op"] if isinstance(node["op"], list) else [node["op"]]
            others = node["other"] if isinstance(node["other"], list) else [node["other"]]
            for op, other in zip(ops, others, strict=True):
                made = Operation(str(op), (made, read(other)))
            return made
        case "UnaryNot":
            return Operation("!", (read(node["expr"]),))
        case "UnaryMinus":
            return Operation("NEGATE", (read(node["expr"]),))
        case "UnaryPlus":
            return read(node["expr"])
        case "Function":
            return _read_cast(node, read, read_term)
        case name if name in _LEVELS:
            return read(node["expr"])
        case name if name.startswith("Builtin_"):
            keys = _ARGUMENTS.get(name, ("arg", "arg1", "arg2", "arg3"))
            given = [a for key in keys if key in node for a in _listed(node[key])]
            return Operation(name.removeprefix("Builtin_").upper(), tuple(map(read, given)))
        case name:
            raise NotReadError(name)


def uses_functions(node: object) -> bool:
    """Whether an expression has more than comparisons, sums and connectives."""
    if isinstance(node, list):
        return any(map(uses_functions, node))
    if not isinstance(node, Node):
        return False
    if node.name in ("Builtin_EXISTS", "Builtin_NOTEXISTS", "Builtin_NOW"):
        return False
    if node.name == "Function" and _mentions_now(node.get("expr")):  # a time, of a window
        return False
    if node.name.startswith("Builtin_") or node.name == "Function":
        return True
    if node.name == "MultiplicativeExpression" and "op" in node:
        return True
    return any(uses_functions(v) for v in node.values())


def is_variable(node: object) -> bool:
    """Whether a condition is a variable, whose truth is asked: FILTER(?x)."""
    return isinstance(node, rdflib.Variable)


def _mentions_now(node: object) -> bool:
    if isinstance(node, list):
        return any(map(_mentions_now, node))
    if not isinstance(node, Node):
        return False
    return node.name == "Builtin_NOW" or any(map(_mentions_now, node.values()))


def is_computed(node: object) -> bool:
    """Whether an expression is more than a constant, with a sign or without."""
    if isinstance(node, list):
        return any(map(is_computed, node))
    if isinstance(node, rdflib.Variable):
        return True
    if not isinstance(node, Node):
        return False
    if "op" in node or "other" in node or uses_functions(node):
        return True
    return any(is_computed(v) for v in node.values())


def split_conjuncts(node: object) -> list[object]:
    """The parts that && joins."""
    inner = node
    while isinstance(inner, Node) and inner.name == "ConditionalOrExpression":
        if "other" in inner:
            return [node]
        inner = inner["expr"]
    if isinstance(inner, Node) and inner.name == "ConditionalAndExpression" and "other" in inner:
        return [inner["expr"], *inner["other"]]
    return [node]


def list_conditions(node: object) -> Iterator[object]:
    """What &&, ||, ! and COALESCE(…, false) connect."""
    node = _open_layers(node)
    condition = coalesced_condition(node)
    if condition is not None:
        yield from list_conditions(condition)
    elif isinstance(node, Node) and node.name in _CONNECTIVES:
        for part in (node["expr"], *node.get("other", ())):
            yield from list_conditions(part)
    else:
        yield node


def coalesced_condition(node: object) -> object | None:
    """The condition of COALESCE(…, false), which is false where that is an error (None: it is
    something else)."""
    node = _open_layers(node)
    if not isinstance(node, Node) or node.name != "Builtin_COALESCE":
        return None
    given = [_open_layers(part) for part in _listed(node["arg"])]
    if len(given) != 2 or given[1] != rdflib.Literal(False):
        return None
    condition = given[0]
    known = isinstance(condition, Node) and condition.name in (
        *_CONNECTIVES,
        "RelationalExpression",
    )
    return condition if known else None


def _open_layers(node: object) -> object:
    """Without the layers of the grammar that hold a single expression."""
    while isinstance(node, Node) and node.name in _LEVELS and not ("other" in node or "op" in node):
        node = node["expr"]
    return node


def list_variables(node: object) -> set[str]:
    """The names of the variables in an expression."""
    if isinstance(node, rdflib.Variable):
        return {str(node)}
    if isinstance(node, list):
        return {name for part in node for name in list_variables(part)}
    if isinstance(node, Node):
        return {name for part in node.values() for name in list_variables(part)}
    return set()


def _read_cast(
    node: Node,
    read: Callable[[object], TermExpression],
    read_term: Callable[[object], Term],
) -> TermExpression:
    iri = read_term(node["iri"])
    given = _listed(node.get("expr", ()))
    if isinstance(iri, Iri) and iri.value.startswith(USER):
        return Operation(iri.value, tuple(map(read, given)))
    known = isinstance(iri, Iri) and iri.value in (*CASTS, ROUND_RELATIVE, SECONDS_OF)
    if not isinstance(iri, Iri) or not known or len(given) != 1:
        if not isinstance(iri, Iri):
            raise NotReadError("a call")
        raise NotReadError(f"a function call, <{iri.value}>", _INSTEAD.get(iri.value))
    return Operation(iri.value, (read(given[0]),))


def _listed(part: object) -> list[object]:
    return list(part) if isinstance(part, list | tuple) else [part]
