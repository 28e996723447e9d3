"""Arrays of other classes than NumPy's own: converted with every bit, or refused."""

from __future__ import annotations

import array
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from each import each
from refusals import FLEX, PUMA, argument_refused, model_refused
from se3_maps import MAPS, draw, public
from test_function_errors import EACH_ARGUMENT, FUNCTIONS, call_of, good, stored

import flexarm as fa
from flexarm import twists
from flexarm.twists._rates import joint_rates

Array = Any


class OnlyDlpack:
    """Array of a package that knows no more of NumPy than the array API demands."""

    def __init__(self, x: Array) -> None:
        self.x = x

    def __dlpack__(self, **options: Any) -> Any:
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self.x.__dlpack_device__()
        return device


class OnlyArray:
    """Array of a package that is converted by ``__array__``."""

    def __init__(self, x: Array) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.x, dtype=dtype)


class Quantity(OnlyArray):
    """Array with a unit, as those of Pint."""

    units = "degree"

    def to(self, units: str) -> Quantity:
        return self


def matrix(x: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix(x)


def frame(x: Array) -> Array:
    return pytest.importorskip("pandas").DataFrame(x)


def nullable(x: Array) -> Array:
    return frame(x).astype("Float64")


def labelled(x: Array) -> Array:
    return pytest.importorskip("xarray").DataArray(x)


def lazy(x: Array) -> Array:
    return pytest.importorskip("dask.array").from_array(x, chunks=1)


def rows_of(make: Callable[[Array], Any]) -> Callable[[Array], Any]:
    return lambda x: [make(row) for row in x]


# of arrays with two axes
KINDS: dict[str, Callable[[Array], Any]] = {
    "masked without masks": np.ma.masked_array,
    "masked nowhere": lambda x: np.ma.masked_array(x, mask=np.zeros(x.shape, bool)),
    "matrix": matrix,
    "DataFrame": frame,
    "nullable DataFrame": nullable,
    "DataArray": labelled,
    "dask": lazy,
    "lazy DataArray": lambda x: labelled(lazy(x)),
    "dlpack": OnlyDlpack,
    "__array__": OnlyArray,
    "memoryview": memoryview,
    "big endian": lambda x: x.astype(">f8"),
    "list of masked": rows_of(np.ma.masked_array),
    "list of DataArrays": rows_of(labelled),
    "list of dlpack": rows_of(OnlyDlpack),
    "tuple of array.array": lambda x: tuple(array.array("d", row) for row in x),
}


def masked(x: Array) -> Array:
    mask = np.zeros(x.shape, dtype=bool)
    mask.flat[-1] = True
    return np.ma.masked_array(x, mask)


MASKED: dict[str, Callable[[Array], Any]] = {
    "masked": masked,
    "list of masked": rows_of(masked),
    "the constant": lambda x: [np.ma.masked, *np.ravel(x)[1:]],
}

# what Python computes around the kernels: arguments by name, and the result
Q = 0.1 * np.random.default_rng(1).normal(size=(2, 6))
POSES = fa.link_poses(PUMA, Q)
DRIVERS: dict[str, tuple[dict[str, Array], Callable[..., Any]]] = {
    "simulate": (
        {"q0": Q, "qd0": Q, "torque": np.zeros((3, 2))},
        lambda **x: fa.simulate(FLEX, **x, t=[0.0, 0.01, 0.02]).q,
    ),
    "inverse_kinematics": (
        {"q0": Q, "wrench": np.zeros((2, 6)), "target": np.full((2, 3), 0.3)},
        lambda **x: fa.inverse_kinematics(FLEX, deflection=True, **x).q,
    ),
    "equilibrium": ({"q": Q}, lambda **x: fa.equilibrium(FLEX, **x).q),
    "holding_forces": ({"q": Q}, lambda **x: fa.holding_forces(FLEX, **x)),
    "natural_frequencies": ({"q": Q}, lambda **x: fa.natural_frequencies(FLEX, **x)),
    "static_compliance": ({"q": Q}, lambda **x: fa.Arm.static_compliance(FLEX, **x)),
    "deflection": ({"q": Q}, lambda **x: fa.deflection(FLEX, **x)),
    "link_loads": (
        {"q": Q, "qd": Q, "qdd": Q},
        lambda **x: fa.link_loads(FLEX, **x)["link1"].force,
    ),
    "operators": ({"q": Q}, lambda **x: fa.operators(FLEX, **x).Phi),
    "innovations_factors": (
        {"q": Q},
        lambda **x: fa.Arm.innovations_factors(FLEX, **x)[1],
    ),
    "difference": ({"q0": Q, "q1": Q[::-1]}, lambda **x: fa.difference(FLEX, **x)),
    "inertial_regressor": (
        {"q": Q, "qd": Q, "qdd": Q},
        lambda **x: fa.inertial_regressor(PUMA, **x),
    ),
    "stack": (
        {"q": Q, "qd": Q},
        lambda **x: fa.bias_forces(fa.stack([PUMA, PUMA]), **x),
    ),
    "stack of all kinds of kernels": (
        {"q": Q},
        lambda **x: fa.log_det_mass_matrix(fa.stack([PUMA, PUMA]), **x),
    ),
    "convert": (
        {"V": Q},
        lambda **x: twists.convert(
            poses=POSES[:, 0], source="body", target="spatial", **x
        ),
    ),
    "joint_rates": (
        {"q": Q},
        lambda **x: joint_rates(PUMA, V=np.zeros((6, 6)), **x, least_norm=True),
    ),
    "factors": ({"q": Q}, lambda **x: twists.factors(PUMA, **x).P),
    "change_base_frame": (
        {"V": Q, "change": POSES[0, 0]},
        lambda **x: twists.change_base_frame(**x),
    ),
}
EACH_DRIVEN = [(name, key) for name, (given, _) in DRIVERS.items() for key in given]


def same(actual: Any, wanted: Any) -> None:
    assert type(actual) is type(wanted)
    assert type(actual) in (np.ndarray, np.float64)
    assert actual.shape == wanted.shape
    assert actual.tobytes() == wanted.tobytes()


# conversions


@pytest.mark.parametrize("kind", KINDS)
def test_functions_compute_with_the_numbers(kind: str) -> None:
    """Every argument of every function of an arm, one at a time."""
    make = KINDS[kind]
    for function in FUNCTIONS:
        given = good(PUMA, function, (2,))
        if function == "forward_dynamics_vjp" or any(
            x.ndim != 2 for x in given.values()
        ):
            continue
        wanted = stored(call_of(PUMA, function, given))
        for argument in given:
            other = given | {argument: make(given[argument])}
            same(stored(call_of(PUMA, function, other)), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_maps_compute_with_the_numbers(kind: str) -> None:
    for name in MAPS:
        given = [x[0] for x in draw(name, 2)]
        wanted = public(name)(*given)
        for i, x in enumerate(given):
            if x.ndim == 2:
                same(public(name)(*given[:i], KINDS[kind](x), *given[i + 1 :]), wanted)


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning")  # of coarse steps
@pytest.mark.parametrize("kind", KINDS)
def test_drivers_compute_with_the_numbers(kind: str) -> None:
    for given, run in DRIVERS.values():
        wanted = run(**given)
        for key, x in given.items():
            same(run(**given | {key: KINDS[kind](x)}), wanted)


def test_single_states() -> None:
    """One axis: a series, an array of Python, integers, a matrix as a batch of one."""
    q = np.arange(6.0)
    wanted = fa.mass_matrix(PUMA, q)
    series = pytest.importorskip("pandas").Series
    for x in (
        *(series(q), series(q, dtype="Int64"), labelled(q), lazy(q), OnlyDlpack(q)),
        *(array.array("d", q), array.array("b", range(6)), range(6), memoryview(q)),
        *(np.ma.masked_array(q), q.astype("f2"), q.astype("u1"), q.astype(">i4")),
        [np.float32(i) for i in range(6)],
        [OnlyArray(i) for i in range(6)],
        [np.array(i) for i in range(6)],
    ):
        same(fa.mass_matrix(PUMA, x), wanted)
    same(fa.mass_matrix(PUMA, matrix(q)), wanted[np.newaxis])
    flags = np.array([True, False] * 3)
    same(fa.mass_matrix(PUMA, flags), fa.mass_matrix(PUMA, flags.astype(float)))
    same(
        fa.forward_dynamics(PUMA, q, np.ma.array(q), series(q), out=np.zeros(6)),
        fa.forward_dynamics(PUMA, q, q, q),
    )


def test_descriptions_take_numbers_of_all_kinds() -> None:
    """Exactly rounded: fractions, decimals, extended precision, integers above 2^63."""
    third = Fraction(1, 3), Decimal(1) / 3, np.longdouble(1) / 3
    for com in (
        [*third],
        np.array(third, dtype=object),
        np.ma.masked_array([1 / 3] * 3),
        [OnlyDlpack(np.array(1 / 3))] * 3,
    ):
        body = fa.RigidBody("rod", mass=1.0, com=com)
        assert body.com.tolist() == [1 / 3] * 3
    assert fa.RigidBody("rod", mass=2**70).mass == 2.0**70


def test_classes_of_users_keep_their_part() -> None:
    """Subclasses and ``__array_ufunc__`` work as NumPy has it; memory maps store."""

    class Own(np.ndarray):
        pass

    q = np.zeros(6)
    assert type(fa.mass_matrix(PUMA, q.view(Own))) is Own
    own = np.zeros((6, 6)).view(Own)
    assert fa.mass_matrix(PUMA, q, out=own) is own


def test_results_go_to_a_file(tmp_path: Any) -> None:
    out = np.memmap(tmp_path / "M", dtype=float, mode="w+", shape=(2, 6, 6))
    assert fa.mass_matrix(PUMA, Q, out=out) is out
    assert out.tobytes() == fa.mass_matrix(PUMA, Q).tobytes()


# refusals


@each("function, argument", EACH_ARGUMENT)
def test_masks_are_not_lost_by_functions(function: str, argument: str) -> None:
    given = good(PUMA, function, (2,))
    for make in MASKED.values():
        argument_refused(
            [f"{argument} has masked values", "filled()"],
            lambda m=make: call_of(
                PUMA, function, given | {argument: m(given[argument])}
            ),
        )


@each("name", MAPS)
def test_masks_are_not_lost_by_maps(name: str) -> None:
    given = draw(name, 2)
    for i, x in enumerate(given):
        for other in (masked(x), [*map(masked, x)]):
            argument_refused(
                ["has masked values", "filled()"],
                lambda i=i, x=other: public(name)(*given[:i], x, *given[i + 1 :]),
            )


@each("name, argument", EACH_DRIVEN)
def test_masks_are_not_lost_by_drivers(name: str, argument: str) -> None:
    given, run = DRIVERS[name]
    for make in MASKED.values():
        argument_refused(
            [f"{argument} has masked values", "filled()"],
            lambda m=make: run(**given | {argument: m(given[argument])}),
        )


def test_masks_are_not_lost_by_descriptions() -> None:
    for make in MASKED.values():
        com = (
            make(np.array([0.1, 0.2, 0.3]))
            if make is not MASKED["list of masked"]
            else None
        )
        if com is not None:
            model_refused(
                ["com of body 'rod' has masked values"],
                lambda c=com: fa.RigidBody("rod", mass=1.0, com=c),
            )


def test_units_are_not_lost() -> None:
    for x in (Quantity(np.zeros(6)), [Quantity(0.0)] * 6):
        argument_refused(
            ["q is of type Quantity", "units", "SI"],
            lambda x=x: fa.mass_matrix(PUMA, x),
        )


def itself() -> list[Any]:
    """A list that contains itself twice: to flatten it takes 2^64 steps."""
    endless: list[Any] = []
    endless += [endless, endless]
    return endless


def nested(depth: int) -> list[Any]:
    deep: list[Any] = [0.0] * 6
    for _ in range(depth):
        deep = [deep]
    return deep


def many() -> list[Any]:
    """10^12 numbers of four lists."""
    x: Any = 0.0
    for _ in range(4):
        x = [x] * 1000
    return list(x)


@each(
    "value, words",
    [
        (itself, ["a list that contains itself"]),
        (lambda: [0.0, itself()], ["a list that contains itself"]),
        (lambda: nested(10_000), ["more than 32 lists"]),
        (lambda: nested(40), ["more than 32 lists"]),
        (many, ["1000000000000 numbers", "expected at most"]),
        (lambda: [10**400] * 6, ["an integer of 1329 bits", "object"]),
        (lambda: [10**5000] * 6, ["an integer of", "object"]),
        (lambda: [2**70] * 6, ["1180591620717411303424", "object"]),
        (lambda: [Decimal(1)] * 6, ["Decimal('1')", "np.array(..., float)"]),
        (lambda: np.zeros(6, "g"), [np.zeros(1, "g").dtype.name, "float64"]),
        (lambda: np.zeros(6) + 1j, ["complex128", "real numbers"]),
        (lambda: [0.0, 1j, 0.0], ["complex128", "real numbers"]),
        (lambda: OnlyArray([1j] * 6), ["complex128", "real numbers"]),
        (lambda: np.zeros(6, "M8[s]"), ["datetime64[s]", "real numbers"]),
        (lambda: np.zeros(6, "m8[s]"), ["timedelta64[s]", "real numbers"]),
        (lambda: np.zeros(6, [(f"a{i}", float) for i in range(999)]), ["real numbers"]),
        (lambda: np.zeros(6, "V8"), ["|V8", "real numbers"]),
        (lambda: {0.0: 1.0}, ["{0.0: 1.0}", "real numbers"]),
        (lambda: {0.0}, ["{0.0}", "real numbers"]),
        (lambda: (0.0 for _ in range(6)), ["of type generator", "real numbers"]),
        (lambda: "x" * 10_000, ["xxx...", "real numbers"]),
        (lambda: b"x" * 10_000, ["xxx...", "real numbers"]),
        (lambda: ["a\nb\0\ud800"] * 6, [r"a\nb\x00\ud800", "real numbers"]),
        (lambda: matrix("1 2; 3 4"), ["last axis of length 2"]),
    ],
)
def test_what_is_refused(value: Callable[[], Any], words: list[str]) -> None:
    x = value()
    argument_refused(["q ", *words], lambda: fa.mass_matrix(PUMA, x))
    if "last axis" not in words[0]:
        argument_refused(
            ["q0 ", *words], lambda: fa.simulate(PUMA, x, np.zeros(6), [0.0, 0.1])
        )


@each(
    "value, words",
    [
        (itself, ["a list that contains itself"]),
        (lambda: nested(10_000), ["more than 32 lists"]),
        (lambda: [10**400, 0, 0], ["an integer of 1329 bits", "at most 1.8e308"]),
        (lambda: [np.complex128(1j), 0, 0], ["1j", "real numbers"]),
        (lambda: np.array([np.complex128(1j), 0, 0], object), ["real numbers"]),
        (lambda: np.array(["1.0", 0, 0], object), ["'1.0'", "real numbers"]),
        (lambda: "x" * 10_000, ["xxx...", "real numbers"]),
        (lambda: np.zeros((2,) * 20), ["has shape (2, 2,"]),
        (lambda: np.zeros(3, "V8"), ["real numbers"]),
        (lambda: Quantity(np.zeros(3)), ["of type Quantity", "units"]),
    ],
)
def test_what_descriptions_refuse(value: Callable[[], Any], words: list[str]) -> None:
    x = value()
    model_refused(
        ["com of body 'rod' ", *words], lambda: fa.RigidBody("rod", mass=1.0, com=x)
    )


def test_out_is_an_array_of_numpy() -> None:
    wrong: list[tuple[Any, list[str]]] = [
        (np.ma.zeros((2, 6, 6)), ["out is of type MaskedArray", "np.asarray"]),
        (frame(np.zeros((6, 6))), ["out is of type DataFrame", "np.asarray"]),
        (labelled(np.zeros((2, 6, 6))), ["out is of type DataArray", "np.asarray"]),
        (OnlyArray(np.zeros((2, 6, 6))), ["out is of type OnlyArray", "np.asarray"]),
        (OnlyDlpack(np.zeros((2, 6, 6))), ["out is <", "ndarray of shape (2, 6, 6)"]),
        ([[0.0]], ["out is [[0.0]]", "ndarray"]),
    ]
    for out, words in wrong:
        argument_refused(words, lambda o=out: fa.mass_matrix(PUMA, Q, out=o))
        argument_refused(words, lambda o=out: PUMA.kernels.mass_matrix(Q, out=o))
    argument_refused(
        ["out is of type matrix"],
        lambda: fa.bias_forces(PUMA, Q, Q, out=matrix(np.zeros((2, 6)))),
    )


def test_errors_of_the_objects_themselves_go_through() -> None:
    class Broken:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("of the user")

    for x in (Broken(), [Broken()]):
        with pytest.raises(RuntimeError, match="of the user"):
            fa.mass_matrix(PUMA, x)
        with pytest.raises(RuntimeError, match="of the user"):
            fa.RigidBody("rod", mass=1.0, com=x)


def test_what_has_no_text() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError("no text")

    class Odd:
        def __array__(self, *_: Any, **__: Any) -> Any:
            return 5

        def __len__(self) -> int:
            return -1

        def __repr__(self) -> str:
            return "x\n" * 10**6

    for x in (Silent(), [Silent()] * 6, Odd(), [Odd()], {1: Silent()}):
        argument_refused(["q is "], lambda x=x: fa.mass_matrix(PUMA, x))
        model_refused(["com of body"], lambda x=x: fa.RigidBody("a", mass=1.0, com=x))
    argument_refused(["frame is "], lambda: fa.jacobian(PUMA, Q, frame=Silent()))
