"""Which columns a condition lets have one value."""

from collections.abc import Iterator

from ontoweir.mappings.model.catalog import FloatType
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Field,
    Function,
    Value,
    conjuncts_of,
)


def list_pinned(condition: Expression | None) -> Iterator[str]:
    """The columns that have one value in all rows of which a condition is true.

    Args:
        condition: of one row (None: nothing is said).
    """
    for said in conjuncts_of(condition):
        match said:
            case Call(
                function=Function.EQUAL,
                arguments=(Field() as column, Value()) | (Value(), Field() as column),
            ):
                if not isinstance(column.type, FloatType):  # 0 and -0 are equal, and two values
                    yield column.column
            case _:
                pass
