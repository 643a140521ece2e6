"""`ontoweir check` says by what rows follow each other that an order leaves equal."""

from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

ORDERS = {"ORDER BY n DESC": 1, "ORDER BY n DESC, report_id": 0}
SAID = "ows that are equal in ORDER BY COUNT(*) DESC follow each other by report_id"


@pytest.mark.parametrize(("order", "often"), ORDERS.items())
@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_each_format_says_it(
    order: str, often: int, form: str, run: Run, project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "busiest.sql"
    file.write_text(
        "SELECT report_id, COUNT(*) AS n FROM traffic WHERE ts > NOW() - INTERVAL '1' HOUR "
        f"GROUP BY report_id {order} LIMIT 3"
    )
    ran = run("check", "--project", project, "--sql", file, "--format", form)
    assert ran.code == 0
    assert ran.out.count(SAID) == often
