"""Forward dynamics of the patent's eqs. 58 and 64, body by body on the operators.

Written from the printed recursions, for the tests: the kernels and the twin have their
own.  T, a_m and b_m (with K_m theta, and gravity in a_m of the first body) stand in the
rows of the operators; results are in these rows as well.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np


def basic(ops, T, a_m, b_m):
    """Eq. 58: modes and joint of a body freed together; qdd and z+."""
    parents = ops.arm._parents
    bodies = range(len(parents))
    at, own = [ops.rows(k) for k in bodies], [ops.coordinate_rows(k) for k in bodies]
    z, z_plus = ops.P @ a_m + b_m, np.zeros_like(b_m)
    nu, alpha, qdd = np.zeros_like(T), np.zeros_like(a_m), np.zeros_like(T)
    for k in reversed(bodies):
        H, D, G = (ops.block(name, k) for name in "HDG")
        epsilon = T[own[k]] - H @ z[at[k]]
        nu[own[k]] = np.linalg.solve(D, epsilon)
        z_plus[at[k]] = z[at[k]] + G @ epsilon
        p = parents[k]
        if p >= 0:
            z[at[p]] += ops.block("E_Phi", p, k) @ z_plus[at[k]]
    for k in bodies:
        p, here = parents[k], at[k]
        if p >= 0:
            alpha[here] = ops.block("E_Phi", p, k).T @ alpha[at[p]]
        qdd[own[k]] = nu[own[k]] - ops.block("G", k).T @ alpha[here]
        alpha[here] += ops.block("H", k).T @ qdd[own[k]] + a_m[here]
    return SimpleNamespace(qdd=qdd, z_plus=z_plus)


def split(ops, T, a_m, b_m):
    """Eq. 64: modes freed before the joint; qdd, and H_F, z_R+ of each body."""
    parents, parts = ops.arm._parents, list(ops.split_quantities().values())
    bodies = range(len(parents))
    at, own = [ops.rows(k) for k in bodies], [ops.coordinate_rows(k) for k in bodies]
    n = [part.g.shape[-1] for part in parts]
    H_F = [ops.block("H", k)[n[k] :, n[k] :] for k in bodies]
    z, z_plus, qdd = b_m.copy(), np.zeros((len(parents), 6)), np.zeros_like(T)
    alpha = np.zeros_like(a_m)
    for k in reversed(bodies):
        s, p, (z_f, z_r) = parts[k], parents[k], np.split(z[at[k]], [n[k]])
        T_f, T_r = np.split(T[own[k]], [n[k]])
        Pi = -ops.block("H", k)[: n[k], n[k] :].T
        epsilon_f = T_f - z_f + Pi.T @ z_r
        z_R = z_r + s.g @ epsilon_f + s.P_R @ a_m[at[k]][n[k] :]
        epsilon = T_r - H_F[k] @ z_R
        nu = np.linalg.solve(s.D_f, epsilon_f), np.linalg.solve(s.D_R, epsilon)
        qdd[own[k]] = np.concatenate(nu)
        z_plus[k] = z_R + s.G_R @ epsilon
        if p >= 0:
            z[at[p]] += ops.block("E_Phi", p, k)[:, n[k] :] @ z_plus[k]
    for k in bodies:
        s, p, nu = parts[k], parents[k], qdd[own[k]].copy()
        outer = np.zeros(6)
        if p >= 0:
            outer = ops.block("E_Phi", p, k)[:, n[k] :].T @ alpha[at[p]]
        beta = nu[n[k] :] - s.G_R.T @ outer
        outer = outer + H_F[k].T @ beta + a_m[at[k]][n[k] :]
        qdd[own[k]] = np.concatenate([nu[: n[k]] - s.g.T @ outer, beta])
        alpha[at[k]] = ops.block("H", k).T @ np.r_[qdd[own[k]][: n[k]], 0.0 * beta]
        alpha[at[k]][n[k] :] += outer
    return SimpleNamespace(qdd=qdd, H_F=H_F, z_R_plus=z_plus)
