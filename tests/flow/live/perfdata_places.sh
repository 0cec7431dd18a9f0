# Where symbols of a perf.data come from, and where its database goes. The program that was recorded is taken away, and
# what is left of it is put in one place after the other.
. "$(dirname "$0")/../common.sh" "$@"
need perf cc objcopy strip readelf tar bzip2 gzip xz python3
need_perf

mkdir tmp program
TMPDIR=$work/tmp
export TMPDIR
unset PERF_CONFIG 2>/dev/null

cat >app.c <<'END_C'
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline))
static long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
NOINLINE unsigned long WORK(long until_ms)
{
	volatile unsigned long sum = 0;
	do
		for (unsigned long i = 0; i < 100000; i++)
			sum += i * i;
	while (cpu_ms() < until_ms);
	return sum;
}
NOINLINE unsigned long CALLER(long until_ms)
{
	return WORK(until_ms) + 1;
}
static char bytes[1 << 20];
/* 100 ms of CPU time in the kernel, 100 in WORK. */
int main(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	while (cpu_ms() < 100)
		if (read(fd, bytes, sizeof(bytes)) < 0)
			return 2;
	return CALLER(200) == 1;
}
END_C
compile() { cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id -D"WORK=$1" -D"CALLER=$2" -o "$3" app.c || fail "cc"; }
compile burn_time calls_burn program/app
id=$(readelf -n program/app | sed -n 's/.*Build ID: //p')
# Without samples of the kernel: its names, which are many, would be read with each ingest. kernel.data is about them.
perf record -q -e cpu-clock:u -F 999 -g -o run.data -- program/app >/dev/null 2>record.err || skip "perf record: $(head -n 1 record.err)"
[ -e "$HOME/.debug/.build-id/$(echo "$id" | cut -c1-2)" ] || fail "perf put nothing into its cache: $(find home)"

# perf's own script where it is there, its tar by hand elsewhere.
if ! perf archive run.data >archive.out 2>&1 || [ ! -e run.data.tar.bz2 ]; then
	: # packed by hand
	tar cjf run.data.tar.bz2 -C "$HOME/.debug" .
fi
mkdir away
mv run.data.tar.bz2 away/
mv "$HOME/.debug" away/debug
mv program/app away/app
mkdir -p "symfs$work/program" "debug_root/.build-id/$(echo "$id" | cut -c1-2)"
cp away/app "symfs$work/program/"
objcopy --only-keep-debug away/app "debug_root/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"

# has NAMES FROM CTXAN'S ARGUMENTS: the program's functions are called so, and the names are from there.
has() {
	names=$1
	from=$2
	shift 2
	# One question, for an ingest is needed where the arguments are not those of the database: "origin|function" of each.
	expect 0 "" ctxan -q "$@" --sql "select distinct o.symbols || '|' || coalesce(case when f.function glob '<Unknown>@*' then '<Unknown>' else f.function end, '') from load_object as o left join functions as f on f.object = o.path where o.path like '%/program/app' order by 1"
	sed 1d out.txt >answer.txt
	called=$(cut -d'|' -f2 answer.txt | tr '\n' ' ')
	places=$(cut -d'|' -f1 answer.txt | sort -u)
	for name in $names; do
		case " $called" in
		*" $name "*) ;;
		*) fail "$from: no $name but '$called' ($*)" ;;
		esac
	done
	[ "$names" != "<Unknown>" ] || [ "$called" = "<Unknown> " ] || fail "$from: names that nobody can know: '$called'"
	printf '%s\n' "$places" | grep -Eq -- "$from" || fail "names are from '$places', not from $from"
	[ -z "$(ls -A "$TMPDIR")" ] || fail "left in the temporary directory: $(ls -A "$TMPDIR")"
	echo "$places: $called"
}
ours="burn_time calls_burn main"

