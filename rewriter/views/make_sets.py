"""Makes the assertions of a predicate a set of triples: SPARQL counts triples, not rows.

An RDF graph is a set (SPARQL 1.1 section 18.5, RDF 1.1 section 3): a triple that several rows make,
or several assertions, is one; of streams, at one time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ontoweir.errors import Source
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    MappingSource,
    SourceColumn,
    SourceTable,
    TemplateMap,
    TermKind,
    TermMap,
    TriplesMapName,
)
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.rewriter.algebra.trace_steps import OnStep, TraceStep, ignore_steps
from ontoweir.rewriter.model.add_views import add_views
from ontoweir.rewriter.model.spj import (
    ConstantOutput,
    IriOutput,
    Output,
    View,
    ViewBranch,
    column_attributes,
)
from ontoweir.rewriter.tmappings.instantiate_assertion import instantiate_assertion
from ontoweir.rewriter.tmappings.known_sets import Ends, KnownSets, SetsMade
from ontoweir.rewriter.tmappings.may_meet import differ_at_ends, fixed_ends
from ontoweir.rewriter.views.align_branches import Aligned, align_branches
from ontoweir.rewriter.views.declare_view import declare_relation, declare_stream
from ontoweir.rewriter.views.find_key import find_key
from ontoweir.rewriter.views.hold_once import hold_once
from ontoweir.rewriter.views.may_coincide import may_coincide

_ALIAS = "view"


@dataclass(slots=True)
class SetMaker:
    """Makes sets of the assertions for the atoms of one query, and collects their views.

    `catalog`: the tables, the views made so far among them. `counts`: whether it matters how often
    a triple is made (else assertions stay as they are). `windowed`: all else than
    GRAPH is windows. `known`: what queries over the same tables share.
    """

    catalog: Catalog
    on_step: OnStep = ignore_steps
    counts: bool = True
    windowed: bool = False
    views: list[View] = field(default_factory=list)
    lasting: dict[tuple[str, tuple[str, ...]], None] = field(default_factory=dict)
    """The keys (stream, columns) of whole streams by which triples outside GRAPH come once."""
    known: KnownSets = field(default_factory=KnownSets)
    _made: dict[tuple[int, ...], SetsMade] = field(default_factory=dict)

    def make_sets(
        self,
        assertions: tuple[MappingAssertion, ...],
        place: Source | None,
        *,
        in_graph: bool = True,
    ) -> tuple[MappingAssertion, ...]:
        """Assertions that make the same triples, each by one row: the given ones where keys prove
        it, else over views that are distinct.

        Args:
            assertions: of one predicate.
            place: of the pattern, for errors.
            in_graph: the triples are those of each time, else those of all times.

        Raises:
            QueryError: triples may be equal in a way that no comparison of columns tells, or come
                at two times outside GRAPH (hold_once).
        """
        if not self.counts:
            return assertions
        if not in_graph:
            flowing = [a for a in assertions if a.stream_alias is not None]
            self.lasting.update(
                dict.fromkeys(hold_once(flowing, self.catalog, place, windowed=self.windowed))
            )
        ids = tuple(map(id, assertions))
        if ids in self._made:
            return self._made[ids].made
        sets = self.known.sets.get(ids)
        if sets is None:
            sets = self._make_once(assertions, place, ids)
        else:
            for step in sets.steps:
                self.on_step(step)
        self._made[ids] = sets
        return sets.made

    def _make_once(
        self, assertions: tuple[MappingAssertion, ...], place: Source | None, ids: tuple[int, ...]
    ) -> SetsMade:
        """Sets of the assertions; other queries know them where they need no view."""
        steps, views = list[TraceStep](), len(self.views)
        made = tuple(self._make(assertions, place, steps.append))
        for step in steps:
            self.on_step(step)
        sets = SetsMade(assertions, made, tuple(steps))
        if len(self.views) == views:
            self.known.sets[ids] = sets
        return sets

    def keys_of(self, tables: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Of the keys by which triples outside GRAPH come once, those of streams that are among
        `tables`, or that views among them are made of."""
        if not self.lasting:
            return ()
        made = {view.name: view for view in self.views}
        read, todo = set[str](), list(tables)
        while todo:
            name = todo.pop()
            read.add(name)
            todo += made[name].tables if name in made else ()
        return tuple(key for key in self.lasting if key[0] in read)

    def _make(
        self, assertions: Sequence[MappingAssertion], place: Source | None, on_step: OnStep
    ) -> Iterable[MappingAssertion]:
        static = [a for a in assertions if a.stream_alias is None]
        flowing = [a for a in assertions if a.stream_alias is not None]
        for group in self._group(static):
            yield self._unite(group, place, on_step)
        for group in self._group(flowing):
            always = [s for s in static if any(self.may_meet(s, a) for a in group)]
            yield self._unite(group, place, on_step, always)

    def _group(self, assertions: Sequence[MappingAssertion]) -> list[list[MappingAssertion]]:
        """The assertions in groups, so that those of different groups make no triple both. Facts,
        of which there may be thousands, make their own triples: they meet only mapped ones."""
        mapped = [a for a in assertions if a.source.tables]
        begins, ends = self._find_kin(mapped, 0), self._find_kin(mapped, 1)
        alike: dict[tuple[int, int], list[list[MappingAssertion]]] = {}
        for assertion in mapped:
            kin = begins[id(assertion)], ends[id(assertion)]
            known = alike.get(kin, [])
            near = [group for group in known if self._meets(assertion, group)]
            alike[kin] = _join(assertion, known, near)
        last = {id(a): n for n, a in enumerate(mapped)}
        groups = [group for known in alike.values() for group in known]
        groups.sort(key=lambda group: last[id(group[-1])])
        apart: list[list[MappingAssertion]] = []
        facts: dict[tuple[TermMap, TermMap | None], list[MappingAssertion]] = {}
        for fact in (a for a in assertions if not a.source.tables):
            facts.setdefault((fact.subject, fact.object), []).append(fact)
        for same in facts.values():
            if any(self.may_meet(same[0], other) for other in mapped):
                near = [g for g in groups if self._meets(same[0], g)]
                groups = _join(same[0], groups, near, same[1:])
            else:
                apart.append(same)
        return groups + apart

    def _find_kin(self, assertions: Sequence[MappingAssertion], end: int) -> dict[int, int]:
        """Numbers of assertions, by their ids: those with different ones never meet, as the texts
        that their subjects begin (`end` 0), or end (1), with tell them apart: neither is the
        other's beginning, or end."""
        texts = dict[int, str]()
        for assertion in assertions:
            fixed = self._ends_of(assertion)[0]
            texts[id(assertion)] = "" if fixed is None else fixed[end][:: -1 if end else 1]
        kin, number, first = dict[int, int](), 0, ""
        for key in sorted(texts, key=texts.__getitem__):
            if not texts[key].startswith(first):
                number, first = number + 1, texts[key]
            elif not kin:
                first = texts[key]
            kin[key] = number
        return kin

    def _meets(self, assertion: MappingAssertion, group: Sequence[MappingAssertion]) -> bool:
        """Whether an assertion meets a mapped one of a group."""
        return any(self.may_meet(assertion, a) for a in group if a.source.tables)

    def may_meet(self, first: MappingAssertion, second: MappingAssertion) -> bool:
        """Whether two assertions may make one triple, as `may_coincide` says."""
        pairs = zip(self._ends_of(first), self._ends_of(second), strict=True)
        if any(a is not None and b is not None and differ_at_ends(a, b) for a, b in pairs):
            return False
        return may_coincide(first, second, self.catalog)

    def _ends_of(self, assertion: MappingAssertion) -> tuple[Ends | None, Ends | None]:
        """What the IRIs of subject and object begin and end with (None: they are no IRIs)."""
        key, ends = id(assertion), self.known.ends
        if key not in ends:
            one = instantiate_assertion(assertion, 1, self.catalog)
            ends[key] = (assertion, _ends_of(one.subject), _ends_of(one.object))
        return ends[key][1:]

    def _unite(
        self,
        group: list[MappingAssertion],
        place: Source | None,
        on_step: OnStep,
        always: Sequence[MappingAssertion] = (),
    ) -> MappingAssertion:
        """One assertion for those that may make the same triples, without the triples that static
        ones (`always`) make."""
        subject = _name(group[0])
        if len(group) == 1 and not always:
            keys = find_key(instantiate_assertion(group[0], 1, self.catalog), self.catalog)
            if keys is not None:
                if keys:
                    told = f"rows of {group[0].id} make each once, by {', '.join(keys)}"
                    on_step(TraceStep("triples as sets", subject, told))
                return replace(group[0], repeats=None)
        aligned = align_branches([*group, *always], self.catalog, place)
        count = len(group)
        why = _say_why(group, aligned)
        if always:
            why += f"; those that {_list(always)} always makes are not counted again"
        view = self.add_view(
            _name_view(group[0]),
            aligned.branches[:count],
            distinct=True,
            why=why,
            without=aligned.branches[count:],
        )
        on_step(TraceStep("triples as sets", subject, f"{view.name}: {view.why}"))
        return _over(view, group, aligned)

    def add_view(
        self,
        name: str,
        branches: tuple[ViewBranch, ...],
        *,
        distinct: bool,
        why: str,
        without: tuple[ViewBranch, ...] = (),
    ) -> View:
        """A view under a name that is free, as a table of `catalog`."""
        wanted, number = name, 2
        while name in self.catalog.streams or name in self.catalog.relations:
            name, number = f"{wanted}_{number}", number + 1
        table: Stream | Relation
        if branches[0].time is None:
            table = declare_relation(name, branches, self.catalog, distinct=distinct)
        else:
            table = declare_stream(name, branches, self.catalog, distinct=distinct, without=without)
        view = View(table, branches, distinct, why, without)
        self.views.append(view)
        self.catalog = add_views(self.catalog, [view])
        return view


