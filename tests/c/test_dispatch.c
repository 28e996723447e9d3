/* test_dispatch.c -- tables of the instruction sets */
#include "check.h"
#include "library/tables.h"

#include <string.h>

int main(void)
{
    const fa_kernels *base = fa_kernels_named("base"), *best = fa_kernels_best();

    CHECK(base && base->lanes == 2 && strcmp(base->name, "base") == 0);
    CHECK(best && best->lanes >= base->lanes && fa_kernels_named(best->name) == best);
    CHECK(fa_kernels_named("avx1024") == NULL);
    CHECK(fa_kernel_inputs(FA_FORWARD_DYNAMICS) == 3 &&
          fa_kernel_inputs(FA_JACOBIAN) == 1);
    return check_report("dispatch");
}
