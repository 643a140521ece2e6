"""The strings of a plan as codes: made before a chunk, forgotten after it where unused."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ontoweir.checker.model.normal_form import Kind
from ontoweir.runtime.columnar.columns import is_value
from ontoweir.runtime.columnar.encode import StringPool
from ontoweir.runtime.columnar.frame import Array
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.kernel.kernel import KernelState


def make_pool(permanent: Sequence[str], others: Sequence[str]) -> StringPool:
    """The codes of a plan's strings: those with permanent codes, then others."""
    texts = [*permanent, *others]
    return StringPool(texts, {text: code for code, text in enumerate(texts)})


def forget_texts(
    prepared: PreparedPlan, state: KernelState, pool: StringPool
) -> tuple[KernelState, tuple[str, ...]]:
    """Forget strings that the state no longer uses; what is kept beside the permanent ones."""
    permanent = len(prepared.texts)
    if len(pool.texts) == permanent:
        return state, ()
    classes = prepared.plan.form.classes

    def is_text(name: tuple[Any, ...]) -> bool:
        return is_value(name) and classes[name[1]].kind is Kind.STRING

    used: set[int] = set()
    for frame in state.tables.values():
        for name, column in frame.columns.items():
            if is_text(name):
                used.update(np.unique(column).tolist())
    used = {c for c in used if c < len(pool.texts)}
    moved = pool.keep_only(used, permanent)
    lookup: Array = np.arange(max(moved, default=0) + 1, dtype=np.int64)
    for before, after in moved.items():
        lookup[before] = after
    tables = {}
    for members, frame in state.tables.items():
        changed = {}
        for name, column in frame.columns.items():
            if is_text(name):
                known = (column >= 0) & (column < len(lookup))
                changed[name] = np.where(known, lookup[np.where(known, column, 0)], column)
        tables[members] = frame.with_columns(changed)
    return KernelState(tables), tuple(pool.texts[permanent:])
