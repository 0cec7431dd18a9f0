#!/bin/sh
# make.sh BUILD_DIR [NAME...]: records the perf.data of this folder anew, with perf, and keeps what perf says of them.
# User space only (:u), and statically linked programs: neither the kernel nor the libraries of a test machine matter. Fixed directory, because paths are recorded.
set -u
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
flow=$here/../../tests/flow
targets=$here/../targets
PATH=$build/bin:$build/bench:$PATH
LC_ALL=C.UTF-8
export LC_ALL
fail() { echo "make.sh: $*" >&2; exit 1; }

# The recordings are of a host that is no other one's name.
[ "$(hostname)" = host-of-the-recording ] || exec unshare --uts sh -c 'hostname host-of-the-recording && exec sh "$@"' sh "$0" "$build" "$@"

rm -rf /tmp/perfdata-testdata && mkdir /tmp/perfdata-testdata && cd /tmp/perfdata-testdata || exit 1
HOME=/tmp/perfdata-testdata/home
export HOME
unset PERF_CONFIG XDG_CACHE_HOME 2>/dev/null
mkdir home

flags="-O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -D_GNU_SOURCE"

# keep PROGRAM...: as the kept recordings find it, below symfs. Names and unwind tables are kept, not the machine code.
keep() {
	mkdir -p symfs/tmp/perfdata-testdata
	for program in "$@"; do
		cp "$program" symfs/tmp/perfdata-testdata/ || fail cp
		for section in .text .rodata .data.rel.ro; do
			bytes=$(objdump -h -j $section "$program" | awk -v s=$section '$2 == s { print $3 }')
			[ -n "$bytes" ] || continue
			head -c $((0x$bytes)) /dev/zero >zeros
			objcopy --update-section "$section=zeros" "symfs/tmp/perfdata-testdata/$program" || fail "$program: $section"
		done
	done
}

# pack NAME FILE...: NAME.tar.xz, without databases. The vdso is in perf's own cache, which is kept for that, and so is jit.
pack() {
	name=$1
	shift
	find . -name '*.ctxan.db' -delete
	find home/.debug -name vdso -o -path '*/jit/*/elf' -o -path '*/.build-id/*' -type l | while read -r path; do
		case $(readlink -f "$path") in
		*vdso* | */jit/*) echo "$path" ;;
		esac
	done >cache 2>/dev/null
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 "$@" symfs -T cache | xz -9e >"$here/$name.tar.xz" || fail "$name: tar"
	rm -rf home/.debug symfs ./*.data ./*.said.xz
	ls -l "$here/$name.tar.xz"
}

# One program under several names: noreturn, execchain, and family, with processes and page faults.
same() {
	cc $flags -Dmain=main_of_noreturn -c "$targets/noreturn.c" && cc $flags -Dmain=main_of_execchain -c "$targets/execchain.c" || fail cc
	cat >family.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
int main_of_noreturn(int argc, char **argv);
int main_of_execchain(int argc, char **argv);

NOINLINE static void compute(long ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

NOINLINE static void touch(size_t pages)
{
	volatile char *memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < pages; i++)
		memory[i * 4096] = 1;
}

/* Two children that compute and touch; one of them becomes execchain, the other calls what noreturn does. */
static int family(long ms)
{
	static char *execchain[] = {"execchain", "2", NULL};
	static char *noreturn[] = {"noreturn", "20", NULL};

	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			compute(ms);
			touch(200);
			if (i == 0)
				execv("/proc/self/exe", execchain);
			_exit(main_of_noreturn(2, noreturn));
		}
	}
	compute(ms);
	touch(100);
	while (wait(NULL) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash != NULL ? slash + 1 : argv[0];

	if (strcmp(name, "noreturn") == 0)
		return main_of_noreturn(argc, argv);
	if (strcmp(name, "execchain") == 0)
		return main_of_execchain(argc, argv);
	return family(argc > 1 ? atol(argv[1]) : 50);
}
END
	cc $flags -static -Wl,--build-id -pthread -o family family.c noreturn.o execchain.o || fail cc
	strip -g family
	ln family noreturn && ln family execchain || fail ln
	record() { perf record -q "$@" || fail "perf record $*"; }
	record -e cpu-clock:u -F 1500 -g -o threads.data -- ./noreturn 100
	record -e cpu-clock:u -F 2000 -g -o processes.data -- ./family 60
	record -e cpu-clock:u,page-faults:u -F 10000 -g -o two.data -- ./family 5
	record -e cpu-clock:u -F 1500 -z -g -o compressed.data -- ./noreturn 60
	record -e cpu-clock:u -F 1500 --threads -g -o directory.data -- ./noreturn 60
	record -e cpu-clock:u -F 4000 -o flat.data -- ./noreturn 120
	record -e cpu-clock:u -F 4000 -g -o good.data -- ./family 120
	perf record -q -e cpu-clock:u -F 1500 -g -o - -- ./noreturn 60 >pipe.data || fail pipe
	record -e cpu-clock:u -F 500 --call-graph dwarf,4096 -o dwarf.data -- ./noreturn 60
	for name in threads processes two compressed directory flat good pipe; do
		CTX_KEEP_SAID=1 python3 "$flow/perfdata_same.py" $name.data || fail "$name"
	done
	CTX_KEEP_SAID=1 python3 "$flow/perfdata_same.py" dwarf.data --no-chains || fail dwarf
	keep family && ln symfs/tmp/perfdata-testdata/family symfs/tmp/perfdata-testdata/noreturn
	pack same ./*.data ./*.said.xz
}

# testdata/targets/jit.c with a dump, on the dump's clock and on others, in a file and in a pipe, as perf inject makes it; and with a map. The dumps are in a
# directory with a long name, so that a test can write the name of another one over it.
jit() {
	cc $flags -Wl,--build-id -o jit "$targets/jit.c" || fail cc
	long=/tmp/perfdata-testdata/$(printf '%0127d' 0 | tr 0 d)
	mkdir "$long" || fail mkdir
	recorded() {
		name=$1
		shift
		perf record -q -e cpu-clock:u -F 2500 -g -o $name.data "$@" >$name.out || fail "$name: perf record"
	}
	recorded dump -k CLOCK_MONOTONIC -- ./jit dump "$long" 100
	perf record -q -e cpu-clock:u -F 2500 -k CLOCK_MONOTONIC -g -o - -- ./jit dump "$long" 100 >piped.data || fail piped
	recorded default -- ./jit dump "$long" 100
	recorded raw -k CLOCK_MONOTONIC_RAW -- ./jit dump "$long" 100
	perf inject -j -i dump.data -o injected.data || fail "perf inject"
	recorded map -- ./jit map 100
	mv "$(cat map.out)" . || fail map
	keep jit
	mv "$long" dumps
	pack jit ./*.data ./*.out perf-*.map dumps
	rm -rf dumps ./*.out perf-*.map
}

# testdata/targets/waits.c, the whole system and by itself. A machine that is busy loses switches: it is recorded until perf and ctxan have all of them.
# Of the kernel's functions those are kept that are on the stacks, with their neighbours.
states() {
	cc -O1 -static -Wl,--build-id -fno-omit-frame-pointer -pthread -o waiting-here "$targets/waits.c" || fail cc
	tries=0
	until grep -q ' 5 threads of 5 compared' compared 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -le 10 ] || fail "states: the machine is too busy"
		rm -f whole.data*
		perf sched record -o whole.data -- ./waiting-here >record.out 2>&1 || fail "$(cat record.out)"
		CTX_KEEP_SAID=1 python3 "$flow/perfdata_states.py" whole.data waiting-here >compared || : >compared
	done
	cat compared
	perf record -q -g --switch-events -e sched:sched_switch -e sched:sched_waking -o bound.data -- ./waiting-here || fail bound
	kernel=home/.debug/[kernel.kallsyms]/$(perf buildid-list -i bound.data | sed -n 's/ \[kernel.kallsyms\].*//p')
	mkdir -p "$kernel"
	perf script -i bound.data -F ip,sym | awk '$1 ~ /^ffff/ { print $2 }' | sort -u >names
	awk 'FILENAME == "names" { on[$1]; next } $3 in on || $3 ~ /^_(s|e)?text$/ || before { print } { before = $3 in on }' names /proc/kallsyms >reduced
	mv reduced "$kernel/kallsyms"
	mkdir -p symfs
	pack states whole.data bound.data whole.data.said.xz "$kernel/kallsyms"
}

