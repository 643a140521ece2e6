"""The lane of a query that joins: new, or as a commit has it."""

import time
from collections.abc import Callable
from dataclasses import replace

from ontoweir.errors import UsageError
from ontoweir.runtime.live.advance_live import begin_live
from ontoweir.runtime.live.intake.describe_lane import read_reach, read_state
from ontoweir.runtime.live.intake.model import Lane, Member, Parked, sign_history, sign_job

SOURCE_GONE = "what comes has been listed anew since, as its source was another for a while"


def cannot_go_on(name: str, gap: str) -> UsageError:
    """A query cannot go on from its state, as it is not known what came since."""
    return UsageError(
        f"{name} cannot go on where it stopped: {gap}",
        why="its answers would lack what came in between",
        fix="register it again with --replace: it begins with what is there",
    )


def resume_lane(member: Member, held: Parked | None, read: Callable[[str], bytes]) -> Lane:
    """A lane of its own, which shares others' rows when it has come as far.

    Args:
        member: who joins.
        held: where it stopped (None: it begins).
        read: a content of the last commit.

    Raises:
        UsageError: its state is of another query, or damaged; or what has come since is not known.
    """
    reads = {h.stream.name: sign_history(h) for h in member.job.histories}
    if held is None:
        return Lane(sign_job(member.job), reads, (member,), begin_live(member.job))
    if held.gap is not None:
        raise cannot_go_on(member.name, held.gap)
    number = next(n for n, m in enumerate(held.held["members"]) if m[0] == member.id)
    _, _, fingerprint, results = held.held["members"][number]
    if fingerprint != member.fingerprint:
        raise UsageError(
            "the checkpoint is of another run",
            why="the query, the mappings, the catalog or the static data have changed since",
            fix="undo the change, or register it again with --replace (and replay what has passed)",
        )

    def find(content: str) -> bytes:
        return held.contents[content] if content in held.contents else read(content)

    state = read_state(held.held, find)
    # no stream was idle while the run was down
    now = dict.fromkeys(state.last_arrival, time.time())
    state = replace(state, queries=(state.queries[number],), last_arrival=now)
    at, span = read_reach(held.held, find)
    again = replace(member, results=results)
    return Lane(sign_job(member.job), reads, (again,), state, at, span)
