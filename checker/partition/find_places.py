"""Where the answers of a query tell a value, by which rows may be divided."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.partition.way import Scene
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.spj import (
    Attribute,
    LiteralOutput,
    NullOutput,
    Output,
    SpjUnion,
    output_attributes,
)

Place: TypeAlias = tuple[str, int]
"""A variable, and which of the attributes that its terms are made of."""


def shared_variables(union: SpjUnion, plans: Sequence[SynopsisPlan]) -> Sequence[str] | None:
    """The columns of which one has to tell the part, as answers, or groups, are compared with each
    other (None: they are not)."""
    if union.aggregation is not None:
        return union.aggregation.group
    if not union.distinct or (len(plans) == 1 and not _compares(plans[0])):
        return None
    return [v for v in union.variables if v not in (*union.ends, *union.begins)]


def _compares(plan: SynopsisPlan) -> bool:
    return plan.form.distinct or plan.tables[-1].stored


def find_places(
    variables: Sequence[str], plans: Sequence[SynopsisPlan], scene: Scene
) -> Iterable[Place]:
    """Where the answers of all plans tell a value, the same for the same text, or that there is
    none."""
    for variable in variables:
        outputs = [dict(plan.form.query.outputs).get(variable) for plan in plans]
        valued = [
            (p, o) for p, o in zip(plans, outputs, strict=True) if not isinstance(o, NullOutput)
        ]
        shapes = {_shape(plan.form, output, scene) for plan, output in valued}
        if len(shapes) != 1 or None in shapes or valued[0][1] is None:
            continue
        count = len(output_attributes(valued[0][1]))
        if count == 1 or len(valued) == len(plans):
            yield from ((variable, number) for number in range(count))


def _shape(form: NormalForm, output: Output | None, scene: Scene) -> tuple[object, ...] | None:
    """What terms are but for their values, of known kinds (None: their text does not tell the
    values)."""
    if output is None or not output_attributes(output):
        return None
    if not is_injective(output, Types(scene.catalog, form.query.occurrences)):
        return None
    if isinstance(output, LiteralOutput):
        return (LiteralOutput, form.kinds.get(output.value))
    parts = getattr(output, "parts", ())
    return (
        type(output),
        *(form.kinds.get(part) if isinstance(part, Attribute) else part for part in parts),
    )
