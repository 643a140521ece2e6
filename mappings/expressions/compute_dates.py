"""Parts of dates and times."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.expression import Function


def compute_date_part(function: Function, values: "pa.Array") -> "pa.Array":
    """A part of each date or time in UTC, as a whole number."""
    match function:
        case Function.YEAR:
            return pc.year(values)
        case Function.QUARTER:
            return pc.quarter(values)
        case Function.MONTH:
            return pc.month(values)
        case Function.WEEK:
            return pc.iso_week(values)
        case Function.DAY:
            return pc.day(values)
        case Function.DAY_OF_YEAR:
            return pc.day_of_year(values)
        case Function.DAY_OF_WEEK:
            return pc.day_of_week(values, count_from_zero=False, week_start=1)
        case Function.HOUR:
            return pc.hour(values)
        case Function.MINUTE:
            return pc.minute(values)
        case Function.SECOND:
            return pc.second(values)
        case Function.SECONDS:
            parts = pc.add(pc.multiply(pc.millisecond(values), 1000), pc.microsecond(values))
            micros = pc.add(pc.multiply(pc.second(values), 1_000_000), parts)
            place = pa.scalar(Decimal("0.000001"), pa.decimal128(7, 6))
            made = pc.multiply(micros.cast(pa.decimal128(19, 0)), place)
            return made.cast(pa.decimal128(8, 6))
        case _:
            raise AssertionError(f"{function} is no part of a date")