# Nothing anywhere; then one place after the other. What is found by itself is asked for with --reingest where it has no
# part in telling whether a database is current: perf's own cache, the program.
has "<Unknown>" "^none: No such file" run.data
cp -a away/debug "$HOME/.debug"
has "$ours" "$HOME/.debug/.build-id/" run.data --reingest
mv "$HOME/.debug" home/elsewhere
printf '[buildid]\n\tdir = %s\n' "$HOME/elsewhere" >"$HOME/.perfconfig"
has "$ours" "$HOME/elsewhere/.build-id/" run.data --reingest
rm -r "$HOME/elsewhere" "$HOME/.perfconfig"
has "<Unknown>" "^none: " run.data --reingest
cp away/run.data.tar.bz2 .
has "$ours" "^run.data.tar.bz2/.build-id/.*/elf$" run.data
cp run.data.ctxan.db once.db
has "$ours" "^run.data.tar.bz2/" run.data --reingest
cmp once.db run.data.ctxan.db || fail "the same ingest twice: two databases, perhaps with a temporary path in it"
bzip2 -d run.data.tar.bz2
has "$ours" "^run.data.tar/.build-id/" run.data
gzip run.data.tar
has "$ours" "^run.data.tar.gz/.build-id/" run.data
rm run.data.tar.gz
has "<Unknown>" "^none: " run.data
has "$ours" "^away/debug/.build-id/" run.data --buildid-dir away/debug
has "$ours" "^away/run.data.tar.bz2/.build-id/" run.data --buildid-dir home --buildid-dir away/run.data.tar.bz2
has "$ours" "^$work/symfs|^symfs/" run.data --symfs symfs
cp away/app program/app
has "$ours" "^/.*/program/app$" run.data --reingest
strip program/app
has "$ours" "debug_root/.build-id/.*debug$" run.data --debug-root debug_root

# Another program where the one was that was recorded, and all other places that have a name for its addresses.
compile other_work other_caller program/app
has "<Unknown>" "^none: .*build id" run.data --reingest
cp program/app "symfs$work/program/app"
has "<Unknown>" "^none: .*build id" run.data --symfs symfs --reingest
mkdir -p "wrong/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)"
cp program/app "wrong/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)/elf"
has "<Unknown>" "^none: .*build id" run.data --buildid-dir wrong
tar czf wrong.tar.gz -C wrong .
has "<Unknown>" "^none: .*wrong.tar.gz.*build id" run.data --buildid-dir wrong.tar.gz
cp program/app "debug_root/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
has "<Unknown>" "^none: .*build id" run.data --debug-root debug_root
# The right one is found behind the wrong one.
has "$ours" "^away/debug/" run.data --buildid-dir wrong --buildid-dir away/debug
expect 0 "" ctxan run.data --reingest -r header
grep -q "^ *[0-9.]* % .*program/app (build id is " out.txt || fail "the header does not say that the program has no names: $(cat out.txt)"
[ "$(grep -A 5 'without symbols' out.txt | wc -l)" -le 6 ] || fail "long reasons in the header: $(cat out.txt)"

# Tarballs that are none, or cut. Beside the recording: the rest of the work is done.
head -c 2000 away/run.data.tar.bz2 >cut.tar.bz2
echo nonsense >none.tar
expect 1 "none.tar: no usable tarball" ctxan -q run.data --buildid-dir none.tar -r functions
expect 1 "cut.tar.bz2: no usable tarball" ctxan -q run.data --buildid-dir cut.tar.bz2 -r functions
expect 1 "buildid-dir 'nowhere': No such file" ctxan -q run.data --buildid-dir nowhere -r functions
[ -z "$(ls -A "$TMPDIR")" ] || fail "left after errors: $(ls -A "$TMPDIR")"
cp cut.tar.bz2 run.data.tar.bz2
expect 0 "run.data.tar.bz2: no usable tarball" ctxan run.data -r functions
rm run.data.tar.bz2
expect 2 "cannot|No such file" env TMPDIR="$work/nowhere" "$bin/ctxan" -q run.data --buildid-dir away/run.data.tar.bz2 -r functions

# The kernel's names: from the kernel that runs, or a cache; a kernel with another build id gets none of them.
kernel() { ctxan -q "$@" --sql "select count(distinct function) from functions where object = '[kernel]' and function not like '<%' order by 1" | sed 1d; }
perf record -q -e cpu-clock -F 999 -g -o kernel.data -- away/app >/dev/null 2>record.err || fail "perf record: $(head -n 1 record.err)"
kernel_id=$(perf buildid-list -i kernel.data | sed -n 's/ \[kernel.kallsyms\].*//p')
[ -z "$(ctxan -q kernel.data --sql "select 1 from functions where object = '[kernel]'" | sed 1d)" ] && kernel_id=
if [ -z "$kernel_id" ] || ! awk '$1 !~ /^0*$/ { found = 1 } END { exit !found }' /proc/kallsyms; then
	leave_out "no samples in the kernel, or no names of it here"
