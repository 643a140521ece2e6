"""How long ago rows must have come."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.windows.read_sql_windows import read_sql_windows

if TYPE_CHECKING:
    from sqlglot import exp


def read_delay(
    late: "Sequence[exp.Expr]", alias: str, stream: Stream, catalog: Catalog
) -> int | None:
    """How long before NOW() a row comes that is shown, in µs, whole steps (None: something else is
    said).

    Args:
        late: conditions on NOW().
        alias: of the stream.
        stream: of which they are.
        catalog: the tables.
    """
    from sqlglot import exp

    table = exp.Table(this=exp.to_identifier(stream.name, quoted=True))
    table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    asked = exp.Select(expressions=[exp.column(stream.timestamp, alias, quoted=True)])
    asked = asked.from_(table).where(*(c.copy() for c in late))
    try:
        windows = read_sql_windows(asked, catalog)
    except SqlRefusal:
        return None
    buckets = [column.bucket for _, column in windows.columns]
    if windows.ends or not windows.begins or windows.tree.args.get("where") is not None:
        return None
    times = [
        b.buckets.after_us for b in buckets if b is not None and isinstance(b.buckets, Moments)
    ]
    if len(times) < len(buckets) or min(times) <= 0:
        return None
    return -(-max(times) // stream.step_us) * stream.step_us
