/*
 * no_lapack.c -- in place of OpenBLAS in programs that need none
 *
 * The tables of kernels name four routines of LAPACK. Forward dynamics by articulated
 * bodies, inverse dynamics, mass matrix and kinematics never call them; what does
 * (FA_FORWARD_COMPOSITE, arms of fidelity "linear", FA_ROS34PW2) gives NaN with these, as
 * for a matrix that has no factor. Link OpenBLAS instead to have it all.
 */
#include "dense/blas.h"

void FA_LAPACK(dposv)(const char *uplo, const int *n, const int *nrhs, double *a,
                      const int *lda, double *b, const int *ldb, int *info,
                      size_t uplo_length)
{
    (void)uplo, (void)n, (void)nrhs, (void)a, (void)lda, (void)b, (void)ldb;
    (void)uplo_length;
    *info = 1;
}

void FA_LAPACK(dsysv)(const char *uplo, const int *n, const int *nrhs, double *a,
                      const int *lda, int *ipiv, double *b, const int *ldb,
                      double *work, const int *lwork, int *info, size_t uplo_length)
{
    (void)uplo, (void)n, (void)nrhs, (void)a, (void)lda, (void)ipiv, (void)b;
    (void)ldb, (void)work, (void)lwork, (void)uplo_length;
    *info = 1;
}

void FA_LAPACK(dsytrf)(const char *uplo, const int *n, double *a, const int *lda,
                       int *ipiv, double *work, const int *lwork, int *info,
                       size_t uplo_length)
{
    (void)uplo, (void)n, (void)a, (void)lda, (void)ipiv, (void)work, (void)lwork;
    (void)uplo_length;
    *info = 1;
}

void FA_LAPACK(dsytrs)(const char *uplo, const int *n, const int *nrhs, const double *a,
                       const int *lda, const int *ipiv, double *b, const int *ldb,
                       int *info, size_t uplo_length)
{
    (void)uplo, (void)n, (void)nrhs, (void)a, (void)lda, (void)ipiv, (void)b;
    (void)ldb, (void)uplo_length;
    *info = 1;
}