def _ends_of(output: Output | None) -> Ends | None:
    """The fixed text that an IRI begins and ends with (None: it is none)."""
    if isinstance(output, IriOutput):
        return fixed_ends(output.parts)
    if isinstance(output, ConstantOutput) and output.is_iri:
        return output.value, output.value
    return None


def _over(view: View, group: list[MappingAssertion], aligned: Aligned) -> MappingAssertion:
    """The assertion over a view: its pattern's terms with the view's columns."""
    names = (
        view.timestamp if place is None else view.table.columns[place].name
        for place in aligned.places
    )
    columns = iter([SourceColumn(_ALIAS, name or "") for name in names])
    pattern = aligned.pattern
    by_subject, by_object = aligned.texts
    subject = _with_columns(pattern.subject, columns, text=by_subject)
    value = pattern.object
    if value is not None:
        value = _with_columns(value, columns, text=by_object)
    return replace(
        group[0],
        source=MappingSource((SourceTable(_ALIAS, view.name),)),
        subject=subject,
        object=value,
        stream_alias=None if isinstance(view.table, Relation) else _ALIAS,
        because=tuple(dict.fromkeys(b for a in group for b in a.because)),
        repeats=None,
        others=tuple(
            dict.fromkeys(n for a in group[1:] for n in (TriplesMapName(a.id, a.place), *a.others))
        ),
    )


