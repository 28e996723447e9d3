"""Measured arms: predictions of this package beside measurements of others.

``python3 -m flexarm measured`` reads the data that are there, computes each set, from
nominal numbers first, then with what is fitted on some rows, and writes tables and
figures of the rows that were not used.  The data are not part of the package.
"""

from ._data import DataSet
from ._report import Report, Row

__all__ = ["DataSet", "Report", "Row"]
