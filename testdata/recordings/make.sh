#!/bin/sh
# make.sh BUILD_DIR [NAME...]: records the recordings of this folder anew (README.md says what each is), all or those named. A function for each;
# `exported`, gprofng's answers, goes with the others and comes last.
# The programs are linked statically with musl, so that their load objects are small and no report depends on the libraries of a machine. Fixed
# folder, because paths are recorded. Perf events, and for the states of threads tracepoints, must be allowed.
set -eu
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
source_dir=$here/../..
targets=$here/../targets
browser=$source_dir/tests/browser
PATH=$build/bin:$PATH
work=/tmp/recordings-testdata
common="-static -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -D_GNU_SOURCE -Wl,--build-id=sha1"

# compile OUTPUT SOURCE [OPTION]...
compile() {
	compiled=$1
	shift
	musl-gcc $common -o "$compiled" "$@"
}

# record NAME [OPTION]... -- COMMAND...
record() {
	name=$1
	shift
	ctxrec -q -o "$name.er" "$@" >/dev/null
}

# pack NAME: without the database; of the kernel's symbols those that the recording has, and the next ones, which end them.
pack() {
	if [ -e "$1.er/archives/kallsyms.zst" ]; then
		ctxan -q "$1.er" --format csv --limit 0 --sql "select printf('%016x', f.offset) from function f join load_object o on o.id = f.object where o.path = '[kernel]'" |
			tr -d '"' >addresses
		zstd -qdc "$1.er/archives/kallsyms.zst" | sort | awk '
			NR == FNR { wanted[$0]; next }
			$1 in wanted || follows { print }
			{ follows = $1 in wanted }' addresses - >kallsyms
		zstd -q -19 -f -o "$1.er/archives/kallsyms.zst" kallsyms
	fi
	rm -f "$1.er/ctxan.db"*
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 "$1.er" | xz -9e >"$here/$1.tar.xz"
}

make_phases() {
	compile phases "$here/../phases.c" -pthread
	record phases -F 499 -e cpu-clock,page-faults -- ./phases
}

make_execs() {
	compile execchain "$targets/execchain.c" -pthread
	compile execs "$here/execs.c"
	record execs -F 2499 -- ./execs ./execchain
}

make_hostile_names() {
	mkdir 'o<d>&d "x"'
	compile 'o<d>&d "x"/hostile_names' "$here/hostile_names.c"
	record hostile_names -F 1999 -- './o<d>&d "x"/hostile_names'
}

make_evil() {
	compile '<b onclick=alert(3)>' -O0 "$here/evil.c"
	record evil -F 499 -- './<b onclick=alert(3)>'
}

make_deep() {
	cp "$here/deep.c" .
	compile deep deep.c -gdwarf-4 -pthread
	record deep -c 2000000 -e cpu-clock -- ./deep
}

make_convoy() {
	compile convoy "$targets/lock_convoy.c" -O2 -pthread
	record convoy -F 499 -- ./convoy
}

make_served() {
	compile served "$here/served.c"
	record served -F 999 -- ./served
}

make_spin() {
	cp "$browser/spin.c" "$browser/spin.h" .
	compile spin spin.c -g -O2
	record spin --archive-sources -F 1999 -- ./spin 0.8
}

make_bare() {
	cp "$browser/spin.c" "$browser/spin.h" .
	compile bare spin.c -O2
	record bare -F 1999 -- ./bare 0.3
}

make_tight() {
	node "$browser/written_sources.mjs" tight .
	compile tight tight.c -g
	record tight --archive-sources -F 1999 -- ./tight
}

make_hostile_lines() {
	file=$(node "$browser/written_sources.mjs" hostile .)
	compile hostile_lines "$file" -g -Wno-bidi-chars
	record hostile_lines --archive-sources -F 1999 -- ./hostile_lines
}

# Programs with marks have the C library, of which no copy is kept; the runtime is loaded from here.
with_runtime() {
	mkdir bin
	cp "$build/bin/ctxrec" "$build/bin/libctxrt.so" bin
	PATH=$work/bin:$PATH
}

make_marks() {
	with_runtime
	cc -O1 -fno-omit-frame-pointer -D_GNU_SOURCE -pthread -I"$source_dir/runtime" -o marks "$targets/marks.c"
	record run --marks --trace-full wait -- ./marks
	record pause --trace heap,sync,io --trace-full wait -- ./marks pause
	mkfifo ready
	ctxrec -q -o killed.er --marks -- sh -c 'echo $$ >pid; exec ./marks hang' >ready &
	recorder=$!
	read -r said <ready
	kill -9 "$(cat pid)"
	wait $recorder || true
	./marks steps >/dev/null &
	program=$!
	record attached --marks -p $program -d 2
	kill $program
	find run.er pause.er killed.er attached.er -path '*/archives/*' -size +40k -delete
}

make_marked() {
	with_runtime
	cc -O1 -pthread -I"$source_dir/runtime" -o marked "$here/marked.c"
	record marked --no-archive --marks -- ./marked
}

