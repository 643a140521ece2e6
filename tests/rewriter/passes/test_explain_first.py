"""Of many ways to match a query the first are looked at, and the others counted."""

from functools import partial

from ontoweir.diagnostics import Reason
from ontoweir.rewriter.passes.explain_first import MOST, explain_first


def test_each_reason_is_told_once() -> None:
    one, other = Reason("one"), Reason("other")
    ways = [partial(lambda r: r, r) for r in (one, None, one, other)]
    assert explain_first(ways) == (one, other)
    assert explain_first([lambda: None] * 2 * MOST) == ()


def test_others_are_counted() -> None:
    looked: list[int] = []

    def look(n: int) -> Reason:
        looked.append(n)
        return Reason("the same")

    found = explain_first([partial(look, n) for n in range(MOST + 20)])
    assert [r.message for r in found] == ["the same", "and 20 more ways, which are not looked at"]
    assert len(looked) == MOST
