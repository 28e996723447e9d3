/*
 * time_loop.c -- methods of time loops
 *
 * Checked by  tests/stacks/test_stack_runs.py.
 */
#include "calls/time_loop.h"

const char *const fa_method_names[FA_N_METHODS] = {
    [FA_RK4] = "rk4",
    [FA_ROS34PW2] = "ROS34PW2",
    [FA_NEWMARK] = "newmark",
    [FA_LINEAR_ACCELERATION] = "linear-acceleration",
    [FA_GENERALIZED_ALPHA] = "generalized-alpha",
    [FA_RODAS4P] = "Rodas4P",
};

int fa_stack_integrates(fa_method method)
{
    return method == FA_RK4 || method == FA_ROS34PW2;
}
