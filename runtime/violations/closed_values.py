"""Rows that come after their value was closed."""

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import ClosingRule, Lag
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.rules.enforce_rules import look_at
from ontoweir.runtime.rules.rule_state import RuleState
from ontoweir.runtime.rules.watched_rule import describe_one, watch_closing


class ClosedValues:
    """By the values of a rule's columns, what says when they are closed. It grows with them: so
    much is known of data at hand only."""

    def __init__(self, rule: ClosingRule | Lag) -> None:
        """Of a lag: each value is closed by the one row that has it."""
        self._rule = describe_one("", rule) if isinstance(rule, Lag) else watch_closing(rule)
        self._state = RuleState()

    @property
    def reason(self) -> str:
        """Why rows are wrong."""
        return self._rule.reason

    def find_late(self, rows: pa.Table, times: Array) -> Array:
        """Which rows come after their value was closed.

        Args:
            rows: more of the stream, whole timestamps in order.
            times: theirs, in µs.
        """
        if not len(times):
            return np.zeros(0, dtype=np.bool_)
        look = look_at(self._rule, self._state, {self._rule.stream: (rows, times)})
        none = {self._rule.stream: np.zeros(len(times), dtype=np.bool_)}
        late, self._state = look.follow(none, none)
        return late
