"""Read VALUES, and BIND of a constant: variables with fixed values."""

import rdflib

from ontoweir.errors import Source
from ontoweir.rewriter.model.query import Iri, Literal, Variable
from ontoweir.rewriter.sparql.patterns import Join, Values, bound_variables
from ontoweir.rewriter.sparql.read_terms import Refuse, Terms
from ontoweir.rewriter.syntax.node import Node

_CONSTANT = 'write a constant: an IRI, a number, or a literal such as "on" or "1"^^xsd:integer'


class ValuesReader:
    """Reads rows of values; no time has one."""

    def __init__(self, terms: Terms, times: frozenset[Variable], file: str, refuse: Refuse) -> None:
        self.terms, self.times, self.file, self.refuse = terms, times, file, refuse

    def read_values(self, part: Node, line: int) -> Values:
        """VALUES: every variable has a value in every row."""
        names = [Variable(str(v)) for v in part.get("var", ())]
        self.check_fixed(names, line)
        rows: list[tuple[Iri | Literal, ...]] = []
        for row in part.get("value", ()):
            nodes = row if isinstance(row, list) else [row]
            if "UNDEF" in [node for node in nodes if type(node) is str]:
                raise self.refuse(
                    "UNDEF in VALUES",
                    "an unbound variable would match everything",
                    "write VALUES without that variable in a branch of UNION of its own",
                    line,
                )
            if len(nodes) != len(names):
                raise self.refuse(
                    f"VALUES has {len(names)} variables and a row of {len(nodes)} values",
                    "each row gives one value to each variable",
                    "add or remove values",
                    line,
                )
            rows.append(tuple(self.read_constant(node, line) for node in nodes))
        if not rows or not names:
            fix = "write at least one variable and one row, or remove it"
            raise self.refuse("VALUES without values", "it allows no answer", fix, line)
        return Values(tuple(names), tuple(rows), Source(self.file, line))

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
