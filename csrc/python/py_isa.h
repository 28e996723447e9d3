/*
 * py_isa.h -- the instruction set in use: FLEXARM_ISA, or what the machine has
 */
#ifndef PY_ISA_H
#define PY_ISA_H

#include "python/py_base.h"
#include "library/tables.h"

/* chooses the set, once at import; -1 with an exception set on failure */
int py_isa_choose(void);

/* names of the sets of this build that this machine has, widest first */
PyObject *py_isa_available(void);

/*
 * The kernels for a call with so many states, chosen at import: those that FLEXARM_ISA
 * names, or the widest, and for a few states the quickest.
 */
const fa_kernels *py_kernels(size_t count);

#endif
