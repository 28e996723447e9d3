"""Types of what stands in files of text."""

from __future__ import annotations

from typing import Any, TypeAlias

# an object or table, by its keys, and any value
Record: TypeAlias = dict[str, Any]
Tree: TypeAlias = bool | int | float | str | list[Any] | Record | None
