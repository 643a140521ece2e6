"""From a column of a table of a query to the columns of the streams that it is read from."""

from collections.abc import Sequence

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute, View, ViewBranch


def trace_column(
    catalog: Catalog, views: Sequence[View], stream: str, column: str
) -> tuple[tuple[str, str], ...] | None:
    """The (stream, column) pairs that a column of a stream, or of a view over streams, has its
    values from as they are; None: they are computed, or of other tables.

    Args:
        catalog: the tables, views among them.
        views: the views of the query.
        stream: the name of the stream or view.
        column: of it.
    """
    view = _find(views, stream)
    if view is None:
        declared = catalog.streams[stream].column(column)
        if declared is None or declared.bucket is not None or declared.expression is not None:
            return None
        return ((stream, column),)
    place = next((n for n, c in enumerate(view.table.columns) if c.name == column), None)
    if place is None:
        return None
    found: dict[tuple[str, str], None] = {}
    for branch in view.branches:
        made, base = branch.columns[place], _base(branch)
        if base is None or not isinstance(made, Attribute) or made.alias != base[0]:
            return None
        traced = trace_column(catalog, views, base[1], made.column)
        if traced is None:
            return None
        found.update(dict.fromkeys(traced))
    return tuple(found)


def base_streams(catalog: Catalog, views: Sequence[View], stream: str) -> tuple[str, ...]:
    """The streams that a stream, or a view over streams, is read from."""
    view = _find(views, stream)
    if view is None:
        return (stream,)
    bases = [base for base in map(_base, view.branches) if base is not None]
    return tuple(dict.fromkeys(s for _, b in bases for s in base_streams(catalog, views, b)))


def is_distinct(views: Sequence[View], stream: str) -> bool:
    """Whether it is a view, or over one, whose equal rows are one."""
    view = _find(views, stream)
    if view is None:
        return False
    bases = [base for base in map(_base, view.branches) if base is not None]
    return view.distinct or any(is_distinct(views, base) for _, base in bases)


def _find(views: Sequence[View], name: str) -> View | None:
    return next((view for view in views if view.name == name), None)


def _base(branch: ViewBranch) -> tuple[str, str] | None:
    """The alias and the name of the stream that a branch is over."""
    if branch.time is None:
        return None
    alias = branch.time.alias
    return alias, next(o.table for o in branch.occurrences if o.alias == alias)
