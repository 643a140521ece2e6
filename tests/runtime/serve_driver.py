"""A server of a registry in its own process, killed from outside: `serve_driver.py FOLDER ONCE`.

`serve_driver.py FOLDER ONCE JARS KILL`: with jars (commas between), and killing itself at a call
that changes the disk (0: never).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.errors import OntoweirError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.registry.serving import serve_registry
from ontoweir.run.run_options import RunOptions
from tests.runtime.kill_at import kill_at


def main() -> None:
    """Serve; everything that is told goes to stdout."""
    folder, once = Path(sys.argv[1]), sys.argv[2] == "once"
    java = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1", "spark.master": "local[1]"}
    if len(sys.argv) > 3:
        java["spark.jars"] = sys.argv[3]
        if int(sys.argv[4]):
            kill_at("at-the-disk", int(sys.argv[4]))
    options = RunOptions(None, folder / "out", once=once, progress=False, spark=java, seconds=0.2)
    try:
        serve_registry(
            lambda: Workspace(load_project(folder, environ={})),
            folder / "registry",
            options,
            on_event=lambda text: print(text, flush=True),
        )
    except OntoweirError as error:
        print(error, flush=True)
        raise SystemExit(error.exit_code) from None


if __name__ == "__main__":
    main()
