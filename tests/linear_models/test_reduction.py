"""Linear models with fewer states: modal form, truncation, balanced reduction."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from linear_systems import changed, oscillator, random_model
from numpy.testing import assert_allclose

import flexarm as fa


@pytest.mark.parametrize("spread", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_modal_form_is_the_same_model(seed: int, spread: float) -> None:
    model = changed(random_model(seed, n=7), seed, spread)
    modal = model.modal_form()
    w = np.array([0.1, 1.0, 10.0])
    expected = model.frequency_response(w)
    assert_allclose(modal.frequency_response(w), expected, rtol=1e-7)
    poles, F = np.asarray(model.poles()), modal.A
    at = 0
    for k, s in enumerate(poles[poles.imag >= 0.0]):
        size = 1 if s.imag < 1e-9 else 2
        block = F[at : at + size, at : at + size]
        wanted = [[s.real, s.imag], [-s.imag, s.real]]
        assert_allclose(
            block, np.array(wanted)[:size, :size], rtol=1e-6, err_msg=str(k)
        )
        at += size
    mask = np.zeros((7, 7), bool)
    mask[[range(7)], [range(7)]] = True
    assert (np.abs(F[np.abs(np.subtract.outer(range(7), range(7))) > 1]) == 0.0).all()


def test_modal_form_of_a_free_arm_keeps_its_double_poles() -> None:
    arm = fa.library.de_luca_siciliano()
    q = np.array([0.0, 0.8, 0, 0, 0, 0])
    ss = fa.linearize(arm, q, outputs=["joints", "tip xy"])
    modal = ss.modal_form()
    w = np.geomspace(0.1, 400.0, 7)
    assert_allclose(
        modal.frequency_response(w), ss.frequency_response(w), rtol=1e-8, atol=1e-10
    )
    assert modal.states[0] == "mode 1 a" and modal.states[3] == "mode 1 d"
    # what is left out is known: at rest the same, otherwise that of the fast modes
    slow = ss.modal_truncation(5.0)
    assert ss.modal_truncation(Decimal(5)).states == slow.states
    assert slow.n_states == 8
    low = np.array([0.05, 0.5])
    found, expected = slow.frequency_response(low), ss.frequency_response(low)
    assert_allclose(found, expected, rtol=1e-4)
    rough = ss.modal_truncation(5.0, match_static=False).frequency_response(low)
    assert np.abs(rough - expected).max() > 10.0 * np.abs(found - expected).max()
    with pytest.raises(fa.ArgumentError, match="below all modes"):
        oscillator(9.0, 0.0).modal_truncation(1.0)
    with pytest.raises(fa.ArgumentError, match="modal_form is of one model"):
        fa.linearize(arm, np.zeros((2, 6))).modal_form()


@pytest.mark.parametrize("match_static", [False, True])
@pytest.mark.parametrize("dt", [None, 0.05])
def test_balanced_reduction_keeps_its_bound(match_static: bool, dt: Any) -> None:
    model = changed(oscillator([1.0, 4.0, 11.0, 30.0], [0.3, 0.2, 0.1, 0.05]), 0, 1.0)
    model = model if dt is None else model.discretize(dt)
    n = model.n_states
    w = np.geomspace(0.01, 60.0 if dt else 1e3, 400)
    full = model.frequency_response(w)
    size = []
    for order in (2, 4, 6):
        reduction = model.balanced_reduction(order, match_static=match_static)
        assert reduction.model.n_states == order and reduction.hankel.shape == (n,)
        error = np.linalg.norm(
            reduction.model.frequency_response(w) - full, 2, axis=(-2, -1)
        ).max()
        assert error <= reduction.error_bound * (1.0 + 1e-9)
        assert error > 0.02 * reduction.error_bound
        size.append(error)
        if match_static:
            assert_allclose(
                reduction.model.static_gain(), model.static_gain(), rtol=1e-8
            )
    assert size[0] > size[1] > size[2]
    assert (np.diff(reduction.hankel) <= 0.0).all()
    whole = model.balanced_reduction(n).model
    assert_allclose(whole.frequency_response(w), full, rtol=1e-6, atol=1e-9)


def test_modes_that_do_not_decay_are_kept_apart() -> None:
    arm = fa.library.de_luca_siciliano(damping=True)
    ss = fa.linearize(arm, np.zeros(6))
    reduction = ss.balanced_reduction(8)
    assert reduction.kept_apart == 4 and "4 of them of modes that do not" in str(
        reduction
    )
    w = np.geomspace(0.5, 300.0, 60)
    error = np.linalg.norm(
        reduction.model.frequency_response(w) - ss.frequency_response(w),
        2,
        axis=(-2, -1),
    ).max()
    assert error <= reduction.error_bound * (1.0 + 1e-6)
    with pytest.raises(
        fa.ArgumentError,
        match=r"4 states of modes that do not decay .the motion without",
    ):
        ss.balanced_reduction(2)
    with pytest.raises(fa.ArgumentError, match="order is 0, expected a number from 1"):
        ss.balanced_reduction(0)
    undamped = fa.linearize(fa.library.de_luca_siciliano(), np.zeros(6))
    with pytest.raises(fa.ArgumentError, match="modal_truncation"):
        undamped.balanced_reduction(6)
    many = fa.linearize(arm, np.zeros((2, 6))).balanced_reduction(8)
    assert many.model.batch == (2,)
    assert_allclose(
        many.model[1].frequency_response(w), reduction.model.frequency_response(w)
    )
