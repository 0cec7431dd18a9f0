# Whole stacks without frame pointers: how many samples of programs that distributions build reach their thread's root, and whether
# libdw makes the same of the same registers and copied stacks. No limit is on time: frames per second are only printed. unwind_kept does the same with
# kept recordings of two of them.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/unwind_share.sh"
need jq
need_perf
targets=$source_dir/testdata/targets
printf 'program\tsamples\tto the root\tjoined\tas libdw\tframes/CPU s, ours\tlibdw\n' >table

compare=$(command -v unwind_compare) || leave_out "unwind_compare was not built: stacks are not compared with libdw's"

# check NAME SAMPLES COMMAND...: records it, and compares with the limits. SAMPLES are those of a machine that has little else to do,
# of which a third must be there.
check() {
	name=$1
	wanted=$2
	shift 2
	ctxrec -q -F 999 --keep-stacks -o $name.er -- "$@" >$name.out 2>$name.err || fail "$name: exit status $?: $(head -c 300 $name.err)"
	[ -s $name.out ] || fail "$name: has printed nothing"
	check_unwound $name $((wanted / 3))
	agreement=-
	ours=-
	theirs=-
	[ -z "$compare" ] || compare_with_libdw $name
	printf '%s\t%s\t%.2f\t%s\t%s\t%s\t%s\n' "$name" "$samples" "$root" "${joined:-0}" "$agreement" "$ours" "$theirs" >>table
	rm -rf $name.er
}

# has TOOL...: a program that is not installed is left out.
has() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null 2>&1 || { leave_out "$tool is not installed"; return 1; }
	done
}

has /usr/bin/python3 && check python3-debian 1500 /usr/bin/python3 "$targets/recursive.py" 9000
if has python3; then
	first=$(python3 -c 'import sys; print(sys.executable)')
	[ "$(readlink -f "$first")" = "$(readlink -f /usr/bin/python3)" ] || check python3-first 1500 "$first" "$targets/recursive.py" 6000
fi
if has gcc; then
	sh "$targets/gen_large_c.sh" 130 >large.c
	check cc1 1800 sh -c 'gcc -O2 -c large.c -o large.o && size large.o'
	gcc -O2 -fomit-frame-pointer -o altstack "$targets/altstack.c" -lm || fail "altstack.c"
	check altstack 1200 ./altstack 1.5
fi
if has sqlite3 xz; then
	seq 1 250000 | awk '{ print $1 * 7919 % 1000003 "," $1 }' >rows.csv
	head -n 130000 rows.csv >few.csv
	cat >query.sql <<'SQL'
create table t(a integer, b integer);
.mode csv
.import rows.csv t
with recursive c(x) as (values(1) union all select x + 1 from c where x < 5000000) select sum(x * 3 % 7) from c;
select count(*), sum(x.b) from t x join t y on x.a = y.b where y.a % 3 = 0;
select a % 1000 as g, count(*), avg(b) from t group by g order by 2 desc limit 3;
SQL
	check sqlite3 1000 sqlite3 :memory: '.read query.sql'
	check xz 1000 xz -4 -T1 -k -c few.csv
fi
if has c++; then
	c++ -O2 -fomit-frame-pointer -pthread -o throwing "$targets/throwing.cc" || fail "throwing.cc"
	check throwing 1200 ./throwing 0.5
fi
cat table
finish
