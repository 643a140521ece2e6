"""Hints for names that nothing has."""

from ontoweir.mappings.model.read_table import did_you_mean


def test_the_closest_name_or_the_known_ones() -> None:
    many = [f"stream-{n:02}" for n in range(14)]
    assert did_you_mean("Reading", ["reading", "sensor"]) == "did you mean 'reading'?"
    assert did_you_mean("xyz", ["reading", "sensor"]) == "use one of: reading, sensor"
    assert did_you_mean("xyz", many) == f"use one of: {', '.join(many[:12])} and 2 more"
    assert did_you_mean("xyz", []) == "declare it first"
