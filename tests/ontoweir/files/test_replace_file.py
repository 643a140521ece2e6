"""Files of our own are replaced whole or not at all."""

from pathlib import Path

import pytest

from ontoweir.files.replace_file import replace_file, replacing


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_whole_or_not_at_all(tmp_path: Path, durable: bool, shared: bool) -> None:
    file = tmp_path / "f"
    replace_file(file, b"old", durable=durable, shared=shared)

    def fail() -> None:
        with replacing(file, durable=durable, shared=shared) as scratch:
            scratch.write_bytes(b"half of")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert file.read_bytes() == b"old"
    replace_file(file, b"new", durable=durable, shared=shared)
    assert file.read_bytes() == b"new"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]
