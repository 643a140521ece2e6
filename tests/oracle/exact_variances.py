"""Variances and covariances of doubles, as DuckDB computes them of whole numbers."""

from random import Random


def draw_of_doubles(random: Random, column: str, other: str) -> tuple[str, str]:
    """As we read it, and as DuckDB computes it of whole numbers: doubles are multiples of 2^-12."""
    x, y = (f"({c} * 4096)::HUGEINT" for c in (column, other))
    both = f"FILTER ({column} IS NOT NULL AND {other} IS NOT NULL)"
    n = f"(COUNT(*) {both})"

    def scatter(one: str, two: str) -> str:
        product = f"{n} * SUM({one} * {two}) {both}"
        return f"({product} - SUM({one}) {both} * SUM({two}) {both})::DOUBLE"

    population = f"{scatter(x, y)} / NULLIF(16777216.0 * {n} * {n}, 0)"
    sample = f"{scatter(x, y)} / NULLIF(16777216.0 * {n} * ({n} - 1), 0)"
    if column == other:
        return random.choice(
            [
                (f"VAR_POP({column})", population),
                (f"VARIANCE({column})", sample),
                (f"STDDEV({column})", f"sqrt({sample})"),
                (f"STDDEV_POP({column})", f"sqrt({population})"),
            ]
        )
    wide, high = f"NULLIF({scatter(y, y)}, 0)", f"NULLIF({scatter(x, x)}, 0)"
    return random.choice(
        [
            (f"COVAR_POP({column}, {other})", population),
            (f"COVAR_SAMP({column}, {other})", sample),
            (f"CORR({column}, {other})", f"{scatter(x, y)} / sqrt({wide}) / sqrt({high})"),
            (f"REGR_SLOPE({column}, {other})", f"{scatter(x, y)} / {wide}"),
        ]
    )
