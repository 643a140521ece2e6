"""The ways in which the rows of one plan can be divided."""

from collections.abc import Iterable

from ontoweir.checker.model.normal_form import Kind, ValueClass
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.partition.find_places import Place
from ontoweir.checker.partition.trace_column import is_distinct
from ontoweir.checker.partition.way import (
    Free,
    Scene,
    Way,
    Whole,
    is_free,
    merge_ways,
    multiply_ways,
)
from ontoweir.rewriter.model.spj import Attribute, NullOutput, output_attributes


def list_ways(plan: SynopsisPlan, scene: Scene, place: Place | None) -> list[Way]:
    """The ways to divide the rows of a plan's streams; `place`: answers tell the value there."""
    form = plan.form
    ways: list[Way] = []
    if place is not None:
        variable, number = place
        output = dict(form.query.outputs)[variable]
        if isinstance(output, NullOutput):
            return _ways_of_null(plan, output.value, scene)
        attribute = output_attributes(output)[number]
        if attribute not in form.class_of:
            return []
        group = form.classes[form.class_of[attribute]]
        return _ways_by_class(plan, group, scene, dict(group.attributes)[attribute])
    kept = kept_members(plan)
    if len(form.members) == 1 and not kept:
        name = form.members[0].stream
        if not is_distinct(scene.union.views, name):
            ways.append({stream: Free() for stream in scene.bases(name)})
    for group in form.classes:
        for shift in dict.fromkeys(shift for _, shift in group.attributes):
            ways += _ways_by_class(plan, group, scene, shift)
    return ways


def kept_members(plan: SynopsisPlan) -> frozenset[int]:
    """The members of which rows are kept."""
    return frozenset(m for table in plan.tables if table.stored for m in table.members)


def _ways_by_class(plan: SynopsisPlan, group: ValueClass, scene: Scene, shift: object) -> list[Way]:
    """The ways by the columns of a class, those with one shift to its value."""
    if group.kind is Kind.FLOAT or group.grain == 0 or group.domain.size == 1:
        return []  # doubles are not equal as their texts are; one value divides nothing
    kept = kept_members(plan)
    ways: list[Way] = [{}]
    for member in plan.form.members:
        columns = [
            traced
            for a, s in group.attributes
            if a.alias == member.alias and s == shift
            if (traced := scene.trace(member.stream, a.column)) is not None
        ]
        roles: list[Way] = []
        for traced in columns:
            way = _merge_all({stream: column} for stream, column in traced)
            if way is not None:
                roles.append(way)
        if not roles and member.index not in kept:
            roles.append({stream: Whole() for stream in scene.bases(member.stream)})
        ways = multiply_ways(ways, roles)
    return [way for way in ways if any(isinstance(role, str) for role in way.values())]


def _ways_of_null(plan: SynopsisPlan, column: Attribute, scene: Scene) -> list[Way]:
    """As _ways_by_class, where all rows of a member have no value in a column."""
    kept = kept_members(plan)
    merged: Way | None = {}
    for member in plan.form.members:
        mine: Way | None = None
        if member.alias == column.alias:
            traced = scene.trace(member.stream, column.column)
            mine = None if traced is None else _merge_all({s: c} for s, c in traced)
        elif member.index not in kept:
            mine = {stream: Whole() for stream in scene.bases(member.stream)}
        merged = None if merged is None or mine is None else merge_ways(merged, mine)
    return [] if merged is None or is_free(merged) else [merged]


def _merge_all(ways: Iterable[Way]) -> Way | None:
    merged: Way | None = {}
    for way in ways:
        merged = None if merged is None else merge_ways(merged, way)
    return merged
