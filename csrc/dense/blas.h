/*
 * blas.h -- the LAPACK routines that the library calls
 *
 * Builds     FA_BLAS_PREFIX and FA_BLAS_NAME come from the build; the prefix is
 *            `scipy_` for the library of the scipy-openblas32 wheel, nothing for a
 *            system OpenBLAS. Call through FA_LAPACK(dposv)(...), which expands to
 *            scipy_dposv_ or dposv_.
 * Matrices   column-major, leading dimension in `ld*`, 32-bit integers; a symmetric
 *            matrix is read from the triangle that `uplo` names, "L" or "U".
 * Strings    each character argument has a hidden length at the end of the argument
 *            list (gfortran's convention): pass 1 for each.
 * Status     *info is 0 on success, -i where the i-th argument is wrong, positive
 *            where the matrix is not positive definite or an iteration failed.
 * Threads    OpenBLAS decides; its thread count is never changed here.
 * Source     E. Anderson et al., LAPACK Users' Guide, 3rd ed. (1999).
 */
#ifndef FA_BLAS_H
#define FA_BLAS_H

#include <stddef.h>

#ifndef FA_BLAS_PREFIX
#define FA_BLAS_PREFIX
#endif

/* which OpenBLAS this is, a string */
#ifndef FA_BLAS_NAME
#define FA_BLAS_NAME "openblas"
#endif

#define FA_BLAS_JOIN(prefix, name) prefix##name##_
#define FA_BLAS_SYMBOL(prefix, name) FA_BLAS_JOIN(prefix, name)
#define FA_LAPACK(name) FA_BLAS_SYMBOL(FA_BLAS_PREFIX, name)

/*
 * Solution of A X = B for a positive definite A [n][n], B [n][nrhs]. Overwrites A with
 * its Cholesky factor and B with X.
 */
void FA_LAPACK(dposv)(const char *uplo, const int *n, const int *nrhs, double *a,
                      const int *lda, double *b, const int *ldb, int *info,
                      size_t uplo_length);

/*
 * Solution of A X = B for a symmetric A [n][n], B [n][nrhs], by the factor of Bunch and
 * Kaufman. Overwrites A with its factor and B with X; ipiv [n], work [lwork], lwork >= 1.
 */
void FA_LAPACK(dsysv)(const char *uplo, const int *n, const int *nrhs, double *a,
                      const int *lda, int *ipiv, double *b, const int *ldb,
                      double *work, const int *lwork, int *info, size_t uplo_length);

/* The two halves of dsysv: the factor, and solutions with it. */
void FA_LAPACK(dsytrf)(const char *uplo, const int *n, double *a, const int *lda,
                       int *ipiv, double *work, const int *lwork, int *info,
                       size_t uplo_length);
void FA_LAPACK(dsytrs)(const char *uplo, const int *n, const int *nrhs, const double *a,
                       const int *lda, const int *ipiv, double *b, const int *ldb,
                       int *info, size_t uplo_length);

#endif
