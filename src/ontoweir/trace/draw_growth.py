"""A chart of what a counterexample forces a query to keep, next to its repaired form."""

from ontoweir.draw.draw_chart import Chart, Series
from ontoweir.trace.grow_witness import Growth


def chart_growth(growth: Growth) -> Chart:
    """The tuples that must be remembered, rising, and what the repaired query keeps, flat."""
    size = len(growth.needed)
    series = [
        Series(
            "as it is: tuples that must be remembered",
            ((0.0, 0.0), *((n, float(y)) for n, y in enumerate(growth.needed, 1))),
            1,
            dots=True,
        )
    ]
    caption = (
        f"Of {size} tuples of a counterexample to {growth.name}, {growth.needed[-1]} must be "
        "remembered, proved by plain evaluation of the query, and so on for ever."
    )
    repaired = growth.repaired
    if repaired is not None:
        action = "; ".join(repaired.actions)
        series.append(
            Series(
                f"repaired ({action}): rows kept",
                ((0.0, 0.0), *((n, float(y)) for n, y in enumerate(repaired.kept, 1))),
                0,
                dots=True,
            )
        )
        series.append(
            Series(
                f"bound of the repaired query over these static data: {repaired.bound:,} rows",
                ((0.0, float(repaired.bound)), (float(size), float(repaired.bound))),
                0,
                dashed=True,
            )
        )
        caption += (
            f" Repaired ({action}), it keeps at most {max(repaired.kept)} rows of the same data, "
            f"and never more than {repaired.bound:,}."
        )
    return Chart(
        f"State of {growth.name}",
        caption,
        "tuples of the counterexample that have arrived",
        "rows",
        tuple(series),
        height=320.0,
    )
