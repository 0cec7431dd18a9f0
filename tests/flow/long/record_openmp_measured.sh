# ctxrec --openmp against the clocks of programs: work, waits, waits of each kind and tasks within 1 %, in C, C++ and Fortran, by gcc and clang; kernels like
# NAS EP and CG; OpenMP in Debian's libraries.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_runtime
. "$(dirname "$0")/../openmp_facts.sh"

unset OMP_TOOL OMP_TOOL_LIBRARIES OMP_NUM_THREADS OMP_THREAD_LIMIT KMP_FORCE_REDUCTION
export OMP_DYNAMIC=false
targets=$source_dir/testdata/targets

# is_near WHAT GOT WANTED: within 1 %, else it is said; or it was in an earlier recording of the same program: what is preempted between a clock and the
# event beside it says nothing.
is_near() {
	grep -q -x "$1" near.txt && return 0
	if awk -v a="$2" -v b="$3" 'BEGIN { d = a > b ? a - b : b - a; exit !(b > 0 && d * 100 <= b) }'; then
		echo "$1" >>near.txt
		return 0
	fi
	echo "$1: $2 ns, by its own clock $3 ns"
	near=false
}

# waits_in REGION STATE: its time below the region, in ns.
waits_in() {
	jq -r --arg region "$(region "$1" .function)" --arg state "<OMP-$2>" \
		'[.rows[] | select(.frames[-1].function == $state and ([.frames[].function] | index($region)))] | map(.exclusive) | add // 0' waits.json
}

# check_measured SOURCE: openmp_measured, whose words are in out.txt. Waits of the reduction are too short to compare.
check_measured() {
	openmp_source=$1 near=true
	look
	ctxan run.er -r stacks --metric omp-wait --limit 0 --format json >waits.json || fail "no stacks"
	while read -r name work wait inside; do
		state=
		case $name in
		tasks) is_near "$name" "$(($(task first .self_ns) + $(task second .self_ns)))" "$work" ;;
		taskloop) is_near "$name" "$(task loop .self_ns)" "$work" ;;
		*) is_near "$name: work" "$(region "$name" .work_ns)" "$work" ;;
		esac
		case $name in
		imbalanced | nested) state=implicit_barrier inside=$wait ;;
		critical) state=critical_section_wait ;;
		locked) state=lock_wait ;;
		ordered) state=ordered_section_wait ;;
		barrier) state=explicit_barrier ;;
		esac
		[ -n "$state" ] || continue
		is_near "$name: wait" "$(region "$name" .wait_ns)" "$wait"
		[ "$name" = nested ] || is_near "$name: $state" "$(waits_in "$name" $state)" "$inside"
	done <out.txt
	$near
}

# measure SOURCE [COMMAND...]: records it and compares.
measure() {
	source=$1
	shift
	ctxrec -q -O -o run.er --openmp -- "$@" ./program 20 >out.txt || { fail "exit status"; return 0; }
	check_measured "$source"
}

# measured WHAT SOURCE [COMMAND...]
measured() {
	what=$1
	shift
	: >near.txt
	if repeat 6 measure "$@"; then echo "$what: $(wc -l <out.txt) regions as measured"; else fail "$what: other times"; fi
	check_sums "$what"
	check_views "$what"
}

for compiler in gcc clang; do
	for language in c c++; do
		$compiler -g -O2 -fopenmp -x $language "$targets/openmp_measured.c" -o program -lstdc++ 2>compile.txt || { leave_out "$compiler for $language with OpenMP"; continue; }
		measured "$compiler, $language" "$targets/openmp_measured.c"
	done
done
# A reduction in a tree is a state of its own, in one by atomic operations there is none.
if [ -e program ] && command -v clang >/dev/null 2>&1; then
	for method in tree atomic; do
		KMP_FORCE_REDUCTION=$method ctxrec -q -O -o run.er --openmp -- ./program 5 >out.txt || fail "reduction, $method: exit status"
		n=$(ctxan run.er -r functions --metric omp-work --limit 0 --format json | jq '[.rows[] | select(.function == "<OMP-reduction>") | .exclusive_samples] | add // 0')
		if [ $method = tree ]; then [ "$n" -ge 5 ]; else [ "$n" = 0 ]; fi || fail "reduction, $method: $n states of reduction"
	done