# Rings of a page, and a perf that is stopped: what is lost, with processors and without, and what perf says of it.
lost() {
	spin='i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
	for name in placed bare; do
		[ $name = placed ] && cpu=--sample-cpu || cpu=
		perf record -q -e cpu-clock:u -F 4999 $cpu -m 1 -o $name.data -- \
			sh -c "$spin; kill -STOP \$PPID; $spin; $spin; (sleep 0.05; kill -CONT \$PPID) & $spin; $spin; $spin; $spin; wait" || fail "$name: perf record"
		perf script --ns -i $name.data -F time | sed -n '1s/^ *\([0-9.]*\):.*/first \1/p' >$name.said
		perf script --ns --show-lost-events -i $name.data 2>/dev/null | sed -n -e 's/^.* \[\([0-9]*\)\] *\([0-9.]*\): PERF_RECORD_LOST lost \([0-9]*\)$/lost \2 \3 \1/p;t' \
			-e 's/^.* \([0-9.]*\): PERF_RECORD_LOST lost \([0-9]*\)$/lost \1 \2/p' >>$name.said
		perf report --stats -i $name.data 2>/dev/null | sed -n 's/^ *LOST_SAMPLES events: *\([0-9]*\)$/total \1/p' >>$name.said
		cat $name.said
	done
	mkdir -p symfs
	pack lost placed.data bare.data placed.said bare.said
}

# bpf_busy.c, a BPF program that bpf_run.py runs: which lines the kernel says its addresses have, and where perf says samples were.
bpf() {
	cp "$here/bpf_busy.c" . && clang -O2 -g -target bpf -c bpf_busy.c -o bpf_busy.o || fail clang
	perf record -q -e cpu-clock:k -F 997 -o bpf.data -- python3 "$here/bpf_run.py" bpf_busy.o busy 300000 >bpf.json || fail "perf record"
	perf script -i bpf.data -F ip,sym 2>/dev/null | grep -a ' bpf_prog_' >bpf.said || fail "no sample is in the program"
	mkdir -p symfs
	pack bpf bpf.data bpf.json bpf.said
}

for name in ${*:-same jit states lost bpf}; do
	$name
done
rm -rf /tmp/perfdata-testdata
