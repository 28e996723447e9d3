"""Tests give the same result every time: no clock, no seed of the system, no sleep."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from each import each

TESTS = Path(__file__).parents[1]
ELSEWHERE = ("bench", "campaigns", "mutation")  # they measure, or are no tests

# files that may read a clock, as nothing in them is judged by it
CLOCKS = {
    "record.py": "the page of verification has a column of times",
}
# files that may sleep; no result depends on how long
SLEEPS = {
    "test_interact.py": "asyncio.sleep(0) lets other tasks run",
    "test_studies.py": "between looks for a file that is sure to come",
    "test_threads.py": "gives way to another thread until a batch has begun",
}

CLOCK = {
    f"time.{name}{unit}"
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    for unit in ("", "_ns")
} | {"datetime.now", "datetime.utcnow", "datetime.today"}
SLEEP = {"time.sleep", "asyncio.sleep"}
# names that draw from a seed that is given are fine
SEEDED = {"default_rng", "Random", "RandomState", "SeedSequence"}
SEEDED |= {"PCG64", "Philox", "MT19937", "SFC64"}
KINDS = {"Generator", "BitGenerator"}  # named in annotations and checks
SYSTEM = {"os.urandom", "uuid.uuid1", "uuid.uuid4", "random.SystemRandom"}

# most files draw only from np.random.default_rng(seed), and need no closer look
DOUBTFUL = re.compile(
    r"(import|from) time|datetime|sleep|(import|from) random\b|numpy\.random import"
    r"|secrets|uuid|urandom|\brandom\.(?!default_rng\(|Generator\b)"
    r"|default_rng\((\)|None|seed=None)|default_rng\b(?!\()"
)


def full_names(tree: ast.AST) -> dict[str, str]:
    """Meanings of imported names, such as {"np": "numpy", "sleep": "time.sleep"}."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                found[name.asname or name.name.split(".")[0]] = (
                    name.name if name.asname else name.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                found[name.asname or name.name] = f"{node.module}.{name.name}"
    return found


def dotted(node: ast.AST, names: dict[str, str]) -> str:
    """The full name of an expression such as np.random.normal, or nothing."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value, names)
        return f"{before}.{node.attr}" if before else ""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    return ""


def faults(text: str) -> Iterator[tuple[int, str, str]]:
    """Lines of a source that are not the same every time: number, kind, name."""
    if not DOUBTFUL.search(text):
        return
    tree = ast.parse(text)
    names = full_names(tree)
    given = {  # generators with a seed that is no clock
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and has_seed(node)
    }
    types = set(map(id, annotations(tree)))
    for node in ast.walk(tree):
        name = dotted(node, names).replace("datetime.datetime.", "datetime.")
        if not name or not isinstance(node, (ast.Attribute, ast.Name)):
            continue
        room, _, last = name.rpartition(".")
        if name in CLOCK:
            yield node.lineno, "clock", name
        elif name in SLEEP:
            yield node.lineno, "sleep", name
        elif name in SYSTEM or room == "secrets":
            yield node.lineno, "seed", name
        elif room not in ("random", "numpy.random") or last in KINDS:
            continue
        elif last not in SEEDED or id(node) not in given | types:
            yield node.lineno, "seed", name
    # programs that tests run in processes of their own
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from inside(node.value, node.lineno)


def annotations(tree: ast.AST) -> Iterator[ast.AST]:
    """All that names types."""
    for node in ast.walk(tree):
        for key in ("annotation", "returns"):
            found = getattr(node, key, None)
            if found is not None:
                yield from ast.walk(found)


def has_seed(node: ast.Call) -> bool:
    """Whether a generator is made of something other than None."""
    values = [*node.args, *(word.value for word in node.keywords)]
    constants = [v.value for v in values if isinstance(v, ast.Constant)]
    return bool(values) and None not in constants


def inside(text: str, first: int) -> Iterator[tuple[int, str, str]]:
    """Faults of a program in a string, if it is one."""
    if "import " not in text:
        return
    try:
        found = list(faults(text))
    except (SyntaxError, ValueError):  # words, or another language
        return
    yield from ((first + line - 1, kind, name) for line, kind, name in found)


def test_sources_of_tests() -> None:
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        place = path.relative_to(TESTS)
        if place.parts[0] in ELSEWHERE or path == Path(__file__):
            continue
        for line, kind, name in faults(path.read_text("utf-8")):
            fine = {"clock": CLOCKS, "sleep": SLEEPS}.get(kind, {})
            if place.name not in fine:
                found.append(f"{place}:{line}: {kind} {name}")
    assert not found, "\n".join(found)


def test_reasons_are_of_files_that_are_there() -> None:
    there = {path.name for path in TESTS.rglob("*.py")}
    assert {*CLOCKS, *SLEEPS} <= there


PLANTED = {
    "import time\nstart = time.monotonic()": "clock",
    "from time import perf_counter as now\nnow()": "clock",
    "import time\nassert time.process_time() < 3": "clock",
    "import random, time\nrandom.Random(int(time.time()))": "clock",
    "import time as t\nt.time_ns()": "clock",
    "from datetime import datetime\ndatetime.now()": "clock",
    "import datetime\ndatetime.datetime.now()": "clock",
    "import time\ntime.sleep(1.0)": "sleep",
    "from time import sleep\nsleep(1.0)": "sleep",
    "import numpy as np\nnp.random.default_rng()": "seed",
    "import numpy as np\nnp.random.default_rng(None)": "seed",
    "import numpy as np\nnp.random.default_rng(seed=None)": "seed",
    "from numpy.random import default_rng\ndefault_rng()": "seed",
    "from numpy.random import default_rng\nmake = default_rng": "seed",
    "import numpy as np\nnp.random.normal(size=3)": "seed",
    "import numpy as np\nnp.random.seed(3)": "seed",
    "import numpy\nnumpy.random.rand(3)": "seed",
    "import random\nrandom.random()": "seed",
    "import random\nrandom.Random().random()": "seed",
    "from random import shuffle\nshuffle([])": "seed",
    "import random\nrandom.SystemRandom(3)": "seed",
    "import secrets\nsecrets.token_hex()": "seed",
    "import uuid\nuuid.uuid4()": "seed",
    "import os\nos.urandom(3)": "seed",
    "CODE = 'import time; time.sleep(1)'": "sleep",
    "CODE = 'import random; x = random.random()'": "seed",
}


@each("text", list(PLANTED))
def test_planted_lines_are_found(text: str) -> None:
    assert PLANTED[text] in [kind for _, kind, _ in faults(text)]


@each(
    "text",
    [
        "import numpy as np\nnp.random.default_rng(3)",
        "import numpy as np\nnp.random.default_rng([1, seed])",
        "import numpy as np\ndef f(rng: np.random.Generator) -> None: ...",
        "import random\nrandom.Random(f'{seed} a').random()",
        "import random\ndef f(draw: random.Random) -> random.Random: ...",
        "def sleep(): ...\nsleep()",
        "'a text on time.time() and import of it'",
    ],
)
def test_what_is_the_same_every_time_passes(text: str) -> None:
    assert not list(faults(text))
