"""Parts of dates and times, and what is computed of them."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.mappings.model.expression import Call, Function, Value


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


def compute_time(call: Call, values: "pa.Array") -> "pa.Array":
    """A function of dates or times, whose other arguments are constants."""
    constants = [a.value for a in call.arguments if isinstance(a, Value)]
    match call.function:
        case Function.EPOCH_US:
            return values.cast(pa.int64())
        case Function.ADD_US:
            micros = pc.add_checked(values.cast(pa.int64()), constants[-1])
            return micros.cast(pa.timestamp("us"))
        case Function.BIN:
            width, origin = (int(str(c)) for c in constants)
            micros = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
            absent = values.is_null().to_numpy(zero_copy_only=False)
            whole = np.where(absent, 0, micros).astype(np.int64)
            begin = (whole - origin) // width * width + origin
            return pa.array(begin, mask=absent).cast(pa.timestamp("us"))
        case Function.TRUNCATE:
            return pc.floor_temporal(values, unit=str(constants[0]))
        case Function.FORMAT:
            whole = pc.floor_temporal(values, unit="second").cast(pa.timestamp("s"))
            return pc.strftime(whole, str(constants[-1]), locale="C")  # of seconds, no fractions
        case _:
            raise AssertionError(f"{call.function} is no function of times")
