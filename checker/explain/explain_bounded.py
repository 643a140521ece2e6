"""Why a disjunct is bounded: each value that its plan keeps, and what makes it finite."""

from ontoweir.checker.model.declarations import closing_declaration
from ontoweir.checker.model.normal_form import NormalForm, OpenValues, ValueClass
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.diagnostics import Label, Reason
from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Catalog, Column, Stream
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.rewriter.model.spj import Compare, Constant, OneOf, SpjUnion


def explain_bounded(plan: SynopsisPlan, union: SpjUnion, catalog: Catalog) -> tuple[Reason, ...]:
    """One reason for each value that is kept, and for each unbounded one that need not be.

    Args:
        plan: of one of the query's disjuncts.
        union: the query.
        catalog: the tables.
    """
    held = _say_held(union)
    form = plan.form
    stored = [t for t in plan.tables if t.stored]
    reasons: dict[Reason, None] = {}
    closed = form.query.closed
    if closed is not None and closed.rule.session:
        told = f"a session is kept until {closed.stream} has no row of it for the gap"
        source = catalog.streams[closed.stream].source
        label = None if source is None else Label("catalog", source, "of whose rows sessions are")
        reasons[Reason(told, label)] = None
    elif closed is not None and closed.rule.implied:
        named = ", ".join(closed.rule.columns)
        after = show_duration(closed.rule.span_us or 0)
        told = f"no row has a {named} that began more than {after} before it, as the query says"
        reasons[Reason(told)] = None
    elif closed is not None:
        declared = closing_declaration(closed.stream, closed.rule)
        label = None
        if declared.source is not None:
            label = Label("catalog", declared.source, "says when a value is closed")
        named = ", ".join(closed.rule.columns)
        told = f"what is found of one {named} is kept until no more rows of {closed.stream} have it"
        reasons[Reason(told, because=(Reason(declared.text, label),))] = None
    elif not stored:
        reasons[
            Reason(
                "no part of a match is kept: what arrives at one time is answered before the next"
            )
        ] = None
    elif not any(t.keys or t.frontier for t in stored):
        what = "whether there was a match" if form.distinct else "how many matches there were"
        reasons[Reason(f"only {what} is kept, and none of their values")] = None
    live = {k.member: k.expire_after for t in stored for k in t.kept if k.expire_after is not None}
    kept = dict.fromkeys(k.value for t in stored for k in t.keys)
    for o in form.open:
        reasons[_until_closed(form, o)] = None
    few = {v for o in form.open for v in o.values}
    few |= {c.index for o in form.open if o.rows for c in form.classes if c.members & o.members}
    for value in kept:
        group = form.classes[value]
        if group.domain.finite:
            reasons[_finite(form, group, catalog)] = None
        elif value in few and not (group.members & live.keys()):
            continue
        else:
            reasons[_for_a_while(form, group, live)] = None
    optima = dict.fromkeys(
        (term.value, term.sign) for t in stored for f in t.frontier for term in f.terms
    )
    for value, sign in optima:
        reasons[_optimum(form, form.classes[value], sign)] = None
    for group in form.classes:
        told_apart = closed is None and group.projected and group.index not in kept
        if told_apart and not group.domain.finite:
            alias = form.members[min(group.members)].alias if group.members else group.name
            told = (
                f"{group.name} has no finite domain, but is not kept: nothing comes after "
                f"{alias} that it would have to wait for"
            )
            if held is not None:
                told = (
                    f"{group.name} has no finite domain, but is held {held}, which the bound counts"
                )
            reasons[Reason(told)] = None
    for member, steps in live.items():
        label = _window(form, member)
        reasons[
            Reason(
                f"a match is dropped {steps} steps after its {form.members[member].alias}", label
            )
        ] = None
    return tuple(reasons)


def _say_held(union: SpjUnion) -> str | None:
    """Where what is shown of a match is held when that is complete (None: nowhere)."""
    if union.aggregation is not None:
        return None
    if union.joined is not None or union.standing is not None:
        return "with the rows that hold, until others end them or they leave their window"
    return "with the rows of the window" if union.ends else None


def _until_closed(form: NormalForm, o: OpenValues) -> Reason:
    """What is kept because a rule says when its value is closed."""
    declared = closing_declaration(o.stream, o.rule)
    label = None
    if declared.source is not None:
        label = Label("catalog", declared.source, "says when a value is closed")
    named = " and ".join(form.classes[v].name for v in o.values)
    aliases = " and ".join(form.members[i].alias for i in sorted(o.members))
    told = (
        f"{named}, by which {aliases} are joined, is kept until no more rows of {o.stream} have it"
    )
    return Reason(told, because=(Reason(declared.text, label),))


