"""How a live run goes."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoweir.runtime.live.arrivals.open_batch import STEP_BYTES, STEP_ROWS
from ontoweir.runtime.live.checkpoint.rotate_spark import MANY
from ontoweir.runtime.live.model.live_job import LiveJob, LiveState
from ontoweir.runtime.live.output.sinks.sinks import Sink

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryListener


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How a run goes.

    `checkpoint`: the folder of its state; `output`: the folder of rejected rows (`rejects/`), and
    of answers and metrics, unless they go elsewhere: to `sink` and `metrics`; `once`: stop when
    everything that is there has been read; `seconds`: at least so long between micro-batches;
    `on_state`: is called at the start and after every micro-batch; `on_published`: with its record
    (measure_batch), when its answers are published; `listeners`: of Spark's progress;
    `parts_may_go`: published files may be moved away by who reads them; `step`: about how many rows
    and bytes are taken in at once; `forget`: how many files Spark may have listed before those that
    are gone are forgotten (0: any number); `tell`: is called with what else is to be said.
    """

    checkpoint: Path
    output: Path
    once: bool = False
    seconds: float = 0.0
    on_state: Callable[[LiveState, LiveJob], None] = field(default=lambda state, job: None)
    on_published: Callable[[Mapping[str, Any]], None] = field(default=lambda record: None)
    sink: Sink | None = None
    metrics: Path | None = None
    listeners: tuple["StreamingQueryListener", ...] = ()
    parts_may_go: bool = False
    step: tuple[int, int] = (STEP_ROWS, STEP_BYTES)
    forget: int = MANY
    keep_ns: int | None = None
    compact: int | None = None
    tell: Callable[[str], None] = field(default=lambda text: print(text, file=sys.stderr))
