"""A query that stands for several which differ in limits alone: it says whose an answer is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from ontoweir.checker.model.normal_form import Domain, Kind, NormalForm, ValueClass
from ontoweir.checker.model.plan import Key, SynopsisPlan
from ontoweir.mappings.model.catalog import Catalog, Column, IntType
from ontoweir.rewriter.model.aggregation import Aggregate
from ontoweir.rewriter.model.spj import Attribute, LiteralOutput
from ontoweir.runtime.alike.plan_shape import PlanShape, find_shape
from ontoweir.runtime.alike.select_rows import UnitedLimits, unite_limits
from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.frame import Name
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.engine.prepare_plan import PreparedPlan, TextMemory
from ontoweir.runtime.pool.text_table import TEXT, TextTable

TAG = "__query"
"""The variable that says whose an answer is: the place of a query among those that are alike."""


@dataclass(frozen=True, slots=True)
class AlikeQuery:
    """A query that may be advanced with others: what it needs, and its plans."""

    work: ExecutionContext
    plans: tuple[PreparedPlan, ...]


@dataclass(frozen=True, slots=True)
class QueryShape:
    """`same`: what is equal of all queries of the shape; `plans`: the shapes of its plans."""

    same: tuple[Any, ...]
    plans: tuple[PlanShape, ...]


@dataclass(frozen=True, slots=True)
class UnitedPlan:
    """A plan of several queries: `prepared` has the class that tells them apart, in every key;
    `form` neither has that, nor limits; `limits`: of all queries, by member."""

    prepared: PreparedPlan
    form: NormalForm
    limits: tuple[UnitedLimits, ...]

    @property
    def tag(self) -> Name:
        """The column that tells the queries apart."""
        return value(len(self.form.classes))

    @property
    def unit(self) -> int:
        """The column has a query's place times this."""
        return self.form.unit


@dataclass(frozen=True, slots=True)
class UnitedQuery:
    """What advances several queries at once. `catalog`: without what tells them apart; `texts`:
    those of the groups of all of them."""

    work: ExecutionContext
    plans: tuple[UnitedPlan, ...]
    catalog: Catalog
    texts: TextTable = field(default_factory=TextTable)

    @property
    def has_texts(self) -> bool:
        """Whether they look at texts."""
        return any(kind is Kind.STRING for p in self.plans for kind in p.form.kinds.values())

    @property
    def streams(self) -> set[str]:
        """What they read."""
        return {m.stream for p in self.plans for m in p.form.members}


def shape_query(query: AlikeQuery) -> QueryShape | None:
    """The shape of a query (None: it is to be advanced by itself)."""
    work = query.work
    if work.rules or work.blocks or not query.plans or work.spill is not None:
        return None
    if work.watched and not work.watch:
        return None
    groups = work.aggregates
    if groups is not None and not _can_unite(groups):
        return None
    shapes = []
    for prepared in query.plans:
        shape = find_shape(prepared, work.catalog)
        if shape is None:
            return None
        shapes.append(shape)
    same = (
        tuple(shape.same for shape in shapes),
        tuple(p.plan.form.query.outputs for p in query.plans),
        tuple(p.injective for p in query.plans),
        (work.schema, work.distinct),
        (work.watched, work.watch if work.watched else ""),
        None if groups is None else _same_of_groups(groups),
    )
    return QueryShape(same, tuple(shapes))


def _can_unite(groups: AggregateWork) -> bool:
    """Whether groups of several queries can be kept as one: those that only come and grow, of exact
    numbers."""
    if groups.final or groups.closing is not None or groups.sliding or groups.begins:
        return False
    if any(a.function.ranks for a in groups.functions.values()):
        return False
    return all(scale.scale is not None for scale in groups.scales.values())


def _same_of_groups(groups: AggregateWork) -> tuple[Any, ...]:
    def plain(aggregates: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        return tuple(replace(a, source=None) for a in aggregates)

    asked = groups.aggregation
    asked = replace(asked, aggregates=plain(asked.aggregates), having_source=None)
    parts = tuple(
        (
            plain(part.aggregates),
            (part.over, part.once, part.group, part.watches),
            (part.union.variables, part.union.distinct),
            count,
        )
        for part, count in groups.parts
    )
    return asked, parts, dict(groups.scales), groups.schemas, groups.schema, groups.answers


def unite_queries(first: AlikeQuery, shapes: Sequence[QueryShape]) -> UnitedQuery:
    """What advances all queries of a shape at once; `first`: one of them."""
    work = first.work
    plans = []
    for number, prepared in enumerate(first.plans):
        mine = [shape.plans[number] for shape in shapes]
        texts = _list_texts(mine)
        members = zip(*(plan.limits for plan in mine), strict=True)
        form = mine[0].plan.form
        told = replace(prepared, plan=_tell_apart(mine[0].plan), texts=texts, memory=TextMemory())
        limits = tuple(unite_limits(held, form.kinds, texts) for held in members)
        plans.append(UnitedPlan(told, form, limits))
    groups = None if work.aggregates is None else _tell_groups_apart(work.aggregates)
    united = replace(
        work,
        plans=tuple(p.prepared.plan for p in plans),
        catalog=_with_column(work.catalog, {m.stream for p in plans for m in p.form.members}),
        schema=_with_field(work.schema),
        aggregates=groups,
    )
    return UnitedQuery(united, tuple(plans), work.catalog)


def _list_texts(plans: Sequence[PlanShape]) -> TextTable:
    """The texts that plans name."""
    limits = [limit for plan in plans for held in plan.limits for limit in held.values()]
    names = {name for limit in limits for name in (*(limit.among or ()), *limit.but)}
    texts = TextTable()
    texts.add(pa.array(sorted(name for name in names if isinstance(name, str)), TEXT))
    return texts


def _tell_apart(plan: SynopsisPlan) -> SynopsisPlan:
    """A plan with one more value class, which is an output, and in the keys of all tables."""
    form = plan.form
    index, attribute = len(form.classes), Attribute(form.members[0].alias, TAG)
    everywhere = frozenset(member.index for member in form.members)
    tag = ValueClass(
        index,
        Kind.NUMBER,
        form.unit,
        ((attribute, 0),),
        everywhere,
        Domain(True, None, ""),
        projected=True,
    )
    outputs = ((TAG, LiteralOutput(attribute)), *form.query.outputs)
    told = replace(
        form,
        query=replace(form.query, outputs=outputs),
        classes=(*form.classes, tag),
        class_of={**form.class_of, attribute: index},
        kinds={**form.kinds, attribute: Kind.NUMBER},
    )
    tables = tuple(replace(t, keys=(Key(index), *t.keys)) for t in plan.tables)
    return SynopsisPlan(told, tables)


def _tell_groups_apart(groups: AggregateWork) -> AggregateWork:
    asked = groups.aggregation
    return replace(
        groups,
        aggregation=replace(asked, group=(TAG, *asked.group), columns=(TAG, *asked.columns)),
        schemas=tuple(map(_with_field, groups.schemas)),
        schema=_with_field(groups.schema),
        answers=_with_field(groups.answers),
    )


def _with_field(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(TAG, pa.int64()), *schema])


def _with_column(catalog: Catalog, names: set[str]) -> Catalog:
    more = {
        name: replace(stream, columns=(*stream.columns, Column(TAG, IntType())))
        for name, stream in catalog.streams.items()
        if name in names
    }
    return replace(catalog, streams={**_plain(catalog.streams), **more})


def _plain(held: Mapping[str, Any]) -> dict[str, Any]:
    return dict(held)
