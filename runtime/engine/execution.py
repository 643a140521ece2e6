"""What every task of a run needs, and what is carried from task to task."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.mappings.model.catalog import Catalog, Meeting, Stream
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.aggregation import Between
from ontoweir.rewriter.model.spj import Absence, SpjUnion, View
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork
from ontoweir.runtime.engine.query_job import WatchedKey
from ontoweir.runtime.groups.value_closing import ValueClosing
from ontoweir.runtime.ingest.list_references import EnforcedReference
from ontoweir.runtime.kept.kept_parts import KeptParts
from ontoweir.runtime.kept.kept_table import KeptTable, whole_table
from ontoweir.runtime.kept.kernel_state import CodedTexts
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.rules.rule_state import RuleState
from ontoweir.runtime.rules.watched_rule import WatchedRule
from ontoweir.runtime.sources.history import Cursor, History
from ontoweir.runtime.spill.spill_plan import SpillWork
from ontoweir.runtime.spill.spill_state import SpillState


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """What every task of a run needs: `key` names the run, `span` is [start, stop) in µs."""

    key: str
    plans: tuple[SynopsisPlan, ...]
    catalog: Catalog
    histories: tuple[History, ...]
    statics: Mapping[str, pa.Table]
    references: tuple[EnforcedReference, ...]

    schema: pa.Schema
    distinct: bool
    span: tuple[int | None, int | None]
    rows_per_chunk: int
    aggregates: AggregateWork | None = None
    name: str = ""
    bound: int | None = None
    """The most rows of all states together (None: not known)."""

    watched: tuple[WatchedKey, ...] = ()
    """Keys over whole streams that the verdict rests on."""

    watch: str = ""
    """Names this start of the run for watch_keys, where `key` names the query."""

    stored: tuple[tuple[str, str], ...] = ()
    """Static relations that are in Arrow files: (name, file)."""

    views: tuple[View, ...] = ()
    """The tables of the plans that are made from others; the catalog, and of those over static
    relations `statics`, have them too."""

    blocks: "tuple[BlockContext, ...]" = ()
    """The queries whose answers it reads, as streams of the catalog."""

    rules: tuple[WatchedRule, ...] = ()
    """The rules on how rows come of which what breaks them is rejected, or counted."""

    spill: SpillWork | None = None
    """What is kept on disk of its plans' synopses (None: nothing)."""

    parquet: bool = False
    """Whether tasks write their answers as the output has them, which is put together of them."""


def drops_matched(work: ExecutionContext) -> bool:
    """Whether rows are dropped when the one that can join them has come, or their value is closed:
    ranges of a history do not know what came before them, nor parts what came to others."""
    return any(plan.form.open or any(t.matched for t in plan.tables) for plan in work.plans)


def closes_values(work: ExecutionContext) -> bool:
    """Whether a rule closes the values by which groups are final."""
    return work.aggregates is not None and isinstance(work.aggregates.closing, ValueClosing)


@dataclass(frozen=True, slots=True)
class BlockContext:
    """Queries whose answers are the rows of `stream`: of the first one those that count by
    `absence`, whose parts the others are (None: all, and there are no others). `meeting`: its rows
    are those of a stream that have met a version, or rows before them, instead."""

    stream: Stream
    queries: tuple[ExecutionContext, ...]
    absence: Absence | None
    meeting: Meeting | Preceding | None = None
    between: Between[SpjUnion] | None = None


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """What is carried from task to task: `strings`, per plan, are those that its state uses, or
    where they are found."""

    cursors: Mapping[str, Cursor]
    kernels: tuple[KernelState, ...]
    strings: "tuple[pa.LargeStringArray | CodedTexts, ...]"
    groups: GroupState
    to_come: "pa.Table | KeptTable | KeptParts | None" = None
    """Of answers written as changes, those that are still to come (advance_changes)."""
    blocks: "tuple[BlockState, ...]" = ()
    """Of the queries whose answers it reads (none: they have not begun)."""
    rules: tuple[RuleState, ...] = ()
    """What is remembered of each rule that is watched (none: nothing yet)."""
    spilled: tuple[SpillState, ...] = ()
    """What is on disk of each plan's synopses (none: nothing is, or nothing yet)."""

    @property
    def texts(self) -> "tuple[pa.LargeStringArray, ...]":
        """Per plan, the strings that its state uses, by the codes in the kernel's `tables`."""
        return tuple(s.texts if isinstance(s, CodedTexts) else s for s in self.strings)

    @property
    def changes(self) -> "pa.Table | None":
        """The changes that are still to come, as a table."""
        held = self.to_come
        if isinstance(held, KeptParts):
            return held.table()
        return None if held is None else whole_table(held)

    @property
    def rows(self) -> int:
        """All synopsis rows, the groups of aggregates, changes to come, those of the queries that
        are read, and the values that rules remember."""
        held: int = 0 if self.to_come is None else self.to_come.num_rows
        held += sum(rule.rows for rule in self.rules)
        below: int = sum(block.rows for block in self.blocks)
        return sum(k.rows for k in self.kernels) + self.groups.rows + held + below


@dataclass(frozen=True, slots=True)
class BlockState:
    """What is carried of queries whose answers are read: their states, and the answers whose
    timestamp is not over yet, or of which it is not final whether they count; or, where rows meet
    versions, the latest of these."""

    states: tuple[ExecutionState, ...]
    held: pa.Table | KeptTable

    @property
    def waiting(self) -> pa.Table:
        """What is held beside the states, as a table."""
        return whole_table(self.held)

    @property
    def rows(self) -> int:
        """All rows that are kept."""
        return sum(state.rows for state in self.states) + int(self.held.num_rows)