else
	[ "$(kernel kernel.data --reingest)" -gt 0 ] || fail "no names of the kernel that runs"
	python3 - "$kernel_id" <<'END_P'
import sys
old = bytes.fromhex(sys.argv[1])
data = open("kernel.data", "rb").read()
assert old in data
open("other.data", "wb").write(data.replace(old, bytes(b ^ 255 for b in old)))
END_P
	[ "$(kernel other.data)" = 0 ] || fail "names of a kernel that was not recorded"
	other_id=$(perf buildid-list -i other.data | sed -n 's/ \[kernel.kallsyms\].*//p')
	mkdir -p "boot/[kernel.kallsyms]/$other_id"
	cp /proc/kallsyms "boot/[kernel.kallsyms]/$other_id/kallsyms"
	[ "$(kernel other.data --buildid-dir boot)" -gt 0 ] || fail "no names from the kallsyms of a cache"
	XZ_OPT=-0 tar cJf boot.tar.xz -C boot .
	[ "$(kernel other.data --buildid-dir boot.tar.xz)" -gt 0 ] || fail "no names from the kallsyms of a tarball"
fi

# The database: beside the recording, opened at once as long as that does not change.
rm -f ./*.ctxan.db
number() { stat -c %i "$1"; }
expect 0 "" ctxan -q run.data -r functions
first=$(number run.data.ctxan.db) || fail "no database beside run.data"
touch -d '2 days ago' run.data.ctxan.db
expect 0 "" ctxan run.data -r functions
[ ! -s err.txt ] && [ "$(number run.data.ctxan.db)" = "$first" ] || fail "ingested again, nothing had changed: $(cat err.txt)"
expect 0 "" ctxan run.data.ctxan.db -r functions
perf record -q -e cpu-clock:u -F 500 -g -o second.data -- program/app again >/dev/null 2>&1 || fail "perf record"
samples() { ctxan -q "$1" --sql "select count(*) from samples" | sed 1d; }
command_of() { ctxan -q "$1" -r header | grep -A 1 '^command'; }
command_of run.data | grep -q again && fail "the first recording has the command of the second one"
cp second.data run.data
[ "$(samples run.data)" = "$(samples second.data)" ] && command_of run.data | grep -q again ||
	fail "another recording at the same place: $(samples run.data) samples of $(samples second.data), $(command_of run.data)"
expect 0 "" ctxan -q run.data --db kept.db -r functions
[ -s kept.db ] || fail "no database where --db says"
expect 1 "kept.db" ctxan -q run.data --db nowhere/kept.db -r functions
cp run.data moved.data
expect 0 "" ctxan -q "$work/./moved.data" -r functions
[ -s moved.data.ctxan.db ] || fail "no database beside the recording: $(ls)"
if perf record -q -e cpu-clock:u -F 500 --threads -g -o folder.data -- program/app >/dev/null 2>record.err; then
	expect 0 "" ctxan -q folder.data/ -r functions
	[ -s folder.data.ctxan.db ] && [ ! -e folder.data/ctxan.db ] || fail "the database of a directory: $(ls . folder.data)"
else
	leave_out "this perf cannot record --threads: $(head -n 1 record.err)"
fi

# A directory that cannot be written to. root may write everywhere: somebody else tries.
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null 2>&1; then
	leave_out "not root: no directory that cannot be written to"
	finish
fi
mkdir locked theirs
cp second.data locked/run.data
chmod a+rx "$work" locked && chmod a+r locked/run.data && chown nobody theirs
as_nobody() { setpriv --reuid=nobody --clear-groups env -u XDG_CACHE_HOME TMPDIR=/tmp HOME="$work/theirs" "$@"; }
expect 0 "locked/run.data is not writable; its database is .*theirs/.cache/ctxan/" as_nobody "$bin/ctxan" locked/run.data -r functions
[ "$(ls locked)" = run.data ] || fail "in a directory that cannot be written to: $(ls locked)"
expect 0 "" as_nobody "$bin/ctxan" locked/run.data -r functions
[ ! -s err.txt ] || fail "the second time it is ingested again: $(cat err.txt)"
finish
