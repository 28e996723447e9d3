/*
 * fa_dense.c -- dense linear algebra by LAPACK (OpenBLAS)
 *
 * The number of threads is never changed here: it is a setting of the whole process
 * (OPENBLAS_NUM_THREADS).
 */
#include "fa_dense.h"

#include <math.h>

#include "fa_blas.h"

void fa_dense_solve(int n, double *a, double *b)
{
    const int one = 1;
    int info = 0;

    /* symmetric, so rows and columns of `a` may be read either way */
    FA_LAPACK(dposv)("L", &n, &one, a, &n, b, &n, &info, 1);
    for (int i = 0; info != 0 && i < n; i++) {
        b[i] = (double)NAN;
    }
}
