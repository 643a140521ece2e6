"""The expressions of plain SPARQL."""

from abc import abstractmethod

from ontoweir.rewriter.parsing.read_triples import Triples
from ontoweir.rewriter.syntax.node import Node

_AGGREGATES = {name: f"Aggregate_{name.title()}" for name in ["COUNT", "SUM", "MIN", "MAX", "AVG"]}
_AGGREGATES |= {"GROUP_CONCAT": "Aggregate_GroupConcat"}
_AGGREGATES |= {"MEDIAN": "Aggregate_Sample", "SAMPLE": "Aggregate_Min"}
"""The last two as parse_sparql has rdflib parse them."""
_OF_ONE = "STR LANG DATATYPE IRI URI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE YEAR MONTH DAY HOURS "
_OF_ONE += "MINUTES SECONDS TIMEZONE TZ isIRI isURI isBLANK isLITERAL isNUMERIC"
_OF_TWO = "LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRLANG STRDT sameTerm"
_PARTS = {
    **dict.fromkeys(_OF_ONE.split(), ("arg",)),
    **dict.fromkeys(_OF_TWO.split(), ("arg1", "arg2")),
    "IF": ("arg1", "arg2", "arg3"),
    "REGEX": ("text", "pattern", "flags?"),
    "SUBSTR": ("arg", "start", "length?"),
    "REPLACE": ("arg", "pattern", "replacement", "flags?"),
}
_CALLS = {name.upper(): (f"Builtin_{name}", parts) for name, parts in _PARTS.items()}
"""Functions: what rdflib calls them, and each of their arguments, of which the last may be left out
where it ends in a question mark."""
_LISTS = ("COALESCE", "CONCAT")
_NAMED = {*_CALLS, *_LISTS, "EXISTS", "NOT", "BOUND", "NOW"}
_COMPARISONS = {"=", "!=", "<", ">", "<=", ">="}


class Expressions(Triples):
    """Expressions, by recursive descent."""

    @abstractmethod
    def read_group(self) -> Node:
        """A group of patterns, which EXISTS asks for."""

    def read_brackets(self) -> Node:
        self.enter()
        self.need("(")
        expression = self.read_expression()
        self.need(")")
        self.depth -= 1
        return expression

    def read_expression(self) -> Node:
        made = Node("ConditionalOrExpression", expr=self.read_and())
        while self.take("||"):
            made.setdefault("other", []).append(self.read_and())
        return made

    def read_and(self) -> Node:
        made = Node("ConditionalAndExpression", expr=self.read_relation())
        while self.take("&&"):
            made.setdefault("other", []).append(self.read_relation())
        return made

    def read_relation(self) -> Node:
        made = Node("RelationalExpression", expr=self.read_sum())
        if self.token.kind == "op" and self.token.text in _COMPARISONS:
            made["op"] = self.token.text
            self.at += 1
            made["other"] = self.read_sum()
            return made
        if self.is_word("NOT"):
            self.at += 1
            self.need_word("IN")
            made["op"] = "NOT IN"
        elif self.take_word("IN"):
            made["op"] = "IN"
        else:
            return made
        made["other"] = self.read_list()
        return made

    def read_list(self) -> list[Node]:
        """Expressions in parentheses, one at least."""
        self.enter()
        self.need("(")
        made = [self.read_expression()]
        while self.take(","):
            made.append(self.read_expression())
        self.need(")")
        self.depth -= 1
        return made

    def is_constraint(self) -> bool:
        """Whether what FILTER and HAVING take is next."""
        if self.token.kind == "word":
            return self.token.text.upper() in _NAMED
        called = self.token.kind in ("iri", "pname")
        return self.tokens[self.at + called].text == "("

    def read_constraint(self) -> object:
        return self.read_primary() if self.is_constraint() else self.fail()

    def read_call(self) -> Node:
        """A function that has a name, or whether there is a match of patterns."""
        word = self.token.text.upper()
        self.at += 1
        if word == "NOT":
            self.need_word("EXISTS")
        if word in ("NOT", "EXISTS"):
            name = "Builtin_NOTEXISTS" if word == "NOT" else "Builtin_EXISTS"
            return Node(name, graph=self.read_group())
        if word in _LISTS:
            return Node(f"Builtin_{word}", arg=self.read_list())
        if word in ("NOW", "BOUND"):
            self.need("(")
            given = {"arg": self.read_variable()} if word == "BOUND" else {}
            self.need(")")
            return Node(f"Builtin_{word}", **given)
        name, parts = _CALLS[word]
        found = self.read_list()
        least = len(parts) - parts[-1].endswith("?")
        if not least <= len(found) <= len(parts):
            self.fail()
        return Node(name, **{p.rstrip("?"): g for p, g in zip(parts, found, strict=False)})

    def read_sum(self) -> Node:
        return self.read_chain("AdditiveExpression", "+-")

    def read_product(self) -> Node:
        return self.read_chain("MultiplicativeExpression", "*/")

    def read_chain(self, name: str, signs: str) -> Node:
        """Terms with signs between them."""
        read = self.read_product if signs == "+-" else self.read_unary
        made = Node(name, expr=read())
        while self.token.kind == "op" and self.token.text in signs:
            made.setdefault("op", []).append(self.token.text)
            self.at += 1
            made.setdefault("other", []).append(read())
        return made

    def read_unary(self) -> object:
        for sign, name in (("!", "UnaryNot"), ("+", "UnaryPlus"), ("-", "UnaryMinus")):
            if self.take(sign):
                return Node(name, expr=self.read_primary())
        return self.read_primary()

    def read_primary(self) -> object:
        token = self.token
        if token.text == "(":
            return self.read_brackets()
        if token.kind == "var":
            return self.read_variable()
        if token.kind == "word" and (name := _AGGREGATES.get(token.text.upper())) is not None:
            self.at += 1
            return self.read_aggregate(name)
        if token.kind == "word" and token.text.upper() in _NAMED:
            return self.read_call()
        made = self.read_constant()
        if self.token.text != "(":
            return made
        if token.kind not in ("iri", "pname"):
            self.fail()
        return Node("Function", iri=made, distinct=[], expr=self.read_list())

    def read_aggregate(self, name: str) -> Node:
        self.need("(")
        distinct = "DISTINCT" if self.take_word("DISTINCT") else []
        every = name == "Aggregate_Count" and self.take("*")
        made = Node(name, distinct=distinct, vars="*" if every else self.read_expression())
        if name == "Aggregate_GroupConcat" and self.take(";"):
            self.need_word("SEPARATOR")
            self.need("=")
            made["separator"] = self.read_string()
        self.need(")")
        return made
