"""The reasons that explanations share: what a column can hold, what still needs it, what lags."""

from collections.abc import Iterable, Mapping, Sequence

from ontoweir.checker.model.normal_form import FoldedValue, NormalForm, ValueClass
from ontoweir.diagnostics import Label, Reason
from ontoweir.errors import Source
from ontoweir.mappings.expressions.derive_column import read_columns
from ontoweir.mappings.model.catalog import (
    ANSWERS,
    Catalog,
    Column,
    FloatType,
    IntType,
    Stream,
    StringType,
)
from ontoweir.mappings.model.column_types import name_column_type
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.model.spj import Attribute, Compare, Op, SpjUnion, View, output_attributes
from ontoweir.rewriter.views.find_origins import find_origins


def explain_domain(
    form: NormalForm, group: ValueClass, catalog: Catalog, views: Sequence[View]
) -> Reason:
    """Why the values of a class are not known to be finitely many: its columns' declarations; of a
    view's column, those of the columns that mappings make it from."""
    leaves: dict[tuple[str, str], Reason] = {}
    made = {view.name: view for view in views}
    tables = {o.alias: o.table for o in form.query.occurrences}
    for attribute, _ in group.attributes:
        table = catalog.table(tables[attribute.alias])
        column = table.column(attribute.column)
        if column is None or not isinstance(table, Stream):
            continue
        ends = group.domain.low, group.domain.high
        if table.name in made:
            leaf = _undeclared_origins(table, column, catalog, made)
            leaf = leaf or _undeclared(table, column, ends)
        else:
            leaf = _undeclared(table, column, ends)
        leaves.setdefault((table.name, column.name), leaf)
    reasons = tuple(leaves.values())
    if len(reasons) == 1:
        return reasons[0]
    names = " = ".join(dict.fromkeys(str(a) for a, _ in group.attributes))
    return Reason(
        f"the equal columns {names} have no finite domain; to bound one of them suffices",
        because=reasons,
    )


def _undeclared_origins(
    view: Stream, column: Column, catalog: Catalog, views: Mapping[str, View]
) -> Reason | None:
    """Why a view's column is unbounded: the columns of streams that it is made from, as far as each
    is; None: none of them is by itself."""
    leaves = []
    for name, origin in dict.fromkeys(find_origins(view.name, column.name, views)):
        stream = catalog.streams.get(name)
        declared = None if stream is None else stream.column(origin)
        if stream is None or declared is None or declared.enum is not None:
            continue
        ends = declared.minimum, declared.maximum
        held = any(r.columns == (origin,) for r in stream.references)
        if not held and (None in ends or isinstance(declared.type, FloatType)):
            leaves.append(_undeclared(stream, declared, ends))
    if len(leaves) < 2:
        return leaves[0] if leaves else None
    name = f"{view.name}.{column.name}"
    return Reason(f"{name} is made from several columns; each must be bounded", because=(*leaves,))


def _of_several(table: Stream, column: Column) -> str:
    """That a reference of several columns bounds none of them."""
    wide = (r for r in table.references if len(r.columns) > 1 and column.name in r.columns)
    found = next(wide, None)
    if found is None:
        return ""
    return f"; no row is held to a reference of several columns, ({', '.join(found.columns)})"


def _undeclared(table: Stream, column: Column, ends: tuple[object, object]) -> Reason:
    name, kind = f"{table.name}.{column.name}", name_column_type(column.type)
    if column.expression is not None:
        read = read_columns(table, [column.name])
        sources = [c for c in table.columns if c.name in read]
        open_ = [c for c in sources if c.enum is None and None in (c.minimum, c.maximum)]
        return Reason(
            f"{name} is computed for each row, and has no finite domain",
            because=tuple(_undeclared(table, c, (c.minimum, c.maximum)) for c in open_),
        )
    if column.bucket is not None:
        what = "time" if isinstance(column.bucket.buckets, Moments) else "bucket of time"
        return Reason(f"{name} is a {what}, of which there are always new ones")
    if table.data == ANSWERS:
        return Reason(
            f"{name} is computed by {table.name}, and nothing that follows from it is finite",
            hint=f"bound the columns that {table.name} computes it from, or group by few values",
        )
    match column.type:
        case FloatType():
            what = f"{name} is a {kind}: between any two values there are more, whatever its range"
            hint = f'declare {column.name} = "decimal(10,2)", or enumerate its values'
        case StringType():
            what = f"{name} is a string without an enumeration or a reference"
            what += _of_several(table, column)
            hint = f'declare {column.name} = {{ type = "string", enum = [ … ] }}, or a reference'
        case _:
            open_ends = [
                end for end, limit in zip(("least", "greatest"), ends, strict=True) if limit is None
            ]
            what = (
                f"{name} is of type {kind}, with no {' and no '.join(open_ends) or 'known'} value"
            )
            hint = f'declare {column.name} = {{ type = "{kind}", min = …, max = … }}'
            if isinstance(column.type, IntType):
                what += _of_several(table, column)
                hint += ", or a reference"
    label = None
    if column.source is not None:
        label = Label("catalog", column.source, "no finite domain", column.name)
    return Reason(what, label, hint)


