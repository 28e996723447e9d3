"""A program that answers questions, one line of JSON each, in a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any


class Process:
    """A command that answers each line of JSON by another one."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *question: Any) -> Any:
        """What it answers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(question), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        assert line, f"a process has ended: {self.process.args}"
        return json.loads(line)

    def __del__(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait(timeout=10)
