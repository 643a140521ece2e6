"""Terms that patterns bind as values that are computed with."""

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import (
    BooleanType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
)
from ontoweir.mappings.model.column_types import XSD, name_column_type, natural_datatype
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.expressions.not_exact import NotExactError
from ontoweir.rewriter.expressions.type_expression import NOTHING, literal_value
from ontoweir.rewriter.expressions.type_term import field_text, name_field
from ontoweir.rewriter.model.query import Literal
from ontoweir.rewriter.model.spj import (
    ConstantOutput,
    LiteralOutput,
    NullOutput,
    Output,
    TemplateLiteralOutput,
)


def term_value(output: Output, types: Types) -> Expression | NotExactError:
    """A term as a value that is computed with; or why it is none."""
    match output:
        case LiteralOutput(value=attribute, datatype=datatype, language=None):
            kind = types.type_of(attribute)
            field = Field(name_field(attribute), kind)
            return _as_datatype(field, datatype)
        case ConstantOutput(value=text, is_iri=False, datatype=datatype, language=None):
            try:
                return literal_value(Literal(text, datatype))
            except NotExactError as error:
                return error
        case TemplateLiteralOutput(parts=parts, datatype=None, language=None):
            made: list[Expression] = []
            for part in parts:
                if isinstance(part, str):
                    made.append(Value(part, StringType()))
                    continue
                try:
                    made.append(field_text(part, types))
                except NotExactError as error:
                    return error
            return Call(Function.CONCAT, tuple(made), StringType())
        case NullOutput():
            return NOTHING
        case LiteralOutput(language=str()):
            return NotExactError(
                "a text of a language in an expression",
                "write STR(?x), its text without the language; LANG(?x) is the language",
            )
        case _:
            return NotExactError(
                "an IRI, a blank node or a text of a language in an expression",
                "compute with the value of a property",
            )


def _as_datatype(field: Field, datatype: str | None) -> Expression | NotExactError:
    """A column's value as the literal's datatype has it."""
    kind = field.type
    if datatype == natural_datatype(kind) or (
        datatype == XSD + "string" and isinstance(kind, StringType)
    ):
        return field
    match kind, (datatype or XSD + "string").removeprefix(XSD):
        case IntType(), "int" | "long" | "short" | "byte" | "nonNegativeInteger":
            return field
        case IntType(), "decimal":
            return build.cast(field, DecimalType(19, 0))
        case ((IntType() | DecimalType()), "double"):
            return build.cast(field, FloatType())
        case ((IntType() | BooleanType()), "string"):
            return _as_text(field)
        case _:
            return NotExactError(
                f"a value of type {name_column_type(kind)} mapped to <{datatype}>",
                "map the column with its own datatype",
            )


def _as_text(field: Field) -> Expression:
    if isinstance(field.type, StringType):
        return field
    return Call(Function.TRY_CAST, (field,), StringType())