def explain_lag(form: NormalForm, near: int, far: int, union: SpjUnion) -> Reason:
    """Why a tuple of `near` may wait for one of `far` for ever: no upper limit on the time."""
    first, second = form.members[near].alias, form.members[far].alias
    order = next((t for t in form.times if (t.later, t.earlier) == (near, far)), None)
    window = f"{second}'s timestamp <= {first}'s + INTERVAL 1 HOUR"
    if _is_sparql(form):
        window = 'FILTER(?t2 - ?t1 <= "PT1H"^^xsd:dayTimeDuration)'
    hint = f"limit the time between them by a window, such as {window}"
    if order is not None and order.source is not None:
        least = f", by {-order.steps} steps or more" if order.steps < -1 else ""
        said = (
            f"{first} comes before {second}{least}, but nothing says how long before"
            if order.steps < 0
            else f"{first} comes {order.steps} steps after {second} at the latest, but may come "
            "any time before it"
        )
        return Reason(
            f"nothing bounds the lag from {first} to {second}: {said}",
            Label("query", order.source, "a time order without a limit"),
            hint,
        )
    ignored = next(
        (
            c.source
            for c in form.query.conditions
            if isinstance(c, Compare)
            and isinstance(c.right, Attribute)
            and c.left not in form.class_of
            and {c.left.alias, c.right.alias} == {first, second}
        ),
        None,
    )
    if ignored is not None and not form.times and not form.time_differences:
        return Reason(
            f"nothing bounds the lag from {first} to {second}: arrival order ignores timestamps",
            Label("query", ignored, "a time order that is ignored"),
            "check with --model application-time",
        )
    source = place_of(form, first) or union.source
    label = None if source is None else Label("query", source, f"{first} is read here")
    return Reason(
        f"nothing bounds the lag from {first} to {second}: no time filter between them limits it",
        label,
        hint,
    )


def explain_projection(form: NormalForm, group: ValueClass, union: SpjUnion) -> Reason:
    """A class is needed because a variable of the result is made from it."""
    attributes = {a for a, _ in group.attributes}
    names = [v for v, o in form.query.outputs if attributes & set(output_attributes(o))]
    grouping = union.aggregation
    if grouping is not None and not set(names) & set(grouping.group):
        label = None
        if union.source is not None:
            label = Label("query", union.source, "an aggregate is made of its values")
        return Reason(
            f"{group.name} is still needed: an aggregate is made of its values",
            label,
            "aggregate something bounded",
        )
    shown = " and ".join(f"?{n}" for n in names) if _is_sparql(form) else " and ".join(names)
    label = None
    if union.source is not None:
        mark = None if not names else f"?{names[0]}" if _is_sparql(form) else names[0]
        label = Label("query", union.source, "asked for here", mark)
    return Reason(
        f"{group.name} is still needed: the result {shown or 'row'} is made from it",
        label,
        f"leave {shown or 'it'} out of SELECT",
    )


def explain_equality(
    form: NormalForm, group: ValueClass, near: int, far: int, union: SpjUnion
) -> Reason:
    """A class is needed because tuples of two members must agree in it."""
    ours = next(a for a, _ in group.attributes if in_member(form, a, near))
    theirs = next(a for a, _ in group.attributes if in_member(form, a, far))
    attributes = {a for a, _ in group.attributes}
    source = (
        next(
            (
                c.source
                for c in form.query.conditions
                if isinstance(c, Compare)
                and c.op is Op.EQ
                and c.source is not None
                and c.left in attributes
                and c.right in attributes
            ),
            None,
        )
        or place_of(form, theirs.alias)
        or union.source
    )
    label = None if source is None else Label("query", source, "still needed here")
    return Reason(
        f"{ours} is still needed: a later tuple must have an equal {theirs}",
        label,
        "join over a column that a static relation holds, or leave the join out",
    )


def explain_comparison(
    form: NormalForm, x: int, y: int, source: Source | None, union: SpjUnion
) -> Reason:
    """A class is needed because a later tuple is compared with it."""
    left, right, source = form.classes[x].name, form.classes[y].name, source or union.source
    label = None if source is None else Label("query", source, "still needed here")
    return Reason(
        f"{left} and {right} are still needed: the one that comes first is compared with every "
        "later one of the other",
        label,
        "leave the comparison out, or bound both sides",
    )


def explain_fold(form: NormalForm, fold: FoldedValue, union: SpjUnion) -> Reason:
    """A class is needed because its least or greatest value, or its sum, is asked for."""
    label = None
    if union.source is not None:
        label = Label("query", union.source, "asked for here", f"?{fold.name}")
    return Reason(
        f"{form.classes[fold.value].name} is still needed: {fold.function} of it is asked for",
        label,
        "leave the aggregate out",
    )


def in_member(form: NormalForm, attribute: Attribute, member: int) -> bool:
    """Whether an attribute belongs to a member or to a static occurrence folded into it."""
    owner = form.members[member]
    return attribute.alias in (owner.alias, *(o.alias for o in owner.statics))


def place_of(form: NormalForm, alias: str) -> Source | None:
    """The query's line that an occurrence comes from."""
    return next(
        (p.query_source for a, p in form.query.provenance if a == alias and p.query_source), None
    )


def labels_of(reasons: Iterable[Reason]) -> Iterable[Label]:
    """Every label of the trees, from the top."""
    for reason in reasons:
        if reason.label is not None:
            yield reason.label
        yield from labels_of(reason.because)


def _is_sparql(form: NormalForm) -> bool:
    """Whether a disjunct comes from mappings; plain SQL does not."""
    return bool(form.query.provenance)
