"""What a synopsis plan may have, as its types say it, and what a given plan has of it."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from ontoweir.checker.model.plan import Bound, Points, SynopsisPlan, SynopsisTable

NOT_PARTS = (Bound, Points)
"""The bound is what a plan costs; Points are what a run puts in the place of other breakpoints."""

ALWAYS = {"SynopsisTable.steps", "Frontier.terms", "Frontier.serves", "Constants.values"}
"""Never empty, so no plan is without them."""


@cache
def list_parts() -> frozenset[str]:
    """Everything that one plan has and another has not: types of a union, and fields that are
    None, False or empty."""
    return frozenset(_parts_of_type(SynopsisTable)) - ALWAYS


def find_parts(plan: SynopsisPlan) -> frozenset[str]:
    """What a plan has of list_parts."""
    found = (name for table in plan.tables for name in _parts_of_value(table))
    return frozenset(found) & list_parts()


def _parts_of_type(kind: type) -> Iterator[str]:
    for field, hint in get_type_hints(kind).items():
        inner = get_args(hint)
        if get_origin(hint) is tuple or hint is bool or type(None) in inner:
            yield f"{kind.__name__}.{field}"
        for one in inner:
            members: tuple[type, ...] = get_args(one) or (one,)
            for member in members:
                if is_dataclass(member) and member not in NOT_PARTS:
                    if len(members) > 1:
                        yield str(member.__name__)
                    yield from _parts_of_type(member)


def _parts_of_value(value: Any) -> Iterator[str]:
    yield type(value).__name__
    for field in fields(value):
        found = getattr(value, field.name)
        if found is not None and found is not False and found != ():
            yield f"{type(value).__name__}.{field.name}"
        if isinstance(found, tuple):
            for one in found:
                if is_dataclass(one):
                    yield from _parts_of_value(one)
