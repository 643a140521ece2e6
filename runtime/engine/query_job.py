"""A query that has plans, ready to run: what replays and live runs are given."""

from dataclasses import dataclass

from ontoweir.checker.model.declarations import Declaration
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.mappings.model.catalog import Catalog, Meeting, Stream
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.aggregation import Between
from ontoweir.rewriter.model.spj import Absence, SpjUnion
from ontoweir.rewriter.windows.choose_emit import Emit
from ontoweir.runtime.spill.spill_plan import SpillPlan


@dataclass(frozen=True, slots=True)
class WatchedKey:
    """A key of a stream that holds over all of it, which a run watches."""

    stream: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryJob:
    """A bounded query, ready to run.

    Args:
        name: the query's name.
        union: the unfolded query: outputs and variables.
        plans: one per satisfiable disjunct; none: there are no results.
        catalog: the tables.
        bound: the most state rows, all plans together (None: not known); checked after every
            chunk.
        declarations: declared constraints; references among them are enforced on every tuple.
        watched: keys over whole streams that the verdict rests on.
        parts: of an aggregate query, with the number of plans that each has, in order.
        emit: what is written of its answers.
        unbounded: the query is not bounded, and its plans keep whatever may be needed, in memory
            or on disk (`spill`): it is replayed in one range, as what ranges would exchange may
            grow with the history.
    """

    name: str
    union: SpjUnion
    plans: tuple[SynopsisPlan, ...]
    catalog: Catalog
    bound: int | None
    declarations: tuple[Declaration, ...] = ()
    parts: tuple[tuple[AggregatePart, int], ...] = ()
    unbounded: bool = False
    watched: tuple[WatchedKey, ...] = ()
    emit: Emit = Emit.ANSWERS
    blocks: "tuple[BlockJob, ...]" = ()
    """The queries whose answers it reads."""
    spill: tuple[SpillPlan | None, ...] = ()
    """Of each plan, what may be kept on disk, so that nothing that a rule drops is lost (none:
    nothing is)."""


@dataclass(frozen=True, slots=True)
class BlockJob:
    """Queries whose answers are the rows of `stream`: of the first one those that count by
    `absence`, whose parts the others are (None: all, and there are no others). `meeting`: its rows
    are those of a stream that have met a version, or rows before them, instead."""

    stream: Stream
    queries: tuple[QueryJob, ...]
    absence: Absence | None = None
    meeting: Meeting | Preceding | None = None
    between: Between[SpjUnion] | None = None
