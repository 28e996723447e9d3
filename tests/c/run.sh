#!/usr/bin/env bash
# Compiles csrc/fa_*.c and the C tests, and runs every test once per instruction set.
#
#   tests/c/run.sh [plain|san|valgrind] [test ...]
#
# plain     as shipped, with assertions, warnings are errors
# san       under AddressSanitizer and UndefinedBehaviorSanitizer
# valgrind  plain, under memcheck; without AVX-512, which valgrind does not know, and
#           without tests against long double, which it computes in double
#
# CC chooses the compiler, PYTHON the interpreter that has scipy-openblas32; without
# it the system's OpenBLAS is used. Objects stay in build/c-tests/.
set -euo pipefail
cd "$(dirname "$0")/../.."

mode=${1:-plain}
shift || true
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(tests/c/test_*.c)
compiler=${CC:-gcc}
mapfile -t flags <csrc/compile_flags.txt
flags+=(-Icsrc -Itests/c -g1)
run=()
case $mode in
plain | valgrind)
    build=build/c-tests/plain
    flags+=(-Werror)
    ;;
san)
    build=build/c-tests/san
    # without optimization, and with checks by calls: inlined, they take gcc minutes
    flags+=(-O0 -fsanitize=address,undefined -fno-sanitize-recover=all)
    case $compiler in
    *gcc*) flags+=(--param asan-instrumentation-with-call-threshold=0) ;;
    esac
    ;;
*)
    echo "run.sh: mode is '$mode', expected plain, san or valgrind" >&2
    exit 2
    ;;
esac
if [ "$mode" = valgrind ]; then
    run=(valgrind --quiet --error-exitcode=9 --leak-check=full)
    run+=(--errors-for-leak-kinds=definite)
fi

find_wheel='import scipy_openblas32 as w; print(w.get_lib_dir(), w.get_library())'
if found=$("${PYTHON:-python3}" -c "$find_wheel" 2>/dev/null); then
    read -r directory library <<<"$found"
    flags+=(-DFA_BLAS_PREFIX=scipy_)
    link=("-L$directory" "-l$library" "-Wl,-rpath,$directory" -lm -pthread)
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

# compile what is older than its source or what it may include; the kernels, which take
# longest, first
mkdir -p "$build"
command="$compiler ${flags[*]}"
[ "$(cat "$build/command.txt" 2>/dev/null)" = "$command" ] || rm -f "$build"/*.o
echo "$command" >"$build/command.txt"
object_of() { echo "$build/$(basename "$1" .c).o"; }
kernels=()
others=()
library=()
for source in csrc/fa_*.c "${tests[@]}"; do
    object=$(object_of "$source")
    [[ $source != csrc/* ]] || library+=("$object")
    if [ -e "$object" ] && [ -z "$(find "$source" csrc/*.[!c]* csrc/kernels tests/c/*.h \
        -newer "$object")" ]; then
        continue
    fi
    case $source in
    csrc/fa_isa_*) kernels+=("$object" "$source") ;;
    *) others+=("$object" "$source") ;;
    esac
done
if [ $((${#kernels[@]} + ${#others[@]})) -gt 0 ]; then
    printf '%s\0' "${kernels[@]}" "${others[@]}" |
        xargs -0 -n 2 -P "$(getconf _NPROCESSORS_ONLN)" "$compiler" "${flags[@]}" -c -o
fi

# one thread of OpenBLAS: its pool is not under test, and slow under valgrind
export OPENBLAS_NUM_THREADS=1
failed=0
for source in "${tests[@]}"; do
    name=$(basename "$source" .c)
    if [ "$mode" = valgrind ] && grep -q 'long double' "$source"; then
        echo "$mode leaves out $name: it needs long double"
        continue
    fi
    "$compiler" "${flags[@]}" "$(object_of "$source")" "${library[@]}" \
        -o "$build/$name" "${link[@]}"
    for isa in "${isas[@]}"; do
        printf '%-8s %-6s ' "$mode" "$isa"
        if ! FLEXARM_ISA=$isa "${run[@]}" "$build/$name"; then
            echo "FAILED: $name, $mode, FLEXARM_ISA=$isa" >&2
            failed=1
        fi
    done
done
exit $failed
