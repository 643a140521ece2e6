"""SQL in messages, in words that people write."""

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from sqlglot import exp


def show_sql(tree: "exp.Expr") -> str:
    """A piece of SQL as Spark's, but for what Spark has other words for: EXCLUDE, AT TIME ZONE,
    TIME, and plain names, which have no quotes.

    Args:
        tree: the piece.
    """
    text: str = _make_generator()(dialect="spark").generate(tree)
    return text


@cache
def _make_generator() -> Any:
    from sqlglot import exp
    from sqlglot.dialects.spark import Spark

    class Shown(Spark.Generator):  # type: ignore[misc, valid-type]
        SUPPORTS_WINDOW_EXCLUDE = True
        TRANSFORMS: ClassVar[Any] = {
            k: v for k, v in Spark.Generator.TRANSFORMS.items() if k != exp.AtTimeZone
        }

        def datatype_sql(self, expression: "exp.DataType") -> str:
            time = expression.this == exp.DataType.Type.TIME  # no type of Spark's
            return "TIME" if time else str(super().datatype_sql(expression))

        def identifier_sql(self, expression: "exp.Identifier") -> str:
            name = str(expression.name)
            plain = name.isascii() and name.isidentifier()
            return name if plain else str(super().identifier_sql(expression))

        def ordered_sql(self, expression: "exp.Ordered") -> str:
            by = self.sql(expression, "this")
            return f"{by} DESC" if expression.args.get("desc") else by

    return Shown
