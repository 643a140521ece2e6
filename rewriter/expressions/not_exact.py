"""What is not computed exactly as SPARQL has it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.expressions.build import TypeClash
from ontoweir.mappings.model.expression import Expression


class NotExactError(Exception):
    """What is not computed exactly as SPARQL has it; the text says what, and what to write."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


class LazyValues(dict[str, Expression]):
    """What variables are: `values`, and terms; a term that is not computed with is an error only
    where it is used."""

    def __init__(
        self, terms: Mapping[str, Expression | NotExactError], values: Mapping[str, Expression]
    ) -> None:
        super().__init__(values)
        self.terms = terms

    def __missing__(self, name: str) -> Expression:
        term = self.terms[name]
        if isinstance(term, NotExactError):
            raise term
        return term


@contextmanager
def refusing_inexact(source: Source | None, what: str = "an expression") -> Iterator[None]:
    """While it lasts, what is not computed exactly, or mixes types, is refused by its place.

    Args:
        source: where the expression is written.
        what: it is.

    Raises:
        QueryError: for NotExactError and TypeClash.
    """
    try:
        yield
    except NotExactError as error:
        raise QueryError(
            f"{error.what} is not computed",
            why="it would not be exactly what SPARQL says, or not of a literal's value",
            fix=error.fix,
            source=source,
        ) from None
    except TypeClash as clash:
        raise QueryError(
            f"{what} mixes types: {clash}",
            why="its values have no common type",
            fix="cast one of them, as by xsd:double(?x)",
            source=source,
        ) from None