def _name_view(assertion: MappingAssertion) -> str:
    """After the predicate."""
    local = "".join(c if c.isalnum() else "_" for c in _name(assertion)).strip("_") or "view"
    name = f"{local}_triples" if assertion.object is not None else f"{local}_members"
    return name if assertion.stream_alias is not None else f"static_{name}"


def _with_columns(term: TermMap, columns: "Iterable[SourceColumn]", *, text: bool) -> TermMap:
    following = iter(columns)
    if text:  # of an IRI or a string: it is taken as it is
        assert not isinstance(term, ColumnMap)
        literal = not term.is_iri if isinstance(term, ConstantMap) else term.kind == "literal"
        kind: TermKind = "literal" if literal else "iri"
        return TemplateMap((next(following),), kind, term.datatype, term.language)
    match term:
        case ConstantMap():
            return term
        case ColumnMap():
            return replace(term, column=next(following))
        case TemplateMap(parts=parts):
            made = tuple(next(following) if isinstance(p, SourceColumn) else p for p in parts)
            return replace(term, parts=made)


def _name(assertion: MappingAssertion) -> str:
    """The local name of the predicate."""
    return assertion.predicate.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1]


def _list(assertions: Sequence[MappingAssertion]) -> str:
    names = list(dict.fromkeys(a.id for a in assertions))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _say_why(group: list[MappingAssertion], aligned: Aligned) -> str:
    branch = aligned.branches[0]
    if len(group) > 1:
        return f"equal triples of {_list(group)} are one"
    columns = [a.column for c in branch.columns for a in column_attributes(c)]
    key = ", ".join([*columns, *([] if branch.time is None else [branch.time.column])])
    tables = ", ".join(t.table for t in group[0].source.tables)
    return (
        f"rows of {group[0].id} may make a triple twice; a key ({key}) of {tables} would spare it"
    )


def _join(
    assertion: MappingAssertion,
    groups: list[list[MappingAssertion]],
    near: list[list[MappingAssertion]],
    more: Sequence[MappingAssertion] = (),
) -> list[list[MappingAssertion]]:
    """The groups with an assertion (and `more`, which make its triples), those `near` as one."""
    others = [g for g in groups if not any(g is n for n in near)]
    return [*others, [*(a for g in near for a in g), assertion, *more]]
