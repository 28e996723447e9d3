/*
 * forward_rows.h -- rows of modes and of wide joints: eliminated, and accelerated
 *
 * Part of forward_dynamics.c, whose equations A2, A3, A6, A7 and A9 these are: with
 * D_f = L D L', Y = L^-1 P_fr, e = L^-1 eps_f,
 *             P_R = P_rr - Y' D^-1 Y,  z_R = z_r + Y' D^-1 e,
 *             etadd = L'^-1 D^-1 (e - Y alpha)
 * Lanes       a pivot that is not positive makes its lane NaN.
 * Checked by  tests/dynamics/test_dynamics.py.
 */
#ifndef FA_FORWARD_ROWS_H
#define FA_FORWARD_ROWS_H

#include "kernels/dynamics/forward_work.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"

/* FA_SWITCH_MODES for the steps that gain by eight modes, too */
#if FA_UNROLLED_MODES > 2
#define FD_SWITCH_MODES(n, step, model, b, ...)                                        \
    if ((n) == 8) {                                                                    \
        step(model, b, 8, __VA_ARGS__);                                                \
    } else {                                                                           \
        FA_SWITCH_MODES(n, step, model, b, __VA_ARGS__)                                \
    }
#else
#define FD_SWITCH_MODES FA_SWITCH_MODES
#endif

/* a step on the modes of body b: step_fast where they are freed at once (D1) */
#define FD_MODES_STEP(step, model, b, ...)                                             \
    if ((b)->fast.W) {                                                                 \
        step##_fast(model, b, __VA_ARGS__);                                            \
    } else {                                                                           \
        FD_SWITCH_MODES((b)->n_modes, step, model, b, __VA_ARGS__)                     \
    }

/* entry (i, j), i <= j, of the 6 x 6 matrix of an inertia */
FA_INLINE fa_real *fd_entry(fa_inertia *P, int i, int j)
{
    return i >= 3  ? P->D + FA_SYM[i - 3][j - 3]
           : j < 3 ? P->A + FA_SYM[i][j]
                   : P->B + 3 * i + j - 3;
}

/* row r of L and its pivot; before the division by the pivots it holds L D (A2) */
FA_INLINE void fd_factor_row(const int r, fa_real *L, fa_real *pivot)
{
    fa_real d = L[fa_tri(r, r)];

    for (int s = 0; s < r; s++) {
        fa_real sum = L[fa_tri(r, s)];
        for (int k = 0; k < s; k++) {
            sum -= L[fa_tri(r, k)] * L[fa_tri(s, k)];
        }
        L[fa_tri(r, s)] = sum;
    }
    for (int s = 0; s < r; s++) {
        const fa_real scaled = L[fa_tri(r, s)] * pivot[s];
        d -= scaled * L[fa_tri(r, s)];
        L[fa_tri(r, s)] = scaled;
    }
    pivot[r] = fa_pivot(d);
}

/* x = L^-1 x */
FA_INLINE void fd_forward(const int n, const fa_real *L, fa_real *x)
{
    FA_UNROLL
    for (int r = 1; r < n; r++) {
        FA_UNROLL
        for (int s = 0; s < r; s++) {
            x[r] -= L[fa_tri(r, s)] * x[s];
        }
    }
}

/*
 * fd_eliminate for n known when it is compiled: column by column of Y, which stays in
 * registers as the entries of P and z that it changes do.
 */
FA_INLINE void fd_eliminate_few(const int n, const fa_real *tau, fa_real *z_f,
                                fa_real *Y, fa_real *L, fa_real *D, fd_body *self)
{
    fa_real e[FA_MAX_UNROLLED], y[FA_MAX_UNROLLED], low[FA_MAX_TRIANGLE];
    fa_real pivot[FA_MAX_UNROLLED];

    FA_UNROLL
    for (int r = 0; r < n; r++) {
        FA_UNROLL
        for (int s = 0; s <= r; s++) {
            low[fa_tri(r, s)] = L[fa_tri(r, s)];
        }
        fd_factor_row(r, low, pivot);
        e[r] = tau[r] - z_f[r];
    }
    fd_forward(n, low, e);
    FA_UNROLL
    for (int r = 0; r < n; r++) {
        FA_UNROLL
        for (int s = 0; s <= r; s++) {
            L[fa_tri(r, s)] = low[fa_tri(r, s)];
        }
        D[r] = pivot[r];
        z_f[r] = e[r];
    }
    FA_UNROLL
    for (int j = 0; j < 6; j++) { /* P_rr -= Y' D^-1 Y, z_r += Y' D^-1 e */
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            y[r] = Y[6 * r + j];
        }
        fd_forward(n, low, y);
        fa_real z = self->z[j], p = *fd_entry(&self->P, j, j);
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            const fa_real scaled = y[r] * D[r];
            Y[6 * r + j] = y[r];
            z += scaled * e[r];
            p -= scaled * y[r];
            y[r] = scaled;
        }
        self->z[j] = z;
        *fd_entry(&self->P, j, j) = p;
        FA_UNROLL
        for (int i = 0; i < j; i++) {
            p = *fd_entry(&self->P, i, j);
            FA_UNROLL
            for (int r = 0; r < n; r++) {
                p -= Y[6 * r + i] * y[r];
            }
            *fd_entry(&self->P, i, j) = p;
        }
    }
}

