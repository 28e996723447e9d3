"""Make every mutant of the table, and show which test notices it.

    python3 tests/mutation/run.py --output results.jsonl     # all, about an hour
    python3 tests/mutation/run.py --only constraints.c       # some
    python3 tests/mutation/run.py --list

The checkout is not touched: each job works in a copy of its tracked files. There it
builds the extension once, then for each mutant changes one line, builds again if that
is C, runs the tests that are likely to notice until the first one fails, and, if none
does, the whole fast suite. At the end the tests that noticed something run without any
mutant: what fails then proves nothing, is left out, and its mutants are made again.
Results go to the file of ``--output`` as they come; a
second call with the same file goes on where the first one ended.

Exit status: 0 if every mutant was killed, 1 if some survived, 2 if the table is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from mutants import Mutant, table

ROOT = Path(__file__).resolve().parents[2]
SHORT, LONG = 900, 3600  # s, for likely tests and for the suite; a hang ends then
CACHES = {"__pycache__", ".pytest_cache", ".hypothesis", ".git"}


running: set[subprocess.Popen[str]] = set()
ending = threading.Event()  # by a signal


class Broken(Exception):
    """The table or the sources are wrong, not the tests."""


def build(checkout: Path) -> subprocess.CompletedProcess[str]:
    """Compile what is stale in a checkout, as fast as it goes."""
    return subprocess.run(
        [".ci/quick"],
        cwd=checkout,
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )


@dataclass
class Result:
    """Outcome of a mutant."""

    outcome: str  # killed, timeout, survived, or unnoticed by the likely tests
    by: str = ""
    seconds: float = 0.0

    @property
    def line(self) -> str:
        """How it ended, in one line."""
        what = {"killed": f"killed by {self.by}", "timeout": "killed by a timeout"}
        return f"{what.get(self.outcome, self.outcome.upper())} ({self.seconds:.0f} s)"


@dataclass
class Copy:
    """A private copy of the sources, with what was built from them."""

    path: Path
    tracked: list[str]
    deselected: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, root: Path, path: Path) -> Copy:
        """Copy the tracked files of a checkout."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        tracked = [name for name in listed.split("\0") if (root / name).is_file()]
        for name in tracked:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, path / name)
        return cls(path, tracked)

    def copied(self, path: Path) -> Copy:
        """Return another one, with times of files as they are."""
        shutil.copytree(self.path, path)
        return Copy(path, self.tracked)

    def take_extension(self, root: Path) -> bool:
        """Copy what is built in the checkout; tell whether there is something."""
        found = [*root.glob("flexarm/_core*.so"), *root.glob("flexarm/_libs/*")]
        for file in found:
            target = self.path / file.relative_to(root)
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(file, target)
        return any(file.suffix == ".so" for file in found)

    def untracked(self) -> list[Path]:
        """Files that were built, without caches."""
        known = set(self.tracked)
        return [
            file
            for file in self.path.rglob("*")
            if file.is_file()
            and str(file.relative_to(self.path)) not in known
            and not CACHES & set(file.relative_to(self.path).parts)
        ]

    def keep_built(self, store: Path) -> None:
        """Keep objects and extension beside the copy."""
        for file in self.untracked():
            target = store / file.relative_to(self.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)

    def restore_built(self, store: Path) -> None:
        """Put back what was kept, and nothing else."""
        for file in self.untracked():
            file.unlink()
        shutil.copytree(store, self.path, dirs_exist_ok=True)

    def write(self, file: str, text: str) -> None:
        """Change a source; no byte code of another version may be left."""
        path = self.path / file
        path.write_text(text)
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            stale.unlink()

    def pytest(self, arguments: list[str], seconds: float) -> tuple[int | None, str]:
        """Run tests; exit status, None for a timeout, and what they printed."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTEST_")
        }
        if (self.path / "build" / "quick").exists():
            environment["FLEXARM_BUILD"] = "quick"
        options = ["-q", "--tb=no", "-rfE", "-n", "0", "-p", "no:cacheprovider"]
        options += [f"--deselect={test}" for test in self.deselected]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *arguments],
            cwd=self.path,
            env={**environment, "PYTHONPATH": str(self.path), "COLUMNS": "400"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        running.add(process)
        try:
            printed = process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
        finally:
            running.discard(process)
        if ending.is_set():
            raise Broken("interrupted")
        return process.returncode, printed


def end(number: int, frame: object) -> None:
    """End at a signal, and the tests with it."""
    ending.set()
    for process in list(running):
        os.killpg(process.pid, signal.SIGKILL)
    raise SystemExit(128 + number)


def failed_tests(printed: str) -> list[str]:
    """Names out of the short summary of pytest."""
    return re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", printed, re.MULTILINE)


def judged(status: int | None, printed: str) -> Result | None:
    """Result of one run of tests, or None if all passed."""
    if status == 0:
        return None
    if status is None:
        return Result("timeout")
    found = failed_tests(printed)
    if found:
        return Result("killed", found[0])
    if status in (1, 2, 3) or status < 0 or status > 5:
        last = printed.strip().splitlines()[-1:] or [""]
        return Result("killed", f"crash ({status}): {last[0][:60]}")
    raise Broken(f"pytest ended with {status}: {printed[-500:]}")


def one_mutant(copy: Copy, store: Path, mutant: Mutant, only_likely: bool) -> Result:
    """Make a mutant, test it, and put everything back."""
    began = time.perf_counter()
    path = copy.path / mutant.file
    text, stat = path.read_text(), path.stat()
    is_c = not mutant.file.endswith(".py")
    copy.write(mutant.file, mutant.applied(text))
    try:
        if is_c:
            made = build(copy.path)
            if made.returncode:
                lines = (made.stdout + made.stderr).splitlines()
                errors = [line for line in lines if "error:" in line] or lines[-3:]
                raise Broken(f"{mutant.key}: does not build: {' '.join(errors[:2])}")
        likely = list(mutant.tests)
        if not is_c:  # the examples in its docstrings
            likely.append(mutant.file)
        result = None
        if likely:
            status, printed = copy.pytest(["-x", *likely], SHORT)
            # 5: a module without any example
            result = None if status == 5 else judged(status, printed)
        if result is None and only_likely:
            result = Result("unnoticed")
        if result is None:
            result = judged(*copy.pytest(["-x"], LONG)) or Result("survived")
    finally:
        copy.write(mutant.file, text)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        if is_c:
            copy.restore_built(store)
    result.seconds = time.perf_counter() - began
    return result


def chosen(pattern: str | None) -> list[Mutant]:
    """Mutants whose file or words contain a pattern; each one must fit its file."""
    every = table()
    faults = []
    for mutant in every:
        try:
            changed = mutant.applied((ROOT / mutant.file).read_text())
            if mutant.file.endswith(".py"):
                compile(changed, mutant.file, "exec")
        except (LookupError, OSError, SyntaxError) as error:
            faults.append(str(error))
        faults += [
            f"{mutant.file}: no tests in {test}"
            for test in mutant.tests
            if not (ROOT / test).exists()
        ]
    repeated = [key for key, n in Counter(m.key for m in every).items() if n > 1]
    faults += [f"twice in the table: {key}" for key in repeated]
    if faults:
        raise Broken("\n".join(faults))
    return [m for m in every if re.search(pattern or "", f"{m.file}: {m.wrong}")]


def read_results(path: Path | None, retry: bool) -> dict[str, Result]:
    """Results of earlier calls."""
    known: dict[str, Result] = {}
    if path is not None and path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            known[row["key"]] = Result(row["outcome"], row["by"], row["seconds"])
    good = ("killed", "timeout")
    return {k: r for k, r in known.items() if r.outcome in good or not retry}


def as_markdown(mutants: list[Mutant], results: dict[str, Result]) -> str:
    """The table of the closing note."""
    lines = ["| file | mistake | noticed by | s |", "|---|---|---|---|"]
    for m in mutants:
        if m.key in results:
            r = results[m.key]
            by = r.by or f"**{r.outcome}**"
            lines.append(f"| {m.file} | {m.wrong} | {by} | {r.seconds:.0f} |")
    return "\n".join(lines)


def prepared(home: Path, mutants: list[Mutant], jobs: int) -> list[Copy]:
    """Copies with an extension, one for each job."""
    first = Copy.of(ROOT, home / "0")
    if any(m.file.startswith("csrc/") for m in mutants) or not first.take_extension(
        ROOT
    ):
        made = build(first.path)
        if made.returncode:
            raise Broken(f"the sources do not build: {made.stderr[-2000:]}")
    first.keep_built(home / "built")
    where = subprocess.run(
        [sys.executable, "-c", "import flexarm; print(flexarm.__file__)"],
        cwd=first.path,
        env={**os.environ, "PYTHONPATH": str(first.path)},
        capture_output=True,
        text=True,
    )
    if not where.stdout.startswith(str(first.path)):
        raise Broken(f"another flexarm is imported: {where.stdout}{where.stderr}")
    return [first, *(first.copied(home / str(i)) for i in range(1, jobs))]


class Session:
    """One call: results as they come, on paper too."""

    def __init__(self, arguments: argparse.Namespace, mutants: list[Mutant]) -> None:
        self.arguments, self.mutants = arguments, mutants
        self.results = read_results(arguments.output, arguments.retry)
        self.faults: list[str] = []
        self.stopped = False

    def record(self, mutant: Mutant, result: Result) -> None:
        """Keep a result, print it, and write it down."""
        self.results[mutant.key] = result
        print(f"{mutant.file}: {mutant.wrong}: {result.line}", flush=True)
        if self.arguments.output is not None:
            row = {"key": mutant.key, **vars(result)}
            with open(self.arguments.output, "a") as file:
                file.write(json.dumps(row) + "\n")

    def make(self, copies: list[Copy], built: Path, mutants: list[Mutant]) -> None:
        """Make mutants, as many at once as there are copies."""
        free: queue.Queue[Copy] = queue.Queue()
        for copy in copies:
            free.put(copy)

        def work(mutant: Mutant) -> Result | None:
            if self.stopped or ending.is_set():
                return None
            copy = free.get()
            try:
                return one_mutant(copy, built, mutant, self.arguments.likely)
            finally:
                free.put(copy)

        with ThreadPoolExecutor(len(copies)) as pool:
            tasks = {pool.submit(work, mutant): mutant for mutant in mutants}
            for task in as_completed(tasks):
                try:
                    result = task.result()
                except Broken as error:
                    self.faults.append(str(error))
                    print(error, flush=True)
                    continue
                if result is not None:
                    self.record(tasks[task], result)
                    if result.outcome in ("survived", "unnoticed"):
                        self.stopped |= not self.arguments.keep_going

    def accused(self, copies: list[Copy], mutants: list[Mutant]) -> list[Mutant]:
        """Mutants killed by tests that fail without them too; these are left out."""
        by = {m.key: self.results[m.key].by for m in mutants if m.key in self.results}
        tests = sorted({test for test in by.values() if "::" in test})
        if not tests:
            return []
        print(f"{len(tests)} tests without a mutant ...", flush=True)
        _, printed = copies[0].pytest(tests, LONG)
        red = set(failed_tests(printed))
        for test in sorted(red):
            print(f"fails without a mutant, left out: {test}", flush=True)
        for copy in copies:
            copy.deselected += sorted(red)
        return [m for m in mutants if by.get(m.key) in red]

    def ended(self) -> int:
        """Print the table; exit status."""
        print()
        print(as_markdown(self.mutants, self.results))
        outcomes = Counter(
            self.results[m.key].outcome for m in self.mutants if m.key in self.results
        )
        print(f"\n{dict(outcomes)} of {len(self.mutants)} mutants")
        if self.faults:
            return 2
        return int(outcomes["killed"] + outcomes["timeout"] < len(self.mutants))


def run(arguments: argparse.Namespace) -> int:
    """Make the mutants that are asked for and not known."""
    mutants = chosen(arguments.only)
    if arguments.list:
        for m in mutants:
            print(f"{m.file}: {m.wrong}")
        for room, count in Counter(m.room for m in mutants).items():
            print(f"{count:4} {room}")
        return 0
    session = Session(arguments, mutants)
    left = [m for m in mutants if m.key not in session.results]
    if left:
        with tempfile.TemporaryDirectory(prefix="flexarm-mutants-") as name:
            copies = prepared(Path(name), left, arguments.jobs)
            while left:
                session.make(copies, Path(name, "built"), left)
                left = session.accused(copies, left)
    return session.ended()


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="copies at work at once")
    parser.add_argument("--only", help="regular expression for file: mistake")
    parser.add_argument("--list", action="store_true", help="print the table and end")
    parser.add_argument(
        "--output", type=Path, help="file of results, read and added to"
    )
    parser.add_argument(
        "--retry", action="store_true", help="once more what survived in that file"
    )
    parser.add_argument(
        "--likely", action="store_true", help="likely tests only, not the whole suite"
    )
    parser.add_argument(
        "--keep-going", action="store_true", help="go on after a survivor"
    )
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        return run(arguments)
    except Broken as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
