"""The state of a live run as named tables and plain values, and back: what a commit has of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ontoweir.runtime.columnar.columns import read_name, write_name
from ontoweir.runtime.columnar.encode import flatten
from ontoweir.runtime.columnar.frame import Frame
from ontoweir.runtime.engine.execution import BlockState, ExecutionState
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.live.checkpoint.save_groups import from_groups, to_groups
from ontoweir.runtime.live.model.divided_state import DividedState, PartState, Piece
from ontoweir.runtime.live.model.live_job import FileGroup, LiveState, QueryState, Reject
from ontoweir.runtime.pool.text_table import TEXT
from ontoweir.runtime.rules.rule_state import RuleState, read_rule, write_rule
from ontoweir.runtime.sources.history import Cursor
from ontoweir.runtime.spill.spill_state import describe_spill, read_spill
from ontoweir.runtime.times.late_rows import LateRows
from ontoweir.runtime.times.watch_lateness import read_watch

_PART, _TEXT = "0", "text"
_AS_BY_DEFAULT = pa.ipc.IpcWriteOptions()

REJECT_SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        ("at", pa.timestamp("us")),
        ("reason", pa.string()),
        ("file", pa.string()),
        ("number", pa.int64()),
        ("row", pa.string()),
    ]
)


def describe_state(state: LiveState) -> dict[str, Any]:
    """What of a state is no table, as JSON has it."""
    return {
        "finished_us": state.finished_us,
        "max_event_time": dict(state.max_event_time),
        "last_arrival": dict(state.last_arrival),
        "totals": dict(state.totals),
        "offsets": dict(state.offsets),
        "groups_of_files": {
            n: [g.modified, dict(g.latest), g.before_us] for n, g in state.files.items()
        },
        "arrived": dict(state.arrived),
        "reasons": dict(state.reasons),
        "late": {n: [late.needed_us, *late.counts] for n, late in state.late.items()},
        "watches": {n: watch.describe() for n, watch in state.watches.items()},
        "texts": [[] if isinstance(q, DividedState) else _list_texts(q) for q in state.queries],
        "blocks": [
            [] if isinstance(q, DividedState) else _describe_blocks(q) for q in state.queries
        ],
        "spilled": {
            str(number): [describe_spill(held) for held in query.spilled]
            for number, query in enumerate(state.queries)
            if isinstance(query, ExecutionState) and query.spilled
        },
        "divided": {
            str(number): [asdict(part) for part in query.parts]
            for number, query in enumerate(state.queries)
            if isinstance(query, DividedState)
        },
    }


def list_tables(state: LiveState) -> dict[str, pa.Table]:
    """The tables of a state, by the names of their files."""
    files: dict[str, pa.Table] = {}
    for name, rows in state.buffered_rows.items():
        files[f"buffered-{name}.arrow"] = rows.unify_dictionaries()
    for number, query in enumerate(state.queries):
        if isinstance(query, ExecutionState):
            files |= _query_files(str(number), query)
    return files


def tabulate_rejects(rejects: Sequence[Reject]) -> pa.Table:
    """Rejected rows as a table."""
    return pa.table(
        {
            "stream": pa.array([r.stream for r in rejects], pa.string()),
            "at": pa.array([r.at_us for r in rejects], pa.int64()).cast(
                REJECT_SCHEMA.field("at").type
            ),
            "reason": pa.array([r.reason for r in rejects], pa.string()),
            "file": pa.array([r.file for r in rejects], pa.string()),
            "number": pa.array([r.number for r in rejects], pa.int64()),
            "row": pa.array([r.row for r in rejects], pa.string()),
        },
        schema=REJECT_SCHEMA,
    )


def assemble_state(
    described: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    streams: Sequence[str],
    batch: int,
) -> LiveState:
    """What `describe_state` and `list_tables` say of a state.

    Raises:
        KeyError, ValueError, TypeError: a part is missing, or is not as it was written.
    """
    cursors = {name: Cursor() for name in streams}
    queries: list[QueryState] = []
    divided = described.get("divided", {})
    for number, texts in enumerate(described["texts"]):
        if str(number) in divided:
            queries.append(DividedState(tuple(map(_read_part, divided[str(number)]))))
            continue
        state = _assemble_query(str(number), texts, described["blocks"][number], tables)
        on_disk = described.get("spilled", {}).get(str(number), ())
        queries.append(replace(state, cursors=cursors, spilled=tuple(map(read_spill, on_disk))))
    buffered_rows = {
        name: tables[f"buffered-{name}.arrow"]
        for name in streams
        if f"buffered-{name}.arrow" in tables
    }
    return LiveState(
        batch=batch,
        buffered_rows=buffered_rows,
        max_event_time={k: int(v) for k, v in described["max_event_time"].items()},
        last_arrival={k: float(v) for k, v in described["last_arrival"].items()},
        finished_us=described["finished_us"],
        queries=tuple(queries),
        totals={k: int(v) for k, v in described["totals"].items()},
        offsets={k: int(v) for k, v in described["offsets"].items()},
        files={k: FileGroup(*group) for k, group in described["groups_of_files"].items()},
        arrived={k: int(v) for k, v in described["arrived"].items()},
        reasons={k: int(v) for k, v in described["reasons"].items()},
        late={k: LateRows(held[0], tuple(held[1:])) for k, held in described["late"].items()},
        watches={k: read_watch(held) for k, held in described.get("watches", {}).items()},
    )


def list_part_tables(state: ExecutionState) -> dict[str, pa.Table]:
    """The state of a part of a query as tables by name, its strings, too."""
    texts = {f"texts-{n}": pa.table({_TEXT: held}) for n, held in enumerate(state.texts)}
    return texts | _query_files(_PART, state)


def assemble_part(tables: Mapping[str, pa.Table], plans: int) -> ExecutionState:
    """What `list_part_tables` makes of the state of a part, of so many plans.

    Raises:
        KeyError, ValueError, TypeError: a table is missing, or is not as it was written.
    """
    state = _assemble_query(_PART, [[]] * plans, [], tables)
    texts = (tables[f"texts-{n}"].column(_TEXT) for n in range(plans))
    return replace(state, strings=tuple(flatten(t).cast(TEXT) for t in texts))


def _read_part(held: Mapping[str, Any]) -> PartState:
    tables = {n: tuple(Piece(**p) for p in pieces) for n, pieces in held["tables"].items()}
    sizes = tuple((int(rows), int(size)) for rows, size in held["sizes"])
    return PartState(held["version"], tables, int(held["rows"]), sizes, int(held["text_bytes"]))


def encode_table(table: pa.Table) -> bytes:
    """A table as an Arrow file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=_AS_BY_DEFAULT) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decode_table(content: bytes) -> pa.Table:
    """The table of an Arrow file.

    Raises:
        pa.ArrowInvalid: it is none.
    """
    return pa.ipc.open_file(pa.BufferReader(content)).read_all()


