"""Which rows of a query hold, where none of them leaves a window."""

from dataclasses import replace

from ontoweir.errors import Source
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import SpjUnion


def hold_rows(union: SpjUnion, standing: Standing) -> SpjUnion:
    """The query, of which those rows of each key hold that `standing` says.

    Raises:
        SqlRefusal: rows leave windows, or come later than at their time.
    """
    if not (union.ends or union.begins):
        return replace(union, standing=standing)
    which = "latest row" if standing.first is None else "first rows"
    raise SqlRefusal(
        f"NOW() beside the {which} of each key",
        why="what is kept are rows that others take the place of, not when they leave a window; "
        "and where one of the first leaves it, one that came before would be among them again",
        fix="leave the window out, and look at the time that is shown; or ask for those of each "
        "bucket of time, PARTITION BY key, date_trunc('hour', ts); or for MAX(x) … GROUP BY key in "
        "the window",
        line=_line(union.source),
    )


def _line(source: "Source | None") -> int | None:
    return None if source is None else source.line
