"""The columns by which a query's answers replace one another."""

from ontoweir.runtime.live.model.live_job import RunningQuery
from ontoweir.runtime.results.render_results import has_end


def find_answer_key(query: RunningQuery) -> tuple[str, ...] | None:
    """The key of a query's answers: at any time at most one row with its values holds, and a later
    one takes the place of the one before. None where there is no such key: answers that stay beside
    one another, all that holds (snapshots), or groups whose columns are not shown.

    Groups have one row each, whether it is given as an update, or as changes (− before +). Without
    GROUP BY there is one group, and the key has no column.
    """
    work = query.work.aggregates
    if work is None or has_end(query.schema):
        return None
    if query.feed is not None and (query.feed.snapshots or query.feed.only):
        return None
    row = work.aggregation.told.row
    return row if set(row) <= set(query.schema.names) else None
