/*
 * py_loops.c -- kernels as NumPy generalized ufuncs, bound to a model or to none
 *
 * One loop for all rows of kernel_table.h and map_table.h. Core sizes are
 * frozen numbers, "(7),(7),(7)->(7)", so that NumPy itself checks shapes and knows
 * output sizes. The loop honours every stride and leaves the batch to fa_kernels.
 */
#include "python/py_loops.h"
#include "python/py_base.h"
#include "python/py_bound.h"
#include "python/py_call.h"
#include "python/py_isa.h"
#include "python/py_numpy.h"
#include "python/py_threads.h"

#include "calls/kernels.h"
#include "calls/maps.h"
#include "library/tables.h"
#include "model/layout.h"
#include "model/stacks.h"

#include <fenv.h>
#include <stdio.h>

/* offsets that a gufunc keeps ready; those of larger operands are made in each call */
enum { LOOP_READY = 16384 };

size_t py_kernel_work_size(const fa_model *model, fa_kernel kernel)
{
    const char *const *operands = fa_kernel_rows[kernel].operands;
    int sizes[FA_MAX_OPERANDS];

    for (int i = 0; i <= fa_kernel_inputs(kernel); i++) {
        sizes[i] = 1;
        for (const char *d = operands[i]; *d; d++) {
            sizes[i] *= py_bound_dim(model, *d);
        }
    }
    return py_kernels(SIZE_MAX)->work_size(model, kernel, sizes);
}

/* doubles of one operand */
static int loop_size(const loop_bound *b, const char *letters, const npy_intp *dims)
{
    int size = 1;
    for (int d = 0; letters[d]; d++) {
        size *= letters[d] == 'T' ? (int)dims[1 + b->torque_dim]
                                  : py_bound_dim(b->model, letters[d]);
    }
    return size;
}

/*
 * Where the operands lie. The entries of a contiguous state have the offsets that the
 * gufunc keeps ready; others have none yet.
 *   core   strides of the core dimensions, operand by operand
 * Returns how many offsets loop_offsets has to make.
 */
static size_t loop_operands(const loop_bound *b, char **args, const npy_intp *dims,
                            const npy_intp *steps, fa_operand *operands)
{
    const loop_row *row = &b->row;
    const int n = b->n_in + 1;
    const npy_intp *core = steps + n + row->has_index;
    size_t missing = 0;

    for (int i = 0; i < n; i++) {
        const char *letters = row->operands[i];
        const int size = loop_size(b, letters, dims);
        const int n_dims = (int)strlen(letters);
        npy_intp contiguous = sizeof(double);
        int is_contiguous = size <= LOOP_READY;

        for (int d = n_dims - 1; d >= 0; d--) {
            is_contiguous &= core[d] == contiguous;
            contiguous *= loop_size(b, (const char[]){letters[d], 0}, dims);
        }
        core += n_dims;
        operands[i] = (fa_operand){args[i + row->has_index], steps[i + row->has_index],
                                   size, is_contiguous ? b->contiguous : NULL};
        missing += is_contiguous ? 0 : (size_t)size;
    }
    return missing;
}

/* byte offsets of the operands that are not contiguous */
static void loop_offsets(const loop_bound *b, const npy_intp *dims,
                         const npy_intp *steps, fa_operand *operands,
                         ptrdiff_t *offsets)
{
    const loop_row *row = &b->row;
    const int n = b->n_in + 1;
    const npy_intp *core = steps + n + row->has_index;

    for (int i = 0; i < n; i++) {
        const char *letters = row->operands[i];
        if (operands[i].offset) {
            core += strlen(letters);
            continue;
        }
        int size = 1;
        offsets[0] = 0;
        for (int d = 0; letters[d]; d++, core++) {
            const int length = loop_size(b, (const char[]){letters[d], 0}, dims);
            /* backwards, so that entries are read before they are overwritten */
            for (int e = size - 1; e >= 0; e--) {
                for (int k = length - 1; k >= 0; k--) {
                    offsets[e * length + k] = offsets[e] + k * core[0];
                }
            }
            size *= length;
        }
        operands[i].offset = offsets;
        offsets += size;
    }
}

static int loop_check_torque(const loop_bound *b, const npy_intp *dims)
{
    const fa_model *m = b->model;
    char text[200];

    if (b->torque_dim < 0) {
        return 0;
    }
    const npy_intp n = dims[1 + b->torque_dim];
    if (n == m->n_actuators || n == m->nv) {
        return 0;
    }
    snprintf(text, sizeof text,
             "last axis of tau has length %zd, expected %d (one force per joint) or %d "
             "(all coordinates)",
             (ssize_t)n, m->n_actuators, m->nv);
    py_raise("ArgumentError", text);
    return -1;
}

/* refuses numbers that are not below `end` */
static int loop_check_numbers(const char *index, ptrdiff_t stride, npy_intp count,
                              int64_t end, const char *what, const char *see)
{
    for (npy_intp i = 0; i < count; i++) {
        int64_t number;
        memcpy(&number, index + i * stride, sizeof number);
        if (number < 0 || number >= end) {
            char text[160];
            snprintf(text, sizeof text,
                     "%s is %lld, expected a number from 0 to %lld; see %s", what,
                     (long long)number, (long long)end - 1, see);
            py_raise("ArgumentError", text);
            return -1;
        }
    }
    return 0;
}

