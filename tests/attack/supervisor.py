"""Starts workers, names the call that killed one, and goes on behind it."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .judge import Finding
from .worker import FULL, POISONED

ROOT = Path(__file__).parents[2]
BLOCK = 2000  # calls of one process


@dataclasses.dataclass
class Outcome:
    """Result of an attack."""

    calls: int
    findings: list[Finding]
    named: int = 0  # refusals that name a wild argument
    unnamed: int = 0

    def groups(self) -> dict[tuple[str, ...], list[Finding]]:
        found: dict[tuple[str, ...], list[Finding]] = {}
        for finding in self.findings:
            found.setdefault(finding.key, []).append(finding)
        return dict(
            sorted(found.items(), key=lambda pair: (pair[1][0].rank, pair[1][0].place))
        )

    def of_rank(self, rank: int) -> list[Finding]:
        return [f for f in self.findings if f.rank == rank]


def attack(seed: int, count: int) -> Outcome:
    """Make `count` calls of a seed in processes of their own."""
    findings: list[Finding] = []
    counts = [0, 0]
    with tempfile.TemporaryDirectory(prefix="attack") as name:
        start = 0
        while start < count:
            end = min(start + BLOCK, count)
            lines, reached, status = _run(seed, start, end, Path(name))
            findings += _read(lines)
            for line in lines:
                if line.startswith("["):
                    named, unnamed = json.loads(line)
                    counts = [counts[0] + named, counts[1] + unnamed]
            if status == FULL and reached > start:
                start = reached
            elif status in (POISONED, FULL):
                start = reached + 1
            elif status:
                findings.append(_death(seed, reached, status, Path(name)))
                start = reached + 1
            else:
                start = end
    return Outcome(count, findings, *counts)


def _run(
    seed: int, start: int, stop: int, folder: Path
) -> tuple[Iterable[str], int, int]:
    """Lines of a worker, the call that it reached, and its status."""
    (folder / "call").write_bytes(struct.pack("qq", seed, start))
    lines, status = _worker(folder, "calls", *map(str, (seed, start, stop)))
    _, reached = struct.unpack("qq", (folder / "call").read_bytes())
    return lines, reached, status


def shrunk(findings: Iterable[Finding]) -> list[str]:
    """Calls with as few wild arguments as possible; as they were if that fails."""
    some = list(findings)
    with tempfile.TemporaryDirectory(prefix="attack") as name:
        folder = Path(name)
        asked = [[f.seed, f.index, f.key] for f in some]
        (folder / "shrink").write_text(json.dumps(asked))
        lines, _ = _worker(folder, "shrink")
    found = [json.loads(line) for line in lines if line.startswith('"')]
    return found + [f.call for f in some[len(found) :]]


def _worker(folder: Path, *words: str) -> tuple[list[str], int]:
    """Lines and status of a process."""
    paths = [os.environ.get("PYTHONPATH", ""), str(ROOT), str(ROOT / "tests")]
    settings = {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
        "TMPDIR": str(folder),
    }
    command = [sys.executable, "-X", "faulthandler", "-m", "attack.worker"]
    with (folder / "errors").open("w") as errors:
        done = subprocess.run(
            [*command, str(folder), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | settings,
            text=True,
            errors="replace",
            check=False,
        )
    return done.stdout.splitlines(), done.returncode


def _read(lines: Iterable[str]) -> list[Finding]:
    found = []
    for line in lines:
        if line.startswith("{"):
            found.append(Finding(**json.loads(line)))
    return found


def _death(seed: int, index: int, status: int, folder: Path) -> Finding:
    """The finding of a worker that has died."""
    what = f"status {status}"
    if status < 0:
        what = signal.Signals(-status).name
    trace = (folder / "trace").read_text(errors="replace")
    endless = status == 1 and "Timeout" in trace
    if status > 0 and not endless:  # no call can do this
        raise RuntimeError((folder / "errors").read_text(errors="replace"))
    kind = "hang without an end" if endless else "crash"
    last = (folder / "errors").read_text(errors="replace").strip()[-300:]
    lines = [x.strip() for x in trace.splitlines() if "flexarm/" in x][:3]
    finding = Finding(0, kind, "?", "; ".join(lines), f"{what} {last}", seed, index)
    finding.call = _text(seed, index)
    finding.function = finding.call.partition("(")[0] or "?"
    return finding


def _text(seed: int, index: int) -> str:
    from . import calls

    try:
        return calls.build(seed, index).text
    except BaseException as error:
        return f"? ({error!r})"
