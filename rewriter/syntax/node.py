"""The tree of a query's syntax."""

from typing import Any


class Node(dict[str, Any]):
    """A part of a query: what rdflib's grammar calls it, and its own parts by their names: nodes,
    terms of rdflib, texts, and lists of these."""

    __slots__ = ("name",)

    def __init__(self, name: str, **parts: Any) -> None:
        super().__init__(parts)
        self.name = name
