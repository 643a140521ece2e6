"""[A] Th. 8.5 and 8.6, as published: aggregates in arrival order."""

from dataclasses import replace

from ontoweir.checker.criteria.decide_published import decide_arasu, references_of
from ontoweir.checker.model.criterion import CriterionResult, Failure
from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.rewriter.model.aggregation import Aggregate
from ontoweir.rewriter.model.spj import FoldFunction, output_attributes


def decide_aggregates(form: NormalForm, aggregates: tuple[Aggregate, ...]) -> CriterionResult:
    """Decide a part of an aggregate query (split_aggregates), `form` without timestamps.

    C1: the reduced characteristic query is bounded; C2: what COUNT DISTINCT and MEDIAN count is
    bounded; C3: for MAX, MaxRef is empty or the aggregated value alone, and MinRef for MIN. As
    published C3 says nothing of MinRef for MAX, which is in error (checker/citations.md, 5): no
    verdict rests on it.
    """
    arguments = {a.argument for a in aggregates if a.function.holistic}
    counted = {
        form.class_of[a]
        for name, output in form.query.outputs
        if name in arguments
        for a in output_attributes(output)
    }
    failures = [
        replace(f, condition="C2" if f.condition == "C1" and f.value in counted else "C1")
        for f in decide_arasu(form).failures
    ]
    if len(form.members) == 1:
        failures = [
            Failure(
                "C2" if g.index in counted else "C1",
                f"{g.name} is unbounded",
                f"bound {g.name}",
                g.index,
            )
            for g in form.classes
            if g.projected and not g.domain.finite
        ]
    for fold in form.folds or ():
        if fold.function is FoldFunction.SUM or form.classes[fold.value].domain.finite:
            continue
        most, least = references_of(form, fold.member)
        refers = most if fold.function is FoldFunction.MAX else least
        if refers - {fold.value}:
            name = "MaxRef" if fold.function is FoldFunction.MAX else "MinRef"
            alias = form.members[fold.member].alias
            failures.append(
                Failure(
                    "C3",
                    f"{name}({alias}) is not just {form.classes[fold.value].name}",
                    f"bound {form.classes[fold.value].name}",
                    fold.value,
                )
            )
    name = "[A] Th. 8.5" if len(form.members) == 1 else "[A] Th. 8.6"
    return CriterionResult(name, tuple(failures), necessary=False)
