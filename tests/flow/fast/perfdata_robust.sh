# perf.data that is damaged, cut, misnamed or not one at all, and wrong questions about a good one: what can be used is used, the rest is
# said in one line. With kept recordings (testdata/perfdata); what needs a perf that runs is in perfdata_live.
. "$(dirname "$0")/../common.sh" "$@"
need cc jq python3 script truncate dd xz

unpack perfdata/same
samples() { ctxan -q "$1" -r functions --format json | jq .samples; }
head_of() { ctxan -q "$1" --reingest -r header; }
samples_in() { sed -n 's/^cpu-clock\(:u\)\? *\([0-9]*\) samples.*/\2/p' "$1"; }
no_database() { [ -z "$(find . -name '*ctxan.db*')" ] || fail "$1: a database is left: $(find . -name '*ctxan.db*')"; }

all=$(samples good.data)
bytes=$(stat -c %s good.data)
word() { od -An -tu8 -j"$1" -N8 good.data | tr -d ' '; }
begin=$(word 40)
size=$(word 48)
[ "$all" -gt 500 ] || fail "the recording has only $all samples"

# perf is killed: the header says nothing of the data, which is there. A file, a compressed one, a directory.
python3 - <<'END' || fail "the killed ones"
import os, shutil, struct
def kill(path):
    """What perf.data-file-format.txt says of the header: data's offset and size at 40 and 48, 256 bits of features at 72."""
    with open(path, "r+b") as file:
        data = file.read()
        offset, size = struct.unpack_from("<QQ", data, 40)
        file.truncate(offset + size)
        file.seek(48)
        file.write(bytes(8))
        file.seek(72)
        file.write(bytes(32))
for name in ("good", "compressed"):
    shutil.copy(name + ".data", "killed-" + name + ".data")
    kill("killed-" + name + ".data")
shutil.copytree("directory.data", "killed-directory.data")
kill("killed-directory.data/data")
END
for name in good compressed directory; do
	head_of killed-$name.data >killed.txt || fail "killed: $name"
	grep -Eq '^closed +no' killed.txt || fail "killed: $name: closed: $(cat killed.txt)"
	grep -q '^note: the run was not closed' killed.txt || fail "killed: $name: no note"
	[ "$(samples_in killed.txt)" = "$(samples $name.data)" ] || fail "killed: $name: $(samples_in killed.txt) samples of $(samples $name.data)"
done

# Cut in the middle, and where only features of the header are missing.
head -c $((bytes / 2)) good.data >half.data
head_of half.data >half.txt || fail "half"
grep -Eq '^closed +no' half.txt || fail "half: $(cat half.txt)"
grep -q 'the file ends [0-9]* bytes before its data does' half.txt || fail "half: no note"
near "half: samples" "$(samples_in half.txt)" $((all / 2)) 50
for less in 1 100; do
	head -c $((bytes - less)) good.data >less.data
	head_of less.data >less.txt || fail "$less bytes less"
	grep -Eq '^damaged +[1-9]' less.txt || fail "$less bytes less: nothing is said"
	[ "$(samples_in less.txt)" = "$all" ] || fail "$less bytes less: $(samples_in less.txt) samples of $all"
done
for left in 8 16 100 104 200; do
	head -c $left good.data >stub.data
	expect 1 "stub.data" ctxan stub.data
	[ ! -e stub.data.ctxan.db ] || fail "$left bytes: a database"
done

# Bytes that are wrong: what is damaged is counted, all else is there, whatever the damage. Zeros are no record, and ones have a size that cannot be.
for place in 3 6 9; do
	for kind in zero ff random; do
		name=flip-$place-$kind.data
		cp good.data "$name"
		case $kind in
		zero) head -c 600 /dev/zero ;;
		ff) head -c 600 /dev/zero | tr '\0' '\377' ;;
		random) seq $((place * 1000)) $((place * 1000 + 600)) | cksum >seed && seq 1 600 | awk -v seed="$(cut -d' ' -f1 seed)" 'BEGIN { srand(seed) } { printf "%c", 1 + int(rand() * 127) }' ;;
		esac | dd of="$name" bs=1 seek=$((begin + size * place / 10)) conv=notrunc 2>/dev/null
		head_of "$name" >flip.txt || fail "$name"
		grep -Eq '^damaged +[1-9]' flip.txt || fail "$name: the damage is not counted"
		grep -q "^note: $name: offset" flip.txt || fail "$name: where it is damaged is not said"
		# A size that is wrong and possible hides up to 64 KiB of records.
		near "$name: samples" "$(samples_in flip.txt)" "$all" 40
		[ $place$kind != 6zero ] || near "$name: samples" "$(samples_in flip.txt)" "$all" 3
	done
