"""What `check` shows of a query, decided now or before."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import OntoweirError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RenderedVerdict:
    """The name of a verdict ("bounded" …), its tier, and what is printed: text or JSON; of a
    refused query why it is."""

    name: str
    tier: Tier | None
    shown: Any
    error: OntoweirError | None = None


@dataclass(frozen=True, slots=True)
class Rendered(Generic[T]):
    """What was rendered of a query, the warnings said meanwhile, and whether it is what it always
    will be: decided, and in time."""

    made: T
    said: tuple[str, ...]
    final: bool
