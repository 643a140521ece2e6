"""The times at which rows of answers must be more than rows of answers are, that something is
beside them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    condition_attributes,
    map_condition,
)
from ontoweir.rewriter.model.spj import Attribute, Condition, SpjQuery, output_attributes


def list_narrowed(
    hits: tuple[SpjQuery, Mapping[str, Attribute]],
    found: Sequence[tuple[SpjQuery, Mapping[str, Attribute]]],
    keys: Collection[str],
) -> set[str]:
    """The times of rows of answers of which a condition of what is beside them says more than
    answers do, so that no other row can take their place: where a key makes one row of a row of
    the answers and one beside them, nothing is compared with it.

    Args:
        hits: what is beside answers, with these; and the timestamps that variables are.
        found: the answers, each likewise.
        keys: what both show, without times: what is said of these alone is of any row with them.
    """
    names: set[str] = set()
    said = set(_list_conditions(*hits, keys))
    for query, stamps in found:
        for condition in said - set(_list_conditions(query, stamps, keys)):
            names |= {a.alias for a in condition_attributes(condition)}
    return names


def _list_conditions(
    query: SpjQuery, stamps: Mapping[str, Attribute], keys: Collection[str]
) -> Iterator[Condition]:
    """What is said of the rows of answers alone; they are called as their times."""
    called = {stamp.alias: name for name, stamp in reversed(tuple(stamps.items()))}
    classes, outputs = EqualityClasses(query.occurrences, query.conditions), dict(query.outputs)
    told = {classes.find(a) for k in keys if k in outputs for a in output_attributes(outputs[k])}
    for condition in query.conditions:
        read = condition_attributes(condition)
        if not called.keys() >= {a.alias for a in read}:
            continue
        if not told >= {classes.find(a) for a in read}:
            plain = replace(condition, source=None)
            yield map_condition(plain, lambda a: Attribute(called[a.alias], a.column))
