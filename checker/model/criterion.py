"""The outcome of a criterion on a disjunct: what failed, and where."""

from dataclasses import dataclass

from ontoweir.errors import Source


@dataclass(frozen=True, slots=True)
class Failure:
    """A violated condition: its name ("E1"), a sentence, a hint, and where it comes from.

    `value`: the class to blame; `values`: all classes involved, if more than it; `members`: the
    members involved.
    """

    condition: str
    message: str
    hint: str
    value: int | None = None
    members: tuple[int, ...] = ()
    source: Source | None = None
    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """The outcome of one criterion by name; it holds iff nothing failed.

    `necessary`: whether its failing means that the query is unbounded.
    """

    name: str
    failures: tuple[Failure, ...]
    necessary: bool

    @property
    def holds(self) -> bool:
        """Whether every condition holds."""
        return not self.failures

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the violated conditions, in order, once each."""
        return tuple(dict.fromkeys(f.condition for f in self.failures))
