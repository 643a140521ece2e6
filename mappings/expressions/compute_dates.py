"""Parts of dates and times."""

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
        case _:
            raise AssertionError(f"{function} is no part of a date")
