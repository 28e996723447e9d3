"""The file beside a robot description: flexible links, joints, and the arm itself.

URDF has rigid links, joints of six kinds and little of what acts in them.  A sidecar
has the rest by the names of links and joints, so that both files give the arm again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from .._support.checks import listed, short_text
from .._support.options import did_you_mean
from .._support.tables import MAX_DOTS
from ..arm import Arm
from ..bodies import Body, FlexibleBody, Joint, SegmentedLink
from ..errors import ModelError
from ..files.trees import TYPE, pretty, thing_of, tree_of_description
from ._findings import Findings, Table
from ._links import MAX_BYTES, described_link, link_tables, toml_of
from ._xml import Source

# tables beside those of links
JOINTS, ARM = "joints", "arm"
BODY, NODE = "body", "node"
# what the file has of every joint
_PLACED = (TYPE, "parent", NODE, "position", "rotation", "name")
_OF_JOINTS = tuple(
    key for key in Joint.__dataclass_fields__ if key not in _PLACED or key == NODE
)
_OPTIONS = ("gravity", "fidelity", "couplings", "stabilization", "check_units")
_OF_ARM = (*_OPTIONS, "tip", "constraints", "order")


# writing


def body_table(body: Body | SegmentedLink) -> Table:
    """Table of a flexible link by all of its numbers.

    Parameters
    ----------
    body : FlexibleBody or SegmentedLink
        The link; its joint is that of the file.
    """
    bare = body.replace(joint=Joint())
    return {BODY: tree_of_description(bare, f"link {body.name!r}")}


def beyond(joint: Joint, said: Callable[[str], bool]) -> Table:
    """Fields of a joint that the file does not say, as trees.

    Parameters
    ----------
    joint : Joint
        As it was described.
    said : callable
        Whether the file says the field of a name.
    """
    tree = tree_of_description(joint, "joint")
    return {k: x for k, x in tree.items() if k not in _PLACED and not said(k)}


def arm_table(
    arm: Arm, constraints: Sequence[object], tip: Sequence[str] | None
) -> Table:
    """Options of an arm that differ from the default, as trees."""
    table: Table = {}
    for key in _OPTIONS:
        value, default = getattr(arm, key), Arm.__dataclass_fields__[key].default
        if not np.array_equal(value, np.asarray(default)):
            table[key] = tree_of_description(value, key)
    if tip is not None:
        table["tip"] = list(tip)
    if constraints:
        table["constraints"] = tree_of_description(tuple(constraints), "constraints")
    return table


def text_of(tables: Mapping[str, Table], path: Path) -> str:
    """Text of a sidecar, in TOML or JSON by the name of its file."""
    kind = "JSON" if path.suffix == ".json" else "TOML"
    text = pretty(dict(tables)) + "\n" if kind == "JSON" else toml_of(dict(tables))
    size, limit = len(text.encode()), MAX_BYTES[kind]
    if size > limit:
        raise ModelError(
            f"the sidecar {path.name!r} would have {size} bytes, expected at most "
            f"{limit}; flexarm.save writes arms of any size"
        )
    return text


def ending_of(tables: Mapping[str, Table]) -> str:
    """Ending of the file for tables: TOML, or JSON where they are not for people."""
    numbers = any(BODY in table for table in tables.values())
    if numbers or "null" in json.dumps(tables):
        return ".json"
    lines = toml_of(dict(tables)).split("\n")
    return ".toml" if max(line.count(".") for line in lines) <= MAX_DOTS else ".json"


# reading


class Sidecar:
    """Content of a sidecar.

    Attributes
    ----------
    links : mapping of str to table
        Flexible links by name.
    joints : mapping of str to mapping
        Arguments of `Joint` by name, and the node at which one starts.
    options : dict
        Arguments of `Arm`.
    order : tuple of str
        Links in the order of the arm, empty where it is that of the file.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, object] | None,
        links: Collection[str],
        joints: Mapping[str, bool],
    ) -> None:
        tables = {} if source is None else link_tables(source)
        own = {
            key: tables[key]
            for key in (JOINTS, ARM)
            if key in tables and key not in links
        }
        self.links = {key: table for key, table in tables.items() if key not in own}
        self.joints = _joints(own.get(JOINTS, {}), joints)
        self.options = _options(own.get(ARM, {}))
        order = self.options.pop("order", ())
        self.order: tuple[str, ...] = order if isinstance(order, tuple) else ()


def _joints(found: object, joints: Mapping[str, bool]) -> dict[str, Table]:
    """Arguments of joints; `joints` are those of the robot, and whether they move."""
    if not isinstance(found, Mapping):
        raise ModelError(
            f"{JOINTS} of the sidecar is {short_text(found)}, expected a table for "
            "each joint"
        )
    result = {}
    for name, table in found.items():
        who = f"joint {short_text(name)} of the sidecar"
        at_all = isinstance(table, Mapping) and set(table) == {NODE} and name in joints
        if not at_all and not joints.get(name, False):
            moving = [joint for joint, moves in joints.items() if moves]
            raise ModelError(
                f"{who} is not in the robot or does not move, expected one of "
                f"{listed(moving)}{did_you_mean(name, moving)}"
            )
        result[name] = _values(who, table, _OF_JOINTS)
    return result


def _options(table: object) -> dict[str, object]:
    return _values(f"{ARM} of the sidecar", table, _OF_ARM)


def _values(who: str, table: object, known: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(table, Mapping):
        raise ModelError(
            f"{who} has {short_text(table)}, expected a table of arguments"
        )
    for key in table:
        if key not in known:
            raise ModelError(
                f"{who} has the unknown key {short_text(key)}, expected some of "
                f"{listed(known)}{did_you_mean(str(key), known)}"
            )
    return {key: thing_of(tree, f"{who}, {key}") for key, tree in table.items()}


def link_of(name: str, table: object) -> FlexibleBody | SegmentedLink:
    """Flexible body or link of several, by its parameters or by all its numbers."""
    if not isinstance(table, Mapping) or BODY not in table:
        return described_link(name, table)
    who = f"flexible link {short_text(name)}"
    if len(table) > 1:
        other = next(key for key in table if key != BODY)
        raise ModelError(
            f"{who} has {short_text(other)} beside its {BODY}, expected one of both"
        )
    found = thing_of(table[BODY], who)
    if not isinstance(found, FlexibleBody | SegmentedLink):
        raise ModelError(
            f"{BODY} of {who} is {type(found).__name__}, expected a FlexibleBody or a "
            "SegmentedLink"
        )
    return found


def beside(source: Source, named: str, findings: Findings) -> Path | None:
    """The sidecar that a robot description names, None without one."""
    if not named:
        return None
    if Path(named).name != named or "\\" in named or ":" in named:
        raise ModelError(
            f"the robot names the sidecar {short_text(named)}, expected the name of a "
            "file beside it; give another one by sidecar="
        )
    text = isinstance(source, bytes) or (
        isinstance(source, str) and any(sign in source for sign in "<\n\0")
    )
    if text:
        findings.left_out(
            "the file",
            "sidecar",
            f"the sidecar {named!r} of the robot is left out, as the robot is a text; "
            "give it by sidecar=",
            named,
        )
        return None
    return Path(os.fsdecode(source)).parent / named
