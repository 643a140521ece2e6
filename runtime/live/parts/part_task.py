"""What a task is given to advance a part by a step, and what it returns, as bytes."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from ontoweir.rewriter.model.add_views import base_tables
from ontoweir.runtime.division.task_failure import TaskFailure
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.live.checkpoint.state_tables import decode_table, encode_table
from ontoweir.runtime.live.model.divided_state import PartState
from ontoweir.runtime.live.model.row_places import PLACES
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.times.steps import Steps

_TIMES = "__times"


@dataclass(frozen=True, slots=True)
class PartTask:
    """A step of a part.

    `query`: its name; `part`: the part's number; `folder`: of the files of parts; `before`: the
    state that the step begins with; `rows`: those of the part, by stream (encode_rows); `now_us`:
    all timestamps up to it are finished.
    """

    query: str
    part: int
    folder: str
    before: PartState
    rows: Mapping[str, bytes]
    now_us: int


@dataclass(frozen=True, slots=True)
class PartOutcome:
    """What a step did: the state after, and the answers (no byte: there are none)."""

    after: PartState
    answers: bytes


def unpack_outcome(packed: bytes) -> PartOutcome:
    """What a task returned.

    Raises:
        OntoweirError: the task ended with it.
    """
    outcome: PartOutcome | TaskFailure = pickle.loads(packed)
    if isinstance(outcome, TaskFailure):
        raise outcome.error
    return outcome


def list_histories(work: ExecutionContext) -> tuple[History, ...]:
    """The streams that a query reads, of all that run."""
    read = base_tables({m.stream for p in work.plans for m in p.form.members}, work.views)
    return tuple(h for h in work.histories if h.stream.name in read)


def encode_rows(admitted: Admitted) -> bytes:
    """Rows that were admitted, without where they are from."""
    names = admitted.table.column_names
    table = admitted.table.select([n for n in names if n not in PLACES])
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):  # which has the texts of all parts
            name = table.column_names[place]
            table = table.set_column(place, name, column.cast(column.type.value_type))
    return encode_table(table.append_column(_TIMES, pa.array(admitted.times)))


def decode_rows(content: bytes, history: History) -> Admitted:
    """What `encode_rows` made of rows of a stream."""
    table = decode_table(content)
    times = table.column(_TIMES).to_numpy()
    rows = table.drop_columns([_TIMES])
    steps = Steps(times, history.stream.step_us)
    return Admitted(steps, times, rows, len(times), {}, filled=history.filled)
