"""What the mappings allow: for every class and property, how queries over time can use it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.repair.changes import Change, DeclareDomain, DeclareReference
from ontoweir.checker.repair.find_repairs import find_repairs
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.edit.describe_repairs import describe_edits, draft_changes
from ontoweir.errors import OntoweirError, Source
from ontoweir.mappings.expressions.derive_column import add_derived, read_columns
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    MappingSet,
    TemplateMap,
    TermMap,
    TriplesMapName,
)
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.column_types import type_family
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.pipeline.read_text import read_project
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.query import (
    ClassAtom,
    ConjunctiveQuery,
    PropertyAtom,
    TimeFilter,
    ValueFilter,
    Variable,
)
from ontoweir.rewriter.model.spj import Op, SpjUnion
from ontoweir.rewriter.tmappings.compile_tmappings import compile_tmappings
from ontoweir.rewriter.unfold.unfold_query import unfold_query

PredicateKind: TypeAlias = Literal["class", "property"]
Probe: TypeAlias = Literal[
    "latest", "remembered", "joined by subject", "joined by object", "compared"
]
"""A way to use a predicate: as its triples arrive; SELECT DISTINCT, remembered for ever; two of its
triples, any time apart, with the same subject, or object; every later number with every earlier
smaller one, counted."""

PROBES: tuple[Probe, ...] = (
    "latest",
    "remembered",
    "joined by subject",
    "joined by object",
    "compared",
)


@dataclass(frozen=True, slots=True)
class UnboundedColumn:
    """A stream's column that a term is made from, of which the catalog gives no finite domain."""

    table: str
    column: str
    source: Source | None


Declared: TypeAlias = tuple[tuple[Source, str], ...]
"""Lines for the catalog, and where they go."""


@dataclass(frozen=True, slots=True)
class PredicateLint:
    """What a mapping lets queries do with a class or property, its own or one above it.

    `subject` is what its subjects look like. `probes`: the tier of each way that there is; where
    the query is refused, `refused` has the reason. `actions` and `declare`: declarations that bound
    the unbounded columns, in words and in lines for the catalog. `best`: the best tier that any
    predicate of these subjects, in all mappings, has in a way that spans time (all but "latest").
    """

    iri: str
    kind: PredicateKind
    subject: str
    probes: Mapping[Probe, Tier]
    refused: Mapping[Probe, str]
    unbounded: tuple[UnboundedColumn, ...]
    actions: tuple[str, ...]
    declare: Declared
    best: Tier


@dataclass(frozen=True, slots=True)
class MappingLint:
    """A triples map, the stream that it maps (None: static data), and its predicates."""

    mapping: str
    source: Source
    stream: str | None
    predicates: tuple[PredicateLint, ...]


def lint_mappings(workspace: Workspace) -> tuple[MappingLint, ...]:
    """Probe every class and property of every triples map with the checker itself.

    The mappings are closed under the hierarchy first. Each assertion is probed by itself: a
    predicate's verdict is that of its worst assertion.

    Raises:
        OntoweirError: the project's files have errors.
    """
    catalog, tbox = workspace.project.catalog, workspace.tbox
    # each assertion is probed by itself: those of a refused triples map are left out
    readable = replace(workspace.mappings, refused=())
    whole = add_derived(catalog, readable.derived)
    compiled = compile_tmappings(readable, tbox, whole)
    prober = _Prober(catalog, whole, tbox, read_project(catalog.file))
    lints: dict[tuple[Source, str, str | None], dict[object, PredicateLint]] = {}
    best: dict[str, Tier] = {}
    for assertion in compiled.assertions:
        if assertion.source.tables:
            made = prober.probe(assertion)
            key = made.kind, made.iri, made.subject
            for name in (TriplesMapName(assertion.id, assertion.place), *assertion.others):
                inside = lints.setdefault((name.place, name.id, _stream(assertion)), {})
                inside[key] = _merge(inside[key], made) if key in inside else made
            best[made.subject] = _better(best.get(made.subject, made.best), made.best)
    return tuple(
        MappingLint(
            name,
            place,
            stream,
            tuple(replace(p, best=best[p.subject]) for p in inside.values()),
        )
        for (place, name, stream), inside in sorted(lints.items(), key=lambda e: e[0][:2])
    )


