/*
 * time_loop.c -- methods of time loops
 *
 * Checked by  tests/test_stack_runs.py.
 */
#include "calls/time_loop.h"

int fa_stack_integrates(fa_method method)
{
    return method == FA_RK4 || method == FA_ROS34PW2;
}
