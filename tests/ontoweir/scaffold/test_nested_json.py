"""`ontoweir init --from` of JSON lines as devices send them: nested objects, and arrays."""

import json
import re
import tomllib
from pathlib import Path

from tests.ontoweir.conftest import Run


def _message(n: int) -> dict[str, object]:
    return {
        "device": {"id": f"d{n % 5}", "at": {"floor": n % 3}},
        "meta": {"time": f"2026-01-05T08:{n // 60:02}:{n % 60:02}Z", "tags": ["a", "b"]},
        "values": [{"kind": "t", "v": 20 + n % 7 / 2}, {"kind": "h", "v": 50 + n % 9}],
    }


def test_messages_of_devices(run: Run, tmp_path: Path) -> None:
    messages = [_message(n) for n in range(120)]
    file, project = tmp_path / "devices.jsonl", tmp_path / "plant"
    file.write_text("".join(json.dumps(m) + "\n" for m in messages))
    ran = run("init", project, "--from", file)
    assert ran.code == 0, ran.err
    assert (
        "left out, as they are nested, or of types that are not read: devices.meta_tags" in ran.out
    )
    stream = tomllib.loads((project / "ontoweir.toml").read_text())["streams"]["devices"]
    assert stream["source"]["unnest"] == "values"
    assert stream["timestamp"] == {
        "column": "meta_time",
        "unit": "1 second",
        "format": "iso",
        "from": ["meta.time"],
    }
    paths = {name: column["from"] for name, column in stream["columns"].items()}
    assert paths == {
        "device_id": "device.id",
        "device_at_floor": "device.at.floor",
        "values_kind": "values.kind",
        "values_v": "values.v",
    }
    checked = run("check", project, "--data", "-q")
    assert checked.code == 0, checked.out
    assert "data  devices: what is declared is true of 240 rows" in checked.out
    shown = run("show", "devices-above", project, "--format", "jsonl", "--limit", "0", "-q")
    found = sorted(float(json.loads(line)["value"]) for line in shown.out.splitlines())
    query = (project / "queries" / "devices-above.rq").read_text()
    (limit,) = map(float, re.findall(r"\?value > ([\d.]+)", query))
    sent = [v for n in range(120) for v in (20 + n % 7 / 2, 50 + n % 9)]
    assert found == sorted(v for v in sent if v > limit) != []