def overall(lints: Iterable[MappingLint]) -> dict[tuple[PredicateKind, str], dict[Probe, Tier]]:
    """Of every (kind, predicate), over all its mappings, the worst tier of each way."""
    tiers: dict[tuple[PredicateKind, str], dict[Probe, Tier]] = {}
    for predicate in (p for lint in lints for p in lint.predicates):
        worst = tiers.setdefault((predicate.kind, predicate.iri), {})
        worst |= _worst(worst, predicate.probes)
    return tiers


def _worst(one: Mapping[Probe, Tier], other: Mapping[Probe, Tier]) -> dict[Probe, Tier]:
    tiers = {**one, **other}
    return {
        p: max(one.get(p, tiers[p]), other.get(p, tiers[p]), key=lambda t: t.rank)
        for p in PROBES
        if p in tiers
    }


def _merge(one: PredicateLint, other: PredicateLint) -> PredicateLint:
    """One predicate of one mapping, made in several ways: from properties below it."""
    return replace(
        one,
        probes=_worst(one.probes, other.probes),
        refused={**one.refused, **other.refused},
        unbounded=tuple(dict.fromkeys((*one.unbounded, *other.unbounded))),
        actions=tuple(dict.fromkeys((*one.actions, *other.actions))),
        declare=tuple(dict.fromkeys((*one.declare, *other.declare))),
    )


def _better(one: Tier, other: Tier) -> Tier:
    return min(one, other, key=lambda t: t.rank)


def _stream(assertion: MappingAssertion) -> str | None:
    return next(
        (t.table for t in assertion.source.tables if t.alias == assertion.stream_alias), None
    )


def _subject(term: TermMap) -> str:
    """What subjects look like: mappings that make the same have the same."""
    match term:
        case TemplateMap(parts=parts):
            return "".join(p if isinstance(p, str) else "{}" for p in parts)
        case ConstantMap(value=value):
            return value
        case ColumnMap():
            return "{}"


class _Prober:
    """Probes assertions; what has the same tables, conditions and outputs is decided once. `whole`:
    the catalog with the columns that the mappings' SQL computes."""

    def __init__(self, catalog: Catalog, whole: Catalog, tbox: TBox, project: str | None) -> None:
        self.catalog, self.whole, self.tbox, self.project = catalog, whole, tbox, project
        self.decided: dict[object, Tier] = {}
        self.columns: dict[object, tuple[UnboundedColumn, ...]] = {}
        self.mended: dict[tuple[UnboundedColumn, ...], tuple[tuple[str, ...], Declared]] = {}

    def probe(self, assertion: MappingAssertion) -> PredicateLint:
        probes: dict[Probe, Tier] = {}
        refused: dict[Probe, str] = {}
        unbounded: tuple[UnboundedColumn, ...] = ()
        actions: tuple[str, ...] = ()
        declare: Declared = ()
        for name in PROBES:
            if not _applies(name, assertion, self.whole):
                continue
            if assertion.stream_alias is None:
                probes[name] = Tier.STATELESS  # static data are finite, and wait for nothing
                continue
            try:
                union = self.unfold(_make_query(name, assertion), assertion)
                probes[name] = self.decide(union)
            except OntoweirError as error:
                probes[name] = Tier.UNDECIDED
                refused[name] = f"{error.what}; {error.fix}"
                continue
            if name == "remembered":
                unbounded = self.find_unbounded(union)
                actions, declare = self.mend(union, unbounded)
        spanning = [t for p, t in probes.items() if p != "latest"]
        return PredicateLint(
            assertion.predicate,
            "class" if assertion.object is None else "property",
            _subject(assertion.subject),
            probes,
            refused,
            unbounded,
            actions,
            declare,
            min(spanning, key=lambda t: t.rank),
        )

    def unfold(self, query: ConjunctiveQuery, assertion: MappingAssertion) -> SpjUnion:
        alone = replace(assertion, graphs=(), repeats=None)  # neither changes what is bounded
        return unfold_query([query], MappingSet((alone,), compiled=True), self.catalog, self.tbox)

    def decide(self, union: SpjUnion) -> Tier:
        key = _shape(union)
        if key not in self.decided:
            self.decided[key] = check_query(union, self.catalog).tier
        return self.decided[key]

    def find_unbounded(self, union: SpjUnion) -> tuple[UnboundedColumn, ...]:
        """The columns that make the result and have no finite domain."""
        key = _shape(union)
        if key not in self.columns:
            unbounded: dict[UnboundedColumn, None] = {}
            catalog = extend_catalog(self.catalog, union)
            for query in union.disjuncts:
                tables = {o.alias: o.table for o in query.occurrences}
                form = normalise_query(query, distinct=True, catalog=catalog)
                for group in form.classes:
                    if not group.projected or group.domain.finite:
                        continue
                    for attribute, _ in group.attributes:
                        table = catalog.table(tables[attribute.alias])
                        names = read_columns(table, [attribute.column])
                        for column in table.columns if isinstance(table, Stream) else ():
                            if column.name in names and column.bucket is None:
                                made = UnboundedColumn(table.name, column.name, column.source)
                                unbounded[made] = None
            self.columns[key] = tuple(unbounded)
        return self.columns[key]

    def mend(
        self, union: SpjUnion, unbounded: tuple[UnboundedColumn, ...]
    ) -> tuple[tuple[str, ...], Declared]:
        """Declarations that make the result bounded: sentences, and lines."""
        if not unbounded:
            return (), ()
        if unbounded not in self.mended:
            repairs = find_repairs(union, self.catalog, wanted=_declares)
            self.mended[unbounded] = ((), ())
            if repairs:
                changes = repairs[0].changes
                drafted = draft_changes(
                    changes, union, self.catalog, query="", project=self.project, sql=True
                )
                assert drafted is not None
                texts, edits = describe_edits(
                    changes, drafted, union, self.catalog, query="", project=self.project, sql=True
                )
                lines = tuple((e.source, line) for e in edits for line in e.lines)
                self.mended[unbounded] = texts, lines
        return self.mended[unbounded]


