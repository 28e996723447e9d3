"""Studies: a function at many points, on one core or many, as an xarray Dataset.

A study is a function and the points at which it is computed: a grid of parameters,
poses or controllers, random draws, or both.  `sweep` computes them one by one, many in
one call of arrays, on threads, on processes or on a Dask cluster, keeps finished points
when it is interrupted, and continues past points that fail.

    python3 -m pip install "flexarm[studies]"

>>> import flexarm as fa
>>> fa.studies.sweep(lambda x: x**2, {"x": ([1.0, 2.0, 3.0], "m")}).result.values
array([1., 4., 9.])
"""

from ._sweep import sweep

__all__ = ["sweep"]
