#!/bin/sh
# make.sh BUILD_DIR [NAME...]: records the experiments of this folder anew, as root, on a machine that has nothing else to do. A recording is kept
# when the program's own clocks agree with it (what the kept tests check), so a busy machine only makes this take longer.
set -u
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
flow=$here/../../tests/flow
PATH=$build/bin:$PATH
fail() { echo "make.sh: $*" >&2; exit 1; }
asked=" ${*:-full syscalls min user perf lock_convoy producer_consumer priority_inversion reuse_tids} "
wants() { case $asked in *" $1 "*) ;; *) return 1 ;; esac; }

# A fixed folder, because paths are recorded.
rm -rf /tmp/states-testdata && mkdir /tmp/states-testdata && cd /tmp/states-testdata || exit 1
chmod 777 .
for program in states lock_convoy producer_consumer priority_inversion reuse_tids; do
	cp "$build/bin/examples/$program" . && objcopy --strip-debug $program || fail "$program"
done
[ -e /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing || fail "no tracefs"

# trim_kallsyms FILE RECORDING...: of the kernel's names those that stacks of the recording have, and its first, the reference for relocation.
trim_kallsyms() {
	ctxan -q "$2" --sql "select distinct name from function" --format csv | tr -d '"' >names
	awk 'NR == FNR { wanted[$1]; next } $3 in wanted || $3 == "_text"' names "$1" >kept_names && mv kept_names "$1"
}

# The load objects of the program itself alone: the others' names are not compared.
trim() {
	for archive in "$1"/archives/*; do
		case $archive in
		*/kallsyms.zst)
			zstd -dqc "$archive" >kallsyms && trim_kallsyms kallsyms "$1" && zstd -19 -qf kallsyms -o "$archive" ;;
		*)
			zstd -dqc "$archive" | cmp -s - "$2" || rm -f "$archive" ;;
		esac
	done
	find "$1" -name 'ctxan.db*' -delete
}

# keep NAME PROGRAM "CHECK": records with `record` until the check holds.
keep() {
	name=$1 program=$2 check=$3
	wants "$name" || return 0
	n=1
	until rm -rf "$name.er" && record >"$name.out" && python3 "$flow"/$check "$name.out" "$name.er" --measured; do
		[ $n -lt 20 ] || fail "$name: twenty times"
		n=$((n + 1))
	done
	trim "$name.er" "$program"
	python3 "$flow"/$check "$name.out" "$name.er" --measured || fail "$name: trimmed"
	find "$name.er" -name 'ctxan.db*' -delete
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 "$name.er" "$name.out" | xz -9e >"$here/$name.tar.xz" || fail "$name: tar"
}

record() { ctxrec -q -O -o full.er -- ./states; }
keep full states "record_states.py full"
record() { ctxrec -q -O --states syscalls -o syscalls.er -- ./states burn nap lock system; }
keep syscalls states "record_states.py syscalls"
record() { ctxrec -q -O --states min -o min.er -- ./states; }
keep min states "record_states.py min"
record() { setpriv --reuid=65534 --regid=65534 --clear-groups ctxrec -q -O -o user.er -- ./states; }
keep user states "record_states.py user"
for story in lock_convoy producer_consumer priority_inversion; do
	record() { ctxrec -q -O -o $story.er -- ./$story; }
	keep $story $story "record_lock_stories.py $story"
done
cat >inside.sh <<'SCRIPT'
echo 310 >/proc/sys/kernel/pid_max || exit 3
i=0
while [ $i -lt 305 ]; do (:); i=$((i + 1)); done
ctxrec -q -O -o reuse_tids.er -- ./reuse_tids 120
SCRIPT
record() { unshare -pf --mount-proc sh inside.sh; }
keep reuse_tids reuse_tids "record_reused_tids.py"

# perf's own recording of switches: of a static program, so that its stacks can be unwound anywhere. perf's files lack a switch now and then.
if wants perf; then
	gcc -D_GNU_SOURCE -g -O2 -fno-optimize-sibling-calls -pthread -static -o states.static "$here/../targets/states.c" || fail "states.static"
	objcopy --strip-debug states.static
	n=1
	until perf record -q -e cpu-clock/freq=199/ -e sched:sched_switch --switch-events --call-graph dwarf,1024 -m 16M -o perf.data -- \
		./states.static burn nap input lock data compete >perf.out 2>perf.err && ! grep -q lost perf.err &&
		python3 "$flow/record_states.py" perf perf.out perf.data --measured; do
		[ $n -lt 20 ] || fail "perf: twenty times"
		n=$((n + 1))
	done
	id=$(perf buildid-list -i perf.data | sed -n 's/ .*states\.static$//p')
	vdso=$(perf buildid-list -i perf.data | sed -n 's/ \[vdso\].*//p')
	kernel=$(perf buildid-list -i perf.data | sed -n 's/ \[kernel.kallsyms\].*//p')
	mkdir -p "ids/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)" "ids/[kernel.kallsyms]/$kernel"
	cp states.static "ids/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)/elf"
	mkdir -p "ids/.build-id/$(echo "$vdso" | cut -c1-2)/$(echo "$vdso" | cut -c3-)"
	cp -L "$HOME/.debug/.build-id/$(echo "$vdso" | cut -c1-2)/$(echo "$vdso" | cut -c3-)/vdso" "ids/.build-id/$(echo "$vdso" | cut -c1-2)/$(echo "$vdso" | cut -c3-)/" || fail "perf: no vdso in its cache"
	cp /proc/kallsyms "ids/[kernel.kallsyms]/$kernel/kallsyms"
	trim_kallsyms "ids/[kernel.kallsyms]/$kernel/kallsyms" perf.data
	rm states.static perf.data.ctxan.db
	mkdir home && cp -r ids home/.debug
	HOME=$PWD/home python3 "$flow/record_states.py" perf perf.out perf.data --measured || fail "perf: with its own cache"
	tar -c --sort=name --owner=0 --group=0 --mtime=@0 perf.data perf.out ids | xz -9e >"$here/perf.tar.xz" || fail "perf: tar"
fi
cd / && rm -rf /tmp/states-testdata
ls -l "$here"/*.xz
