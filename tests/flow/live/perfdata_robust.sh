# perf.data that is damaged, cut, misnamed or not one at all, and wrong questions about a good one: what can be used is used, the rest is told in one line.
. "$(dirname "$0")/../common.sh" "$@"
need perf jq script truncate dd
need_perf

spin='i=0; while [ $i -lt 250000 ]; do i=$((i+1)); done'
record() { perf record -q -F 4000 "$@" >perf.out 2>&1 || fail "perf record $*: $(head -c 300 perf.out)"; }
samples() { ctxan -q "$1" -r functions --format json | jq .samples; }
head_of() { ctxan -q "$1" --reingest -r header; }
samples_in() { sed -n 's/^cpu-clock *\([0-9]*\) samples.*/\1/p' "$1"; }
no_database() { [ -z "$(find . -name '*ctxan.db*')" ] || fail "$1: a database is left: $(find . -name '*ctxan.db*')"; }

record -e cpu-clock -g -o good.data -- sh -c "$spin"
all=$(samples good.data)
bytes=$(stat -c %s good.data)
[ "$all" -gt 500 ] || fail "the recording has only $all samples"

# perf is killed: the header says nothing of the data, which is there. A file, a compressed one, a directory.
for option in '' -z --threads; do
	name=killed$option.data
	perf record -q -e cpu-clock -F 4000 -g -m 16 $option -o "$name" -- sh -c 'while :; do :; done' >/dev/null 2>&1 &
	recorder=$!
	tries=0
	while [ "$(du -sb "$name" 2>/dev/null | cut -f1)0" -lt 800000 ] && [ $tries -lt 100 ] && kill -0 $recorder 2>/dev/null; do
		sleep 0.1
		tries=$((tries + 1))
	done
	target=$(pgrep -P $recorder | head -n 1)
	kill -9 $recorder || { echo "this perf cannot record $option: it is not tried"; continue; }
	wait $recorder 2>/dev/null
	kill -9 "$target" 2>/dev/null
	header=$name
	[ ! -d "$name" ] || header=$name/data
	[ "$(od -An -tu8 -j48 -N8 "$header" | tr -d ' ')" = 0 ] || fail "$name: the header has a size; the test is not about it"
	head_of "$name" >killed.txt || fail "$name"
	grep -Eq '^closed +no' killed.txt || fail "$name: closed: $(cat killed.txt)"
	grep -q '^note: the run was not closed' killed.txt || fail "$name: no note"
	[ "$(samples_in killed.txt)" -gt 300 ] || fail "$name: only $(samples_in killed.txt) samples"
done

# Cut in the middle, and where only features of the header are missing.
head -c $((bytes / 2)) good.data >half.data
head_of half.data >half.txt || fail "half"
grep -Eq '^closed +no' half.txt || fail "half: $(cat half.txt)"
grep -q 'the file ends [0-9]* bytes before its data does' half.txt || fail "half: no note"
near "half: samples" "$(samples_in half.txt)" $((all / 2)) 20
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
		esac | dd of="$name" bs=1 seek=$((bytes * place / 10)) conv=notrunc 2>/dev/null
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
no_database "no perf.data"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	as_nobody() { setpriv --reuid=nobody --clear-groups env -u XDG_CACHE_HOME HOME="$work/nobody" "$@"; }
	chmod a+rx "$work" && mkdir nobody && chown nobody nobody
	cp good.data secret.data && chmod 600 secret.data
	expect 2 "secret.data: Permission denied" as_nobody "$bin/ctxan" secret.data
	# One that can be read, where nothing can be written: the database is in the user's cache.
	chmod 644 secret.data
	expect 0 "secret.data cannot be written to; its database is .*nobody/.cache/ctxan/" as_nobody "$bin/ctxan" secret.data -r functions
	[ ! -e secret.data.ctxan.db ] || fail "a database where nothing could be written"
	expect 0 "" as_nobody "$bin/ctxan" secret.data -r functions
	[ ! -s err.txt ] || fail "the second time it is ingested again: $(cat err.txt)"
	# The same with a database beside it that is of another recording.
	rm -rf nobody/.cache
	cp half.data changed.data && ctxan -q changed.data -r functions >/dev/null && cp good.data changed.data && chmod 644 changed.data
	expect 0 "changed.data cannot be written to; its database is .*nobody/.cache/ctxan/" as_nobody "$bin/ctxan" changed.data -r functions
	rm -f changed.data.ctxan.db
