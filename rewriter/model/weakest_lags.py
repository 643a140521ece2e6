"""What several streams' lags have in common."""

from collections.abc import Sequence

from ontoweir.mappings.model.catalog import Lag


def weakest_lags(of_each: Sequence[Sequence[Lag]]) -> tuple[Lag, ...]:
    """The lags that all have: behind one stream, joined on the same columns; the longest."""
    shortest = [
        {(lag.behind, frozenset(zip(lag.columns, lag.to, strict=True))): lag for lag in ordered}
        for ordered in (sorted(lags, key=lambda lag: -lag.within_us) for lags in of_each)
    ]
    common = [join for join in shortest[0] if all(join in lags for lags in shortest)]
    return tuple(max((own[join] for own in shortest), key=lambda g: g.within_us) for join in common)
