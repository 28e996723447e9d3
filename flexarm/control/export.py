"""Export of control laws as C headers, for loops without Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from .._calls.arguments import positive_number
from .._calls.declared import Count, Kept
from .._calls.doors import checked
from .._support.arrays import Array, kind_of
from .._support.c_text import array, check_name, comment, number
from .._support.writing import named
from ..arm import Arm
from ..errors import ArgumentError
from ._loops.linear_controller import Held, LinearController
from .input_shaping import Shaper
from .kalman import KalmanFilter
from .linear_quadratic import StateFeedback
from .predictive import PredictiveControl
from .sensors import is_named, sensors_of


@checked
def export_c(
    law: LinearController | StateFeedback | PredictiveControl | KalmanFilter | Shaper,
    file: str | os.PathLike[str],
    *,
    name: Annotated[str, Kept(check_name)] = "law",
    arm: Arm | None = None,
    dt: float | None = None,
    width: Count = 1,
) -> None:
    """Write a control law as a C header, for a controller without Python.

    The header has the numbers of the law with all their bits, a struct ``law_state`` of
    all its memory, and functions that begin a run and compute a sample.  They need
    ``csrc/library/laws.c`` and ``active_set.c`` of the package, allocate nothing and
    call nothing of the C library.  ``csrc/examples/real_time_loop.c`` runs one with an
    arm of `flexarm.export_c` at 1 kHz.

    Parameters
    ----------
    law : LinearController, StateFeedback, PredictiveControl, KalmanFilter or Shaper
        Law of one loop: matrices without leading axes, references that are constant or
        samples, a `PredictiveControl` of one point.  A table of forces is a
        `LinearController` with that `feedforward` and D of zero.
    file : str or path
        File of the header, which is overwritten.
    name : str
        Name in C, the prefix of all others: ``law_start(&state)`` before the first
        sample; ``law_step(&state, y, u)`` with the measured outputs y
        ``[LAW_N_OUTPUTS]`` and the forces u ``[LAW_N_FORCES]`` in N m or N, which
        returns 0, or how predictive control ended, see ``library/laws.h``;
        ``law_applied(&state, w)`` after it, where actuators apply other forces;
        ``law_measure(q, qd, y)`` if outputs are known to be linear.  Of a filter
        ``law_estimate(&state, y, x)`` and ``law_predict(&state, x, u)``; of a shaper
        ``law_step(&state, x, shaped)``.
    arm : Arm, optional
        For ``law_measure`` of a `LinearController` whose sensors have names.
    dt : float, optional
        Sample time in s of a `Shaper`, or of a `StateFeedback` of a continuous model.
    width : int
        Signals of a `Shaper`.

    Raises
    ------
    ArgumentError
        If the law cannot be written, or `name` is not a name in C.
    OSError
        If the file cannot be written.

    See Also
    --------
    flexarm.export_c : the same for an arm.

    Notes
    -----
    Compiled without contraction of products and sums (gcc: ``-std=c99`` or
    ``-ffp-contract=off``), predictive control has the bits of Python, where the package
    is compiled for x86-64.  Linear laws have those of loops in C with the flags of its
    kernels, ``-mfma -ffp-contract=fast`` where they have AVX, and else those of the
    same sums to rounding.  Shapers differ from `Shaper.shape` by rounding;
    their first sample is what was before it, so that of forces it should be zero.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import flexarm as fa
    >>> model = fa.linearize(fa.library.pendulum(), [0.0])
    >>> law = fa.control.lqr(model, [100.0, 1.0], [0.01], dt=0.001)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     header = pathlib.Path(directory, "hold.h")
    ...     fa.control.export_c(law, header, name="hold")
    ...     text = header.read_text()
    >>> "static inline int hold_step(" in text, "HOLD_N_FORCES = 1" in text
    (True, True)
    """
    if isinstance(law, StateFeedback):
        law = law.controller(dt)
    if isinstance(law, LinearController):
        lines = _linear(law, name, arm)
    elif isinstance(law, PredictiveControl):
        lines = _predictive(law, name)
    elif isinstance(law, KalmanFilter):
        lines = _filter(law, name)
    else:
        lines = _shaper(law, name, dt, int(width))
    guard = f"FLEXARM_{name.upper()}_H"
    head = [
        "/*",
        *comment(f"{kind_of(law)}, written by flexarm.control.export_c", [""])[:1],
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "library/laws.h"',
        "",
        "#include <math.h>",
        "#include <stddef.h>",
        "",
    ]
    text = "\n".join([*head, *lines, "", "#endif", ""])
    with named(file):
        Path(file).write_text(text, encoding="ascii")


def _sizes(name: str, **sizes: int) -> list[str]:
    rows = (f"    {name.upper()}_{key} = {value}," for key, value in sizes.items())
    return ["enum {", *rows, "};", ""]


def _arrays(name: str, arrays: dict[str, Array]) -> list[str]:
    return [x for key, value in arrays.items() for x in array(f"{name}_{key}", value)]


def _fields(
    name: str, kind: str, values: Mapping[str, object], arrays: Mapping[str, Array]
) -> list[str]:
    """Definition of a struct from numbers and from the arrays that are not empty."""
    return [
        f"static const {kind} {name} = {{",
        *(f"    .{key} = {number(value)}," for key, value in values.items()),
        *(f"    .{key} = {name}_{key}," for key, a in arrays.items() if a.size),
        "};",
        "",
    ]


def _struct(name: str, *members: str) -> list[str]:
    return [
        "typedef struct {",
        *(f"    {x};" for x in members),
        f"}} {name}_state;",
        "",
    ]


def _function(head: str, *body: str) -> list[str]:
    return [f"static inline {head}", "{", *(f"    {x}" for x in body), "}", ""]


def _measure(name: str, rows: Array, nq: int) -> list[str]:
    """Outputs of a state, by the rows that multiply it."""
    lines = []
    for i, row in enumerate(rows):
        terms = [
            f"{number(x)} * {'q' if j < nq else 'qd'}[{j if j < nq else j - nq}]"
            for j, x in enumerate(row.tolist())
            if x
        ]
        lines += [f"y[{i}] = {terms[0] if terms else '0.0'};"]
        lines += [f"y[{i}] += {term};" for term in terms[1:]]
    unused = ["(void)q;", "(void)qd;"]
    head = f"void {name}_measure(const double *q, const double *qd, double *y)"
    return _function(head, *unused, *lines)


def _refuse_many(law: object, batch: tuple[int, ...]) -> None:
    if batch:
        raise ArgumentError(
            f"the law has the leading axes {batch}, expected one loop; take one of "
            "its members"
        )


def _rows(name: str, value: Held | None, width: int) -> Array:
    """Constant or samples (n, width)."""
    if callable(value):
        raise ArgumentError(
            f"{name} is a function, expected its values at the samples: give the law "
            f"an array (n, {width})"
        )
    rows = np.zeros((1, width)) if value is None else np.atleast_2d(value)
    if rows.ndim > 2:
        _refuse_many(None, rows.shape[:-2])
    return np.asarray(rows)


def _linear(law: LinearController, name: str, arm: Arm | None) -> list[str]:
    _refuse_many(law, tuple(n for x in law.batch_shapes().values() for n in x))
    m, p, nu = law.n_states, law.n_outputs, law.n_forces
    reference = _rows("reference", law.reference, p)
    forces = _rows("feedforward", law.feedforward, nu)
    matrices = {key: getattr(law, key) for key in "ABCD"}
    matrices["E"] = np.zeros(0) if law.anti_windup is None else law.anti_windup
    x0 = np.zeros(m) if law.x0 is None else law.x0
    more = {"reference": reference, "feedforward": forces, "x0": x0}
    sizes = {"n_states": m, "n_outputs": p, "n_forces": nu}
    # outputs of a state
    rows: Any = law.sensors
    if is_named(rows) or callable(rows):
        rows = None
        if arm is not None:
            at = 0.0, np.array(arm.neutral), np.zeros(arm.nv)
            rows = sensors_of(arm, law.sensors, at).rows
            rows = np.eye(2 * arm.nv) if law.sensors == "state" else rows
    s = f"{name}_state *s"

    def row(what: str, rows: Array, width: int) -> str:
        last = len(rows) - 1
        return f"{name}_{what} + {width} * (s->k < {last} ? s->k : {last})"

    start = [f"s->z[i] = {name}_x0[i];"] if m else []
    return [
        f"static const double {name}_dt = {number(law.dt)}; /* s */",
        "",
        *_sizes(name, N_OUTPUTS=p, N_FORCES=nu),
        *_arrays(name, matrices | more),
        *_fields(name, "fa_linear_law", sizes, matrices),
        *_struct(
            name,
            f"double z[{max(m, 1)}], next[{max(m, 1)}], e[{p}], u[{nu}]",
            "long k",
        ),
        *_function(
            f"void {name}_start({s})",
            "s->k = 0;",
            *([f"for (int i = 0; i < {m}; i++) {{", *start, "}"] if m else []),
        ),
        *_function(
            f"int {name}_step({s}, const double *y, double *u)",
            f"const double *r = {row('reference', reference, p)};",
            f"const double *f = {row('feedforward', forces, nu)};",
            f"for (int i = 0; i < {p}; i++) {{",
            "    s->e[i] = y[i] - r[i];",
            "}",
            f"fa_linear_output(&{name}, s->z, s->e, f, u);",
            f"fa_linear_next(&{name}, s->z, s->e, s->next);",
            f"for (int i = 0; i < {nu}; i++) {{",
            "    s->u[i] = u[i];",
            "}",
            "s->k++;",
            "return 0;",
        ),
        *_function(
            f"void {name}_applied({s}, const double *w)",
            f"for (int i = 0; i < {nu}; i++) {{",
            "    s->u[i] = w[i] - s->u[i];",
            "}",
            f"fa_linear_correct(&{name}, s->u, s->z);",
        ),
        *(
            _measure(name, np.asarray(rows), len(rows.T) // 2)
            if rows is not None
            else []
        ),
    ]


def _filter(law: KalmanFilter, name: str) -> list[str]:
    model = law.model
    _refuse_many(law, np.broadcast_shapes(model.batch, law.gain.shape[:-2]))
    if model.dt is None or model.D.any():
        raise ArgumentError(
            "the filter is continuous or its outputs feel the inputs at once, expected "
            "one of kalman_filter with dt, of a model without D"
        )
    n, m = model.B.shape
    p = len(model.C)
    arrays = {"A": model.A, "B": model.B, "C": model.C, "L": law.gain}
    sizes = {"n_states": n, "n_outputs": p, "n_inputs": m}
    s = f"{name}_state *s"
    return [
        f"static const double {name}_dt = {number(model.dt)}; /* s */",
        "",
        *_sizes(name, N_STATES=n, N_OUTPUTS=p, N_INPUTS=m),
        *_arrays(name, arrays),
        *_fields(name, "fa_kalman_filter", sizes, arrays),
        *_struct(name, f"double z[{n}]"),
        *_function(
            f"void {name}_start({s})",
            f"for (int i = 0; i < {n}; i++) {{",
            "    s->z[i] = 0.0;",
            "}",
        ),
        *_function(
            f"void {name}_estimate(const {s}, const double *y, double *x)",
            f"fa_kalman_estimate(&{name}, s->z, y, x);",
        ),
        *_function(
            f"void {name}_predict({s}, const double *x, const double *u)",
            f"fa_kalman_predict(&{name}, x, u, s->z);",
        ),
    ]


def _shaper(law: Shaper, name: str, dt: float | None, width: int) -> list[str]:
    if dt is None:
        raise ArgumentError("dt is None, expected the sample time of the shaper in s")
    places = law.times / positive_number("dt", dt)
    near = np.round(places)
    places = np.where(abs(places - near) < 1e-9 * np.maximum(near, 1.0), near, places)
    delays = np.floor(places)
    if delays[-1] > 1e6:
        raise ArgumentError(
            f"the shaper lasts {law.duration:g} s, {delays[-1]:g} samples of {dt:g} s, "
            "expected at most a million"
        )
    kept = int(delays[-1]) + 2
    arrays = {
        "delays": delays.astype(np.intc),
        "parts": places - delays,
        "amplitudes": law.amplitudes,
    }
    sizes = {"width": width, "n_impulses": len(delays), "n_kept": kept}
    s = f"{name}_state *s"
    return [
        f"static const double {name}_dt = {number(dt)}; /* s */",
        "",
        *_sizes(name, WIDTH=width),
        *_arrays(name, arrays),
        *_fields(name, "fa_shaper", sizes, arrays),
        *_struct(name, f"double kept[{kept * width}]", "long count"),
        *_function(f"void {name}_start({s})", "s->count = 0;"),
        *_function(
            f"int {name}_step({s}, const double *x, double *shaped)",
            f"fa_shaper_step(&{name}, s->kept, &s->count, x, shaped);",
            "return 0;",
        ),
    ]


def _predictive(law: PredictiveControl, name: str) -> list[str]:
    step = law._exported()
    keys = ["A", "B", "C", "L", "R", "F", "E", "gram", "lower", "upper", "tolerance"]
    keys += ["soft", "least", "most", "next"]
    empty = np.zeros(0)
    arrays = {k: empty if step[k] is None else step[k] for k in keys}
    n, m = step["B"].shape
    p, rows = len(step["rest"]), len(step["next"])
    sizes = {"n_states": n, "n_outputs": p, "n_inputs": m, "n_rows": rows}
    sizes |= {"max_steps": step["max_steps"], "h": step["h"]}
    points = {key: step[key] for key in ("rest", "forces", "before")}
    most, s = max(rows, 1), f"{name}_state *s"
    width = 2 * n + m
    C = np.eye(n) if step["C"] is None else step["C"]
    memory = "fa_predictive_state own = {s->p, s->y, s->side, s->begun};"
    return [
        f"static const double {name}_dt = {number(law.dt)}; /* s */",
        "",
        *_sizes(name, N_OUTPUTS=p, N_FORCES=m),
        *_arrays(name, arrays | points),
        *_fields(name, "fa_predictive", sizes, arrays),
        *_struct(
            name,
            f"double p[{width}], y[{most}], off[{p}]",
            f"double work[FA_PREDICTIVE_DOUBLES({n}, {most})]",
            f"int side[{most}], places[FA_PREDICTIVE_INTS({most})], begun",
            "int steps",
        ),
        *_function(
            f"void {name}_start({s})",
            f"for (int i = 0; i < {width}; i++) {{",
            "    s->p[i] = 0.0;",
            "}",
            f"for (int i = 0; i < {m}; i++) {{",
            f"    s->p[{n} + i] = {name}_before[i];",
            "}",
            f"for (int i = 0; i < {most}; i++) {{",
            "    s->y[i] = 0.0;",
            "    s->side[i] = 0;",
            "}",
            "s->begun = s->steps = 0;",
        ),
        *_function(
            f"int {name}_step({s}, const double *y, double *u)",
            memory,
            f"for (int i = 0; i < {p}; i++) {{",
            f"    s->off[i] = y[i] - {name}_rest[i];",
            "}",
            f"const int status = (int)fa_predictive_step(&{name}, &own, s->off, u,",
            "    &s->steps, s->work, s->places);",
            "s->begun = own.begun;",
            f"for (int i = 0; i < {m}; i++) {{",
            f"    u[i] += {name}_forces[i];",
            "}",
            "return status;",
        ),
        *_function(
            f"void {name}_applied({s}, const double *w)",
            f"for (int i = 0; i < {m}; i++) {{",
            f"    s->p[{n} + i] = w[i] - {name}_forces[i];",
            "}",
        ),
        *_measure(name, np.asarray(C), n // 2),
    ]
