"""A violated condition in terms of the user's query line, mapping, axiom and catalog entry."""

from collections.abc import Iterable

from ontoweir.checker.explain.explain_values import (
    explain_comparison,
    explain_domain,
    explain_equality,
    explain_fold,
    explain_lag,
    explain_projection,
    labels_of,
    place_of,
)
from ontoweir.checker.model.criterion import Failure
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.plans.make_table import Obstacle
from ontoweir.diagnostics import CODES, Diagnostic, Label, Reason
from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.print_spj import SHOWN_AXIOMS
from ontoweir.rewriter.model.spj import Provenance, SpjUnion


def explain_failure(
    form: NormalForm, failure: Failure, union: SpjUnion, catalog: Catalog
) -> Diagnostic:
    """The diagnostic of a violated condition of the lag criterion.

    Its because-tree: what must be remembered; under it what still needs it, the lag that nothing
    limits, and the column's missing domain; then the mappings and axioms it comes from.
    """
    needs = _needs(form, failure, union)
    waits = _waits(form, failure, union)
    values = failure.values or (() if failure.value is None else (failure.value,))
    domains = list(
        dict.fromkeys(
            explain_domain(form, form.classes[v], catalog, union.views)
            for v in values
            if not form.classes[v].domain.finite
        )
    )
    names = " and ".join(dict.fromkeys(form.classes[v].name for v in values))
    tree = Reason(f"{names} must be remembered", because=(*needs, *waits, *domains))
    blamable = values if failure.value is None else (failure.value, *values)
    origins = _origins(form, blamable, failure.members)
    reasons = (tree, *(_origin(aliases, o) for aliases, o in origins))
    blamed = origins[0][1] if origins else None
    axiom = next((o for _, o in origins if o.axioms), None)
    place = failure.source or next((r.label.source for r in needs if r.label), None)
    if place is None and blamed is not None:
        place = blamed.query_source or blamed.mapping_source
    return Diagnostic(
        code=CODES[failure.condition],
        message=f"{failure.message} (lag criterion, {failure.condition})",
        hint=failure.hint,
        source=_first_line(failure, place, blamed),
        mapping=None if blamed is None else blamed.shown,
        mapping_source=None if blamed is None else blamed.mapping_source,
        axiom=None if axiom is None else axiom.axioms[0],
        axiom_source=None if axiom is None or not axiom.axiom_sources else axiom.axiom_sources[0],
        labels=tuple(dict.fromkeys(labels_of(reasons))),
        because=reasons,
    )


def explain_obstacle(
    form: NormalForm, obstacle: Obstacle, union: SpjUnion, catalog: Catalog
) -> Diagnostic:
    """The diagnostic of a value that every known plan would have to keep."""
    group = form.classes[obstacle.value]
    names = ", ".join(form.members[i].alias for i in sorted(obstacle.members))
    waits = [
        explain_lag(form, i, j, union)
        for i in sorted(obstacle.members & group.members)
        for j in range(len(form.members))
        if j not in obstacle.members and form.has_unbounded_lag(i, j)
    ]
    tree = Reason(
        f"{group.name} must be remembered: {obstacle.reason}",
        because=(
            *_pending(form, obstacle, union),
            *(waits[:1] or _unenforced(form, obstacle, union)),
            explain_domain(form, group, catalog, union.views),
        ),
    )
    origins = _origins(form, (group.index,), sorted(obstacle.members))
    reasons = (tree, *(_origin(aliases, o) for aliases, o in origins))
    blamed = origins[0][1] if origins else None
    labels = tuple(dict.fromkeys(labels_of(reasons)))
    return Diagnostic(
        code=CODES["plan"],
        message=f"no plan: matches of {names} would have to keep {group.name}, which is "
        f"unbounded: {obstacle.reason}",
        hint=f"bound {group.name}, or limit the time by a window",
        source=labels[0].source if labels else None,
        mapping=None if blamed is None else blamed.shown,
        mapping_source=None if blamed is None else blamed.mapping_source,
        labels=labels,
        because=reasons,
    )


def _pending(form: NormalForm, obstacle: Obstacle, union: SpjUnion) -> tuple[Reason, ...]:
    """What still needs a value that the matches of some members would have to keep."""
    group, inside = form.classes[obstacle.value], obstacle.members
    if group.projected:
        return (explain_projection(form, group, union),)
    near, far = group.members & inside, group.members - inside
    if near and far:
        return (explain_equality(form, group, min(near), min(far), union),)
    return (
        *(
            explain_comparison(form, q.x, q.y, q.source, union)
            for q in form.inequalities
            if group.index in (q.x, q.y)
        ),
        *(
            explain_comparison(form, d.x, d.y, d.source, union)
            for d in form.disequalities
            if group.index in (d.x, d.y)
        ),
    )


def _unenforced(form: NormalForm, obstacle: Obstacle, union: SpjUnion) -> tuple[Reason, ...]:
    """The lag is limited, but not by a comparison of two timestamps, which a plan could follow."""
    holders = sorted(obstacle.members & form.classes[obstacle.value].members)
    outside = [m.alias for m in form.members if m.index not in obstacle.members]
    if not holders or not outside:
        return ()
    alias = form.members[holders[0]].alias
    source = place_of(form, alias) or union.source
    label = None if source is None else Label("query", source, "a time without a window")
    return (
        Reason(
            f"the lag from {alias} to {', '.join(outside)} is limited, but by no comparison of "
            "their timestamps, and plans follow only these",
            label,
            f"write the limit itself: {outside[0]}.t - {alias}.t is at most so long",
        ),
    )


