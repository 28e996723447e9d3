"""Export of an arm as a C header, for programs that link only the ``fa_*`` library."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import numpy as np

from .._calls.arm_like import ArmLike
from .._calls.declared import Kept
from .._calls.doors import checked
from .._support.c_text import array, check_name, comment, filled, number
from .._support.writing import named
from .packing import Packed


@checked
def export_c(
    arm: ArmLike,
    file: str | os.PathLike[str],
    *,
    name: Annotated[str, Kept(check_name)] = "arm",
) -> None:
    """Write an arm as a C header, for a controller without Python.

    The header has the arrays of `Arm.pack` as constants and a
    ``static const fa_description`` of them, from which ``fa_model_build`` makes the
    same model in C; C reads every number with the same bits.
    ``csrc/examples/real_time_loop.c`` is an example of a program.

    Parameters
    ----------
    arm : Arm
        Arm of any kind.
    file : str or path
        File of the header, which is overwritten.
    name : str
        Name of the description in C: an identifier without a leading underscore
        (compiler) or ``fa_`` (library).  In capitals it is the prefix of the sizes:
        ``ARM_NQ`` positions, ``ARM_NV`` velocities, ``ARM_N_ACTUATORS``,
        ``ARM_N_NODES``, ``ARM_TIP_NODE``, and of ``ARM_Q``, the initializer of neutral
        positions.

    Raises
    ------
    ArgumentError
        If `arm` is not an arm, or `name` is not a name in C.
    OSError
        If the file cannot be written.

    See Also
    --------
    Arm.pack : the same arrays in Python.

    Notes
    -----
    The layout of the arrays is that of ``csrc/model/description.h`` of this version of
    the package: compile both together.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     header = pathlib.Path(directory, "de_luca.h")
    ...     arm.export_c(header, name="de_luca")
    ...     text = header.read_text()
    >>> "static const fa_description de_luca = {" in text
    True
    >>> "DE_LUCA_NV = 6" in text
    True
    """
    with named(file):
        Path(file).write_text(_header(arm, name), encoding="ascii")


def _description(arm: ArmLike, name: str) -> list[str]:
    """Definitions of the arrays of an arm and of their description."""
    packed = Packed._make(arm.pack())
    arrays = {key: np.asarray(value) for key, value in packed._asdict().items()}
    constants = arrays.pop("constants")
    arrays["gravity"] = constants[:3]
    # fields: sizes, arrays, options
    counts = {
        "n_bodies": len(packed.topology),
        "nodes_size": packed.nodes.size,
        "modal_size": packed.modal.size,
        "n_loops": len(packed.loops),
        "n_couplings": len(packed.couplings),
        "couplings_size": packed.couplings.size,
        "n_passive": len(packed.passive),
        "n_followers": len(packed.followers),
    }
    fields = [f"    .{key} = {value}," for key, value in counts.items()]
    fields += [f"    .{key} = {name}_{key}," for key, a in arrays.items() if a.size]
    fields += [
        f"    .stabilization = {number(constants[3])},",
        f"    .fidelity = FA_{arm.fidelity.upper()},",
    ]
    return [
        *(line for key, a in arrays.items() for line in array(f"{name}_{key}", a)),
        f"static const fa_description {name} = {{",
        *fields,
        "};",
    ]


def _header(arm: ArmLike, name: str) -> str:
    upper = name.upper()
    # constants of the header
    sizes = {
        "NQ": arm.nq,
        "NV": arm.nv,
        "N_ACTUATORS": arm.nu,
        "N_NODES": arm.n_nodes,
        "TIP_NODE": arm.tip_node,
    }
    guard = f"FLEXARM_{upper}_H"
    return "\n".join(
        [
            "/*",
            f" * An arm of {len(arm.bodies)} bodies; written by flexarm.export_c.",
            " *",
            *comment("Velocities, with their forces:", arm.coordinate_names),
            " */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            '#include "model/description.h"',
            "",
            "#include <math.h>",
            "",
            "enum {",
            *(f"    {upper}_{key} = {value}," for key, value in sizes.items()),
            "};",
            "",
            "/* initializer of neutral positions */",
            f"#define {upper}_Q \\",
            "    { \\",
            *(f"{line} \\" for line in filled(map(number, arm.neutral), " " * 8)),
            "    }",
            "",
            *_description(arm, name),
            "",
            "#endif",
            "",
        ]
    )
