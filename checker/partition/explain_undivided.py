"""Why the rows of a query cannot be divided."""

from collections.abc import Sequence

from ontoweir.checker.model.normal_form import Kind, Member, ValueClass
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.partition.find_places import find_places
from ontoweir.checker.partition.list_ways import kept_members, list_ways
from ontoweir.checker.partition.unite_ways import unite_ways
from ontoweir.checker.partition.way import Scene, Way, is_free
from ontoweir.rewriter.model.spj import Attribute, output_attributes


def explain_undivided(
    scene: Scene,
    plans: Sequence[SynopsisPlan],
    shared: Sequence[str] | None,
    watched: Sequence[tuple[str, tuple[str, ...]]],
) -> str:
    """Why rows cannot be divided."""
    for plan in plans:
        if not list_ways(plan, scene, None):
            return _explain_plan(plan, scene)
    found = unite_ways(plans, scene, None)
    if found is None:
        return "its branches divide the rows of a stream in different ways"
    ways = {stream: role for one in found for stream, role in one.ways[0].items()}
    if shared is not None and not shared:
        return "all rows make one group" if scene.union.aggregation else "it has one answer"
    if shared is not None and not any(
        unite_ways(plans, scene, place) for place in find_places(shared, plans, scene)
    ):
        static = _find_static(plans, shared)
        if static is not None:
            return f"{static} is a column of a static relation"
        what = "groups" if scene.union.aggregation is not None else "answers, which are distinct,"
        by = "" if is_free(ways) else f" ({_name(ways)})"
        return f"no column of its {what} tells what its rows could be divided by{by}"
    stream, key = next(
        (s, k) for s, k in watched if any(s in way for one in found for way in one.ways)
    )
    return f"the key ({', '.join(key)}) of {stream} holds over the whole stream, which is watched"


def _find_static(plans: Sequence[SynopsisPlan], shared: Sequence[str]) -> Attribute | None:
    """A column of a static relation, equal to none of a stream, that answers are told apart by."""
    form = plans[0].form
    outputs = dict(form.query.outputs)
    streams = {member.alias for member in form.members}
    for attribute in (a for v in shared if v in outputs for a in output_attributes(outputs[v])):
        alike = (
            form.classes[form.class_of[attribute]].attributes if attribute in form.class_of else ()
        )
        if alike and streams.isdisjoint(a.alias for a, _ in alike):
            return attribute
    return None


def _name(way: Way) -> str:
    return ", ".join(f"{s}.{c}" for s, c in sorted(way.items()) if isinstance(c, str))


def _explain_plan(plan: SynopsisPlan, scene: Scene) -> str:
    """Why the rows of a plan cannot be divided: by what ties those that are kept, or that nothing
    does."""
    form, kept = plan.form, kept_members(plan)
    for group in form.classes:
        if not group.members >= kept or len(group.members) < min(len(form.members), 2):
            continue
        if group.kind is Kind.FLOAT or group.grain == 0:
            return f"{group.name} is a double, which does not divide rows"
        if group.domain.size == 1:
            continue
        for member in form.members:
            reason = _explain_member(member, group, scene)
            if reason is not None:
                return reason
        shifts = [
            {s for a, s in group.attributes if a.alias == m.alias}
            for m in form.members
            if m.index in kept
        ]
        if shifts and not set.intersection(*shifts):
            return f"the columns of {group.name} differ by a constant"
        return "rows of a stream would be divided by several columns"
    if len(form.members) == 1:
        return f"no column of {form.members[0].alias} divides what is kept"
    names = dict.fromkeys(m.alias for m in form.members if m.index in kept or not kept)
    return f"no column is equal in {' and '.join(names)}"


def _explain_member(member: Member, group: ValueClass, scene: Scene) -> str | None:
    """Why a member has no column of a class that tells the part of a row."""
    mine = [a for a, _ in group.attributes if a.alias == member.alias]
    if any(scene.trace(member.stream, a.column) is not None for a in mine):
        return None
    if mine:
        return f"{mine[0]} is computed of other columns"
    static = {o.alias for o in member.statics}
    other = next((a for a, _ in group.attributes if a.alias in static), None)
    return None if other is None else f"{other} is a column of a static relation"
