"""Arms as FMUs, for tools that simulate systems of parts."""

from __future__ import annotations

import os
import platform
import sys
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Choice, Floats, Kept, Positive, Posture, StepLength
from .._calls.doors import checked
from .._calls.units import position_units
from .._support.arrays import Array
from .._support.c_text import check_name
from .._support.checks import short_text
from .._support.writing import named
from .._version import __version__
from ..arm import Arm
from ..control.sensors import sensors_of
from ..errors import ArgumentError
from ..simulation.stability import instability

Rates: TypeAlias = Annotated[ArrayLike, Floats("(nv,)")]

# methods that begin anew at each step
METHODS = ("rk4", "Rodas4P")
# Longest step in s without `max_step`: the step that is asked for is then one.
_DEFAULT_STEP = 1000.0
_LIBRARY = Path(str(_core.__file__)).parent / "_libs" / "fmi2.so"

# units of FMI: factors and exponents of those of SI
_UNITS = {
    "s": {"s": 1},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
}


@checked
def export_fmu(
    arm: Arm,
    file: str | os.PathLike[str],
    *,
    name: Annotated[str, Kept(check_name)] = "arm",
    q0: Posture | None = None,
    qd0: Rates | None = None,
    outputs: object = (),
    method: Annotated[str, Choice(*METHODS)] = "Rodas4P",
    max_step: StepLength | None = None,
    rtol: Positive = 1e-8,
    atol: Positive = 1e-10,
) -> None:
    """Write an arm as an FMU, for Simulink, OpenModelica, Dymola and other tools.

    The functional mock-up unit is one of FMI 2.0 [1]_ for co-simulation, and for model
    exchange if no joint has a quaternion.  It has the kernels of this package as a
    shared library for the system and the processor on which the package was built, and
    needs neither Python nor a compiler.

    Parameters
    ----------
    arm : Arm
        Arm of full or ruthless fidelity.
    file : str or path
        File of the FMU, which is overwritten; its name ends in ``.fmu``.
    name : str
        Name of the model, an identifier in C.
    q0, qd0 : (nq,), (nv,) array_like of float, optional
        Start values of the state; by default neutral positions at rest.
    outputs : str, Output, or list of these
        Outputs as in `flexarm.linearize` that are linear in the state, such as
        ``("strain", "link1", 0.0)``.
    method : {"Rodas4P", "rk4"}
        Method of co-simulation, as in `flexarm.simulate`: error control or fixed steps.
        Arms with loops or couplings need ``"rk4"``.
    max_step : float, optional
        Longest step in s inside a communication step; needed for ``"rk4"``.
    rtol, atol : float
        Tolerances of ``"Rodas4P"``.

    Raises
    ------
    ArgumentError
        If the fidelity is linear, the method does not fit the arm or is not stable with
        `max_step` at the start, or an output is not linear in the state.
    OSError
        If the file cannot be written.

    See Also
    --------
    flexarm.export_c : the arm for programs in C.

    Notes
    -----
    Variables count from 1, each with its unit and what it is as description:

    ===================== ======================== =====================================
    ``tau[i]``            input                    forces of the actuators, held over a
                                                   communication step
    ``q[i]``, ``qd[i]``   outputs, states          start values can be set
    ``qdd[i]``            local                    accelerations
    ``tip[1]`` to ``[3]`` outputs                  place of the tip, in m
    ``y[i]``              outputs                  `outputs`
    ``gravity[i]``        parameters               in m/s2
    ``max_step``,         parameters               as above; a tolerance of the tool
    ``rtol``, ``atol``                             takes the place of `rtol`
    ===================== ======================== =====================================

    A communication step h has the bits of ``simulate`` with ``t=[0, h]`` (of an arm
    with rigid bodies on fixed joints of rigid ones, all but rounding),
    ``interpolation="hold"`` and the same method.  States can be kept, restored and
    serialized.  A step in which the motion becomes infinite is discarded: the state
    stays as it was, and the tool may try a shorter one.

    References
    ----------
    .. [1] Modelica Association, *Functional Mock-up Interface for Model Exchange and
       Co-Simulation*, version 2.0.4, 2022.

    Examples
    --------
    >>> import pathlib, tempfile, zipfile
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     file = pathlib.Path(directory, "arm.fmu")
    ...     fa.interop.export_fmu(arm, file, outputs=("strain", "link1", 0.0))
    ...     with zipfile.ZipFile(file) as archive:
    ...         files = archive.namelist()
    >>> files[0], files[1]
    ('modelDescription.xml', 'resources/arm.bin')
    """
    q = _start("q0", q0, arm.neutral)
    qd = _start("qd0", qd0, np.zeros(arm.nv))
    _check_method(arm, method, max_step, q)
    names, rows = _outputs(arm, outputs)
    options = list(map(float, (max_step or _DEFAULT_STEP, rtol, atol)))
    groups = [np.zeros(1), options, arm.gravity, np.zeros(arm.nu), q, qd]
    start = np.concatenate([*groups, np.zeros(arm.nv + 3 + len(names))])
    data = _data(arm, method, start, rows)
    guid = f"{{{uuid.uuid5(uuid.NAMESPACE_URL, __version__ + name + data.hex())}}}"
    content = b"FLEXARM1" + guid.encode().ljust(40, b"\0") + data
    binary = f"binaries/{_platform()}/{name}{_suffix()}"
    library = _library()
    files: dict[str, bytes] = {
        "modelDescription.xml": _xml(arm, name, guid, start, names),
        "resources/arm.bin": content,
        binary: library,
    }
    with named(file), zipfile.ZipFile(file, "w") as archive:
        for place, text in files.items():
            archive.writestr(_entry(place), text, compresslevel=1)


