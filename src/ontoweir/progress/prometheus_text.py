"""Numbers in the text format of Prometheus."""

from collections.abc import Iterator, Sequence

PREFIX = "ontoweir_"


def list_series(
    name: str, kind: str, text: str, values: "Sequence[tuple[dict[str, str], float]]"
) -> Iterator[str]:
    """The lines of a metric (none: it has no values).

    Args:
        name: after the prefix.
        kind: gauge or counter.
        text: what it is.
        values: labels, and the number that they have.
    """
    if not values:
        return
    yield f"# HELP {PREFIX}{name} {text}"
    yield f"# TYPE {PREFIX}{name} {kind}"
    for labels, number in values:
        inner = ",".join(f'{key}="{_escape(label)}"' for key, label in labels.items())
        yield f"{PREFIX}{name}{{{inner}}} {number}" if inner else f"{PREFIX}{name} {number}"


def _escape(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
