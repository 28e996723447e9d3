#!/usr/bin/env bash
# Compiles the C tests, links them with objects that setup.py built, and runs each.
#
#   tests/c/run.sh [plain|valgrind|address,undefined|thread] [test ...]
#
# plain     with the objects of the package, on each instruction set of this machine
# valgrind  the same under memcheck, on one set that it knows, with few states; without
#           tests against long double, which it computes in double
# address,undefined and thread
#           with the objects that .ci/sanitized builds, which calls this; thread is for
#           test_pool alone
#
# Warnings are errors. CC chooses the compiler (it may be "ccache gcc"), PYTHON the
# interpreter that has scipy-openblas32; without it the system's OpenBLAS is used. Objects
# of the tests stay in build/c-tests/.
set -euo pipefail
cd "$(dirname "$0")/../.."

mode=${1:-plain}
shift || true
read -ra compiler <<<"${CC:-gcc}"
mapfile -t flags <csrc/compile_flags.txt
flags+=(-Werror -g1)
run=()
has() { grep -qsw "$1" /proc/cpuinfo; }
isas=(base)
if has avx2 && has fma; then isas=(avx2 "${isas[@]}"); fi
widest=${isas[0]}
all=(tests/c/test_*.c)
case $mode in
plain)
    if has avx512f && has avx512dq && has avx512vl; then isas=(avx512 "${isas[@]}"); fi
    ;;
valgrind)
    isas=("$widest")
    export FLEXARM_FEW=1 # states and repetitions: see check.h
    run=(valgrind --quiet --error-exitcode=9 --leak-check=full)
    run+=(--errors-for-leak-kinds=definite --show-leak-kinds=definite)
    ;;
address,undefined | thread)
    isas=("${FLEXARM_TARGETS:-$widest}")
    export FLEXARM_BUILD=sanitized-${mode//,/-}
    flags+=(-O0 -U_FORTIFY_SOURCE "-fsanitize=$mode" -fno-sanitize-recover=all)
    all=(${all[@]/#*_dispatch.c/}) # it needs all sets
    if [ "$mode" = thread ]; then all=(tests/c/test_pool.c); fi
    ;;
*)
    echo "run.sh: mode is '$mode', expected plain, valgrind, address,undefined or" \
        "thread" >&2
    exit 2
    ;;
esac
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=("${all[@]}")
build=build/c-tests/${FLEXARM_BUILD:-plain}
mkdir -p "$build"

# what the tests are linked with
mapfile -t library < <("${PYTHON:-python3}" tests/built.py)
if [ ${#library[@]} -eq 0 ]; then exit 2; fi # it has said why
find_wheel='import scipy_openblas32 as w; print(w.get_lib_dir(), w.get_library())'
if found=$("${PYTHON:-python3}" -c "$find_wheel" 2>/dev/null); then
    read -r directory name <<<"$found"
    link=("-L$directory" "-l$name" "-Wl,-rpath,$directory" -lm -pthread)
elif found=$(pkg-config --libs openblas 2>/dev/null); then
    read -ra link <<<"$found -lm -pthread"
else
    echo "run.sh: no OpenBLAS; install scipy-openblas32 for ${PYTHON:-python3}" >&2
    exit 2
fi

# one thread of OpenBLAS: its pool is not under test, and slow under valgrind
export OPENBLAS_NUM_THREADS=1
make_one() { # the program of a test
    "${compiler[@]}" "${flags[@]}" -Icsrc -Itests/c -c "$1" -o "$2.o"
    "${compiler[@]}" "${flags[@]}" "$2.o" "${library[@]}" -o "$2" "${link[@]}"
}
run_one() { # program and instruction set; what it says is in a file, and how it ended
    local log=$1.$2.log status=0
    FLEXARM_ISA=$2 "${run[@]}" "$1" >"$log" 2>&1 || status=$?
    echo "$status" >"$log.status"
}
cores=$(getconf _NPROCESSORS_ONLN)
started=()
for source in "${tests[@]}"; do
    program=$build/$(basename "$source" .c)
    if [ "$mode" = valgrind ] && grep -q 'long double' "$source"; then
        echo "$mode leaves out $source: it needs long double"
        continue
    fi
    make_one "$source" "$program"
    for isa in "${isas[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n || true; done
        run_one "$program" "$isa" &
        started+=("$program $isa")
    done
done
wait
failed=0
for job in "${started[@]}"; do
    read -r program isa <<<"$job"
    log=$program.$isa.log
    printf '%-8s %-6s ' "$mode" "$isa"
    cat "$log"
    if [ "$(cat "$log.status")" != 0 ]; then
        echo "FAILED: $(basename "$program"), $mode, FLEXARM_ISA=$isa" >&2
        failed=1
    fi
    rm -f "$log" "$log.status"
done
exit $failed
