"""Effect of a payload on the lowest frequencies of an arm with flexible links."""

import sys

import numpy as np

import flexarm as fa

ds = fa.studies.sweep(
    lambda arm: fa.natural_frequencies(arm, arm.neutral, held="joints", count=3),
    {"payload": (np.linspace(0.0, 2.0, 21), "kg")},
    arm=lambda payload: fa.library.planar_chain(2, n_modes=3, payload_mass=payload),
    outputs={"frequency": ("mode", "Hz")},
    coords={"mode": [1, 2, 3]},
)
assert (ds.frequency.diff("payload") < 0.0).all()  # a mass slows every mode down
print(ds.frequency.sel(payload=[0.0, 1.0, 2.0]).to_pandas().round(2))
if len(sys.argv) > 1:
    ds.frequency.plot.line(x="payload")[0].figure.savefig(sys.argv[1])
