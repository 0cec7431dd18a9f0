# Lines, inlined functions, source and instructions of an optimised program, from recording to a database that is alone in the world.
. "$(dirname "$0")/../common.sh" "$@"
need jq g++ objdump addr2line sqlite3
need_perf

mkdir src
cat >src/work.cc <<'END'
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

static inline double root_sum(double x)
{
	double sum = 0;
	for (int i = 0; i < 50; i++)
		sum += std::sqrt(x + i); // the hot line
	return sum;
}

__attribute__((noinline)) double work(int n)
{
	std::vector<double> values(1000);
	double total = 0;
	for (int k = 0; k < n; k++) {
		for (std::size_t i = 0; i < values.size(); i++)
			values[i] = (double)((i * 7919 + (std::size_t)k) % 1000);
		std::sort(values.begin(), values.end());
		for (double value : values)
			total += root_sum(value);
	}
	return total;
}

int main()
{
	std::printf("%f\n", work(5000));
}
END
g++ -O2 -g -o prog "$work/src/work.cc" || fail "g++"
ctxrec -q -F 999 --archive-sources -o exp.er -- ./prog >/dev/null || fail "ctxrec"

total=$(ctxan -q exp.er -r functions --format json | jq .weight)
[ "$total" -gt 0 ] || fail "no samples"

# The inlined function is a node below the one that it is inlined into, and below that is main.
ctxan -q exp.er -r tree --format csv --limit 0 >tree.csv
grep -q '"root_sum (inlined)"' tree.csv || fail "no inlined function: $(head -n 12 tree.csv)"
ctxan -q exp.er -r stacks --format json --limit 0 |
	jq -r '.rows[] | [.frames[].function] | join(" < ")' | grep -q 'main < work(int) < root_sum (inlined)$' || fail "no stack of main, work and root_sum"
ctxan -q --no-inlines --db plain.db exp.er -r functions --format csv | grep -q '(inlined)' && fail "--no-inlines shows inlined functions"

# Every report adds up to the total, in any interval.
for interval in : 100:300 0:30%; do
	want=$(ctxan -q exp.er -r functions -i $interval --format json | jq .weight)
	for report in lines pcs objects; do
		have=$(ctxan -q exp.er -r $report -i $interval --format json --limit 0 | jq '[.rows[] | select(.function != "<Total>" and .object != "<Total>") | .exclusive] | add // 0')
		[ "$have" = "$want" ] || fail "$report, $interval: $have instead of $want"
	done
done

# The hot line, where addr2line has it: the weights by address, added up by what addr2line says of them.
hot=$(grep -n 'the hot line' src/work.cc | cut -d: -f1)
ctxan -q exp.er -r pcs --format json --limit 0 | jq -r '.rows[] | select(.object != null and (.object | endswith("/prog"))) | "\(.address) \(.exclusive)"' |
	while read -r address weight; do
		printf '%s %s\n' "$(printf '0x%x' "$address" | addr2line -e prog | sed 's/ (.*//; s|.*/||')" "$weight"
	done | awk '$1 != "" { w[$1] += $2 } END { for (l in w) if (w[l]) print l, w[l] }' | sort >theirs
ctxan -q exp.er -r lines --format json --limit 0 | jq -r '.rows[] | select(.object != null and (.object | endswith("/prog")) and .exclusive > 0 and .line > 0) | "\(.file | split("/") | last):\(.line) \(.exclusive)"' |
	awk '{ w[$1] += $2 } END { for (l in w) print l, w[l] }' | sort >ours
grep -v '?' theirs >theirs.known
cmp -s ours theirs.known || fail "lines differ from addr2line's: $(diff ours theirs.known | head -n 6)"
grep -q "^work.cc:$hot " ours || fail "the hot line $hot has no samples: $(cat ours)"

# Instructions as objdump has them, line by line of the whole function.
ctxan -q exp.er -r 'disasm=work(int)' --format json --limit 0 >disasm.json || fail "disasm"
jq -r '.rows[] | select(.instruction != null) | .instruction | split(" ")[0]' disasm.json | grep -v '^$' >our_mnemonics
objdump -d --no-show-raw-insn --disassemble=_Z4worki prog | sed -n 's/^ *[0-9a-f]*:\t\([a-z][a-z0-9]*\).*/\1/p' >their_mnemonics
ours_n=$(wc -l <our_mnemonics) theirs_n=$(wc -l <their_mnemonics)
near "instructions of work(int)" "$ours_n" "$theirs_n" 1

# A program that is gone before the recording ends has its names all the same.
printf 'cp ./prog ./gone\n./gone >/dev/null\nrm ./gone\n' >gone.sh
ctxrec -q -F 999 -o gone.er -- sh gone.sh || fail "ctxrec of a program that is removed"
ctxan -q gone.er -r functions --format csv --limit 0 | grep -q '"work(int)"' || fail "a removed program has no names: $(ctxan -q gone.er -r functions --limit 5)"

# Functions made at run time: their names are copied too, and code that nobody names is anonymous.
ctxrec -q -F 999 -o jit.er -- jit map 300 >jit.out || fail "ctxrec of a just-in-time compiler"
rm -f "$(cat jit.out)"
for function in jit_alpha jit_beta; do
	ctxan -q jit.er -r functions --format csv --limit 0 | grep -q "\"$function\"" || fail "no $function: $(ctxan -q jit.er -r functions --limit 5)"
done
rm -f jit.er/archives/path-*
ctxan -q --db nameless.db jit.er -r functions --format csv --limit 0 | grep -q '"<Unknown>","//anon"' || fail "code without names: $(ctxan -q --db nameless.db jit.er -r functions --format csv --limit 4)"

# A source that was changed since is told of.
cp src/work.cc kept.cc
sleep 1.1
echo '// later' >>src/work.cc
ctxan -q --db changed.db gone.er -r source=root_sum 2>&1 | grep -q 'changed since the recording' || fail "a changed source is not told of"
cp -p kept.cc src/work.cc

# Away from the program, the source and the experiment: the database knows it all.
ctxan -q exp.er -r source=root_sum --format text >before.txt 2>&1 || fail "source: $(head -n 1 before.txt)"
grep -q 'the hot line' before.txt || fail "source has no text: $(cat before.txt)"
cp exp.er/ctxan.db alone.db
mkdir away && mv prog src exp.er away/ && mv away .away
ctxan -q alone.db -r source=root_sum >after.txt 2>&1 || fail "the database alone: $(head -n 1 after.txt)"
grep -q 'the hot line' after.txt || fail "the database alone has no text"
ctxan -q alone.db -r 'disasm=work(int)' | grep -q sqrt || fail "the database alone has no instructions"

# The experiment on another machine: its copies of object and source are used.
mv .away/exp.er other.er && rm -f other.er/ctxan.db
ctxan -q other.er -r source=root_sum | grep -q 'the hot line' || fail "the copy of the source is not used"
finish
