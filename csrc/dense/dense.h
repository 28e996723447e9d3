/*
 * dense.h -- dense linear algebra; the one place that calls LAPACK (OpenBLAS)
 *
 * For dense solves of whole systems; never inside the per-body recursions, where
 * blocks are too small for it.
 */
#ifndef FA_DENSE_H
#define FA_DENSE_H

/*
 * Solves A x = b for a symmetric positive definite A, by LAPACK.
 *
 *   n, n_rhs  size, number of right sides
 *   a   [n][n]      the matrix, of which only a[i][j] with j >= i is read; overwritten
 *                   by its Cholesky factor
 *   b   [n_rhs][n]  right sides; the solutions on return, NaN if A is not positive
 *                   definite
 */
void fa_dense_solve(int n, int n_rhs, double *a, double *b);

/*
 * The same for a symmetric A that may be indefinite, of which all entries are read.
 * Where there is no Cholesky factor, by Bunch and Kaufman.
 *   order, work  [n], [n]  scratch
 */
void fa_dense_solve_symmetric(int n, int n_rhs, double *a, double *b, int *order,
                              double *work);

/*
 * The two halves of it: the factor, NaN if A is singular, and the solution x of one
 * right side with it.
 *   a     [n][n]  as for fa_dense_solve; a[i][j] with j <= i in place of j >= i
 *   work  [n]  scratch
 */
void fa_dense_factor_symmetric(int n, double *a, int *order, double *work);
void fa_dense_solve_factored(int n, const double *a, const int *order, double *x);

/*
 * Solves A x = b for a symmetric positive semidefinite A by a Cholesky factor with
 * diagonal pivots. Unknowns whose pivot, relative to their diagonal entry, is below
 * 1e-10 depend on the others and become zero, and so do those whose diagonal entry is
 * below 1e-28 of the largest, which is the square of rounding.
 *
 *   n        size
 *   a        [n][n]  the matrix; destroyed
 *   x        [n]     right side; the solution on return, NaN if A has a NaN
 *   scratch  [2 n]
 * Returns the rank.
 */
int fa_dense_solve_semidefinite(int n, double *a, double *x, double *scratch);

#endif