def _query_files(number: str, query: ExecutionState) -> dict[str, pa.Table]:
    """The state of a query, and of those whose answers it reads."""
    files: dict[str, pa.Table] = {}
    for place, kernel in enumerate(query.kernels):
        for members, frame in kernel.tables.items():
            key = "+".join(map(str, sorted(members)))
            files[f"state-{number}-{place}-{key}.arrow"] = _from_frame(frame)
    files |= {f"groups-{number}{n}": t for n, t in from_groups(query.groups).items()}
    if query.changes is not None:
        files[f"changes-{number}.arrow"] = query.changes
    for place, rule in enumerate(query.rules):
        files[f"rules-{number}-{place}.arrow"] = write_rule(rule)
    for place, block in enumerate(query.blocks):
        for part, state in enumerate(block.states):
            files |= _query_files(f"{number}_{place}_{part}", state)
        files[f"waiting-{number}_{place}.arrow"] = block.waiting
    return files


def _list_texts(query: QueryState) -> list[list[str]]:
    if isinstance(query, DividedState):
        return []
    return [texts.to_pylist() for texts in query.texts]


def _describe_blocks(query: QueryState) -> list[Any]:
    """Of the queries whose answers a query reads: their texts, and the same of those they read."""
    if isinstance(query, DividedState):
        return []
    return [[[_list_texts(s), _describe_blocks(s)] for s in b.states] for b in query.blocks]


def _assemble_query(
    number: str, texts: Sequence[Any], blocks: Sequence[Any], tables: Mapping[str, pa.Table]
) -> ExecutionState:
    """What `_query_files` and `_describe_blocks` say of a query."""
    kernels = []
    for place in range(len(texts)):
        prefix = f"state-{number}-{place}-"
        mine = {n: t for n, t in tables.items() if n.startswith(prefix)}
        kernels.append(
            KernelState(
                {
                    frozenset(map(int, n[len(prefix) : -6].split("+"))): _to_frame(t)
                    for n, t in mine.items()
                }
            )
        )
    prefix = f"groups-{number}."
    groups = {n[len(prefix) - 1 :]: t for n, t in tables.items() if n.startswith(prefix)}
    return ExecutionState(
        {},
        tuple(kernels),
        tuple(pa.array(held, TEXT) for held in texts),
        to_groups(groups),
        tables.get(f"changes-{number}.arrow"),
        tuple(
            BlockState(
                tuple(
                    _assemble_query(f"{number}_{place}_{part}", held, below, tables)
                    for part, (held, below) in enumerate(states)
                ),
                tables[f"waiting-{number}_{place}.arrow"],
            )
            for place, states in enumerate(blocks)
        ),
        _read_rules(f"rules-{number}-", tables),
    )


def _read_rules(prefix: str, tables: Mapping[str, pa.Table]) -> tuple[RuleState, ...]:
    """What is remembered of rules, in order."""
    count = sum(name.startswith(prefix) for name in tables)
    return tuple(read_rule(tables[f"{prefix}{place}.arrow"]) for place in range(count))


def _from_frame(frame: Frame) -> pa.Table:
    names = [write_name(name) for name in frame.columns]
    return pa.table([pa.array(c) for c in frame.columns.values()], names=names)


def _to_frame(table: pa.Table) -> Frame:
    columns = {read_name(n): np.array(table.column(n).to_numpy()) for n in table.column_names}
    return Frame(table.num_rows, columns)
