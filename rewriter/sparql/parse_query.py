"""Parse a SPARQL SELECT into a union of conjunctive queries over states at points in time.

SPARQL 1.1 as rdflib parses it; `GRAPH ?t { … }` is the state at time ?t. What is outside is refused
by name. rdflib keeps no positions: lines are found by following its triples through the tokens.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import rdflib

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.calendar.compare_named_buckets import compare_named_buckets
from ontoweir.rewriter.expressions.read_computation import ComputationReader
from ontoweir.rewriter.expressions.read_expression import is_computed, split_conjuncts
from ontoweir.rewriter.groups.name_quantiles import name_quantiles
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.query import (
    Atom,
    ClassAtom,
    ConjunctiveQuery,
    InnerSelect,
    Iri,
    NamedBuckets,
    PropertyAtom,
    Term,
    Variable,
)
from ontoweir.rewriter.parsing.parse_sparql import parse_sparql
from ontoweir.rewriter.sparql.check_buckets import check_buckets, check_names
from ontoweir.rewriter.sparql.check_variables import UsedVariables, check_scope, check_variables
from ontoweir.rewriter.sparql.distribute_unions import distribute_unions
from ontoweir.rewriter.sparql.expand_path import expand_path, first_step
from ontoweir.rewriter.sparql.parse_filter import parse_filter
from ontoweir.rewriter.sparql.patterns import (
    Formula,
    Join,
    Pattern,
    Union,
    bound_variables,
    holds_at,
)
from ontoweir.rewriter.sparql.read_aggregation import aggregated_variables, read_aggregation
from ontoweir.rewriter.sparql.read_dataset import read_dataset
from ontoweir.rewriter.sparql.read_sparql_buckets import (
    find_bucket,
    list_times,
    read_sparql_buckets,
)
from ontoweir.rewriter.sparql.read_terms import Terms
from ontoweir.rewriter.sparql.read_values import ValuesReader, refuse_behind_groups
from ontoweir.rewriter.subqueries.check_subselects import check_subselects
from ontoweir.rewriter.subqueries.cut_subselects import cut_subselects, made_variables
from ontoweir.rewriter.syntax.group_binds import group_binds
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens, stands_for
from ontoweir.rewriter.syntax.node import Node
from ontoweir.rewriter.syntax.open_ask import open_ask
from ontoweir.rewriter.syntax.open_construct import open_construct
from ontoweir.rewriter.syntax.refuse_forms import FORMS, refuse_forms, refuse_pattern
from ontoweir.rewriter.windows.read_sparql_windows import read_sparql_windows

_TYPE = str(rdflib.RDF.type)
_COMPARISONS = {"<", "<=", "=", ">=", ">", "!=", "IN"}


def parse_query(
    text: str,
    *,
    name: str,
    file: str,
    values: frozenset[str] = frozenset(),
    late: frozenset[str] = frozenset(),
    bare: bool = False,
) -> tuple[ConjunctiveQuery, ...]:
    """The conjunctive queries whose union `text` is, at least one, all with the same head.

    Their matches add up to the query's own, also under bag semantics; they are told apart by
    `branch`. A query whose filters never hold is one branch with filters that never hold.

    Args:
        text: SPARQL 1.1 SELECT, SELECT DISTINCT, ASK or CONSTRUCT.
        name, file: what the query is called, and where it stands, for messages.
        values: properties of the rows of SELECTs within it that are values, and no times.
        late: variables that may have no value: FILTERs of them are computed of solutions.
        bare: VALUES alone are a query, too.

    Raises:
        QueryError: the text is not SPARQL, or outside the query language.
    """
    text = compare_named_buckets(group_binds(open_ask(open_construct(text, file))))
    tokens = Tokens(text)
    prologue, query = parse_sparql(text, tokens, file)
    read = partial(parse_query, file=file, values=values)
    whole, inner = cut_subselects(tokens, query, read, file, name=name, values=values)
    if inner:
        tokens = Tokens(whole)
        prologue, query = parse_sparql(whole, tokens, file)
    parser = _Parser(tokens, name, file, prologue, inner)
    parser.computed.late, parser.bare = late, bare
    return parser.read(name_quantiles(query, parser.terms.read))


class _Parser:
    def __init__(
        self,
        tokens: Tokens,
        name: str,
        file: str,
        prologue: object,
        inner: tuple[InnerSelect, ...],
    ) -> None:
        self.tokens, self.name, self.file, self.inner = tokens, name, file, inner
        used = frozenset(t.text[1:] for t in tokens.tokens if t.kind == "var")
        self.terms = Terms(prologue, used, self.error, tokens.line_of_prefix)
        self.times, self.bare = dict[Variable, Source](), False
        self.buckets = dict[Variable, NamedBuckets]()  # that SELECT shows
        self.first = tokens.line_of("SELECT", *FORMS.values()) or 1
        self.computed = ComputationReader(
            self.terms.read,
            self.terms.make_variable,
            lambda: frozenset(self.times),
            file,
            self.error,
        )

    def error(self, what: str, why: str, fix: str, line: int | None = None) -> QueryError:
        return QueryError(what, why=why, fix=fix, source=Source(self.file, line))

    def read(self, query: Node) -> tuple[ConjunctiveQuery, ...]:
        """The branches of a query as rdflib parsed it."""
        if query.name in FORMS:
            refuse_forms(query, (), self.tokens, self.error)
        graphs = read_dataset(query, self.tokens, self.terms, self.error)
        self.times = dict.fromkeys(list_times(query["where"]), Source(self.file))
        aggregation, buckets, group_terms = read_aggregation(
            query, self.tokens, self.terms, self.file, self.error, self.computed, self.times
        )
        refuse_forms(query, self.list_order(aggregation, buckets), self.tokens, self.error)
        answers: list[str] | None = None
        if aggregation is None:
            distinct = query.get("modifier") == "DISTINCT"
            head = self.read_head(query)
            counted: frozenset[Variable] = frozenset()
            if head is not None:
                answers = [v.name for v in head]
                head, buckets = self.split_times(head)
        else:
            distinct = self.takes_set(aggregation, buckets)
            made = {b.name for b in buckets}
            head = tuple(Variable(v) for v in aggregation.variables if v not in made)
            counted = self.list_counted(query)
            answers = list(aggregation.variables)
        hidden = check_subselects(query, self.tokens, self.error, distinct=distinct)
        self.values = ValuesReader(self.terms, frozenset(self.times), self.file, self.error)
        self.tokens.next(lambda t: t.text == "{")
        pattern: Pattern = self.read_group(query["where"], None)
        if "valuesClause" in query:
            pattern = Join((pattern, self.read_rows(query["valuesClause"], aggregation)))
        branches = distribute_unions(
            pattern,
            distinct=distinct,
            make_variable=self.terms.make_variable,
            refuse=lambda what, why, fix: self.error(what, why, fix, self.first),
        )
        source, place = Source(self.file, self.first), self.tokens.line_of("GROUP")
        bound = bound_variables(pattern)
        if aggregation is not None:
            check_names(aggregation, buckets, bound, self.times, self.error, place)
        branches, ends = read_sparql_windows(branches, source)
        shown = None if answers is None else [*answers, *(b.name for b in ends)]
        found = self.computed.finish(shown, bound, {b.name for b in buckets}, counted)
        buckets = (*buckets, *(() if found is None else found.moments))
        check_buckets(buckets, self.times, branches, self.error, place or self.first)
        buckets = (*buckets, *ends)
        head = check_variables(
            head if head is None or found is None else found.needed(head),
            pattern,
            branches,
            UsedVariables(
                times=frozenset(self.times),
                hidden=frozenset(self.terms.fresh) | hidden | made_variables(self.inner),
                counted=counted - self.computed.names,
                aggregates=aggregation is not None or bool(buckets),
                bare=self.bare,
            ),
            locate=lambda v: self.tokens.line_of(f"?{v.name}", f"${v.name}") or self.first,
            source=source,
        )
        return tuple(
            ConjunctiveQuery(
                self.name,
                head,
                branch.atoms,
                branch.filters,
                distinct,
                source,
                constants=tuple((v, branch.values[v]) for v in head if v in branch.values),
                branch=number,
                graphs=graphs,
                choices=branch.choices,
                aggregation=aggregation,
                buckets=buckets,
                computation=None if found is None else found.computation(head),
                group_terms=group_terms,
                inner=self.inner,
            )
            for number, branch in enumerate(branches)
        )

    def read_rows(self, clause: Node, aggregation: Aggregation | None) -> Pattern:
        """VALUES, as a pattern; behind the outermost group, of a query that may group."""
        values = self.values.read_values(clause, line := self.tokens.next_word("VALUES"))
        return refuse_behind_groups(values, aggregation, self.error, line)

    def list_order(
        self, aggregation: Aggregation | None, buckets: Sequence[NamedBuckets]
    ) -> list[str]:
        """The times in whose order answers come."""
        only = self.times if len(self.times) == 1 and aggregation is None else ()
        return [*(v.name for v in only), *(b.name for b in buckets)]

    def takes_set(self, aggregation: Aggregation, buckets: Sequence[NamedBuckets]) -> bool:
        """Whether aggregates are of distinct matches: of buckets and windows all are needed."""
        now = any(t.text.upper() == "NOW" for t in self.tokens.tokens)
        return not (aggregation.duplicate_sensitive or buckets or now)

    def list_counted(self, query: Node) -> frozenset[Variable]:
        """What is aggregated, and must have a value."""
        named = aggregated_variables(query) - self.computed.late
        return frozenset(map(Variable, named)) - self.times.keys()

    def split_times(
        self, head: tuple[Variable, ...]
    ) -> tuple[tuple[Variable, ...], tuple[NamedBuckets, ...]]:
        """The answer variables that are values, and the times with their places in SELECT."""
        moments = {v: NamedBuckets(v.name, v, TimeBucket(Moments())) for v in self.times}
        shown = moments | self.buckets
        times = tuple(replace(shown[v], place=n) for n, v in enumerate(head) if v in shown)
        return tuple(v for v in head if v not in shown), times

    def read_head(self, query: Node) -> tuple[Variable, ...] | None:
        """The answer variables; None for *."""
        if "projection" not in query or query["projection"] == "*":
            return None
        head: list[Variable] = []
        for item in query["projection"]:
            if "var" not in item:
                name = str(item["evar"])
                line = self.tokens.line_of(f"?{name}")
                call = find_bucket(item["expr"], self.terms, self.times)
                if call is not None:
                    made = read_sparql_buckets(name, call, self.terms, self.error, line)
                    head.append(Variable(name))
                    self.buckets[head[-1]] = made
                    continue
                head.append(self.computed.name(item["expr"], name, f"SELECT, as ?{name},", line))
            elif (answer := Variable(str(item["var"]))) not in head:
                head.append(answer)
        return tuple(head)

    def read_group(self, group: Node, time: Variable | None) -> Join:
        """The patterns of a group at a time, and its filters."""
        if group.name == "SubSelect":
            self.tokens.next(lambda t: t.text.upper() == "SELECT")
            self.tokens.next(lambda t: t.text == "{")
            return self.read_group(group["where"], time)
        parts: list[Pattern] = []
        filters: list[tuple[Formula, int]] = []
        computed: list[tuple[object, int]] = []
        self.computed.open_group()
        for part in group.get("part", ()):
            match part.name:
                case "TriplesBlock":
                    for triples in part["triples"]:
                        flat = list(triples)
                        for i in range(0, len(flat), 3):
                            parts.append(self.read_triple(flat[i], flat[i + 1], flat[i + 2], time))
                case "Filter":
                    line = self.tokens.next_word("FILTER")
                    taken = [
                        n for n in split_conjuncts(part["expr"]) if self.computed.takes_filter(n)
                    ]
                    computed += [(node, line) for node in taken]
                    inside = self.tokens.skip_parentheses()
                    for node in split_conjuncts(part["expr"]) if taken else [part["expr"]]:
                        if node not in taken:
                            filters.append((self.read_filter(node, line, inside), line))
                case "GraphGraphPattern":
                    parts.append(self.read_graph(part))
                case "GroupOrUnionGraphPattern":
                    self.computed.choices += len(part["graph"]) > 1
                    branches = tuple(self.read_group(inner, time) for inner in part["graph"])
                    self.computed.choices -= len(part["graph"]) > 1
                    parts.append(Union(branches) if len(branches) > 1 else branches[0])
                case "InlineData":
                    parts.append(self.read_rows(part, None))
                case "Bind":
                    line = self.tokens.next_word("BIND")
                    self.tokens.skip_parentheses()
                    before = Join(tuple(parts))
                    if is_computed(part["expr"]):
                        self.computed.add_bind(
                            part["expr"], Variable(str(part["var"])), bound_variables(before), line
                        )
                        continue
                    parts.append(self.values.read_bind(part, before, line))
                case _:
                    refuse_pattern(part, self.tokens, self.error)
        made = Join(tuple(parts), tuple(f for f, _ in filters), time)
        check_scope(made, self.error)
        for node, line in computed:
            self.computed.add_filter(node, bound_variables(made), line)
        self.computed.close_group()
        return made

    def read_graph(self, part: Node) -> Join:
        """GRAPH ?t { … }."""
        line = self.tokens.next_word("GRAPH")
        term = part["term"]
        if not isinstance(term, rdflib.Variable):
            raise self.error(
                "GRAPH with an IRI",
                "a graph is the state at a time, so its name is a time variable",
                "write GRAPH ?t { … }, and leave static patterns outside GRAPH; a graph of the "
                "mappings is asked with FROM and its IRI before WHERE",
                line,
            )
        self.tokens.next(lambda t: t.text == "{")
        time = Variable(str(term))
        group = self.read_group(part["graph"], time)
        if not holds_at(group, time):
            raise self.error(
                f"GRAPH ?{time.name} has no pattern",
                "it would hold at every time, of which there is no end",
                "write a pattern in it (in each branch of a UNION), or remove it",
                line,
            )
        return group

    def read_triple(self, s: object, p: object, o: object, time: Variable | None) -> Pattern:
        """The patterns of a triple."""
        line = self.locate(o, p)
        place = self.tokens.place_pattern(self.file)
        source = place if place.line == line else Source(self.file, line)

        def make(predicate: object, subject: Term, value: Term) -> Atom:
            iri = self.read_predicate(predicate, line)
            if iri != _TYPE:
                return PropertyAtom(iri, subject, value, time, source)
            if isinstance(value, Iri):
                return ClassAtom(value.value, subject, time, source)
            return PropertyAtom(_TYPE, subject, value, time, source)  # VALUES may name the class

        return expand_path(
            p,
            self.terms.read(s, line),
            self.terms.read(o, line),
            terms=self.terms,
            make_atom=make,
            refuse=lambda what, why, fix: self.error(what, why, fix, line),
        )

    def locate(self, o: object, p: object) -> int:
        """The line of the next triple's object, or of its predicate if the object is blank."""
        wanted = first_step(p) if isinstance(o, rdflib.BNode) else o
        return self.tokens.next(lambda t: stands_for(t, wanted))

    def read_predicate(self, node: object, line: int) -> str:
        """The IRI of a predicate."""
        term = self.terms.read(node, line)
        if isinstance(term, Iri):
            return term.value
        raise self.error(
            f"?{term.name} as a predicate" if isinstance(term, Variable) else "a literal predicate",
            "the predicate of a pattern is an IRI: a query ranges over data, not the vocabulary",
            "name the property; if there are several, write them as alternatives: :p|:q",
            line,
        )

    def read_filter(self, node: object, line: int, tokens: Sequence[SparqlToken]) -> Formula:
        """The formula of a FILTER, or a part of it, that starts at `line`; and its tokens."""
        inside = iter(tokens)

        def locate() -> Source:
            token = next((t for t in inside if t.text.upper() in _COMPARISONS), None)
            if token is None:
                return Source(self.file, line)
            return self.tokens.place_comparison(self.file, token)

        return parse_filter(
            node,
            times=frozenset(self.times),
            read_term=lambda n: self.terms.read(n, line),
            locate=locate,
        )
