"""Enums, limits and columns that the extension exports, beside what uses them."""

from __future__ import annotations

import itertools
from types import MappingProxyType

import numpy as np
import pytest
from gufuncs import ARMS
from test_stubs import TREE, constants

import flexarm as fa
from flexarm import _core

TABLES = [name for name in dir(_core) if name.endswith("_COLUMNS")]


def test_types() -> None:
    kinds = {
        "Final[tuple[str, ...]]": tuple,
        "Final[MappingProxyType[str, slice]]": MappingProxyType,
        constants(TREE.body)["KERNELS"]: MappingProxyType,
        constants(TREE.body)["RECORDS"]: MappingProxyType,
        "Final[int]": int,
        "Final[float]": float,
    }
    for name, annotation in constants(TREE.body).items():
        value = getattr(_core, name)
        assert type(value) is kinds[annotation], name
        if isinstance(value, tuple):
            assert all(type(x) is str for x in value)
            assert len(set(value)) == len(value)


@pytest.mark.parametrize("table", TABLES)
def test_columns_follow_each_other(table: str) -> None:
    slices = list(getattr(_core, table).values())
    assert slices[0].start == 0
    for before, after in itertools.pairwise(slices):
        assert before.stop == after.start
    with pytest.raises(TypeError):
        getattr(_core, table)["other"] = slice(1)


def test_columns_are_those_of_packed_arms() -> None:
    packed = ARMS["closed"].pack()
    widths = {
        "TOPOLOGY_COLUMNS": packed.topology,
        "JOINT_COLUMNS": packed.joints,
        "LOOP_COLUMNS": packed.loops,
        "FRAME_COLUMNS": packed.frames,
        "PASSIVE_COLUMNS": packed.passive,
    }
    for table, array in widths.items():
        *_, last = getattr(_core, table).values()
        assert last.stop == array.shape[-1], table
    arm = ARMS["pendulum"]
    topology, joints, nodes, *_ = arm.pack()
    kind = topology[0, _core.TOPOLOGY_COLUMNS["joint"]]
    assert _core.JOINT_KINDS[int(kind[0])] == arm.bodies[0].joint.kind
    columns, body = _core.JOINT_COLUMNS, arm.bodies[0]
    rotation = joints[0, columns["rotation"]].reshape(3, 3)
    assert np.array_equal(rotation, body.joint.rotation)
    assert np.array_equal(joints[0, columns["damping"]][:1], body.joint.friction)
    assert nodes[_core.NODE_COLUMNS["mass"]] == body.node_mass[0]


def test_methods_are_those_of_simulate() -> None:
    arm = ARMS["pendulum"]
    for method in _core.METHODS:
        run = fa.simulate(arm, [0.1], [0.0], [0.0, 1e-3], method=method)
        assert run.success
    assert set(_core.STACK_METHODS) < set(_core.METHODS)
