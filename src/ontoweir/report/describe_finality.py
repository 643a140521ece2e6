"""When it is final that something is beside an answer, or is not."""

from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.delays.hold_answers import ELSE
from ontoweir.rewriter.model.spj import Block, SpjUnion, output_attributes


def describe_finality(block: Block) -> str | None:
    """A sentence on when the rows of a block are answers (None: it has no such rows)."""
    if block.absence is None:
        return None
    name = block.stream.name
    if block.between is not None:
        query = block.between.begins.disjuncts[0]
        shown = dict.fromkeys(str(a) for _, o in query.outputs for a in output_attributes(o))
        by = f" by {', '.join(shown)}" if shown else ""
        return (
            f"answers of {name} are final when they are complete; the rows before are counted{by}, "
            "until what comes between takes the counts of its key to zero"
        )
    waits = [d for part in block.absence.parts for d in part.deadlines]
    if all(any(us <= 0 for _, us in d.after) for d in waits):
        return f"answers of {name} are final when they are complete"
    query = block.union.disjuncts[0]
    of_one = any(p.hits.name.endswith(ELSE) for p in block.absence.parts)
    of_one |= block.absence.held and len(query.occurrences) > 1
    if block.time is not None and of_one:
        (time,) = output_attributes(dict(query.outputs)[block.time[0]])
        waited = show_duration(block.time[1])
        return f"answers of {name} are final {waited} after their row of {time.alias}"
    if block.time is not None:
        return f"answers of {name} are final {show_duration(block.time[1])} after their last row"
    return f"answers of {name} are final when all that may be beside them has had its time"


def describe_nothing(union: SpjUnion) -> str | None:
    """Why a query that has matches may have no answer at the end of its history, and what shows
    some (None: its answers are not of such a kind)."""
    groups = union.aggregation
    if groups is None or union.ends:
        return None
    if groups.session_us is not None:
        gap = show_duration(groups.session_us)
        return f"a session has its row when {gap} have passed after its last row"
    columns = (column for _, column in union.buckets)
    buckets = [c.bucket for c in columns if c.bucket is not None]
    if not any(not isinstance(b.buckets, Moments) or b.sliding is not None for b in buckets):
        return None
    return (
        "a group has its row when its bucket of time is over; if the data ends before, group by "
        "shorter buckets, or leave the bucket out, which tells groups as they grow"
    )