done

# No perf.data at all.
rm -f ./*ctxan.db*
mkdir wrong wrong/nothing wrong/perf.data && mkfifo wrong/fifo && : >wrong/empty
echo 'a text' >wrong/text
{ printf PERFFILE && head -c 5000 good.data; } >wrong/old
{ printf PERFILE2 && head -c 5000 /bin/sh; } >wrong/garbage
for name in nothing perf.data fifo empty text old garbage; do
	expect 1 "$name: " ctxan wrong/$name
	[ ! -s out.txt ] || fail "$name: something was printed"
done
expect 1 "/dev/null: " ctxan /dev/null
expect 1 "missing.data: No such file" ctxan missing.data
expect 1 "wrong/empty: " ctxan -q good.data wrong/empty
[ ! -s out.txt ] || fail "the first of two was printed although the second is no recording"
rm -f good.data.ctxan.db
no_database "not a perf.data file"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	as_nobody() { setpriv --reuid=nobody --clear-groups env -u XDG_CACHE_HOME HOME="$work/nobody" "$@"; }
	chmod a+rx "$work" && mkdir nobody && chown nobody nobody
	cp good.data secret.data && chmod 600 secret.data
	expect 2 "secret.data: Permission denied" as_nobody "$bin/ctxan" secret.data
	# One that can be read, where nothing can be written: the database is in the user's cache.
	chmod 644 secret.data
	expect 0 "secret.data is not writable; its database is .*nobody/.cache/ctxan/" as_nobody "$bin/ctxan" secret.data -r functions
	[ ! -e secret.data.ctxan.db ] || fail "a database where nothing could be written"
	expect 0 "" as_nobody "$bin/ctxan" secret.data -r functions
	[ ! -s err.txt ] || fail "the second time it is ingested again: $(cat err.txt)"
	# The same with a database beside it that is of another recording.
	rm -rf nobody/.cache
	cp half.data changed.data && ctxan -q changed.data -r functions >/dev/null && cp good.data changed.data && chmod 644 changed.data
	expect 0 "changed.data is not writable; its database is .*nobody/.cache/ctxan/" as_nobody "$bin/ctxan" changed.data -r functions
	rm -f changed.data.ctxan.db
fi

# An ingest that a test holds: stopped_ingest.c is preloaded into ctxan. With the sanitizers it does not come first, which they do not mind.
cc -shared -fPIC -O1 -o stopped_ingest.so "$source_dir/tests/flow/stopped_ingest.c" || fail "cc stopped_ingest.c"
held="env --default-signal=INT LD_PRELOAD=$work/stopped_ingest.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0"
gen_perfdata flat.data large.data 200000 >/dev/null || fail "gen_perfdata"

# Progress on a terminal after a second, wiped away at the end.
$held SLOW_MS=1200 script -qec "ctxan large.data -r functions --limit 3" typescript >/dev/null </dev/null || fail "on a terminal"
grep -Eq 'large.data \[#*\.*\] +[0-9]+ %  .* M samples/s' typescript || fail "no progress on a terminal: $(head -c 300 typescript)"
script -qec "ctxan large.data -r functions --limit 3" typescript >/dev/null </dev/null || fail "on a terminal, again"
grep -q 'samples/s' typescript && fail "the second time it is ingested again"

# An ingest that is killed leaves nothing that is taken for a database, or the one that existed; the next ingest clears up.
# until_stopped PID: it has stopped itself in the middle of writing its database; false: it ended instead.
until_stopped() {
	while :; do
		case $(ps -o state= -p "$1") in
		T*) return 0 ;;
		Z* | '') return 1 ;;
		esac
		sleep 0.02
	done
}
ctxan -q large.data -r functions >before.txt
for signal in KILL INT; do
	for option in '' --reingest; do
		rm -f ./*.tmp
		[ -n "$option" ] || mv large.data.ctxan.db kept.db
		$held STOP_AT=20 ctxan large.data -r functions $option >out.txt 2>large.err &
		reader=$!
		until_stopped $reader || fail "$signal: the ingest did not stop in its middle"
		[ "$(stat -c %s large.data.ctxan.db.$reader.tmp)" -gt 8192 ] || fail "$signal: nothing is written yet: the test is not about it"
		kill -$signal $reader
		kill -CONT $reader 2>/dev/null
		wait $reader 2>/dev/null
		status=$?
		[ $status -gt 128 ] || fail "$signal: the ingest ended with status $status"
		[ ! -s out.txt ] || fail "$signal: something was printed"
		[ ! -s large.err ] || fail "$signal: progress although stderr is no terminal: $(head -c 200 large.err)"
		if [ -z "$option" ]; then
			[ ! -e large.data.ctxan.db ] || fail "$signal: a database of an ingest that did not end"
			mv kept.db large.data.ctxan.db
		fi
	done
done
[ -n "$(find . -name '*.tmp')" ] || fail "the killed ones left nothing: the test is not about it"
ctxan -q large.data -r functions | cmp -s before.txt - || fail "the database that existed is damaged"
ctxan -q large.data --reingest -r functions | cmp -s before.txt - || fail "ingested again it is another one"
[ -z "$(find . -name '*.tmp')" ] || fail "what the killed ones left still exists: $(find . -name '*.tmp')"

# A full disk: one line, status 2, nothing half written.
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o "size=$((bytes + 20000))" tmpfs small 2>/dev/null; then
	expect 2 "small/x.db" ctxan large.data --db small/x.db
	[ -z "$(ls -A small)" ] || fail "left on the full disk: $(ls -A small)"
	expect 2 "small/ctxan-.*: No space left" sh -c 'TMPDIR=small ctxan - <large.data'
	expect 2 "small/ctxan-.*full" sh -c 'TMPDIR=small ctxan - <good.data'
	[ -z "$(ls -A small)" ] || fail "standard input: left on the full disk: $(ls -A small)"
	umount small
else
	leave_out "no tmpfs can be mounted here: no full disk"
fi

# Wrong questions.
expect 1 "no metric 'nosuch' \(recorded: cpu-clock:u\)" ctxan -q good.data --metric nosuch
expect 1 "behind the end of the run" ctxan -q good.data --interval 99999999:
expect 1 "ends before it begins" ctxan -q good.data --interval 50:20
expect 1 "no thread 'nosuch'" ctxan -q good.data --thread nosuch
expect 1 "no process '123456789'" ctxan -q good.data --process 123456789
ctxan -q good.data --cpu 9999 -r functions | grep -q 'no samples in this selection' || fail "--cpu 9999"
expect 1 "no report 'script'" ctxan -q good.data --report script

# Several events; their modifiers need not be typed where one name is meant.
ctxan -q two.data -r header | grep -Eq '^page-faults:u +[0-9]+ samples, [0-9]+ events' || fail "two events: page-faults is not in the header"
ctxan -q two.data -r header | grep -Eq '^cpu-clock:u +[0-9]+ samples, [0-9.]+ m?s' || fail "two events: cpu-clock is not in the header"
faults=$(ctxan -q two.data -r functions --metric page-faults --format json | jq .samples)
[ "$faults" -gt 0 ] && [ "$faults" -lt "$(samples two.data)" ] || fail "two events: $faults page faults"
ctxan -q two.data --metric page-faults -r functions | grep -q 'page-faults:u' || fail "page-faults does not find page-faults:u"
expect 1 "no metric 'cpu-cloc'" ctxan -q two.data --metric cpu-cloc

# Without an argument: the newest of *.er and perf.data.
mkdir here && cp good.data here/perf.data && touch -d '2 hours ago' here/perf.data
expect 0 "the newest recording here is perf.data" sh -c 'cd here && ctxan -r functions'
[ -e here/perf.data.ctxan.db ] || fail "the database is not beside perf.data"
gen_experiment --samples 1000 --threads 1 --stacks 20 --depth 5 --seed 1 --duration-ms 100 -o here/later.er || fail "gen_experiment"
expect 0 "the newest recording here is later.er" sh -c 'cd here && ctxan -r functions'
touch -d '2 hours' here/perf.data
expect 0 "the newest recording here is perf.data" sh -c 'cd here && ctxan -r functions'
mkdir there && cp -r directory.data there/perf.data
expect 0 "the newest recording here is perf.data" sh -c 'cd there && ctxan -r functions'
[ -e there/perf.data.ctxan.db ] || fail "the database is not beside the directory perf.data"

# Standard input.
mkdir temporary
TMPDIR=$work/temporary
export TMPDIR
ctxan - -r header,functions <pipe.data >piped.txt 2>piped.err || fail "standard input"
[ ! -s piped.err ] || fail "standard input: $(cat piped.err)"
grep -Eq '^standard input: functions .* [0-9]+ samples' piped.txt || fail "standard input: $(head -n 3 piped.txt)"
[ "$(samples_in piped.txt)" = "$(samples pipe.data)" ] || fail "standard input: $(samples_in piped.txt) samples of $(samples pipe.data)"
ctxan -q - -r functions <good.data | tail -n +2 >redirected.txt
ctxan -q good.data -r functions | tail -n +2 | cmp -s - redirected.txt || fail "standard input from a file is not the same"
ctxan -q - --db given.db -r functions <good.data >/dev/null && [ "$(samples given.db)" = "$all" ] || fail "standard input with --db"
expect 1 "standard input is empty" sh -c 'ctxan - </dev/null'
expect 1 "standard input is not perf.data" sh -c 'ulimit -f 20000; yes | ctxan -'
expect 1 "standard input can be read only once" sh -c 'ctxan - - <good.data'
script -qec "ctxan -" typescript >/dev/null </dev/null && fail "standard input is a terminal: status 0"
grep -q "standard input, which is a terminal" typescript || fail "standard input is a terminal: $(cat typescript)"
# Ctrl-C ends the recorder and so the input, not the reader; another one in the middle of the ingest leaves nothing.
mkfifo input
env --default-signal=INT ctxan -q - -r functions <input >interrupted.txt 2>interrupted.err &
reader=$!
exec 3>input
cat good.data >&3
# All of it is in the temporary directory: it waits for more.
until [ "$(cat temporary/ctxan-*/* 2>/dev/null | wc -c)" -ge "$bytes" ] || ! kill -0 $reader; do
	sleep 0.02
