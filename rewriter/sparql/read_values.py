"""Read VALUES, and BIND of a constant: variables with fixed values."""

import rdflib

from ontoweir.errors import Source
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.query import Iri, Literal, Variable
from ontoweir.rewriter.sparql.patterns import Join, Pattern, Union, Values, bound_variables
from ontoweir.rewriter.sparql.read_terms import Refuse, Terms
from ontoweir.rewriter.syntax.node import Node

_CONSTANT = 'write a constant: an IRI, a number, or a literal such as "on" or "1"^^xsd:integer'


class ValuesReader:
    """Reads rows of values; no time has one."""

    def __init__(self, terms: Terms, times: frozenset[Variable], file: str, refuse: Refuse) -> None:
        self.terms, self.times, self.file, self.refuse = terms, times, file, refuse

    def read_values(self, part: Node, line: int) -> Pattern:
        """VALUES. Rows in which a variable is UNDEF, which is joined with any value, are a branch
        of a UNION for the variables that have values."""
        names = [Variable(str(v)) for v in part.get("var", ())]
        self.check_fixed(names, line)
        rows: dict[tuple[Variable, ...], list[tuple[Iri | Literal, ...]]] = {}
        for row in part.get("value", ()):
            nodes = row if isinstance(row, list) else [row]
            if len(nodes) != len(names):
                raise self.refuse(
                    f"VALUES has {len(names)} variables and a row of {len(nodes)} values",
                    "each row gives one value to each variable",
                    "add or remove values",
                    line,
                )
            given = [(v, n) for v, n in zip(names, nodes, strict=True) if not _is_undefined(n)]
            row_of = tuple(self.read_constant(node, line) for _, node in given)
            rows.setdefault(tuple(v for v, _ in given), []).append(row_of)
        if not rows or not names:
            fix = "write at least one variable and one row, or remove it"
            raise self.refuse("VALUES without values", "it allows no answer", fix, line)
        source = Source(self.file, line)
        branches: list[Pattern] = []
        for variables, held in rows.items():
            one: Pattern = Values(variables, tuple(held), source) if variables else Join(())
            branches += [one] * (1 if variables else len(held))
        return branches[0] if len(branches) == 1 else Union(tuple(branches))

    def read_bind(self, part: Node, before: Join, line: int) -> Values:
        """BIND of a constant to a variable that is not bound yet."""
        variable = Variable(str(part["var"]))
        self.check_fixed([variable], line)
        if variable in bound_variables(before):
            raise self.refuse(
                f"BIND of ?{variable.name}, which is bound already",
                "SPARQL 1.1 section 18.2.1 forbids it",
                f"compare in a FILTER: FILTER(?{variable.name} = …)",
                line,
            )
        node, sign = part["expr"], ""
        while isinstance(node, Node) and node.name not in ("literal", "pname"):
            if "other" in node or "expr" not in node:
                break
            if node.name == "UnaryMinus":
                sign = "" if sign else "-"
            node = node["expr"]
        plain = not isinstance(node, Node) or node.name in ("literal", "pname")
        if not plain or isinstance(node, rdflib.Variable):
            raise self.refuse(
                f"BIND of an expression, as ?{variable.name}",
                "only a constant is bound: what is computed from data has no bound",
                f"{_CONSTANT}; or select the variables and compute on the results",
                line,
            )
        value = self.read_constant(node, line)
        if sign and isinstance(value, Literal):
            text = value.lexical
            if text.strip("+-0.") == "":
                return Values((variable,), ((value,),), Source(self.file, line))
            value = Literal(text[1:] if text[:1] == "-" else f"-{text}", value.datatype)
        return Values((variable,), ((value,),), Source(self.file, line))

    def read_constant(self, node: object, line: int) -> Iri | Literal:
        """An IRI or literal."""
        term = self.terms.read(node, line)
        if isinstance(term, Variable):
            raise self.refuse(f"?{term.name} as a value", "a value is fixed", _CONSTANT, line)
        return term

    def check_fixed(self, variables: list[Variable], line: int) -> None:
        """Raise the error for a time with a fixed value."""
        for time in variables:
            if time in self.times:
                raise self.refuse(
                    f"the time ?{time.name} in VALUES or BIND",
                    f"GRAPH ?{time.name} makes it a time, which is compared, not joined",
                    f'write FILTER(?{time.name} = "2014-08-04T00:00:00"^^xsd:dateTime), or IN',
                    line,
                )


def _is_undefined(node: object) -> bool:
    return type(node) is str and node == "UNDEF"


def refuse_behind_groups(
    pattern: Pattern, groups: Aggregation | None, refuse: Refuse, line: int
) -> Pattern:
    """VALUES; raise QueryError for one behind a query that groups, which is joined with its groups
    (SPARQL 1.1, 18.2.4.3), where that is not the same as before they are made: of what is no key of
    groups, without a value, or with equal rows.

    Args:
        pattern: of VALUES.
        groups: what is grouped (None: nothing is).
        refuse: makes the error.
        line: of VALUES.
    """
    if groups is None:
        return pattern
    inside = "write it in the braces of WHERE, where it chooses solutions before they are grouped"
    if not isinstance(pattern, Values):
        raise refuse(
            "UNDEF in VALUES behind a query that groups",
            "such a row is joined with groups that others are joined with, too",
            inside,
            line,
        )
    others = [v.name for v in pattern.variables if v.name not in groups.group]
    if others:
        raise refuse(
            f"VALUES of ?{others[0]} behind a query that groups",
            f"it is joined with the groups, which are not made by ?{others[0]}",
            f"{inside}; or HAVING, for what is aggregated",
            line,
        )
    if len(set(pattern.rows)) < len(pattern.rows):
        raise refuse(
            "equal rows of VALUES behind a query that groups",
            "each group would be there for each of them",
            "leave one of them",
            line,
        )
    return pattern
