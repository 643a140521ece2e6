"""Listed values take one line."""

from ontoweir.mappings.model.show_values import show_values


def test_few_values_are_shown_each() -> None:
    assert show_values(range(8)) == "{0, 1, 2, 3, 4, 5, 6, 7}"


def test_of_many_their_number_and_the_ends() -> None:
    assert show_values([f"dev-{n:04d}" for n in range(300)]) == "300 values: dev-0000 … dev-0299"