fi
if gfortran -g -O2 -fopenmp "$targets/openmp_measured.f90" -o program 2>compile.txt; then
	measured gfortran "$targets/openmp_measured.f90"
else
	leave_out "gfortran with OpenMP"
fi

# time_kernels COMPILER: what the threads have measured of their work.
time_kernels() {
	near=true
	ctxrec -q -O -o run.er --openmp -- ./program 2 >out.txt || fail "kernels, $1: exit status"
	read -r _ ep cg <out.txt
	look
	for kernel in "ep $ep" "cg $cg"; do
		recorded=$(jq --arg name "^${kernel% *} -- OMP parallel region" '[.rows[] | select(.function | test($name)) | .work_ns] | add // 0' regions.json)
		echo "$1: ${kernel% *} $recorded ns, by its own clock ${kernel#* } ns"
		is_near "kernels, $1, ${kernel% *}" "$recorded" "${kernel#* }"
	done
	$near
}

for compiler in gcc clang; do
	$compiler -g -O2 -fopenmp "$targets/openmp_kernels.c" -o program -lm 2>compile.txt || { leave_out "kernels by $compiler"; continue; }
	: >near.txt
	repeat 6 time_kernels $compiler || fail "kernels, $compiler: other times"
done

# A multiplication of matrices in OpenBLAS: its region is in the library, below the program's call.
blas=/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0
if [ -e $blas ]; then
	cat >gemm.c <<-'END'
		#include <stdio.h>
		#define N 600
		void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
		static double a[N * N], b[N * N], c[N * N];
		int main(void)
		{
			for (int i = 0; i < N * N; i++)
				a[i] = i % 7, b[i] = i % 5;
			for (int i = 0; i < 10; i++)
				cblas_dgemm(101, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);
			printf("%.0f\n", c[N + 1]);
			return 0;
		}
	END
	gcc -g -O2 gemm.c -o gemm "$blas" -Wl,-rpath,"${blas%/*}" || fail "gemm.c"
	./gemm >alone.txt
	OMP_NUM_THREADS=2 ctxrec -q -O -o run.er -- ./gemm >out.txt || fail "OpenBLAS: exit status"
	cmp alone.txt out.txt || fail "OpenBLAS: another result"
	look
	equal "OpenBLAS: regions of two threads" "$(jq '[.rows[] | select((.object | test("libopenblas")) and .threads == 2)] | map(.executions) | add >= 10' regions.json)" true
	equal "OpenBLAS: work is below the program's call" "$(ctxan run.er -r stacks --metric omp-work --limit 0 --format json | jq 'all(.rows[]; [.frames[].function] | index("main") and index("cblas_dgemm"))')" true
	check_sums OpenBLAS
	check_views OpenBLAS
else
	leave_out "no OpenBLAS with OpenMP"
fi

# Debian's imagemagick is compiled by gcc with OpenMP.
convert=/usr/bin/convert-im6.q16
if [ -x $convert ] && $convert -version | grep -q OpenMP; then
	$convert -size 1600x1200 plasma:fractal image.mpc
	MAGICK_THREAD_LIMIT=2 OMP_NUM_THREADS=2 ctxrec -q -O -o run.er -- $convert image.mpc -blur 0x6 -resize 50% out.mpc || fail "imagemagick: exit status"
	look
	equal "imagemagick: regions of two threads" "$(jq '[.rows[] | select((.object | test("libMagickCore")) and .threads == 2)] | length > 0' regions.json)" true
	check_sums imagemagick
	check_views imagemagick
else
	leave_out "no imagemagick with OpenMP"
fi
finish
