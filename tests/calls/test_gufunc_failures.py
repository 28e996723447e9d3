"""Every gufunc: NaN in its own state, index and count told, Ctrl-C."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from gufuncs import (
    ARMS,
    NODE_NAMES,
    STRICT,
    Case,
    assert_same_bits,
    each_case,
    each_name,
    gufunc_names,
    spoil,
)
from interrupts import interrupt_after, interrupt_when

import flexarm as fa
from flexarm._core import Model

pytestmark = [*STRICT]


# floating point


@each_case
def test_a_nan_spoils_its_own_state_only(case: Case) -> None:
    operands = case.draw((19,), seed=18)
    quiet = case.arm.kernels.quiet(case.name)
    expected = quiet(*operands)
    first = int(case.has_node)
    for k in range(first, len(operands)):
        # every lane of a block, the ends of the next, the remainder
        for i, place in enumerate([*range(8), 8, 15, 16, 17, 18]):
            spoiled = [x.copy() for x in operands]
            bad = (np.nan, np.inf)[(i + k) % 2]
            spoiled[k][place, place % spoiled[k].shape[1]] = bad
            result = quiet(*spoiled)
            others = np.arange(19) != place
            assert_same_bits(result[others], expected[others])


@each_case
def test_huge_states_spoil_their_own_state_only(case: Case) -> None:
    operands = case.draw((10,), seed=19)
    quiet = case.arm.kernels.quiet(case.name)
    expected = quiet(*operands)
    for k in range(int(case.has_node), len(operands)):
        for size in (1e15, 1e160, 1.7e308):
            spoiled = [x.copy() for x in operands]
            spoiled[k][4] = size
            result = quiet(*spoiled)
            others = np.arange(10) != 4
            assert_same_bits(result[others], expected[others])
            failed = not np.isfinite(result[4]).all()
            if failed:
                with pytest.raises(fa.NotFiniteError) as caught:
                    case.public(spoiled)
                assert caught.value.index == (4,)
                assert caught.value.count == 1
            else:
                assert_same_bits(case.public(spoiled), result)


@each_case
def test_tiny_numbers_raise_no_flags(case: Case) -> None:
    operands = case.draw((10,), seed=20)
    for scale in (1e-310, 1e-160, 0.0):
        with np.errstate(under="ignore"):
            tiny = [x if x.dtype.kind == "i" else x * scale for x in operands]
        assert np.isfinite(case.public(case.set_upright(tiny))).all()


@each_case
def test_error_names_index_and_count_and_keeps_the_rest(case: Case) -> None:
    good = case.draw((4, 3, 5), seed=21)
    expected = case.gufunc(*good)
    states = [(1, 2, 0), (1, 2, 4), (3, 0, 0)]
    for k in range(int(case.has_node), len(good)):
        order = "CFK"[(k + case.arm.nv) % 3]  # dealt out over arms and operands
        operands = [np.array(x, order="C" if order == "K" else order) for x in good]
        if order == "K":  # batch axes turned in memory
            operands = [x.swapaxes(0, 1).copy().swapaxes(0, 1) for x in operands]
        spoiled = [x.copy(order="K") for x in operands]
        if not spoil(case, spoiled, k, *states):
            continue
        with pytest.raises(fa.NotFiniteError) as caught:
            case.public(spoiled)
        error = caught.value
        assert error.index == (1, 2, 0)
        assert error.count == 3
        message = str(error)
        assert "3 of 60 states" in message
        assert "first at index (1, 2, 0)" in message
        assert "[1, 2, 0, 0] is nan" in message
        assert "\n" not in message
        bad = np.zeros((4, 3, 5), dtype=bool)
        bad[tuple(np.transpose(states))] = True
        assert np.isnan(error.result[bad]).all()
        assert_same_bits(error.result[~bad], expected[~bad])


@each_case
def test_error_of_a_broadcast_batch(case: Case) -> None:
    """NaN in one operand of one axis fails a whole row of the result."""
    n = len(case.cores)
    first = int(case.has_node)
    shapes = (2 * [(6, 1), (5,), (6, 5)])[: n - first]
    if n - first == 1:
        shapes = [(6, 5)]
    nodes = [()] if case.has_node else []
    good = case.draw(*nodes, *shapes, seed=22)
    expected = case.gufunc(*good)
    assert expected.shape[:2] == (6, 5)
    for k in range(first, n):
        spoiled = [x.copy() for x in good]
        shape = shapes[k - first]
        where = (2, 0) if shape == (6, 1) else (3,) if shape == (5,) else (2, 3)
        if not spoil(case, spoiled, k, where):
            continue
        bad = np.zeros((6, 5), dtype=bool)
        bad[(2, slice(None)) if shape == (6, 1) else (slice(None), 3)] = True
        if shape == (6, 5):
            bad[:] = False
            bad[2, 3] = True
        with pytest.raises(fa.NotFiniteError) as caught:
            case.public(spoiled)
        error = caught.value
        assert error.count == bad.sum()
        assert error.index == tuple(np.argwhere(bad)[0])
        assert "is nan" in str(error)
        assert np.isnan(error.result[bad]).all()
        assert_same_bits(error.result[~bad], expected[~bad])


@each_case
def test_error_of_a_lone_state(case: Case) -> None:
    operands = case.draw(())
    if not spoil(case, operands, -1, ()):
        return
    with pytest.raises(fa.NotFiniteError, match="for the state") as caught:
        case.public(operands)
    assert caught.value.index == ()
    assert caught.value.count == 1
    result = caught.value.result
    assert np.shape(result) == case.out_core
    assert np.isnan(result).all()


@each_case
def test_gufunc_itself_counts_failed_states(case: Case) -> None:
    operands = case.draw((50,))
    if not spoil(case, operands, -1, (7,), (20,), (49,)):
        assert np.isfinite(case.gufunc(*operands)).all()
        return
    with pytest.raises(fa.NotFiniteError, match="3 of 50 states, first at") as caught:
        case.gufunc(*operands)
    assert (caught.value.count, caught.value.index) == (3, (7,))
    bare = Model(*case.arm.pack())  # of no arm: in the words of C
    with pytest.raises(
        fa.NotFiniteError, match=f"{case.name}: 3 of 50 states .* at position 7$"
    ):
        getattr(bare, case.name)(*operands)


@each_case
def test_gufunc_itself_raises_once_for_a_batch_in_pieces(case: Case) -> None:
    """Every piece of the batch fails: still one NotFiniteError, not a SystemError."""
    operands = case.draw((6, 5))
    operands = [x[::2, ::2] for x in operands]  # memory cannot be one run
    if not spoil(case, operands, -1, ()):
        return
    with pytest.raises(fa.NotFiniteError):
        case.gufunc(*operands)
    # and the interpreter is as before
    assert case.gufunc(*case.draw((6, 5))).shape == (6, 5, *case.out_core)


@each_case
def test_error_with_out_keeps_good_states_in_out(case: Case) -> None:
    operands = case.draw((12,), seed=23)
    expected = case.gufunc(*operands)
    if not spoil(case, operands, -1, (5,)):
        return
    out = np.zeros((12, *case.out_core))
    try:
        with pytest.raises(fa.NotFiniteError) as caught:
            case.public(operands, out=out)
    except TypeError:
        pytest.skip("takes no out=, see test_public_functions_take_out")
    others = np.arange(12) != 5
    for result in (out, caught.value.result):
        assert_same_bits(result[others], expected[others])
        assert np.isnan(result[5]).all()


@each_case
def test_error_with_out_in_place_of_an_input(case: Case) -> None:
    """The second look of the error must not compute from what was overwritten."""
    operands = case.draw((12,), seed=24)
    expected = case.gufunc(*operands)
    for k, core in enumerate(case.cores):
        if core != case.out_core or not core:
            continue
        spoiled = [x.copy() for x in operands]
        if not spoil(case, spoiled, -1, (5,)):
            return
        try:
            with pytest.raises(fa.NotFiniteError) as caught:
                case.public(spoiled, out=spoiled[k])
        except TypeError:
            pytest.skip("takes no out=, see test_public_functions_take_out")
        others = np.arange(12) != 5
        assert caught.value.index == (5,)
        assert caught.value.count == 1
        assert_same_bits(caught.value.result[others], expected[others])
        assert_same_bits(spoiled[k][others], expected[others])
        # an input that was finite is not blamed
        overflow = [x.copy() for x in operands]
        overflow[k][5] = 1.7e308
        if np.isfinite(case.arm.kernels.quiet(case.name)(*overflow)).all():
            continue
        with pytest.raises(fa.NotFiniteError, match="overflow") as caught:
            case.public(overflow, out=overflow[k])
        assert " is nan" not in str(caught.value)
        assert " is inf" not in str(caught.value)


@each_case
def test_error_with_out_in_place_of_an_input_in_pieces(case: Case) -> None:
    """A failure in the first piece must not keep the others from being computed."""
    operands = case.draw((6, 9), seed=25)
    expected = case.gufunc(*operands)[::2, ::3]
    for k, core in enumerate(case.cores):
        if core != case.out_core or not core:
            continue
        spoiled = [x.copy() for x in operands]
        if not spoil(case, spoiled, -1, (0, 3)):
            return
        spoiled = [x[::2, ::3] for x in spoiled]
        with pytest.raises(fa.NotFiniteError) as caught:
            case.public(spoiled, out=spoiled[k])
        assert caught.value.index == (0, 1)
        assert caught.value.count == 1
        rest = np.ones((3, 3), dtype=bool)
        rest[0, 1] = False
        assert_same_bits(np.array(spoiled[k])[rest], expected[rest])
        assert_same_bits(np.array(caught.value.result)[rest], expected[rest])


@pytest.mark.parametrize("method", ["articulated", "composite"])
def test_singular_mass_matrix_raises(method: str) -> None:
    """A thin rod that turns about itself has no inertia about its joint."""
    thin = fa.RigidBody("thin", fa.Joint(axis=(1, 0, 0)), mass=1.0, com=(0.5, 0, 0))
    arm = fa.Arm([thin])
    with pytest.raises(
        fa.SingularityError, match="mass matrix is not positive"
    ) as caught:
        fa.forward_dynamics(arm, [[0.0], [1.0]], [0.0], [1.0], method=method)
    assert isinstance(caught.value, ArithmeticError)
    assert caught.value.count == 2
    assert caught.value.index == (0,)
    # what needs no inverse is fine
    assert fa.mass_matrix(arm, [0.0]) == 0.0
    assert fa.inverse_dynamics(arm, [0.0], [1.0], [1.0]) == 0.0


def test_singular_state_in_a_batch_is_found() -> None:
    """A slide without mass that carries a rod: singular where the rod is level."""
    rod = fa.RigidBody("rod", fa.Joint(axis=(0, 1, 0)), mass=1.0, com=(1.0, 0, 0))
    slide = fa.RigidBody("slide", fa.Joint("prismatic", axis=(0, 0, 1)))
    arm = fa.Arm([slide, rod])
    q = np.zeros((9, 2))
    q[:, 1] = np.linspace(-1.0, 1.0, 9)
    for method in ("articulated", "composite"):
        with pytest.raises(fa.SingularityError) as caught:
            fa.forward_dynamics(arm, q, [0.0, 0.0], [0.0, 1.0], method=method)
        assert caught.value.index == (4,)
        assert caught.value.count == 1
        rest = np.arange(9) != 4
        assert np.isfinite(caught.value.result[rest]).all()


# tau, node


@each("name", ["forward_dynamics", "forward_dynamics_composite"])
@each("key", list(ARMS))
def test_tau_has_joint_or_all_entries(key: str, name: str) -> None:
    case = Case(ARMS[key], name)
    arm = case.arm
    q, qd, tau = case.draw((15,))
    assert tau.shape == (15, arm.nu)
    full = np.zeros((15, arm.nv))
    full[:, : arm.nu] = tau
    assert_same_bits(case.gufunc(q, qd, full), case.gufunc(q, qd, tau))
    assert_same_bits(case.public([q, qd, full]), case.gufunc(q, qd, tau))
    for n in {0, 1, arm.nu - 1, arm.nu + 1, arm.nv - 1, arm.nv + 1} - {arm.nu, arm.nv}:
        with pytest.raises(
            fa.ArgumentError, match=f"length {n}, expected {arm.nu} "
        ) as e:
            case.public([q, qd, np.zeros((15, n))])
        assert "tau" in str(e.value)
        with pytest.raises(fa.ArgumentError, match=f"tau .* of length {n}, "):
            case.gufunc(q, qd, np.zeros((15, n)))
        bare = getattr(Model(*arm.pack()), name)  # of no arm: in the words of C
        with pytest.raises(fa.ArgumentError, match=f"tau has length {n}, "):
            bare(q, qd, np.zeros((15, n)))


@pytest.mark.parametrize("name", NODE_NAMES)
def test_bad_node_numbers_are_refused(name: str) -> None:
    for key in ("puma560", "tree"):
        case = Case(ARMS[key], name)
        pair = name == "operational_space_compliance"  # i N + j
        n = case.arm.n_nodes ** (2 if pair else 1)
        operands = case.draw((4, 3))
        for bad in (-1, n, 2**62, -(2**63)):
            nodes = operands[0].copy()
            nodes[2, 1] = bad
            for call in (case.public, lambda given, c=case: c.gufunc(*given)):
                with pytest.raises(
                    fa.ArgumentError, match=f"node is {bad}, .* 0 to {n - 1}"
                ):
                    call([nodes, *operands[1:]])
                with pytest.raises(fa.ArgumentError, match=f"node is {bad}, "):
                    call([bad, *operands[1:]])
        # in several pieces of a broadcast batch too
        pieces = [x[::2, ::2] for x in operands[1:]]
        with pytest.raises(fa.ArgumentError, match="node is -1"):
            case.public([np.full((2, 1), -1), *pieces])
        with pytest.raises(fa.ArgumentError, match="node is -1"):
            case.gufunc(-1, *pieces)


# refused types


@each("name", gufunc_names(ARMS["closed"]))
def test_other_types_are_refused_in_words(name: str) -> None:
    case = Case(ARMS["closed"], name)
    good = case.draw((2,))
    first = int(case.has_node)
    for k in range(first, len(good)):
        shape = good[k].shape
        for wrong in (
            np.zeros(shape, dtype=object),
            np.zeros(shape, dtype=complex),
            np.zeros(shape, dtype=np.longdouble),
            np.full(shape, "1.0"),
            np.zeros(shape, dtype="M8[s]"),
            None,
            "zero",
            {"a": 1},
            [[1.0], [1.0, 2.0]],
        ):
            operands: list[Any] = list(good)
            operands[k] = wrong
            with pytest.raises(
                fa.ArgumentError, match=r"expected .*real numbers"
            ) as caught:
                case.public(operands)
            assert isinstance(caught.value, ValueError)
            assert "\n" not in str(caught.value)
            with pytest.raises((TypeError, ValueError)):
                case.gufunc(*operands)


# large batches


CHUNK = 8192  # states between two looks for Ctrl-C


@each_name
def test_a_million_states(name: str) -> None:
    """A million of one gufunc; of the others some chunks and a remainder."""
    case = Case(ARMS["pendulum"], name)
    n = 1_000_000 if name == "kinetic_energy" else 3 * CHUNK + 5
    operands = [np.resize(x, (n, *x.shape[1:])) for x in case.draw((1009,))]
    expected = case.gufunc(*case.draw((1009,)))
    result = case.gufunc(*operands)
    whole = n // 1009 * 1009
    table = result[:whole].reshape(-1, *expected.shape)
    assert (table == expected).all()
    assert_same_bits(result[whole:], expected[: n - whole])
    # a failure late in the batch, past many chunks
    if not spoil(case, operands, -1, (n - 3,)):
        return
    with pytest.raises(fa.NotFiniteError) as caught:
        case.public(operands)
    assert caught.value.index == (n - 3,)
    assert caught.value.count == 1


# Ctrl-C


@pytest.mark.parametrize("shape", ["run", "pieces", "nodes"])
def test_ctrl_c_stops_a_long_batch(shape: str) -> None:
    if shape == "nodes":
        case = Case(ARMS["large"], "node_velocity")
    else:
        case = Case(ARMS["large"], "kinetic_energy")
    operands = case.draw((100,))
    n = 2_000_000  # some seconds
    if shape == "run":
        given = [np.broadcast_to(x[0], (n, *x.shape[1:])) for x in operands]
    elif shape == "pieces":  # pieces shorter than what lies between two looks
        given = [
            np.broadcast_to(operands[0][0], (n // 100, 1, *operands[0].shape[1:])),
            operands[1],
        ]
    else:
        given = [np.broadcast_to(x[0], (n, *x.shape[1:])) for x in operands]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in given))
    out = np.full((*batch, *case.out_core), np.nan)
    rows = out.reshape(n, -1)
    begun = interrupt_when(lambda: bool(np.isfinite(rows[0]).all()))
    with begun, pytest.raises(KeyboardInterrupt):
        case.gufunc(*given, out=out)
    assert np.isnan(rows[-1]).all()  # it was not finished
    # and the arm works as before
    assert_same_bits(case.gufunc(*operands), case.gufunc(*(x.copy() for x in operands)))


def test_ctrl_c_is_not_turned_into_another_error() -> None:
    """Through the public function, with states that fail after the interrupt."""
    case = Case(ARMS["large"], "kinetic_energy")
    q, qd = case.draw((100,))
    many = np.broadcast_to(q[0], (50_000, 1, case.arm.nq))
    bad = qd.copy()
    bad[-1] = np.nan
    with interrupt_after(0.1), pytest.raises(KeyboardInterrupt):
        case.public([many, bad])


def test_a_state_is_lost_with_its_first_number() -> None:
    """Of two slides that do not touch one leaves the numbers, the other one stays."""
    slides = [
        fa.RigidBody(name, fa.Joint("prismatic", parent="ground"), mass=1.0)
        for name in ("left", "right")
    ]
    arm = fa.Arm(slides, gravity=(0, 0, 0))
    t = np.linspace(0.0, 100.0, 11)
    torque = np.broadcast_to([1e306, 0.0], (11, 2))
    run = fa.simulate(arm, [0.0, 0.0], [0.0, 0.1], t, torque=torque, progress=False)
    assert not run.success
    assert 1 < run.completed < len(t)
    assert np.isfinite(run.q[: run.completed]).all()
    assert np.isnan(run.q[run.completed :]).all()
    assert np.isnan(run.qd[run.completed :]).all()