def _entry(name: str) -> zipfile.ZipInfo:
    """Entry of an archive that is the same at any time."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o755 if name.startswith("binaries") else 0o644) << 16
    return entry


def _platform() -> str:
    system = "darwin" if sys.platform == "darwin" else "linux"
    machine = platform.machine()
    return f"{system}64" if machine in ("x86_64", "AMD64") else f"{machine}-{system}"


def _suffix() -> str:
    return ".dylib" if sys.platform == "darwin" else ".so"


def _library() -> bytes:
    try:
        return _LIBRARY.read_bytes()
    except FileNotFoundError:
        raise ArgumentError(
            f"the library of FMUs, {_LIBRARY.name}, is not beside the extension "
            "of the package; build or install the package again"
        ) from None


def _start(name: str, given: ArrayLike | None, default: Array) -> Array:
    value = np.array(default if given is None else real_array(name, given))
    check_numbers(name, value)
    return value


def _check_method(arm: Arm, method: str, max_step: float | None, q: Array) -> None:
    if arm.fidelity == "linear":
        raise ArgumentError(
            "the arm has the fidelity 'linear', which an FMU cannot compute, expected "
            "'full' or 'ruthless'; take arm.replace(fidelity='full')"
        )
    if method == "rk4" and max_step is None:
        raise ArgumentError(
            "method='rk4' has no max_step, expected its longest step in s: a tool "
            "chooses communication steps of any length"
        )
    if arm._held and method != "rk4":
        raise ArgumentError(
            f"method is {method!r} for an arm with loops or couplings, expected 'rk4' "
            "with a max_step"
        )
    if method == "rk4" and max_step is not None and not arm._held:
        unstable = instability(arm, q, method, float(max_step), other=METHODS[1])
        if unstable:
            raise ArgumentError(unstable)


def _outputs(arm: Arm, given: object) -> tuple[tuple[str, ...], Array]:
    """Names of the outputs, and the rows that multiply q and qd."""
    if isinstance(given, (tuple, list)) and not given:
        return (), np.zeros((0, 2 * arm.nv))
    if arm.nq != arm.nv:
        raise ArgumentError(
            "outputs are given for an arm with joints with quaternions, expected none: "
            "take the positions q of the FMU"
        )
    at = 0.0, np.array(arm.neutral), np.zeros(arm.nv)
    sensors = sensors_of(arm, given, at)
    if sensors.is_state:
        return sensors.names, np.eye(2 * arm.nv)
    if sensors.rows is None:
        raise ArgumentError(
            f"outputs is {short_text(given)}, expected outputs that are linear in the "
            "state, such as ('strain', 'link1', 0.0); the place of the tip is among "
            "those of every FMU"
        )
    return sensors.names, np.asarray(sensors.rows)


def _data(arm: Arm, method: str, start: Array, rows: Array) -> bytes:
    """Bytes that csrc/fmi/fmi2.c reads."""
    packed = arm.pack()
    header = [
        len(packed.topology),
        packed.nodes.size,
        packed.modal.size,
        len(packed.loops),
        len(packed.couplings),
        packed.couplings.size,
        len(packed.passive),
        len(packed.followers),
        packed.constants[4],
        packed.constants[3],
        _core.METHODS.index(method),
        arm.tip_node,
        len(rows),
        arm.nq,
        arm.nv,
        arm.nu,
    ]
    arrays = [header, packed.topology, packed.joints, packed.nodes, packed.modal]
    arrays += [packed.loops, packed.frames, packed.couplings, packed.passive]
    arrays.append(packed.followers)
    arrays += [start, rows]
    flat = [np.asarray(x, np.float64).ravel() for x in arrays]
    return np.concatenate(flat).tobytes()


_STATE = "output", "continuous", "exact"
_OUTPUT = "output", "continuous", "calculated"


class _Variable(NamedTuple):
    name: str
    about: str
    unit: str
    causality: str
    variability: str = "continuous"
    initial: str | None = None
    derivative: int | None = None


def _variables(arm: Arm, outputs: tuple[str, ...]) -> Iterator[_Variable]:
    """Variables in the order of the values of csrc/fmi/fmi2.c."""
    tunable = "parameter", "fixed", "exact"
    yield _Variable("time", "time", "s", "independent")
    yield _Variable("max_step", "longest step of co-simulation", "s", *tunable)
    yield _Variable("rtol", "relative tolerance of Rodas4P", "", *tunable)
    yield _Variable("atol", "absolute tolerance of Rodas4P", "", *tunable)
    for i in range(3):
        about = f"gravity along {'xyz'[i]} of the base"
        yield _Variable(f"gravity[{i + 1}]", about, "m/s2", *tunable)
    units = position_units(arm)
    speeds = units if arm.nq == arm.nv else [""] * arm.nv
    force = {"rad": "N.m", "m": "N"}
    for i, k in enumerate(arm.actuator_indices, 1):
        about = f"force of the actuator of {arm.coordinate_names[k]}"
        yield _Variable(f"tau[{i}]", about, force.get(speeds[k], ""), "input")
    for i, (x, unit) in enumerate(zip(arm.position_names, units, strict=True), 1):
        yield _Variable(f"q[{i}]", f"position of {x}", unit, *_STATE)
    first = 7 + arm.nu + 1  # place of q[1], from 1
    same = arm.nq == arm.nv
    for i, (x, unit) in enumerate(zip(arm.coordinate_names, speeds, strict=True), 1):
        of = (first + i - 1 if same else None,)
        unit = unit and f"{unit}/s"
        yield _Variable(f"qd[{i}]", f"velocity of {x}", unit, *_STATE, *of)
    for i, (x, unit) in enumerate(zip(arm.coordinate_names, speeds, strict=True), 1):
        about, unit = f"acceleration of {x}", unit and f"{unit}/s2"
        of = (first + arm.nq + i - 1 if same else None,)
        yield _Variable(
            f"qdd[{i}]", about, unit, "local", "continuous", "calculated", *of
        )
    for i in range(3):
        about = f"place of the tip along {'xyz'[i]} of the base"
        yield _Variable(f"tip[{i + 1}]", about, "m", *_OUTPUT)
    for i, x in enumerate(outputs, 1):
        yield _Variable(f"y[{i}]", x, "", *_OUTPUT)


def _xml(
    arm: Arm, name: str, guid: str, start: Array, outputs: tuple[str, ...]
) -> bytes:
    """Text of modelDescription.xml."""
    root = ElementTree.Element(
        "fmiModelDescription",
        fmiVersion="2.0",
        modelName=name,
        guid=guid,
        description=f"Robot arm of {len(arm.bodies)} bodies",
        generationTool=f"flexarm {__version__}",
        variableNamingConvention="structured",
        numberOfEventIndicators="0",
    )
    able = dict.fromkeys(("canGetAndSetFMUstate", "canSerializeFMUstate"), "true")
    able["modelIdentifier"] = name
    kinds = ["ModelExchange"] * (arm.nq == arm.nv) + ["CoSimulation"]
    for kind in kinds:
        element = ElementTree.SubElement(root, kind, able)
        if kind == "CoSimulation":
            element.set("canHandleVariableCommunicationStepSize", "true")
    units = ElementTree.SubElement(root, "UnitDefinitions")
    for unit, exponents in _UNITS.items():
        element = ElementTree.SubElement(units, "Unit", name=unit)
        base = {key: str(value) for key, value in exponents.items()}
        ElementTree.SubElement(element, "BaseUnit", base)
    categories = ElementTree.SubElement(root, "LogCategories")
    for category in ("logStatusError", "logStatusDiscard"):
        ElementTree.SubElement(categories, "Category", name=category)
    ElementTree.SubElement(
        root, "DefaultExperiment", startTime="0", tolerance=repr(float(start[2]))
    )
    variables = list(_variables(arm, outputs))
    listed = ElementTree.SubElement(root, "ModelVariables")
    for i, (x, value) in enumerate(zip(variables, start.tolist(), strict=True)):
        element = ElementTree.SubElement(
            listed,
            "ScalarVariable",
            name=x.name,
            valueReference=str(i),
            description=x.about,
            causality=x.causality,
            variability=x.variability,
        )
        if x.initial:
            element.set("initial", x.initial)
        real = ElementTree.SubElement(element, "Real")
        if x.unit:
            real.set("unit", x.unit)
        if x.initial == "exact" or x.causality == "input":
            real.set("start", repr(value))
        if x.derivative:
            real.set("derivative", str(x.derivative))
    places = {
        "Outputs": [x.causality == "output" for x in variables],
        "Derivatives": [x.derivative is not None for x in variables],
        "InitialUnknowns": [x.initial == "calculated" for x in variables],
    }
    structure = ElementTree.SubElement(root, "ModelStructure")
    for key, chosen in places.items():
        if any(chosen):
            group = ElementTree.SubElement(structure, key)
            for place in np.flatnonzero(chosen) + 1:
                ElementTree.SubElement(group, "Unknown", index=str(place))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return text