/* the same for any n: row by row */
FA_INLINE void fd_eliminate_many(const int n, const fa_real *tau, fa_real *e,
                                 fa_real *Y, fa_real *L, fa_real *pivot, fd_body *self)
{
    fa_inertia *P = &self->P;

    for (int r = 0; r < n; r++) {
        e[r] = tau[r] - e[r];
        fd_factor_row(r, L, pivot);
        for (int s = 0; s < r; s++) {
            e[r] -= L[fa_tri(r, s)] * e[s];
            for (int i = 0; i < 6; i++) {
                Y[6 * r + i] -= L[fa_tri(r, s)] * Y[6 * s + i];
            }
        }
        const fa_real *y = Y + 6 * r;
        fa_real scaled[6];
        for (int i = 0; i < 6; i++) {
            scaled[i] = y[i] * pivot[r];
            self->z[i] += scaled[i] * e[r];
        }
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) {
                P->A[FA_SYM[i][j]] -= scaled[i] * y[j];
                P->D[FA_SYM[i][j]] -= scaled[3 + i] * y[3 + j];
            }
            for (int j = 0; j < 3; j++) {
                P->B[3 * i + j] -= scaled[i] * y[3 + j];
            }
        }
    }
}

/*
 * Eliminates n rows, from row `at` on, with their triangle from `tri`: P_rr becomes P_R,
 * z becomes z_r + g eps_f (A2, A3, A6, A7).
 */
FA_INLINE void fd_eliminate(const int n, int at, int tri, const fa_real *tau,
                            const fd_work *w, fd_body *self)
{
    fa_real *e = w->z_f + at, *Y = w->Y + 6 * at;
    fa_real *L = w->L + tri, *pivot = w->pivot + at;

    if (fa_is_few(n)) {
        fd_eliminate_few(n, tau, e, Y, L, pivot, self);
    } else {
        fd_eliminate_many(n, tau, e, Y, L, pivot, self);
    }
}

/* row r of D^-1 (e - Y a) */
FA_INLINE fa_real fd_accelerate_row(const fa_real *Y, fa_real e, fa_real pivot,
                                    const fa_real *a)
{
    for (int i = 0; i < 6; i++) {
        e -= Y[i] * a[i];
    }
    return e * pivot;
}

/* accelerations of n eliminated rows, that of the frame given: L'^-1 D^-1 (e - Y a) */
FA_INLINE void fd_accelerate_rows(const int n, int at, int tri, const fd_work *w,
                                  const fa_real *a, fa_real *qdd)
{
    const fa_real *e = w->z_f + at, *Y = w->Y + 6 * at;
    const fa_real *L = w->L + tri, *pivot = w->pivot + at;

    if (fa_is_few(n)) {
        fa_real x[FA_MAX_UNROLLED];
        FA_UNROLL
        for (int r = n - 1; r >= 0; r--) {
            x[r] = fd_accelerate_row(Y + 6 * r, e[r], pivot[r], a);
            FA_UNROLL
            for (int s = r + 1; s < n; s++) {
                x[r] -= L[fa_tri(s, r)] * x[s];
            }
            qdd[r] = x[r];
        }
        return;
    }
    for (int r = n - 1; r >= 0; r--) {
        fa_real x = fd_accelerate_row(Y + 6 * r, e[r], pivot[r], a);
        for (int s = r + 1; s < n; s++) {
            x -= L[fa_tri(s, r)] * qdd[s];
        }
        qdd[r] = x;
    }
}

#endif
