"""Installs what requirements/check.txt and replay.txt list into folders of their own, and says what
they take on the disk once a new project has run there; fails where one takes more than its limit.
Bytecode is made as it is needed (pip's --no-compile, uv's default).

    .venv/bin/python .ci/measure_install.py [check] [replay] [all]

`all` is what `pip install ontoweir` brings. The packages come from pip's index: it needs a network.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS_MB = {"check": 120, "replay": 330, "all": None}
RUN = """\
import sys
sys.path.insert(0, sys.argv[1])
from ontoweir.cli import main
sys.exit(main(sys.argv[2:]))
"""


def install(name: str, folder: Path) -> None:
    """Put this version and the packages for a purpose into a folder."""
    listed = str(ROOT / "requirements" / f"{name}.txt")
    chosen = [] if name == "all" else ["--no-deps", "-r", listed]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
    subprocess.run([*pip, "--no-compile", "--no-build-isolation", *chosen, str(ROOT)], check=True)


def size_mb(folder: Path) -> float:
    """What a folder takes on the disk, in millions of bytes."""
    return sum(f.lstat().st_blocks * 512 for f in folder.rglob("*") if not f.is_dir()) / 1e6


def run(folder: Path, *arguments: str) -> None:
    """The command line with what is in a folder, and nothing else."""
    command = [sys.executable, "-I", "-S", "-c", RUN, str(folder), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main(names: list[str]) -> int:
    """Install, measure and run; 1 where a limit is passed."""
    failed = False
    for name in names or ["check", "replay"]:
        with tempfile.TemporaryDirectory(prefix="ontoweir-install-") as place:
            folder, project = Path(place, "packages"), Path(place, "project")
            install(name, folder)
            run(folder, "init", str(project), "--quiet")
            run(folder, "check", str(project), "--fail-on", "undecided", "--cache", "off")
            if name != "check":
                (query, *_) = sorted((project / "queries").iterdir())
                output = str(Path(place, "answers.csv"))
                run(folder, "replay", str(project), "--query", query.stem, "--output", output)
            limit, size = LIMITS_MB[name], size_mb(folder)
            greatest = sorted(folder.iterdir(), key=size_of, reverse=True)[:5]
            shown = ", ".join(f"{f.name} {size_of(f):.0f}" for f in greatest)
            print(f"{name}: {size:.0f} MB" + (f" of {limit}" if limit else "") + f" ({shown})")
            failed = failed or (limit is not None and size > limit)
    return int(failed)


def size_of(path: Path) -> float:
    """What a file or a folder takes."""
    return size_mb(path) if path.is_dir() else path.lstat().st_blocks * 512 / 1e6


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
