"""What a condition says is not 0: never what may be, of all small numbers."""

from itertools import product

import pytest

from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.model.query import Literal, Operation, TermExpression, Variable
from ontoweir.rewriter.nulls.find_nonzero import drop_casts, find_nonzero

X = Variable("x")
SIGNS = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def number(value: int) -> Literal:
    return Literal(str(value), f"{XSD}integer")


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("flipped", [False, True])
def test_of_a_comparison_it_is_known_exactly(sign: str, flipped: bool) -> None:
    for limit, holds in product((-1, 0, 1), (True, False)):
        sides: tuple[TermExpression, TermExpression] = (X, number(limit))
        sides = sides[::-1] if flipped else sides
        said = SIGNS[sign](*((limit, 0) if flipped else (0, limit)))
        found = find_nonzero(Operation(sign, sides), holds=holds)
        assert found == (frozenset() if said == holds else {X}), (sign, limit, holds)


def test_of_several() -> None:
    some = Operation(">", (X, number(0)))
    other = Operation("=", (Variable("y"), number(3)))
    assert find_nonzero(Operation("&&", (some, other)), holds=True) == {X, Variable("y")}
    assert find_nonzero(Operation("||", (some, other)), holds=True) == frozenset()
    assert find_nonzero(Operation("!", (some,)), holds=True) == frozenset()
    assert find_nonzero(Operation("!", (some,)), holds=False) == {X}
    zero = Operation("=", (X, number(0)))
    assert find_nonzero(Operation("||", (zero, other)), holds=False) == {X}
    assert find_nonzero(Operation("=", (X, Literal("0", f"{XSD}string"))), holds=False) == set()


def test_casts_to_doubles_and_decimals_are_0_where_their_numbers_are() -> None:
    assert drop_casts(Operation(XSD + "double", (Operation(XSD + "decimal", (X,)),))) == X
    rounded = Operation(XSD + "integer", (X,))
    assert drop_casts(rounded) == rounded  # 0.5 is cast to 0
