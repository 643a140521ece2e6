"""What a condition says is not 0: never what may be, of all small numbers."""

from itertools import product

import pytest

from ontoweir.mappings.model.column_types import XSD
from ontoweir.rewriter.model.query import Literal, Operation, TermExpression, Variable
from ontoweir.rewriter.nulls.find_nonzero import find_nonzero

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
