"""``python3 -m tests.attack SEED NUMBER``: make one call again, and show it.

The attack itself is the campaign: ``python3 -m tests.campaigns attack``.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

sys.path += [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from attack import calls, worker


def show(seed: int, index: int) -> None:
    """Make one call again, and print what happens."""
    os.chdir(tempfile.mkdtemp(prefix="attack"))  # for files that it writes
    call = calls.build(seed, index)
    print(call.text)
    for name, value in call.args.items():
        print(f"  {name} = {calls.short(value)}  {call.wild.get(name, '')}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with worker.limited():
                result = call.run()
            print("->", calls.short(result))
        except BaseException:
            traceback.print_exc()
    for w in caught:
        print(f"{w.category.__name__} at {w.filename}:{w.lineno}: {w.message}")
    for finding in worker.one(seed, index):
        print(finding)


if __name__ == "__main__":
    show(*map(int, sys.argv[1:]))
