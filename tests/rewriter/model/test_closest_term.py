"""What is suggested for an unknown term, and where nothing is."""

import pytest

from ontoweir.rewriter.model.closest_term import closest_term

HERE, THERE = "http://a.example/ns#", "http://b.example/ns#"
KNOWN = [f"{HERE}Reading", f"{HERE}averageSpeed", f"{THERE}Sensor", "http://c.example/"]


@pytest.mark.parametrize(
    ("iri", "meant"),
    [
        (f"{HERE}Raeding", f"{HERE}Reading"),
        (f"{HERE}READING", f"{HERE}Reading"),
        (f"{HERE}avgSpeed", f"{HERE}averageSpeed"),
        (f"{HERE}Sensor", f"{THERE}Sensor"),
        (f"{HERE}Sensors", None),
        (f"{HERE}Banana", None),
        (f"{THERE}Raeding", None),
        (HERE, None),
        ("http://d.example/", None),
        ("Reading", f"{HERE}Reading"),
    ],
)
def test_closest(iri: str, meant: str | None) -> None:
    assert closest_term(iri, KNOWN) == meant
