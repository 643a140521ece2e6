"""Let times that are in UTC say so."""

import pyarrow as pa


def give_zone(rows: pa.Table) -> pa.Table:
    """Rows, with the zone UTC for times that have none: all times of answers are in UTC, and who
    reads them elsewhere would take them for those of the place where it is."""
    fields = [
        pa.field(f.name, pa.timestamp(f.type.unit, "UTC"), f.nullable)
        if pa.types.is_timestamp(f.type) and f.type.tz is None
        else f
        for f in rows.schema
    ]
    return rows.replace_schema_metadata(None).cast(pa.schema(fields))
