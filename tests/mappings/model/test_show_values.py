"""Listed values take one line."""

from ontoweir.mappings.model.catalog import Column, DataSource, IntType, Stream, StringType
from ontoweir.mappings.model.show_values import advise_key, show_values


def test_few_values_are_shown_each() -> None:
    assert show_values(range(8)) == "{0, 1, 2, 3, 4, 5, 6, 7}"


def test_of_many_their_number_and_the_ends() -> None:
    assert show_values([f"dev-{n:04d}" for n in range(300)]) == "300 values: dev-0000 … dev-0299"


def test_a_key_is_advised() -> None:
    """Where a longer one is declared, the data is not likely to keep a shorter one."""
    columns = (Column("k", StringType()), Column("v", IntType()))
    keys = ((), (("k", "ts"),), (("v", "ts"),), (("v", "k", "ts"),))
    source = DataSource("csv", "s")
    plain, same, other, longer = (
        advise_key(Stream("s", source, "ts", 1, None, columns, key), ("k", "ts")) for key in keys
    )
    assert plain == same == other == 'declare keys = [["k", "ts"]] in [streams.s]'
    assert longer.startswith(f"{plain} if its rows differ in these")
