"""What is wrong with a view, which is a query that others read."""

from collections.abc import Sequence

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import QueryView
from ontoweir.mappings.sql.read_scope import SqlRefusal


def place_in_view(error: SqlRefusal, view: QueryView) -> SqlRefusal:
    """A refusal of a view's SQL, with its place."""
    if error.source is not None:
        return error
    what, source = error.what, Source(view.file or "", error.line or 1)
    if view.file is None:
        line = "" if error.line is None else f", line {error.line}"
        what, source = f"the view {view.name}{line}: {what}", view.source
    return SqlRefusal(what, why=error.why, fix=error.fix, source=source)


def refuse_cycle(names: Sequence[str]) -> SqlRefusal:
    """The refusal of a view that reads itself; `names`: from it to itself."""
    return SqlRefusal(
        f"the view {names[-1]} reads itself: {' → '.join(names)}",
        why="a view is made of tables, and of views that are made before it",
        fix="read a stream or a relation instead",
    )
