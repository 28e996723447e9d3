/*
 * fa_dense.h -- the one place that calls LAPACK (OpenBLAS)
 *
 * For dense solves of whole systems; never inside the per-body recursions, where
 * blocks are too small for it.
 */
#ifndef FA_DENSE_H
#define FA_DENSE_H

/*
 * Solves A x = b for a symmetric positive definite A.
 *
 *   n   size
 *   a   [n][n]  the matrix; overwritten by its Cholesky factor
 *   b   [n]     right side; the solution on return, NaN if A is not positive definite
 */
void fa_dense_solve(int n, double *a, double *b);

#endif