def _finite(form: NormalForm, group: ValueClass, catalog: Catalog) -> Reason:
    leaves: dict[Reason, None] = {}
    for relation, column in group.domain.within:
        table = catalog.relations[relation]
        rows = "" if table.max_rows is None else f", at most {table.max_rows} rows"
        label = None if table.source is None else Label("catalog", table.source, "static")
        leaves[Reason(f"every value is in the static {relation}.{column}{rows}", label)] = None
    tables = {o.alias: o.table for o in form.query.occurrences}
    for attribute, _ in group.attributes:
        stream = catalog.table(tables[attribute.alias])
        declared = stream.column(attribute.column)
        if declared is None or not isinstance(stream, Stream):
            continue
        if declared.enum is not None or not declared.minimum is declared.maximum is None:
            leaves[_declared(stream, declared)] = None
        for reference in stream.references:
            to = (reference.relation, reference.to[0])
            if reference.columns == (declared.name,) and to in group.domain.within:
                label = None
                if stream.source is not None:
                    label = Label("catalog", stream.source, "a declared reference")
                leaves[
                    Reason(f"{stream.name}.{declared.name} references {'.'.join(to)}", label)
                ] = None
    if not leaves:
        leaves = dict.fromkeys(_filters(form, group))
    return Reason(
        f"{group.name} is kept, and has finitely many values: {group.domain.formula}",
        because=tuple(leaves),
    )


def _declared(stream: Stream, column: Column) -> Reason:
    if column.enum is not None:
        what = f"is one of {len(column.enum)} values"
    else:
        low = "-∞" if column.minimum is None else column.minimum
        what = f"lies in {low}..{'∞' if column.maximum is None else column.maximum}"
    label = None
    if column.source is not None:
        label = Label("catalog", column.source, "a declared domain", column.name)
    return Reason(f"{stream.name}.{column.name} {what}", label)


def _filters(form: NormalForm, group: ValueClass) -> list[Reason]:
    """The conditions that limit a class by constants."""
    attributes = {a for a, _ in group.attributes}
    reasons = []
    for c in form.query.conditions:
        text = None
        if isinstance(c, Compare) and c.left in attributes and isinstance(c.right, Constant):
            text = f"{c.left} {c.op} {c.right.value}"
        elif isinstance(c, OneOf) and c.attribute in attributes:
            text = f"{c.attribute} is one of {len(c.values)} constants"
        if text is not None:
            label = _label(form, c.source, "limited here")
            reasons.append(Reason(f"the selection says {text}", label))
    return reasons


def _for_a_while(form: NormalForm, group: ValueClass, live: dict[int, int]) -> Reason:
    holders = [m for m in sorted(group.members) if m in live]
    if not holders:
        few = [form.members[m] for m in sorted(group.members) if form.members[m].total is not None]
        if few and few[0].total is not None:
            return Reason(
                f"{group.name} has no finite domain, but {few[0].stream} has finitely many rows, "
                f"one for each value of its key: {few[0].total[1]}"
            )
        return Reason(f"{group.name} has no finite domain, but its stream ends at a fixed time")
    steps = min(live[m] for m in holders)
    return Reason(
        f"{group.name} has no finite domain, but is kept for {steps} steps only",
        because=(
            Reason(
                f"everything that still needs it arrives within {steps} steps",
                _window(form, holders[0]),
            ),
        ),
    )


def _optimum(form: NormalForm, group: ValueClass, sign: int) -> Reason:
    which = "least" if sign > 0 else "greatest"
    source = next((q.source for q in form.inequalities if group.index in (q.x, q.y)), None)
    return Reason(
        f"of {group.name} only the {which} is kept, although it has no finite domain",
        because=(
            Reason(
                f"DISTINCT only asks whether one fits: if any does, then the {which} does",
                _label(form, source, "compared here"),
            ),
        ),
    )


def _window(form: NormalForm, member: int) -> Label | None:
    source = next(
        (t.source for t in form.times if t.earlier == member and t.steps >= 0 and t.source),
        None,
    )
    return _label(form, source, "limited here")


def _label(form: NormalForm, source: Source | None, text: str) -> Label | None:
    """A label; conditions come from the query or from a mapping's SQL."""
    if source is None:
        return None
    mapped = any(p.mapping_source == source for _, p in form.query.provenance)
    return Label("mapping" if mapped else "query", source, text)
