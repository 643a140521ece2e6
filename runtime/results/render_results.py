"""From a kernel's results to rows: terms rendered, one column per variable."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.units import kind_of
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Output,
    SpjUnion,
    TemplateLiteralOutput,
)
from ontoweir.runtime.columnar.add_exact import add_exact, narrow
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.columnar.columns import value
from ontoweir.runtime.columnar.encode import unscale_floats
from ontoweir.runtime.columnar.exact_decimals import decode_decimals
from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Array, Frame
from ontoweir.runtime.columnar.write_texts import encode_texts, show_texts, write_texts
from ontoweir.runtime.pool.string_pool import StringPool

AT, UNTIL, MULTIPLICITY = "at", "until", "multiplicity"
INSTANT = pa.timestamp("us")
"""Points in time are UTC without a zone, as the sources have them."""


def result_schema(union: SpjUnion, catalog: Catalog) -> pa.Schema:
    """The columns of results: the variables, `at`, of windows `until`, and `multiplicity` for the
    bag semantics.

    A literal keeps its column's type; other terms, and variables that disjuncts make of
    different types, are strings.
    """
    fields = []
    for name in union.variables:
        if name in union.ends:
            continue
        kinds = set()
        for query in union.disjuncts:
            output = dict(query.outputs)[name]
            types = Types(catalog, query.occurrences)
            if isinstance(output, LiteralOutput | NullOutput):
                kinds.add(result_type(types.type_of(output.value)))
            else:
                kinds.add(pa.string())
        fields.append(pa.field(name, kinds.pop() if len(kinds) == 1 else pa.string()))
    fields.append(pa.field(AT, INSTANT))
    if union.ends:
        fields.append(pa.field(UNTIL, INSTANT))
    if not union.distinct:
        fields.append(pa.field(MULTIPLICITY, pa.int64()))
    return pa.schema(fields)


def result_type(kind: ColumnType) -> pa.DataType:
    """The Arrow type of results whose values are of a type."""
    if isinstance(kind, DecimalType):
        return pa.decimal128(max(kind.precision, 19), kind.scale)
    return arrow_type(kind)


def render_results(
    results: Frame,
    form: NormalForm,
    catalog: Catalog,
    schema: pa.Schema,
    pool: StringPool,
    step_us: int,
) -> pa.Table:
    """A plan's results as rows of `schema`."""
    types = Types(catalog, form.query.occurrences)
    work = _Rendering(results, form, types, pool)
    outputs = dict(form.query.outputs)
    columns: dict[str, pa.Array] = {}
    for entry in schema:
        if entry.name in outputs:
            columns[entry.name] = _as(work.render(outputs[entry.name]), entry.type)
    micros = np.maximum(results[EVENT], -(1 << 62) // step_us) * step_us
    columns[AT] = pa.array(micros).cast(INSTANT)
    if UNTIL in schema.names:
        ends = [work.render(o) for name, o in outputs.items() if name not in schema.names]
        columns[UNTIL] = pc.min_element_wise(*ends).cast(INSTANT)
    if MULTIPLICITY in schema.names:
        columns[MULTIPLICITY] = pa.array(results[WEIGHT])
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _as(column: "pa.Array", kind: pa.DataType) -> "pa.Array":
    if column.type == kind:
        return column
    return show_texts(column) if pa.types.is_string(kind) else column.cast(kind)


@dataclass(frozen=True, slots=True)
class _Rendering:
    results: Frame
    form: NormalForm
    types: Types
    pool: StringPool

    def render(self, output: Output) -> "pa.Array":
        """A column of terms."""
        match output:
            case LiteralOutput(value=attribute):
                if not isinstance(self.types.type_of(attribute), StringType | DecimalType):
                    return self._decode(self._shifted(attribute), attribute)
                codes, inner = self._codes(attribute)
                return self._decode(codes, attribute).take(pa.array(inner))
            case ConstantOutput(value=text):
                return pa.repeat(pa.scalar(text), self.results.rows)
            case NullOutput(value=attribute):
                return pa.nulls(self.results.rows, result_type(self.types.type_of(attribute)))
            case IriOutput(parts=(Attribute() as attribute,)):
                codes, inner = self._codes(attribute)
                return write_texts(self._decode(codes, attribute)).take(pa.array(inner))
            case IriOutput(parts=parts):
                return self._template(parts, encoded=True)
            case TemplateLiteralOutput(parts=parts):
                return self._template(parts, encoded=False)
            case BlankOutput(parts=parts):
                return self._template(("_:", *parts), encoded=True)
            case _:
                assert_never(output)

    def _template(self, parts: tuple[str | Attribute, ...], *, encoded: bool) -> "pa.Array":
        """Parts joined; each distinct row is rendered once."""
        attributes = list(dict.fromkeys(p for p in parts if isinstance(p, Attribute)))
        codes = {a: self._codes(a) for a in attributes}
        if len(attributes) == 1:
            distinct, inner = codes[attributes[0]]
            joined = self._join(parts, {attributes[0]: (distinct, None)}, encoded, len(distinct))
            return joined.take(pa.array(inner))
        return self._join(parts, dict(codes), encoded, self.results.rows)

    def _join(
        self,
        parts: tuple[str | Attribute, ...],
        codes: Mapping[Attribute, tuple[Array, Array | None]],
        encoded: bool,
        rows: int,
    ) -> "pa.Array":
        pieces = []
        for part in parts:
            if isinstance(part, str):
                pieces.append(pa.repeat(pa.scalar(part), rows))
                continue
            distinct, inner = codes[part]
            texts = write_texts(self._decode(distinct, part))
            if encoded and not isinstance(self.types.type_of(part), IntType):
                texts = encode_texts(texts)
            pieces.append(texts if inner is None else texts.take(pa.array(inner)))
        return pc.binary_join_element_wise(*pieces, "")

    def _codes(self, attribute: Attribute) -> tuple[Array, Array]:
        """The distinct values of an attribute in units, and which each row has."""
        distinct, inner = np.unique(self._shifted(attribute), return_inverse=True)
        return distinct, inner.reshape(-1)

    def _shifted(self, attribute: Attribute) -> Array:
        """An attribute's values in units."""
        index = self.form.class_of[attribute]
        shift = dict(self.form.classes[index].attributes)[attribute]
        column: Array = self.results[value(index)]
        return narrow(add_exact(column, shift), "a value of an answer")

    def _decode(self, codes: Array, attribute: Attribute) -> "pa.Array":
        """Values in units as Arrow values of the attribute's type."""
        kind = self.types.type_of(attribute)
        unit = self.form.unit_of(kind_of(kind))
        if isinstance(kind, FloatType):
            return pa.array(unscale_floats(codes, unit))
        if codes.dtype != np.int64:
            codes = np.rint(codes).astype(np.int64)
        match kind:
            case IntType():
                return pa.array(codes // unit)
            case DecimalType(scale=scale):
                return decode_decimals(codes // (unit // 10**scale), result_type(kind))
            case StringType():
                return self.pool.take(codes).cast(pa.string())
            case BooleanType():
                return pa.array(codes.astype(np.bool_))
            case DateType():
                return pa.array(codes.astype(np.int32)).cast(pa.date32())
            case TimestampType():
                return pa.array(codes).cast(INSTANT)
            case _:
                assert_never(kind)
