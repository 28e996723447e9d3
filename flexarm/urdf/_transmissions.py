"""Armature of joints from the transmissions of a robot description.

URDF has the reduction of a gear, ``<mechanicalReduction>``; the inertia of the rotor
stands in elements of simulators beside it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator

from .._support.checks import short_text
from ..errors import ModelError
from ._findings import Findings
from ._xml import Element

_REDUCTIONS = ("mechanicalReduction", "drake:gear_ratio")
_INERTIAS = ("motorInertia", "rotorInertia", "rotor_inertia", "drake:rotor_inertia")


def armatures(
    root: Element, joints: Collection[str], findings: Findings
) -> dict[str, float]:
    """Armature by joint, of transmissions that have the inertia of a rotor.

    Parameters
    ----------
    root : Element
        The robot, whose transmissions are taken out of it where they are read.
    joints : collection of str
        Joints that can have armature: of one freedom.
    findings : Findings
        Transmissions that are left out, added here.
    """
    result: dict[str, float] = defaultdict(float)
    read: list[Element] = []
    for element in root.all("transmission"):
        inertia = list(_numbers(element, _INERTIAS))
        if not inertia:
            continue
        read.append(element)
        names = [
            joint.attributes.get("name", "").strip() for joint in element.all("joint")
        ]
        who = (
            f"transmission {element.attributes.get('name', '')!r} (line {element.line})"
        )
        reductions = list(_numbers(element, _REDUCTIONS)) or [1.0]
        if len(names) != 1 or len(inertia) != 1 or len(set(reductions)) != 1:
            findings.left_out(
                who,
                "rotor",
                f"{who} is left out: armature is that of one rotor behind one "
                "reduction at one joint",
            )
        elif names[0] not in joints:
            findings.left_out(
                who,
                "rotor",
                f"{who} is left out: {short_text(names[0])} is no joint of one freedom",
            )
        else:
            result[names[0]] += reductions[0] ** 2 * inertia[0]
    taken = set(map(id, read))
    root.children = [x for x in root.children if id(x) not in taken]
    return dict(result)


def _numbers(element: Element, tags: Collection[str]) -> Iterator[float]:
    """Numbers of elements with some tags, at any depth."""
    for child in element.children:
        if child.tag in tags:
            yield _number(child)
        else:
            yield from _numbers(child, tags)


def _number(element: Element) -> float:
    """Finite number in an element, or in its attribute `value`."""
    text = element.attributes.get("value", element.text).strip()
    try:
        number = float(text)
        if "_" in text or not math.isfinite(number):
            raise ValueError
    except ValueError:
        raise ModelError(
            f"<{element.tag}> in line {element.line} is {short_text(text)}, expected "
            "one finite number"
        ) from None
    inertia = element.tag in _INERTIAS
    if number < 0.0 if inertia else number == 0.0:
        wanted = "an inertia of zero or more" if inertia else "a reduction"
        raise ModelError(
            f"<{element.tag}> in line {element.line} is {number:g}, expected {wanted}"
        )
    return number
