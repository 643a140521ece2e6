"""A lane as commits have it: who is in it, how far it is, and its state by hashes of tables."""

from collections.abc import Callable, Mapping
from typing import Any

from ontoweir.runtime.live.checkpoint.state_tables import (
    assemble_state,
    decode_table,
    describe_state,
    encode_table,
    list_tables,
)
from ontoweir.runtime.live.intake.model import Lane, Reach, Span
from ontoweir.runtime.live.intake.save_intake import IntakeCommit
from ontoweir.runtime.live.model.live_job import LiveState


def describe_lane(lane: Lane, commit: IntakeCommit) -> dict[str, Any]:
    """A lane for a commit, which takes in the contents of its tables."""
    tables = {
        name: commit.add(encode_table(table)) for name, table in list_tables(lane.state).items()
    }
    return {
        "members": [[m.id, m.name, m.fingerprint, m.results] for m in lane.members],
        "streams": sorted(lane.streams),
        "batch": lane.state.batch,
        "live": describe_state(lane.state),
        "tables": tables,
        **describe_reach(lane),
    }


def describe_reach(lane: Lane) -> dict[str, Any]:
    """How far a lane is, for a commit."""
    span = None
    if lane.span is not None:
        span = [*_list(lane.span.to), lane.span.cut_us]
    return {"at": _list(lane.at), "span": span}


def _list(reach: Reach) -> list[Any]:
    return [reach.batch, dict(reach.entries)]


def read_reach(held: Mapping[str, Any]) -> tuple[Reach, Span | None]:
    """How far a lane was."""
    at, span = held["at"], held["span"]
    found = Reach(at[0], at[1])
    return found, None if span is None else Span(Reach(span[0], span[1]), span[2])


def read_state(held: Mapping[str, Any], read: Callable[[str], bytes]) -> LiveState:
    """The state of a lane in a commit, of all its members.

    Args:
        held: what `describe_lane` made.
        read: a content by its hash.

    Raises:
        UsageError: a content is damaged.
        KeyError, ValueError, TypeError: a part is missing, or not as it was written.
    """
    tables = {name: decode_table(read(found)) for name, found in held["tables"].items()}
    return assemble_state(held["live"], tables, held["streams"], held["batch"])
