"""Runs commands of the shell under limits, and judges how they end."""

import os
import resource
import subprocess
import sys
from pathlib import Path

GB = 1 << 30


def run(arguments, folder, *, address=None, file_size=None, **environment):
    """Return how a command ended under limits on the address space and on the size of a file, in bytes."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if address is not None:
            resource.setrlimit(resource.RLIMIT_AS, (int(address), int(address)))
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    scratch = Path(folder) / "scratch"
    scratch.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "tacit", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(scratch), **environment},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )


def names_in(folder):
    """Return everything in a folder, hidden files too; the folder for scratch files must be empty."""
    return {str(p.relative_to(folder)) for p in Path(folder).rglob("*")}


def require_sentence(ended):
    """Require success, or a failure that is told in a sentence; never a signal or a trace of calls."""
    told = ended.stderr.replace("\n", " ")
    assert ended.returncode >= 0, f"ended by signal {-ended.returncode}: {told}"
    assert "Traceback" not in told, told
    assert "went wrong inside" not in told, told
    if ended.returncode:
        assert told.count("error: ") == 1, told