fi

# Progress on a terminal, wiped away at the end; a machine that has done within a second gets a longer file.
record -e cpu-clock -o flat.data -- sh -c "$spin"
for millions in 4 12 36; do
	rm -f large.data.ctxan.db
	gen_perfdata flat.data large.data ${millions}000000 >/dev/null || fail "gen_perfdata"
	script -qec "ctxan large.data -r functions --limit 3" typescript >/dev/null </dev/null || fail "on a terminal"
	grep -q 'samples/s' typescript && break
done
grep -Eq 'large.data \[#*\.*\] +[0-9]+ %  .* M samples/s' typescript || fail "no progress on a terminal: $(head -c 300 typescript)"
script -qec "ctxan large.data -r functions --limit 3" typescript >/dev/null </dev/null || fail "on a terminal, again"
grep -q 'samples/s' typescript && fail "the second time it is ingested again"

# An ingest that is killed leaves nothing that is taken for a database, or the one that was there; the next ingest clears up.
# wait_for FILE_PATTERN: until an ingest has begun to write.
wait_for() {
	tries=0
	while [ -z "$(find . -name "$1")" ] && [ $tries -lt 100 ]; do
		sleep 0.02
		tries=$((tries + 1))
	done
}
ctxan -q large.data -r functions >before.txt
for signal in KILL INT; do
	for option in '' --reingest; do
		rm -f ./*.tmp
		[ -n "$option" ] || mv large.data.ctxan.db kept.db
		env --default-signal=INT ctxan large.data -r functions $option >out.txt 2>large.err &
		reader=$!
		wait_for 'large.data.ctxan.db.*.tmp'
		sleep 0.1
		kill -$signal $reader 2>/dev/null || fail "$signal: the ingest was over before it could be killed"
		wait $reader 2>/dev/null
		[ ! -s out.txt ] || fail "$signal: something was printed"
		[ ! -s large.err ] || fail "$signal: progress although stderr is no terminal: $(head -c 200 large.err)"
		if [ -z "$option" ]; then
			[ ! -e large.data.ctxan.db ] || fail "$signal: a database of an ingest that did not end"
			mv kept.db large.data.ctxan.db
		fi
	done
done
[ -n "$(find . -name '*.tmp')" ] || fail "the killed ones left nothing: the test is not about it"
ctxan -q large.data -r functions | cmp -s before.txt - || fail "the database that was there is damaged"
ctxan -q large.data --reingest -r functions | cmp -s before.txt - || fail "ingested again it is another one"
[ -z "$(find . -name '*.tmp')" ] || fail "what the killed ones left is still there: $(find . -name '*.tmp')"

# A full disk: one line, status 2, nothing half written.
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o "size=$((bytes + 20000))" tmpfs small 2>/dev/null; then
	expect 2 "small/x.db" ctxan good.data --db small/x.db
	[ -z "$(ls -A small)" ] || fail "left on the full disk: $(ls -A small)"
	expect 2 "small/ctxan-.*: No space left" sh -c 'TMPDIR=small ctxan - <large.data'
	expect 2 "small/ctxan-.*full" sh -c 'TMPDIR=small ctxan - <good.data'
	[ -z "$(ls -A small)" ] || fail "standard input: left on the full disk: $(ls -A small)"
	umount small
else
	echo "no tmpfs can be mounted here: the full disk is not tried"
fi

# Wrong questions.
expect 1 "no metric 'nosuch' \(recorded: cpu-clock\)" ctxan -q good.data --metric nosuch
expect 1 "behind the end of the run" ctxan -q good.data --interval 99999999:
expect 1 "ends before it begins" ctxan -q good.data --interval 50:20
expect 1 "no thread 'nosuch'" ctxan -q good.data --thread nosuch
expect 1 "no process '123456789'" ctxan -q good.data --process 123456789
ctxan -q good.data --cpu 9999 -r functions | grep -q 'no samples in this selection' || fail "--cpu 9999"
expect 1 "no report 'script'" ctxan -q good.data --report script

# Several events; their modifiers need not be typed where one name is meant.
record -e cpu-clock,page-faults -o two.data -- sh -c "$spin; cat /proc/self/maps"
ctxan -q two.data -r header | grep -Eq '^page-faults +[0-9]+ samples, [0-9]+ events' || fail "two events: page-faults is not in the header"
ctxan -q two.data -r header | grep -Eq '^cpu-clock +[0-9]+ samples, [0-9.]+ m?s' || fail "two events: cpu-clock is not in the header"
faults=$(ctxan -q two.data -r functions --metric page-faults --format json | jq .samples)
[ "$faults" -gt 0 ] && [ "$faults" -lt "$(samples two.data)" ] || fail "two events: $faults page faults"
record -e page-faults:u,cpu-clock:u,cpu-clock:k -o modified.data -- sh -c "$spin"
ctxan -q modified.data --metric page-faults -r functions | grep -q 'page-faults:u' || fail "page-faults does not find page-faults:u"
ctxan -q modified.data --metric cpu-clock:k -r functions | grep -q 'cpu-clock:k' || fail "cpu-clock:k does not find itself"
expect 1 "more than one metric 'cpu-clock' \(recorded: page-faults:u, cpu-clock:u, cpu-clock:k\)" ctxan -q modified.data --metric cpu-clock
expect 1 "no metric 'cpu-cloc'" ctxan -q modified.data --metric cpu-cloc

# Without an argument: the newest of *.er and perf.data.
mkdir here
(cd here && perf record -q -e cpu-clock -- sh -c "$spin" >/dev/null 2>&1) || fail "perf record without -o"
expect 0 "the newest recording here is perf.data" sh -c 'cd here && ctxan -r functions'
[ -e here/perf.data.ctxan.db ] || fail "the database is not beside perf.data"
sleep 0.02
gen_experiment --samples 1000 --threads 1 --stacks 20 --depth 5 --seed 1 --duration-ms 100 -o here/later.er || fail "gen_experiment"
expect 0 "the newest recording here is later.er" sh -c 'cd here && ctxan -r functions'
touch here/perf.data
expect 0 "the newest recording here is perf.data" sh -c 'cd here && ctxan -r functions'
mkdir there && perf record -q -e cpu-clock --threads -o there/perf.data -- sh -c "$spin" >/dev/null 2>&1 && {
	expect 0 "the newest recording here is perf.data" sh -c 'cd there && ctxan -r functions'
	[ -e there/perf.data.ctxan.db ] || fail "the database is not beside the directory perf.data"
}

# Standard input.
mkdir temporary
TMPDIR=$work/temporary
export TMPDIR
perf record -q -e cpu-clock -F 4000 -g -o - -- sh -c "$spin" 2>/dev/null | ctxan - -r header,functions >piped.txt 2>piped.err || fail "standard input"
[ ! -s piped.err ] || fail "standard input: $(cat piped.err)"
grep -Eq '^standard input: functions .* [0-9]+ samples' piped.txt || fail "standard input: $(head -n 3 piped.txt)"
# Another run: on a busy machine the same work takes more or less time.
piped=$(samples_in piped.txt)
[ "$((piped * 3))" -gt "$all" ] && [ "$piped" -lt "$((all * 3))" ] || fail "standard input: $piped samples, and $all of the other run"
ctxan -q - -r functions <good.data | tail -n +2 >redirected.txt
ctxan -q good.data -r functions | tail -n +2 | cmp -s - redirected.txt || fail "standard input from a file is not the same"
ctxan -q - --db given.db -r functions <good.data >/dev/null && [ "$(samples given.db)" = "$all" ] || fail "standard input with --db"
expect 1 "nothing came in" sh -c 'ctxan - </dev/null'
expect 1 "no perf.data" sh -c 'ulimit -f 20000; yes | ctxan -'
expect 1 "standard input can be read once" sh -c 'ctxan - - <good.data'
script -qec "ctxan -" typescript >/dev/null </dev/null && fail "standard input is a terminal: status 0"
grep -q "standard input, which is a terminal" typescript || fail "standard input is a terminal: $(cat typescript)"
# Ctrl-C ends the recorder and so the input, not the reader; another one in the middle of the ingest leaves nothing.
mkfifo input
env --default-signal=INT ctxan -q - -r functions <input >interrupted.txt 2>interrupted.err &
reader=$!
{ cat good.data; sleep 0.5; } >input &
sleep 0.3
kill -INT $reader
wait $reader || fail "Ctrl-C while reading: $(cat interrupted.err)"
grep -q 'samples' interrupted.txt || fail "Ctrl-C while reading: no answer"
env --default-signal=INT ctxan - -r functions <large.data >interrupted.txt 2>&1 &
reader=$!
wait_for 'ctxan.db.*.tmp'
kill -INT $reader
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
