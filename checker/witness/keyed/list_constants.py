"""The constants of a query, and those of each column."""

from collections.abc import Iterator, Mapping

from ontoweir.checker.witness.keyed.far_us import list_parts
from ontoweir.mappings.model.catalog import Scalar
from ontoweir.mappings.model.expression import Call, Field, Value, parts_of
from ontoweir.mappings.model.preceding import Counted
from ontoweir.rewriter.model.spj import Compare, Constant, OneOf, SpjUnion


def list_constants(union: SpjUnion) -> Iterator[Scalar]:
    """The constants that a query compares and computes with, and how many rows before it looks
    at."""
    for part in list_parts(union):
        match part:
            case Constant(value=value) | Value(value=value) if value is not None:
                yield value
            case OneOf(values=values):
                yield from values
            case Counted(first=first, last=last):
                yield from (n for n in (first, last) if n)
            case Compare(right=Constant(value=value)):
                yield value
            case _:
                pass


def constants_by_column(union: SpjUnion) -> Mapping[str, tuple[Scalar, ...]]:
    """The constants that stand beside a column in a condition, or a call, by its name."""
    found: dict[str, dict[Scalar, None]] = {}
    for part in list_parts(union):
        match part:
            case Compare(left=left, right=Constant(value=value)):
                found.setdefault(left.column, {})[value] = None
            case OneOf(attribute=attribute, values=values):
                found.setdefault(attribute.column, {}).update(dict.fromkeys(values))
            case Call():
                inner = list(parts_of(part))
                own = [p.value for p in inner if isinstance(p, Value) and p.value is not None]
                for name in {p.column for p in inner if isinstance(p, Field)}:
                    found.setdefault(name, {}).update(dict.fromkeys(own))
            case _:
                pass
    return {name: tuple(values) for name, values in found.items()}
