"""Rows of tuples of which each is in one of several tables alone are counted together."""

import pytest

from ontoweir.checker.model.plan import Bound, Tuples, share_tuples, total_bound


def make(rows: int | None, most: int, *valued: tuple[str, bool], stream: str = "s") -> Bound:
    of = Tuples(stream, frozenset(valued), most, f"{most} tuples")
    return Bound(rows, f"{rows} rows", of)


WITH, WITHOUT = ("a", True), ("a", False)


def test_tuples_with_a_value_and_without_one_are_together_no_more_than_all() -> None:
    found = total_bound(
        share_tuples([make(30, 50, WITH), Bound(7, "7 keys"), make(30, 50, WITHOUT)])
    )
    assert found == Bound(57, "(50 tuples) + (7 keys)")


def test_the_longest_time_counts() -> None:
    assert total_bound(share_tuples([make(30, 30, WITH), make(50, 50, WITHOUT)])).rows == 50


def test_what_has_no_number_is_counted_by_the_tuples() -> None:
    assert total_bound(share_tuples([make(None, 50, WITH), make(30, 50, WITHOUT)])).rows == 50


def test_less_is_left_as_it_is() -> None:
    found = total_bound(share_tuples([make(3, 50, WITH), make(4, 50, WITHOUT)]))
    assert found == Bound(7, "(3 rows) + (4 rows)")


@pytest.mark.parametrize(
    "bounds",
    [
        [make(30, 50, WITH), make(30, 50, WITH)],
        [make(30, 50, WITH), make(30, 50, ("b", False))],
        [make(30, 50, WITH), make(30, 50, WITHOUT, stream="t")],
        [make(30, 50), make(30, 50, WITHOUT)],
        [make(30, 50, WITH), Bound(30, "30 rows")],
    ],
    ids=["same", "another column", "another stream", "of all", "of no tuples"],
)
def test_what_may_be_of_one_tuple_is_added_up(bounds: list[Bound]) -> None:
    assert total_bound(share_tuples(bounds)).rows == 60


def test_one_bound_twice_is_of_two_tables() -> None:
    one, other = make(40, 50, WITH), make(40, 50, WITHOUT)
    assert total_bound(share_tuples([one, one, other])).rows == 50 + 40
    assert total_bound(share_tuples([one, other, one, other])).rows == 50 + 50


def test_three_are_together_if_each_two_are_apart() -> None:
    first = make(40, 50, WITH, ("b", True))
    second, third = make(40, 50, WITHOUT), make(40, 50, WITH, ("b", False))
    assert total_bound(share_tuples([first, second, third])).rows == 50
    assert total_bound(share_tuples([first, make(40, 50, ("b", True)), second])).rows == 50 + 40


def test_other_sums_are_sums() -> None:
    """As of tables and groups: what is left of a bound is that of the groups."""
    assert total_bound([make(30, 50, WITH), make(30, 50, WITHOUT)]).rows == 60