static int loop_check_index(const loop_bound *b, const loop_index *index,
                            npy_intp count)
{
    if (index->arms &&
        loop_check_numbers(index->arms, index->arms_stride, count, b->stack->n_arms,
                           "number of an arm", "len(stack)") < 0) {
        return -1;
    }
    if (!index->nodes) {
        return 0;
    }
    const int64_t n = b->model->n_nodes;
    return loop_check_numbers(index->nodes, index->nodes_stride, count,
                              fa_kernel_takes_pair(b->kernel) ? n * n : n, "node",
                              "arm.node_names");
}

static size_t loop_work_size(const loop_bound *b, const fa_kernels *kernels,
                             const fa_operand *operands)
{
    int sizes[FA_MAX_OPERANDS];

    for (int i = 0; i <= b->n_in; i++) {
        sizes[i] = operands[i].size;
    }
    return (b->stack ? kernels->stack_work_size(b->stack) : 0) +
           (b->model ? kernels->work_size(b->model, b->kernel, sizes)
                     : kernels->map_work_size(b->map));
}

/* the batch in chunks, with a look for Ctrl-C between two of them */
static void loop_chunks(const loop_bound *b, const fa_kernels *kernels, npy_intp count,
                        const loop_index *index, const fa_operand *operands, void *work)
{
    fa_failures bad = {0, 0};

    for (npy_intp at = 0; at < count; at += LOOP_CHUNK) {
        const npy_intp states = count - at < LOOP_CHUNK ? count - at : LOOP_CHUNK;
        if (py_interrupted(states)) {
            return;
        }
        const fa_failures more = py_bound_batch(b, kernels, (size_t)at, (size_t)states,
                                                index, operands, work);
        if (more.count) {
            bad.first = bad.count ? bad.first : (size_t)at + more.first;
            bad.count += more.count;
        }
    }
    py_bound_report(b, bad, (size_t)count);
}

static void loop_run(char **args, npy_intp const *dims, npy_intp const *steps,
                     void *data)
{
    const loop_bound *b = data;
    loop_index index = {NULL, NULL, 0, 0};
    /* maps share products that a compiler fuses otherwise for another width, kernels of
     * stacks are small for all sets but the widest: one set of kernels for any number of
     * states gives one state the same bits in any batch */
    const int any_width = b->model && !b->stack;
    const fa_kernels *kernels = py_kernels(any_width ? (size_t)dims[0] : SIZE_MAX);
    _Alignas(PY_ALIGN) char stack[PY_STACK];
    fa_operand operands[FA_MAX_OPERANDS];

    if (b->stack) { /* the number of the arm stands before what any gufunc has */
        index.arms = *args++;
        index.arms_stride = *steps++;
    }
    if (b->row.has_index) {
        index.nodes = args[0];
        index.nodes_stride = steps[0];
    }
    if (dims[0] == 0 || loop_check_torque(b, dims) < 0 ||
        loop_check_index(b, &index, dims[0]) < 0) {
        return;
    }

    /* scratch: offsets, then the lanes and the work of the kernel, once per call */
    const size_t n_offsets = loop_operands(b, args, dims, steps, operands);
    const size_t work_at =
        (n_offsets * sizeof(ptrdiff_t) + PY_ALIGN - 1) / PY_ALIGN * PY_ALIGN;
    const size_t work_size = loop_work_size(b, kernels, operands);
    const size_t total = work_at + work_size;
    char *heap, *scratch = py_scratch(stack, total, &heap);
    if (!scratch) {
        py_no_memory(b->row.name, total);
        return;
    }
    if (n_offsets) {
        loop_offsets(b, dims, steps, operands, (ptrdiff_t *)(void *)scratch);
    }
    if (b->threads > 1) {
        py_split_states(b, kernels, dims[0], &index, operands, scratch + work_at,
                        work_size);
    } else {
        loop_chunks(b, kernels, dims[0], &index, operands, scratch + work_at);
    }
    PyMem_RawFree(heap);

    /* NaN is counted above; without this NumPy would warn once more, by flags */
    if (fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW)) {
        feclearexcept(FE_ALL_EXCEPT);
    }
}

/* "(),(7),(7)->(6,7)"; the place of T among the different core dimensions */
static int loop_signature(const loop_row *row, int n_in, const fa_model *model,
                          int n_index, char *text, size_t size, int *torque_dim)
{
    int seen[8], n_seen = 0;
    size_t at = 0;

    *torque_dim = -1;
    for (int i = 0; i < n_index; i++) {
        at += (size_t)snprintf(text + at, size - at, "(),");
    }
    for (int i = 0; i <= n_in; i++) {
        const char *letters = row->operands[i];
        at += (size_t)snprintf(text + at, size - at,
                               i == 0      ? "("
                               : i == n_in ? "->("
                                           : ",(");
        for (int d = 0; letters[d]; d++) {
            const int torque = letters[d] == 'T';
            const int length = torque ? -1 : py_bound_dim(model, letters[d]);
            int k = 0;
            while (k < n_seen && seen[k] != length) {
                k++;
            }
            if (k == n_seen) {
                seen[n_seen++] = length;
            }
            if (torque) {
                *torque_dim = k;
                at += (size_t)snprintf(text + at, size - at, "t");
            } else {
                at += (size_t)snprintf(text + at, size - at, d ? ",%d" : "%d", length);
            }
        }
        at += (size_t)snprintf(text + at, size - at, ")");
    }
    return at < size ? 0 : -1;
}

