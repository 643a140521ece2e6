"""What a replay did."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ontoweir.runtime.replay.replay_request import Engine
from ontoweir.runtime.times.late_rows import LateRows


@dataclass(frozen=True, slots=True)
class ReplaySummary:
    """What a replay did.

    `markers`: distinct timestamps; `tuples`: rows read in the replayed span, those rejected
    included; `results`: rows written; `state_rows_max`: the most state rows after any chunk (with
    SELECT DISTINCT and several ranges, without answers that ranges before have emitted; of rows
    divided by key, those of the part that has most);
    `late`: tuples that came later than their stream declares, which are among the rejected ones,
    and `late_rows`: how late, by stream; `rejected`: tuples not admitted, by reason; `ranges`: of
    how many ranges of time, each a Spark task; `one_range_because`: why there was only one;
    `engine`: what replayed, and `engine_because`: why; `parts`: among how many processes rows were
    divided by key; `broken`: rows that broke a rule that counts them, by rule; `on_disk`: what
    rules dropped that is on disk, its bytes, and how many rows were found again.
    """

    markers: int
    tuples: int
    results: int
    state_rows_max: int
    bound_rows: int | None
    seconds: float
    tuples_per_second: float
    late: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    late_rows: Mapping[str, LateRows] = field(default_factory=dict)
    ranges: int = 1
    one_range_because: str | None = None
    engine: Engine = "driver"
    engine_because: str | None = None
    parts: int = 1
    broken: Mapping[str, int] = field(default_factory=dict)
    on_disk: Mapping[str, int] = field(default_factory=dict)

    @property
    def rejected_total(self) -> int:
        """All rejected tuples."""
        return sum(self.rejected.values())
