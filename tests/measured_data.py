"""Folders of measured data, which are not part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexarm.measured import DataSet


def folder(data: DataSet) -> Path:
    """Folder of a set; a test whose data are missing is skipped."""
    try:
        return data.folder()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
