"""Puts the folders of tests on the path: some use cases of others."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ELSEWHERE = {"attack", "bench", "c", "campaigns", "data", "mutation"}
ROOMS = sorted(p for p in TESTS.iterdir() if p.is_dir() and p.name not in ELSEWHERE)

sys.path += [str(room) for room in ROOMS if str(room) not in sys.path]
