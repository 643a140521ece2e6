"""Which tables of a plan may be kept on disk, and by which values their rows are found there."""

from collections.abc import Iterator
from dataclasses import dataclass

from ontoweir.checker.model.normal_form import Kind, NormalForm
from ontoweir.checker.model.plan import SynopsisPlan, SynopsisTable

Members = frozenset[int]
Order = tuple[int, ...]
"""Value classes, ascending: rows are sorted by the hash of theirs."""


@dataclass(frozen=True, slots=True)
class SpilledTable:
    """A table of which rows may be on disk, and by which values they are looked up."""

    members: Members
    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class SpillPlan:
    """The tables of a plan of which rows may be on disk; `most`: of all of them together so many
    rows are in memory between chunks."""

    tables: tuple[SpilledTable, ...]
    most: int


@dataclass(frozen=True, slots=True)
class SpillWork:
    """What a run keeps on disk: of each plan (None: nothing), in a folder."""

    plans: tuple[SpillPlan | None, ...]
    folder: str = ""


def list_spilled(plan: SynopsisPlan, *, without_last: bool) -> tuple[SpilledTable, ...]:
    """The tables of a plan of which rows may be on disk: those that are always looked up by values.

    Args:
        plan: the plan.
        without_last: the answers that were written are looked at whole.
    """
    found = []
    for table in plan.tables:
        if not table.stored or (without_last and table is plan.tables[-1]):
            continue
        if any(_is_place(plan.form, key.value) and not key.whole for key in table.keys):
            continue
        orders = set(_list_orders(plan, table))
        if orders and () not in orders:
            found.append(SpilledTable(table.members, tuple(sorted(orders))))
    return tuple(found)


def _is_place(form: NormalForm, value: int) -> bool:
    """Whether a number that stands for a value of a class could be taken for a text's."""
    return form.classes[value].kind is Kind.STRING


def _list_orders(plan: SynopsisPlan, table: SynopsisTable) -> Iterator[Order]:
    """By which values the rows of a table are looked up: of tuples that are joined with them; and
    of sets, whether a match is new."""
    keys = {key.value for key in table.keys}
    sampled = {sample.value for sample in table.samples}
    if plan.form.distinct:
        yield tuple(sorted(keys - sampled))
    by_members = {t.members: t for t in plan.tables}
    for other in plan.tables:
        for step in other.steps:
            known = {c.index for c in plan.form.classes if c.members & step.now}
            for past in step.past:
                if past == table.members:
                    yield tuple(sorted((keys - sampled) & known))
                known |= {key.value for key in by_members[past].keys}
