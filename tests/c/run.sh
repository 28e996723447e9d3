#!/usr/bin/env bash
# Compiles the C tests, and runs every test once per instruction set.
#
#   tests/c/run.sh [plain|san|tsan|valgrind] [test ...]
#
# plain     with the objects of the package, as setup.py built them; warnings are errors
# san       under AddressSanitizer and UndefinedBehaviorSanitizer, the widest set alone
# tsan      test_pool, or what is named, under ThreadSanitizer
# valgrind  plain, under memcheck; without AVX-512, which valgrind does not know, and
#           without tests against long double, which it computes in double
#
# The sanitizers compile the library for themselves. CC chooses the compiler (it may be
# "ccache gcc"), PYTHON the interpreter that has scipy-openblas32; without it the
# system's OpenBLAS is used. Objects stay in build/c-tests/.
set -euo pipefail
cd "$(dirname "$0")/../.."

mode=${1:-plain}
shift || true
tests=("$@")
if [ ${#tests[@]} -eq 0 ]; then
    case $mode in
    tsan) tests=(tests/c/test_pool.c) ;;
    *) tests=(tests/c/test_*.c) ;;
    esac
fi
read -ra compiler <<<"${CC:-gcc}"
unchecked_flags=()
sources=() # of the library, where it is compiled here
library=()
library_flags=()
cores=$(getconf _NPROCESSORS_ONLN)
mapfile -t flags <csrc/compile_flags.txt
run=()
case $mode in
plain | valgrind)
    build=build/c-tests/plain
    mapfile -t library < <("${PYTHON:-python3}" tests/built.py)
    if [ ${#library[@]} -eq 0 ]; then exit 2; fi # it has said why
    test_flags=("${flags[@]}" -Werror -g1)
    ;;
san)
    build=build/c-tests/san
    # without optimization, with checks by calls and sizes read at run time: else they
    # take gcc minutes; valgrind runs the kernels of compile-time sizes
    flags+=(-g1 -O0 -DFA_UNROLLED_MODES=0)
    unchecked_flags=("${flags[@]}") # of instruction sets that are not run
    flags+=(-fsanitize=address,undefined -fno-sanitize-recover=all)
    case ${compiler[*]} in
    *gcc*) flags+=(--param asan-instrumentation-with-call-threshold=0) ;;
    esac
    library_flags=("${flags[@]}")
    test_flags=("${flags[@]}")
    sources=(csrc/{dense,model,calls,library,units}/*.c)
    ;;
tsan)
    build=build/c-tests/tsan
    library_flags=("${flags[@]}" -g1 -O0 -fsanitize=thread)
    test_flags=("${library_flags[@]}")
    sources=(csrc/{dense,model,calls,library,units}/*.c)
    ;;
*)
    echo "run.sh: mode is '$mode', expected plain, san, tsan or valgrind" >&2
    exit 2
    ;;
esac
if [ "$mode" = valgrind ]; then
    run=(valgrind --quiet --error-exitcode=9 --leak-check=full)
    run+=(--errors-for-leak-kinds=definite)
fi

find_wheel='import scipy_openblas32 as w; print(w.get_lib_dir(), w.get_library())'
if found=$("${PYTHON:-python3}" -c "$find_wheel" 2>/dev/null); then
    read -r directory name <<<"$found"
    library_flags+=(-DFA_BLAS_PREFIX=scipy_)
    link=("-L$directory" "-l$name" "-Wl,-rpath,$directory" -lm -pthread)
elif found=$(pkg-config --libs openblas 2>/dev/null); then
    read -ra link <<<"$found -lm -pthread"
else
    echo "run.sh: no OpenBLAS; install scipy-openblas32 for ${PYTHON:-python3}" >&2
    exit 2
fi

isas=(base)
has() { grep -qsw "$1" /proc/cpuinfo; }
if has avx2 && has fma; then isas=(avx2 "${isas[@]}"); fi
if has avx512f && has avx512dq && has avx512vl && [ "$mode" != valgrind ]; then
    isas=(avx512 "${isas[@]}")
fi
# the same sources with lanes of another width are left to the other modes
if [ "$mode" = san ]; then isas=("${isas[0]}"); fi

# compile what is older than its source or what it may include; the kernels, which take
# longest, first
mkdir -p "$build"
record="${compiler[*]} ${library_flags[*]} ${test_flags[*]}"
[ "$(cat "$build/command.txt" 2>/dev/null)" = "$record" ] || rm -f "$build"/*.o
echo "$record" >"$build/command.txt"
object_of() { # csrc/model/axes.c -> model_axes.o, tests/c/test_axes.c -> test_axes.o
    local name=${1#csrc/}
    name=${name#tests/c/}
    name=${name%.c}
    echo "$build/${name//\//_}.o"
}
kernels=()
unchecked=()
others=()
programs=()
for source in "${sources[@]}" "${tests[@]}"; do
    object=$(object_of "$source")
    [[ $source != csrc/* ]] || library+=("$object")
    if [ -e "$object" ] && [ -z "$(find "$source" csrc/*/*.[!c]* csrc/kernels tests/c/*.h \
        -newer "$object")" ]; then
        continue
    fi
    case $source in
    csrc/units/linear_model.c) others+=("$object" "$source") ;;
    csrc/units/*)
        if [ "$mode" = san ] && [[ $source != *"${isas[0]}"* ]]; then
            unchecked+=("$object" "$source")
        else
            kernels+=("$object" "$source")
        fi
        ;;
    csrc/*) others+=("$object" "$source") ;;
    *) programs+=("$object" "$source") ;;
    esac
done
compile() { # pairs of object and source, behind the command
    [ $# = 0 ] || printf '%s\0' "$@" | xargs -0 -n 2 -P "$cores" "${command[@]}" -c -o
}
command=("${compiler[@]}" "${library_flags[@]}" -Icsrc)
compile "${kernels[@]}" "${others[@]}"
command=("${compiler[@]}" "${unchecked_flags[@]}" -Icsrc)
compile "${unchecked[@]}"
command=("${compiler[@]}" "${test_flags[@]}" -Icsrc -Itests/c)
compile "${programs[@]}"

# one thread of OpenBLAS: its pool is not under test, and slow under valgrind
export OPENBLAS_NUM_THREADS=1
run_one() { # program and instruction set; what it says is in a file, and how it ended
    local log=$build/$1.$2.log status=0
    FLEXARM_ISA=$2 "${run[@]}" "$build/$1" >"$log" 2>&1 || status=$?
    echo "$status" >"$log.status"
}
started=()
for source in "${tests[@]}"; do
    name=$(basename "$source" .c)
    if [ "$mode" = valgrind ] && grep -q 'long double' "$source"; then
        echo "$mode leaves out $name: it needs long double"
        continue
    fi
    "${compiler[@]}" "${test_flags[@]}" "$(object_of "$source")" "${library[@]}" \
        -o "$build/$name" "${link[@]}"
    for isa in "${isas[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n || true; done
        run_one "$name" "$isa" &
        started+=("$name $isa")
    done
done
wait
failed=0
for job in "${started[@]}"; do
    read -r name isa <<<"$job"
    log=$build/$name.$isa.log
    printf '%-8s %-6s ' "$mode" "$isa"
    cat "$log"
    if [ "$(cat "$log.status")" != 0 ]; then
        echo "FAILED: $name, $mode, FLEXARM_ISA=$isa" >&2
        failed=1
    fi
    rm -f "$log" "$log.status"
done
exit $failed
