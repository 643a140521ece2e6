"""The error that a task ended with, as a value: it is passed from process to process."""

from dataclasses import dataclass

from ontoweir.errors import OntoweirError, Source


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """The error that a task ended with: its class, and its parts."""

    kind: type[OntoweirError]
    what: str
    why: str
    fix: str
    source: Source | None

    @property
    def error(self) -> OntoweirError:
        """The error."""
        return self.kind(self.what, why=self.why, fix=self.fix, source=self.source)


def describe_failure(error: OntoweirError) -> TaskFailure:
    """An error as a value."""
    return TaskFailure(type(error), error.what, error.why, error.fix, error.source)
