"""A lane as commits have it: who is in it, how far it is, and its state by hashes of tables."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from ontoweir.runtime.live.checkpoint import table_changes
from ontoweir.runtime.live.checkpoint.state_tables import (
    assemble_state,
    decode_table,
    describe_state,
    encode_table,
    list_tables,
)
from ontoweir.runtime.live.checkpoint.table_changes import KeptTable, apply_change, encode_change
from ontoweir.runtime.live.intake.model import Lane, Reach, Span
from ontoweir.runtime.live.intake.save_intake import IntakeCommit
from ontoweir.runtime.live.model.live_job import LiveState

NOTHING: Mapping[str, KeptTable] = {}


def describe_lane(
    lane: Lane, commit: IntakeCommit, before: Mapping[str, KeptTable] = NOTHING
) -> tuple[dict[str, Any], dict[str, KeptTable]]:
    """A lane for a commit, which takes in the contents of its tables, of large ones what has
    changed; and the large ones.

    Args:
        lane: the lane.
        commit: what is about to be written.
        before: the large tables that the commit before has.
    """
    tables: dict[str, list[str]] = {}
    large: dict[str, KeptTable] = {}
    for name, table in list_tables(lane.state).items():
        if table.num_rows < table_changes.LARGE:
            tables[name] = [commit.add(encode_table(table))]
            continue
        large[name] = _keep(table, before.get(name), commit)
        tables[name] = list(large[name].hashes)
    shown = {
        "members": [[m.id, m.name, m.fingerprint, m.results] for m in lane.members],
        "streams": sorted(lane.streams),
        "batch": lane.state.batch,
        "live": describe_state(lane.state),
        "tables": tables,
        **describe_reach(lane, commit),
    }
    return shown, large


def _keep(table: pa.Table, before: KeptTable | None, commit: IntakeCommit) -> KeptTable:
    if before is not None and not before.is_worn:
        change = encode_change(before.table, table)
        if change == b"":
            return KeptTable(table, before.hashes, before.whole, before.changes)
        if change is not None:
            hashes = (*before.hashes, commit.add(change))
            return KeptTable(table, hashes, before.whole, before.changes + len(change))
    content = encode_table(table)
    return KeptTable(table, (commit.add(content),), len(content))


def list_hashes(held: Mapping[str, Any]) -> set[str]:
    """The contents that a lane in a commit refers to."""
    files = {} if held["span"] is None else held["span"][3]
    return {h for hashes in held["tables"].values() for h in hashes} | set(files.values())


def describe_reach(lane: Lane, commit: IntakeCommit) -> dict[str, Any]:
    """How far a lane is, for a commit, which takes in what the files of its span are."""
    span = None
    if lane.span is not None:
        files = {name: commit.add(content) for name, content in lane.span.files.items()}
        to = lane.span.to
        span = [to.batch, dict(to.entries), lane.span.cut_us, files, *_list_offsets(to)]
    at = [lane.at.batch, dict(lane.at.entries), *_list_offsets(lane.at)]
    return {"at": at, "span": span}


def _list_offsets(reach: Reach) -> list[Any]:
    """Nothing where there are none, as in commits of versions that knew files alone."""
    return [{s: dict(held) for s, held in reach.offsets.items()}] if reach.offsets else []


def read_reach(held: Mapping[str, Any], read: Callable[[str], bytes]) -> tuple[Reach, Span | None]:
    """How far a lane was. `read`: a content by its hash."""
    at, span = held["at"], held["span"]
    found = Reach(at[0], at[1], *at[2:])
    if span is None:
        return found, None
    files = {name: read(content) for name, content in span[3].items()}
    return found, Span(Reach(span[0], span[1], *span[4:]), span[2], files)


def has_begun(held: Mapping[str, Any], streams: frozenset[str]) -> bool:
    """Whether a lane in a commit has taken in files or messages of one of some streams, or is about
    to."""
    at, span = held["at"], held["span"]
    reach = Reach(at[0], at[1], *at[2:]) if span is None else Reach(span[0], span[1], *span[4:])
    return reach.has_begun(streams.intersection(held["streams"]))


def read_state(held: Mapping[str, Any], read: Callable[[str], bytes]) -> LiveState:
    """The state of a lane in a commit, of all its members.

    Args:
        held: what `describe_lane` made.
        read: a content by its hash.

    Raises:
        UsageError: a content is damaged.
        KeyError, ValueError, TypeError: a part is missing, or not as it was written.
    """
    tables = {}
    for name, (whole, *changes) in held["tables"].items():
        tables[name] = decode_table(read(whole))
        for change in changes:
            tables[name] = apply_change(tables[name], read(change))
    return assemble_state(held["live"], tables, held["streams"], held["batch"])
