"""Rules of the catalog on rows that agree on columns."""

from pathlib import Path

import pytest

from ontoweir.errors import CatalogError
from ontoweir.mappings.model.catalog import Lag
from tests.runtime.harness import make_catalog


def _toml(rules: str) -> str:
    return (
        '[streams.S]\nsource = { format = "csv", path = "s.csv" }\n'
        'timestamp = { column = "ts", unit = "1 minute" }\n'
        f'{rules}\n[streams.S.columns]\nk = "int"\na = "string"\n'
    )


def test_rows_that_come_together_lag_behind_themselves(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, _toml('clustered = [{ columns = ["k"], within = "1 hour" }]'))
    (lag,) = catalog.streams["S"].lags
    assert lag == Lag("S", ("k",), ("k",), 3_600_000_000, lag.source)
    assert lag.source is not None
    assert lag.source.line == 4


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('{ columns = ["b"], within = "1 hour" }', "unknown column 'b' of 'S' in columns"),
        ('{ columns = [], within = "1 hour" }', "clustered names no columns"),
        ('{ columns = ["k"], within = "90 seconds" }', "not a whole number of the stream's steps"),
        ('{ columns = ["k"], gap = "1 hour" }', "gap"),
        ('{ columns = ["k"] }', "within"),
        ('"k"', "a list of tables"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(rule: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=said) as error:
        make_catalog(tmp_path, _toml(f"clustered = [{rule}]"))
    assert error.value.source is not None
    assert error.value.source.line in (1, 4)
