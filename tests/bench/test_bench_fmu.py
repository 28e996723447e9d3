"""FMUs in FMPy, which validates and simulates them beside `simulate`.

python3 -m pytest -s tests/bench/test_bench_fmu.py
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

fmpy: Any = pytest.importorskip("fmpy")


def test_fmpy_runs_an_fmu(tmp_path: Path) -> None:
    from fmpy.validation import validate_fmu

    arm, h, n, file = fa.library.de_luca_siciliano(), 2.0**-10, 1000, tmp_path / "a.fmu"
    t = h * np.arange(n + 1)
    tau = np.stack([0.1 * np.sin(5.0 * t), 0.05 * np.cos(3.0 * t)], axis=1)
    options: dict[str, Any] = {"method": "rk4", "max_step": 2e-4}
    fa.interop.export_fmu(arm, file, outputs=("strain", "link1", 0.0), **options)
    assert validate_fmu(str(file)) == []
    names = [f"q[{i}]" for i in range(1, 7)]
    kinds = [("time", "f8"), ("tau[1]", "f8"), ("tau[2]", "f8")]
    given = np.array([(a, *b) for a, b in zip(t, tau, strict=True)], dtype=kinds)
    same = {"stop_time": t[-1], "output_interval": h, "input": given, "output": names}
    began = time.perf_counter()
    found = fmpy.simulate_fmu(str(file), fmi_type="CoSimulation", step_size=h, **same)
    seconds = time.perf_counter() - began
    still = np.zeros(6)
    run = fa.simulate(arm, still, still, t, torque=tau, interpolation="hold", **options)
    q = np.stack([found[name] for name in names], axis=1)
    assert_allclose(q, run.q, rtol=0.0, atol=1e-12)
    # by its CVODE
    given["tau[1]"], given["tau[2]"] = 0.1, 0.05
    found = fmpy.simulate_fmu(
        str(file), fmi_type="ModelExchange", relative_tolerance=1e-10, **same
    )
    q = np.stack([found[name] for name in names], axis=1)
    run = fa.simulate(
        arm, still, still, t, torque=np.tile([0.1, 0.05], (n + 1, 1)), method="Rodas4P"
    )
    assert_allclose(q, run.q, rtol=0.0, atol=1e-6)
    print(f"\nFMPy: {n} communication steps in {1e3 * seconds:.0f} ms")
