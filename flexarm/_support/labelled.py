"""Results as datasets of xarray, with names, units and coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._version import __version__
from ..errors import ModelError
from .optional import required
from .recorded import Recorded


class Variable(NamedTuple):
    """Array of a result, or a coordinate of one."""

    axes: tuple[str, ...]
    values: Any
    units: str | None = None
    meaning: str = ""


@dataclass(frozen=True)
class Labels:
    """Arrays of a result by name, coordinates of their axes, words on all of it."""

    variables: Mapping[str, Variable]
    coordinates: Mapping[str, Variable]
    words: Mapping[str, object] = field(default_factory=dict)


class Labelled(Recorded):
    """Mixin of results that know names and units of their arrays."""

    def _labels(self) -> Labels:
        raise NotImplementedError

    def to_xarray(self) -> Any:
        """Return the arrays as a dataset of xarray.

        Returns
        -------
        dataset : xarray.Dataset
            Variables by the names of the attributes, with units, and coordinates with
            the names of positions, velocities and forces.  Positions of links and
            joints have their units in the coordinate ``"position_unit"``, and so on.

        Raises
        ------
        ImportError
            If xarray is missing: ``pip install "flexarm[studies]"``.

        See Also
        --------
        flexarm.save : keeps the result with its arm in netCDF or Zarr.

        Examples
        --------
        >>> import flexarm as fa
        >>> run = fa.simulate(fa.library.pendulum(), [0.3], [0.0], [0.0, 0.1, 0.2])
        >>> data = run.to_xarray()
        >>> data.q.dims, data.time.units
        (('time', 'position'), 's')
        >>> float(data.q.sel(position="rod", time=0.0))
        0.3
        """
        xarray = required("xarray", "to_xarray", extra="studies")
        labels = self._labels()
        check_labels(labels)
        parts = []
        for group in (labels.variables, labels.coordinates):
            parts.append({name: _with_attributes(x) for name, x in group.items()})
        words = {key: word for key, word in labels.words.items() if word is not None}
        source = {"source": f"flexarm {__version__}"}
        return xarray.Dataset(*parts, {**words, **source})


def _with_attributes(x: Variable) -> object:
    attributes = {"long_name": x.meaning} if x.meaning else {}
    if x.units is not None:
        attributes["units"] = x.units
    return x.axes, np.asarray(x.values), attributes


def check_labels(labels: Labels) -> None:
    """Raise if arrays do not have the lengths of their axes."""
    lengths: dict[str, int] = {}
    for name, x in (*labels.coordinates.items(), *labels.variables.items()):
        shape = np.shape(x.values)
        known = tuple(
            lengths.get(axis, n) for axis, n in zip(x.axes, shape, strict=False)
        )
        if len(shape) != len(x.axes) or shape != known:
            raise ModelError(
                f"{name} has shape {shape}, expected axes {', '.join(x.axes) or 'none'}"
                + f" of lengths {known}" * (len(shape) == len(x.axes))
            )
        lengths.update(zip(x.axes, shape, strict=True))


def batch_axes(ndim: int) -> tuple[str, ...]:
    """Names of leading axes."""
    return tuple(f"batch{i}" for i in range(ndim))


def named(axis: str, names: object, units: object = None) -> dict[str, Variable]:
    """Coordinates of an axis: its names and, beside them, their units."""
    found = {axis: Variable((axis,), np.array(names, dtype=str))}
    if units is not None:
        found[f"{axis}_unit"] = Variable((axis,), np.array(units, dtype=str))
    return found
