#!/bin/sh
# The default output and the call tree of eleven kinds of programs, of an older ctxan and of this one, on the same
# recordings: lines, the line of the answer, rows of the tree.
#   table.sh DIR BEFORE_BIN [BIN]
# DIR gets the programs, NAME.er (ctxrec) and NAME.data (perf) of each; what is there is not recorded again. BEFORE_BIN is the
# folder of the older ctxan, BIN that of ctxrec and ctxan (default: build/bin). RUN is put in front of each recording.
# Needs gcc, g++, perf, xz, python3, sqlite3.
set -eu
dir=${1:?usage: table.sh DIR BEFORE_BIN [BIN]}
here=$(cd "$(dirname "$0")" && pwd)
before=$(cd "${2:?usage: table.sh DIR BEFORE_BIN [BIN]}" && pwd)
after=$(cd "${3:-$here/../../build/bin}" && pwd)
mkdir -p "$dir"
cd "$dir"

make_programs() {
	for name in hot recursion threads; do
		gcc -O2 -g -pthread -D_GNU_SOURCE -o $name "$here/table/$name.c"
	done
	g++ -O2 -g -o names "$here/table/names.cc"
	gcc -O2 -g -pthread -D_GNU_SOURCE -o lock_convoy "$here/../../testdata/targets/lock_convoy.c"
	install -m 755 "$here/table/processes.sh" processes
	mkdir -p units
	[ -e units/unit_0.cc ] || python3 "$here/../gen_templates.py" 1 units
	[ -e packed.txt ] || seq 1 3000000 >packed.txt
	cat >query.sql <<'END'
with recursive n(i) as (select 1 union all select i + 1 from n where i < 400000)
select count(*), sum(a.i * 7919 % 1000003) from n a join n b on a.i = b.i * 3;
END
	cat >primes.py <<'END'
def is_prime(n):
    return all(n % i for i in range(2, int(n ** 0.5) + 1))

print(sum(is_prime(n) for n in range(2, 120000)))
END
}

# The interpreter itself, not a script that starts it.
python=$(python3 -c 'import sys; print(sys.executable)')
# name|command|what answers: in the first line that has it the function or the cause is named
programs='hot|./hot|\bspin\b
recursion|./recursion|\bdescend\b
names|./names|count_items
lock_convoy|./lock_convoy 1500|reporter
xz|xz -T2 -3 -k -c packed.txt|liblzma
gcc|g++ -O2 -c -o unit.o units/unit_0.cc|\bcc1plus\b
python|$python primes.py|_PyEval_EvalFrame|is_prime
threads|./threads|\bcrunch\b
processes|./processes|(300[01]).*(process|true)|process.*(3001|6001)|processes with samples, [0-9]+ of true
sqlite3|sqlite3 :memory: ".read query.sql"|libsqlite3|sqlite3(_step|Vdbe)
sleep|sleep 1|timer|nanosleep|sleeps|^Other wait'

record() {
	eval "set -- $2"
	[ -e "$name.er" ] || ${RUN:-} "$after/ctxrec" -q -O -o "$name.er" -- "$@" >/dev/null 2>&1 </dev/null
	[ -e "$name.data" ] || ${RUN:-} perf record -q -g -F 999 -e cpu-clock -o "$name.data" -- "$@" >/dev/null 2>&1 </dev/null ||
		rm -f "$name.data"
}

# The number of the first line of a file that matches; "none".
line_of() {
	grep -nE -m 1 "$2" "$1" | cut -d : -f 1 | grep . || echo none
}


row() {
	recording=$1 name=$2 answer=$3
	db=$(mktemp -d)
	for side in before after; do
		bin=$before
		[ $side = after ] && bin=$after
		"$bin/ctxan" -q --db "$db/$side.db" "$recording" --width 80 >"$name.$side.txt" 2>/dev/null </dev/null
	done
	"$before/ctxan" -q --db "$db/before.db" "$recording" -r tree --no-fold --min-percent 1 --width 80 >"$name.tree.before.txt" 2>/dev/null </dev/null
	"$after/ctxan" -q --db "$db/after.db" "$recording" -r tree --min-percent 1 --width 80 >"$name.tree.after.txt" 2>/dev/null </dev/null
	widest=$(grep -v 'ctxan ' "$name.after.txt" | LC_ALL=C.UTF-8 wc -L)
	printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$recording" \
		"$(wc -l <"$name.before.txt")" "$(line_of "$name.before.txt" "$answer")" \
		"$(wc -l <"$name.after.txt")" "$widest" "$(line_of "$name.after.txt" "$answer")" \
		"$(wc -l <"$name.tree.before.txt")" "$(wc -l <"$name.tree.after.txt")"
	rm -rf "$db"
}

make_programs >&2
echo '| recording | lines before | answer in line | lines | widest | answer in line | tree lines before | tree lines |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|'
printf '%s\n' "$programs" | while IFS='|' read -r name command answer; do
	record "$name" "$command"
	row "$name.er" "$name" "$answer"
	if [ -e "$name.data" ]; then
		row "$name.data" "$name.data" "$answer"
	fi
done
