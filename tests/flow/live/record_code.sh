# Lines, inlined functions, source and instructions of an optimised program, from recording to a database that is alone in the world.
. "$(dirname "$0")/../common.sh" "$@"
need jq g++
need_perf

mkdir src
cp "$source_dir/testdata/targets/hot_line.cc" src/
g++ -O2 -g -o prog "$work/src/hot_line.cc" || fail "g++"
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

# The hot line has samples, and the function instructions. (Next to addr2line and objdump: record_code_tools, record_code_kept.)
hot=$(grep -n '// the hot line' src/hot_line.cc | cut -d: -f1)
ctxan -q exp.er -r lines --format json --limit 0 | jq -e --argjson hot "$hot" '[.rows[] | select(.line == $hot and (.file | endswith("hot_line.cc")) and .exclusive > 0)] != []' >/dev/null ||
	fail "the hot line $hot has no samples"
ctxan -q exp.er -r 'disasm=work(int)' --format json --limit 0 | jq -e '[.rows[] | select(.instruction != null and .exclusive > 0)] != []' >/dev/null || fail "disasm"

# A program that is gone before the recording ends has its names all the same.
printf 'cp ./prog ./gone\n./gone >/dev/null\nrm ./gone\n' >gone.sh
ctxrec -q -F 999 -o gone.er -- sh gone.sh || fail "ctxrec of a program that is removed"
ctxan -q gone.er -r functions --format csv --limit 0 | grep -q '"work(int)"' || fail "a removed program has no names: $(ctxan -q gone.er -r functions --limit 5)"

# JIT code: its names are copied too, and code without names is anonymous.
ctxrec -q -F 999 -o jit.er -- jit map 300 >jit.out || fail "ctxrec of a just-in-time compiler"
rm -f "$(cat jit.out)"
for function in jit_alpha jit_beta; do
	ctxan -q jit.er -r functions --format csv --limit 0 | grep -q "\"$function\"" || fail "no $function: $(ctxan -q jit.er -r functions --limit 5)"
done
rm -f jit.er/archives/path-*
ctxan -q --db nameless.db jit.er -r functions --format csv --limit 0 | grep -q '"<Unknown>","//anon"' || fail "code without names: $(ctxan -q --db nameless.db jit.er -r functions --format csv --limit 4)"

# A source that was changed after the recording is reported.
cp -p src/hot_line.cc kept.cc
echo '// later' >>src/hot_line.cc
touch -d '+2 hours' src/hot_line.cc
ctxan -q --db changed.db gone.er -r source=root_sum 2>&1 | grep -q 'changed since the recording' || fail "a changed source is not reported"
cp -p kept.cc src/hot_line.cc

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