def _needs(form: NormalForm, failure: Failure, union: SpjUnion) -> tuple[Reason, ...]:
    """What still needs the value, with its query line."""
    match failure.condition:
        case "E1" | "C1" | "G1" if failure.value is not None:
            return (explain_projection(form, form.classes[failure.value], union),)
        case "E2" | "C2" if failure.value is not None and len(failure.values) < 2:
            near, far = failure.members
            return (explain_equality(form, form.classes[failure.value], near, far, union),)
        case "C3":
            inside = set(failure.values)
            compared = [
                explain_comparison(form, q.x, q.y, q.source, union)
                for q in form.inequalities
                if not q.clips and (q.x in inside or q.y in inside)
            ]
            folded = [explain_fold(form, f, union) for f in form.folds or () if f.value in inside]
            return tuple(dict.fromkeys((*compared, *folded)))
        case _:
            x, y = failure.values
            return (explain_comparison(form, x, y, failure.source, union),)


def _waits(form: NormalForm, failure: Failure, union: SpjUnion) -> tuple[Reason, ...]:
    """The lag that nothing limits; for DISTINCT results the word itself."""
    if failure.condition == "G1":
        label = None
        if union.source is not None:
            label = Label("query", union.source, "its current answer is kept")
        return (
            Reason(
                "an aggregate keeps its current answer for ever, a row for each group and, where "
                "values are counted apart, for each value",
                label,
                "group by something bounded, or count without DISTINCT",
            ),
        )
    if failure.condition == "C1":
        label = None
        if union.source is not None:
            label = Label("query", union.source, "every result is said once", "DISTINCT")
        return (
            Reason(
                "DISTINCT remembers every result for ever, to say it only once",
                label,
                "select without DISTINCT",
            ),
        )
    everyone = range(len(form.members))
    if failure.condition == "C3":
        inside = form.reach(failure.members)
        pairs = [(i, j) for i in failure.members for j in everyone if j not in inside]
    elif failure.condition == "E1":
        first = failure.members[0]
        pairs = [(first, j) for j in everyone if j != first]
    else:
        first, second = failure.members[:2]
        pairs = [(first, second), (second, first)]
    waiting = dict.fromkeys((i, j) for i, j in pairs if form.has_unbounded_lag(i, j))
    return tuple(explain_lag(form, i, j, union) for i, j in waiting)


def _origins(
    form: NormalForm, values: Iterable[int], members: Iterable[int]
) -> list[tuple[dict[str, Source | None], Provenance]]:
    """The mappings that the values and members to blame come from, with the aliases they make and
    the patterns these answer: the values' own first, and of several on one alias the last, which
    the others only restrict."""
    aliases = [a.alias for v in values for a, _ in form.classes[v].attributes]
    aliases += [form.members[i].alias for i in members]
    streams = {m.alias for m in form.members}
    origins: dict[tuple[str, Source | None], tuple[dict[str, Source | None], Provenance]] = {}
    for alias in dict.fromkeys(a for a in aliases if a in streams):
        for other, origin in reversed(form.query.provenance):
            if other == alias:
                key = origin.shown, origin.mapping_source
                origins.setdefault(key, ({}, origin))[0][alias] = origin.query_source
    return list(origins.values())


def _origin(aliases: dict[str, Source | None], origin: Provenance) -> Reason:
    """A mapping that occurrences come from; under it the axioms that led there."""
    names = " and ".join(aliases)
    listed = " and ".join(
        a if place is None or place.line is None else f"{a} (query line {place.line})"
        for a, place in aliases.items()
    )
    label = None
    if origin.mapping_source is not None:
        label = Label("mapping", origin.mapping_source, f"makes {names}", origin.shown)
    places: tuple[Source | None, ...] = origin.axiom_sources
    if len(places) < len(origin.axioms):
        places = (None,) * len(origin.axioms)
    many = len(origin.axioms) > SHOWN_AXIOMS + 1
    shown = SHOWN_AXIOMS if many else len(origin.axioms)
    axioms = tuple(
        Reason(
            f"by the axiom {text}",
            None if place is None else Label("axiom", place, "leads to this mapping"),
        )
        for text, place in list(zip(origin.axioms, places, strict=False))[:shown]
    )
    if shown < len(origin.axioms):
        axioms = (*axioms, Reason(f"by {len(origin.axioms) - shown:,} more axioms"))
    verb = "comes" if len(aliases) == 1 else "come"
    return Reason(f"{listed} {verb} from the mapping {origin.shown}", label, None, axioms)


def _first_line(failure: Failure, place: Source | None, blamed: Provenance | None) -> Source | None:
    """The line to look at first: where the value is compared or matched. A value that is only
    asked for is matched in a pattern, which says more than the SELECT clause."""
    if failure.condition in ("E1", "C1", "G1") and blamed is not None and blamed.query_source:
        return blamed.query_source
    return place