# libgomp by gcc, libomp by clang: of the libraries no copies are kept.
make_openmp() {
	with_runtime
	gcc -g -O2 -fopenmp -o program "$targets/openmp.c"
	record gcc --openmp --trace-full wait -- ./program 2
	gcc -g -O2 -fopenmp -x c++ -o program "$targets/openmp.c"
	record gcc_cpp --openmp --trace-full wait -- ./program 2
	gfortran -g -O2 -fopenmp -o program "$targets/openmp.f90"
	record fortran --openmp --trace-full wait -- ./program
	clang -g -O2 -fopenmp -o program "$targets/openmp.c"
	record clang --openmp --trace-full wait -- ./program 2
	for compiler in gcc clang; do
		$compiler -g -O2 -fopenmp -o program "$targets/openmp_shares.c"
		record shares_$compiler --openmp --trace-full wait -F 2000 -- ./program
	done
	find ./*.er -path '*/archives/*' -size +40k -delete
}

# By uprobes: root.
make_indicators() {
	compile indicators "$targets/indicators.c" -O2 -g -pthread
	record indicators --states off --indicator leaf --indicator often:threshold=100 --indicator inlined --indicator seldom%return --indicator never \
		--indicator range:leaf..seldom --indicator counter:rw --indicator table+8,len=4:w:threshold=10 -- ./indicators 2 1
}

# Breakpoints: not every virtual machine has them. Of the libraries no copies are kept.
make_data() {
	with_runtime
	gcc -O0 -g -no-pie -fdebug-prefix-map="$targets"=targets -o data "$targets/data.c"
	address_of() { echo "0x$(nm data | awk -v name="$1" '$3 == name { print $1 }')"; }
	record data --heap --trace-full wait --states off --data \
		-e "page-faults/period=1/u,mem:$(address_of counter)/4:w:u,mem:$(address_of thing)/8:w:u,mem:$(printf '0x%x' $(($(address_of thing) + 24)))/8:w:u" -- ./data 300
	find data.er -path '*/archives/*' -size +40k -delete
}

make_coverage() {
	gcc -O0 -g -D_GNU_SOURCE -Wl,--build-id=sha1 -fdebug-prefix-map="$targets"=targets -o covered "$targets/covered.c" -pthread -ldl
	record coverage --states off --user -e page-faults -c 1000000 --indicator '*:once' -- ./covered
}

# Five runs as it was, and five in which solve is 5 % slower, in turn.
make_regression() {
	compile regression "$targets/regression.c"
	for run in 1 2 3 4 5; do
		record before.$run -F 1999 -- ./regression 0 60
		record after.$run -F 1999 -- ./regression 5 60
	done
}

# pack_regression: all in one; of the load object and the kernel's symbols, which all have, one copy.
pack_regression() {
	for run in 1 2 3 4 5; do
		for side in before after; do
			ctxan -q "$side.$run.er" --format csv --limit 0 --sql "select printf('%016x', f.offset) from function f join load_object o on o.id = f.object where o.path = '[kernel]'"
			rm -f "$side.$run.er/ctxan.db"*
		done
	done | tr -d '"' | sort -u >addresses
	zstd -qdc before.1.er/archives/kallsyms.zst | sort | awk '
		NR == FNR { wanted[$0]; next }
		$1 in wanted || follows { print }
		{ follows = $1 in wanted }' addresses - >kallsyms
	rm -f ./*.er/archives/kallsyms.zst
	zstd -q -19 -f -o before.1.er/archives/kallsyms.zst kallsyms
	for archives in ./*.er/archives; do
		[ "$archives" = ./before.1.er/archives ] || ln -f before.1.er/archives/* "$archives"
	done
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 ./*.er | xz -9e >"$here/regression.tar.xz"
}

# What gprofng prints of what ctxan exports of the packed recordings, by question (tests/flow/gprofng_said.py).
make_exported() {
	for kept in phases convoy deep execs hostile_names; do
		xz -dc "$here/$kept.tar.xz" | tar -x
	done
	cp "$here/deep.c" .
	fail() { echo "make.sh: $*" >&2; exit 1; }
	CTX_KEEP_SAID=1
	export CTX_KEEP_SAID
	. "$source_dir/tests/flow/export_gprofng_checks.sh"
	check_kept
	unset CTX_KEEP_SAID
}

# pack_marks: several recordings in one file.
pack_marks() {
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 run.er pause.er killed.er attached.er | xz -9e >"$here/marks.tar.xz"
}

pack_openmp() {
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 gcc.er gcc_cpp.er fortran.er clang.er shares_gcc.er shares_clang.er | xz -9e >"$here/openmp.tar.xz"
}

# pack_exported: the answers; they are compressed one by one.
pack_exported() {
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 *.said.xz | xz -9e >"$here/exported.tar.xz"
}

[ $# -gt 0 ] || set -- phases execs hostile_names evil deep convoy served spin bare tight hostile_lines marks marked openmp data regression exported
rm -rf "$work"
for recording in "$@"; do
	mkdir "$work"
	cd "$work"
	"make_$recording"
	case $recording in
	exported) pack_exported ;;
	marks) pack_marks ;;
	openmp) pack_openmp ;;
	regression) pack_regression ;;
	*) pack "$recording" ;;
	esac
	ls -l "$here/$recording.tar.xz"
	cd /
	rm -rf "$work"
done