done
kill -INT $reader
exec 3>&-
wait $reader || fail "Ctrl-C while reading: $(cat interrupted.err)"
grep -q 'samples' interrupted.txt || fail "Ctrl-C while reading: no answer"
$held STOP_AT=20 ctxan - -r functions <large.data >interrupted.txt 2>&1 &
reader=$!
until_stopped $reader || fail "Ctrl-C in the ingest: it did not stop in its middle"
kill -INT $reader
kill -CONT $reader
wait $reader
[ $? = 130 ] || fail "Ctrl-C in the ingest: status"
[ -z "$(ls -A temporary)" ] || fail "left in the temporary directory: $(find temporary)"
# An answer is not written over what it is about; and who may not read the recording may not read its database.
cp good.data own.data
chmod 600 own.data
expect 1 "that is the recording itself" ctxan own.data -o own.data -r threads
expect 1 "that is the recording itself" ctxan own.data -o ./own.data --export folded
cmp -s good.data own.data || fail "-o has changed the recording"
ctxan -q own.data -r threads >first.txt
[ "$(stat -c %a own.data.ctxan.db)" = 600 ] || fail "the database of a private recording has mode $(stat -c %a own.data.ctxan.db)"
expect 1 "that is a database" ctxan own.data -o own.data.ctxan.db -r threads
ctxan -q own.data* -r threads >both.txt
cmp -s first.txt both.txt || fail "a recording and its own database are shown twice"
ctxan -q own.data -r threads -o - | cmp -s first.txt - || fail "-o - is not standard output"
finish