def _declares(change: Change) -> bool:
    return isinstance(change, DeclareDomain | DeclareReference)


def _shape(union: SpjUnion) -> object:
    """What the verdict depends on: not the names, places and mappings."""
    return union.distinct, tuple(
        (
            q.occurrences,
            tuple(replace(c, source=None) for c in q.conditions),
            tuple(o for _, o in q.outputs),
        )
        for q in union.disjuncts
    )


def _applies(probe: Probe, assertion: MappingAssertion, catalog: Catalog) -> bool:
    match probe:
        case "latest" | "remembered" | "joined by subject":
            return True
        case "joined by object":
            return assertion.object is not None
        case "compared":
            if not isinstance(assertion.object, ColumnMap):
                return False
            place = assertion.object.column
            tables = {t.alias: t.table for t in assertion.source.tables}
            column = catalog.table(tables[place.alias]).column(place.column)
            return column is not None and type_family(column.type) in ("number", "date")


def _make_query(probe: Probe, assertion: MappingAssertion) -> ConjunctiveQuery:
    """The canonical query of a probe, over the predicate of an assertion."""
    s, o, s2, o2, t, u = (Variable(n) for n in ("s", "o", "s2", "o2", "t", "u"))
    place, iri = assertion.place, assertion.predicate

    def atom(subject: Variable, value: Variable, time: Variable) -> ClassAtom | PropertyAtom:
        if assertion.object is None:
            return ClassAtom(iri, subject, time, place)
        return PropertyAtom(iri, subject, value, time, place)

    both = (s,) if assertion.object is None else (s, o)
    order = TimeFilter(t, Op.LT, u, source=place)
    made: dict[str, Any] = {"name": "probe", "distinct": False, "source": place, "filters": ()}
    match probe:
        case "latest":
            made |= {"head": both, "atoms": (atom(s, o, t),)}
        case "remembered":
            made |= {"head": both, "atoms": (atom(s, o, t),), "distinct": True}
        case "joined by subject":
            made |= {"head": (s,), "atoms": (atom(s, o, t), atom(s, o2, u)), "filters": (order,)}
        case "joined by object":
            made |= {"head": (o,), "atoms": (atom(s, o, t), atom(s2, o, u)), "filters": (order,)}
        case "compared":
            smaller = ValueFilter(o, Op.LT, o2, source=place)
            made |= {
                "head": (o2,),
                "atoms": (atom(s, o, t), atom(s2, o2, u)),
                "filters": (order, smaller),
            }
    return ConjunctiveQuery(**made)
