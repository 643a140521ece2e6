"""Refuses answers whose text is made from a double."""

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import FloatType
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.query import Variable
from ontoweir.rewriter.model.spj import Output, output_attributes


def refuse_float_texts(
    variable: Variable, output: Output, types: Types, source: Source | None
) -> None:
    """Raises for an answer that is a text made from a double, which SQL and RDF write otherwise
    (1.0E-7 in one, 0.0000001 in the other). Joined and compared it is exact.

    Raises:
        QueryError: as said.
    """
    for attribute in output_attributes(output):
        if isinstance(types.type_of(attribute), FloatType):
            raise QueryError(
                f"?{variable.name} is a text made from {attribute}, a double",
                why="SQL and RDF write doubles differently, so terms would not be the same",
                fix=f"declare {attribute.column} as decimal(p,s) or string, or do not select "
                f"?{variable.name}",
                source=source,
            )
