"""The rows of a chunk that are tuples of a member, for all plans of a shape at once."""

from collections.abc import Mapping, Sequence

import numpy as np

from ontoweir.checker.model.normal_form import Member
from ontoweir.rewriter.model.spj import Attribute
from ontoweir.runtime.alike.plan_shape import GREATEST, LEAST, MemberLimits
from ontoweir.runtime.columnar.frame import Array, Frame, Name
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_statics import Arrival


class Unlike(Exception):
    """Plans that cannot be advanced together this time, as numbers do not fit, for example."""


def collect_rows(
    builder: MemberBuilder,
    member: Member,
    arrival: Arrival,
    limits: Sequence[MemberLimits],
    tag: Name,
) -> Frame:
    """A member's tuples in all plans, which `tag` tells apart: by the place of their limits, in the
    plan's units.

    Args:
        builder: of the plan without limits.
        member: of that plan.
        arrival: all rows of its stream.
        limits: of every plan.
        tag: names the column.

    Raises:
        Unlike: a column that has limits is not one of whole numbers.
    """
    rows = builder.match(member, arrival, {})
    plans, index = _list_within(rows, limits)
    mine = {attribute: column[index] for attribute, column in rows.items()}
    return builder.collect(member, mine, {tag: plans * builder.form.unit})


def _list_within(
    rows: Mapping[Attribute, Array], limits: Sequence[MemberLimits]
) -> tuple[Array, Array]:
    """Pairs of a plan and a row that keeps its limits, in their order: two arrays (int64)."""
    count = len(next(iter(rows.values())))
    good = np.ones((len(limits), count), dtype=np.bool_)
    for attribute in dict.fromkeys(a for held in limits for a in held):
        column = rows[attribute]
        if column.dtype != np.int64:
            raise Unlike(f"{attribute} is not of whole numbers")
        ends = [held.get(attribute, (LEAST, GREATEST)) for held in limits]
        low = np.array([least for least, _ in ends], dtype=np.int64)
        high = np.array([most for _, most in ends], dtype=np.int64)
        if len(column) and (low.max() > column.min() or high.min() < column.max()):
            good &= column >= low[:, None]
            good &= column <= high[:, None]
    plans, index = np.nonzero(good)
    return plans, index
