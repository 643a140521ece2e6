"""How answers are written."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.results.write_results import ResultWriter, repeating_columns, write_part

ROWS = 20_000


def _answers() -> pa.Table:
    return pa.table(
        {
            "number": list(range(ROWS)),
            "group": [n % 1_000 for n in range(ROWS)],
            "text": [f"http://example/{n}" for n in range(ROWS)],
            "road": [f"http://example/{n % 7}" for n in range(ROWS)],
            "price": [Decimal(n % 3) for n in range(ROWS)],
            "nothing": pa.nulls(ROWS, pa.int64()),
        }
    )


def test_dictionaries_are_for_values_that_repeat() -> None:
    assert repeating_columns(_answers()) == ["group", "road", "price", "nothing"]
    assert repeating_columns(_answers().slice(0, 3)) == []
    empty = _answers().slice(0, 0)
    assert repeating_columns(empty) == empty.column_names


@pytest.mark.parametrize("joined", [True, False])
def test_what_is_written_is_read_again(tmp_path: Path, joined: bool) -> None:
    table, output = _answers(), tmp_path / "out.parquet"
    with ResultWriter(output, "parquet", table.schema) as writer:
        for part in (table.slice(0, 5_000), table.slice(5_000, 1), table.slice(5_001)):
            if joined:
                write_part(part, str(tmp_path / "part"))
                writer.append(tmp_path / "part")
            else:
                writer.write(part)
        writer.commit()
    assert pq.read_table(output).equals(table)
    group = pq.ParquetFile(output).metadata.row_group(0)
    encoded = {
        column.path_in_schema: "RLE_DICTIONARY" in column.encodings
        for column in map(group.column, range(group.num_columns))
    }
    assert [n for n, dictionary in encoded.items() if dictionary] == [
        "group",
        "road",
        "price",
        "nothing",
    ]


def test_no_answers_make_a_file_without_rows(tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    with ResultWriter(output, "parquet", _answers().schema) as writer:
        writer.commit()
    assert pq.read_table(output).equals(_answers().slice(0, 0))