/*
 * A gufunc of a row; `like` has what the row is bound to.
 *   capsule  owner of the model or NULL
 *   doc      one line
 */
static PyObject *loop_make(const loop_bound *like, PyObject *capsule, const char *doc)
{
    const loop_row *row = &like->row;
    const int n_index = row->has_index + (like->stack != NULL);
    const int n_in = like->n_in + n_index;
    char signature[160];

    /* the largest operand; T is at most V */
    int largest = like->model ? like->model->nv : 1;
    for (int i = 0; i <= like->n_in; i++) {
        int size = 1;
        for (const char *d = row->operands[i]; *d; d++) {
            size *= *d == 'T' ? 1 : py_bound_dim(like->model, *d);
        }
        largest = size > largest ? size : largest;
    }
    largest = largest < LOOP_READY ? largest : LOOP_READY;
    loop_bound *b = PyMem_RawMalloc(sizeof *b + (size_t)largest * sizeof(ptrdiff_t));
    if (!b) {
        return PyErr_NoMemory();
    }
    *b = *like;
    b->function[0] = loop_run;
    b->data[0] = b;
    for (int i = 0; i < largest; i++) {
        b->contiguous[i] = i * (ptrdiff_t)sizeof(double);
    }
    if (loop_signature(row, like->n_in, like->model, n_index, signature,
                       sizeof signature, &b->torque_dim) < 0) {
        PyMem_RawFree(b);
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_SystemError, "signature of a gufunc is too long");
        }
        return NULL;
    }
    for (int i = 0; i <= n_in; i++) {
        b->types[i] = (char)(i < n_index ? NPY_INT64 : NPY_DOUBLE);
    }
    snprintf(b->doc, sizeof b->doc, "%s", doc);
    PyObject *gufunc = PyUFunc_FromFuncAndDataAndSignature(
        b->function, b->data, b->types, 1, n_in, 1, PyUFunc_None, row->name, b->doc, 0,
        signature);
    if (!gufunc) {
        PyMem_RawFree(b);
        return NULL;
    }
    /* NumPy frees ptr and releases obj with the gufunc, as for np.frompyfunc */
    ((PyUFuncObject *)gufunc)->ptr = b;
    ((PyUFuncObject *)gufunc)->obj = Py_XNewRef(capsule);
    if (!like->stack) {
        py_call_attach((PyUFuncObject *)gufunc, b, largest);
    }
    return gufunc;
}

static PyObject *loop_make_kernel(const fa_model *model, const fa_stack *stack,
                                  PyObject *capsule, fa_kernel kernel, int quiet,
                                  int threads)
{
    const fa_kernel_row *row = fa_kernel_rows + kernel;
    char doc[sizeof((loop_bound *)0)->doc];
    loop_bound like = {.model = model,
                       .stack = stack,
                       .row = {.name = row->name, .has_index = row->node != FA_NO_NODE},
                       .n_in = row->n_in,
                       .kernel = kernel,
                       .quiet = quiet,
                       .threads = threads};

    memcpy(like.row.operands, row->operands, sizeof row->operands);
    snprintf(doc, sizeof doc, "%s. See flexarm.%s; bound to %s.", row->doc,
             row->function,
             stack ? "a stack, the first operand is the number of the arm" : "one arm");
    return loop_make(&like, capsule, doc);
}

PyObject *py_make_gufunc(PyObject *capsule, fa_kernel kernel, int quiet, int threads)
{
    const fa_model *model = py_model_of(capsule);
    return model ? loop_make_kernel(model, NULL, capsule, kernel, quiet, threads)
                 : NULL;
}

PyObject *py_make_stack_gufunc(const fa_stack *stack, PyObject *capsule,
                               fa_kernel kernel, int quiet, int threads)
{
    return loop_make_kernel(stack->model, stack, capsule, kernel, quiet, threads);
}

PyObject *py_make_map(fa_map map, int quiet)
{
    char doc[sizeof((loop_bound *)0)->doc];
    loop_bound like = {.row = {.name = fa_map_rows[map].name},
                       .n_in = fa_map_inputs(map),
                       .map = map,
                       .quiet = quiet};

    for (int i = 0; i <= like.n_in; i++) {
        like.row.operands[i] = fa_map_rows[map].operands[i];
    }
    snprintf(doc, sizeof doc, "%s. See flexarm.%s.%s.", fa_map_rows[map].doc,
             fa_map_rows[map].module, like.row.name);
    return loop_make(&like, NULL, doc);
}

int py_loops_import(void)
{
    import_umath1(-1);
    return 0;
}
