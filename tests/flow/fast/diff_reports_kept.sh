# Comparison by every report and in every export, on a kept recording: against the single reports. What cannot be compared is refused.
. "$(dirname "$0")/../common.sh" "$@"
need python3

unpack recordings/phases recordings/spin perfdata/same states/full
python3 "$source_dir/tests/flow/diff_reports_kept.py" "$(command -v ctxan)" phases.er full.er || fail "diff of reports"

# golden NAME OPTION...: what is printed of two intervals. UPDATE_GOLDEN=1 rewrites testdata/golden/diff.
golden() {
	kept=$source_dir/testdata/golden/diff/$1.expected
	shift
	ctxan -q phases.er --diff -i 0:50% -i 50%:100% "$@" >out.txt 2>err.txt || fail "$kept: $(cat err.txt)"
	[ -z "${UPDATE_GOLDEN:-}" ] || cp out.txt "$kept"
	cmp -s out.txt "$kept" || fail "$(basename "$kept"): $(diff out.txt "$kept" | head -5)"
}

golden tree-80 -r tree --width 80
golden tree-200 -r tree --width 200
golden tree.json -r tree --format json
golden tree.csv -r tree --format csv
golden states-80 -r states --width 80 --per second
golden callers-80 -r callers-callees --width 80 --limit 10
golden flamegraph.svg --export flamegraph

# says PATTERN COMMAND...: on standard output.
says() {
	wanted=$1
	shift
	timeout 60 "$@" >out.txt 2>err.txt || fail "$(echo "$*" | head -c 100): $(cat err.txt)"
	grep -Eq -- "$wanted" out.txt || fail "$(echo "$*" | head -c 100): no '$wanted': $(head -c 400 out.txt)"
}

# Nothing in common.
says 'No function is on both sides' ctxan phases.er spin.er --diff --filter 'LEAF IN "work.*|divisions|turn.*"'
expect 1 "no metric 'page-faults'" ctxan phases.er spin.er --diff --metric page-faults
grep -q '^ctxan: spin.er: ' err.txt || fail "which recording lacks the metric: $(cat err.txt)"
expect 1 'phases.er has no allocations .ctxrec --heap.' ctxan phases.er phases.er --diff -r heap
expect 1 'flat.data has no call stacks' ctxan flat.data good.data --diff -r tree
expect 1 'flat.data has no thread states' ctxan phases.er flat.data --diff -r states
expect 1 'spin.er has no waits in the selection' ctxan full.er spin.er --diff -r waits
# Of several reports those are printed that can be.
says '^waits: spin.er has no waits in the selection' ctxan full.er spin.er --diff -r waits,functions
grep -q '^Difference of functions' out.txt || fail "the report behind one that has nothing to compare: $(cat out.txt)"
says '^heap: full.er has no allocations' ctxan full.er spin.er --diff -r heap,functions,heap
expect 1 'spin.er has no waits in the selection' ctxan full.er spin.er --diff -r heap,waits
expect 1 'spin.er has no waits in the selection' ctxan full.er spin.er --diff -r functions,waits --format json
expect 1 'phases.er has no samples in the selection' ctxan phases.er --diff -i 0:0.1 -i 50%:60%
expect 1 'has no calls of a function .nobody.' ctxan phases.er phases.er --diff --per-count calls:nobody

# What could be found is no per cent of next to nothing.
says '^A change of the total by [+][0-9.]* ms would be found' ctxan -q phases.er phases.er --diff -i A:0:1% -i B:0:100%

# Damaged, and what is not written half.
head -c 20000 good.data >cut.data
says 'note: cut.data: .*the last record is cut' ctxan good.data cut.data --diff
head -c 100 good.data >stump.data
expect 1 'stump.data' ctxan good.data stump.data --diff -o half.txt
expect 1 'without --per share' ctxan phases.er spin.er --diff --per share --export folded -o half.txt
[ ! -e half.txt ] || fail "half an answer was written"

# A page of what a side has no call stacks for has no tree, and says why; asked for, the tree is an error.
ctxan -q flat.data good.data --diff --export html -o flat.html || fail "a page without call stacks"
grep -o 'id="profile">[^<]*' flat.html | cut -d '>' -f 2 | base64 -d | gzip -dc >flat.json || fail "the data of a page"
grep -q '"left_out":\["flat.data has no call stacks' flat.json || fail "why there is no tree: $(tail -c 300 flat.json)"
grep -q '"report":"tree"' flat.json && fail "a tree without call stacks"
expect 1 'flat.data has no call stacks' ctxan flat.data good.data --diff -r tree --export html -o half.txt
expect 1 'no metric' ctxan phases.er spin.er --diff --metric page-faults --export html -o half.txt
expect 1 'excludes --limit' ctxan phases.er spin.er --diff --limit 3 --export html -o half.txt
[ ! -e half.txt ] || fail "half a page was written"

# --open: beside A, under a name that is not that of A's own page.
(unset DISPLAY WAYLAND_DISPLAY && ctxan -q phases.er spin.er --diff --export html --open >opened.txt 2>err.txt) || fail "--open: $(cat err.txt)"
[ -s phases.er.diff.html ] && [ ! -e phases.er.html ] || fail "--open: where the page is"
grep -q 'phases.er.diff.html$' opened.txt || fail "--open says: $(cat opened.txt)"

# Many.
many=$(yes spin.er | head -250 | paste -sd,)
says '250 recordings' ctxan "$many" "$many" --diff --limit 1
expect 1 '251 recordings on one side, at most 250' ctxan "$many,spin.er" spin.er --diff

timeout 60 ctxan ./spin.er,spin.er,phases.er spin.er --diff --limit 1 >out.txt 2>err.txt || fail "twice"
grep -qx 'ctxan: --diff: side A has ./spin.er 2 times: as several runs it is false evidence' err.txt || fail "twice: $(cat err.txt)"
timeout 60 ctxan spin.er,phases.er spin.er --diff --limit 1 >out.txt 2>err.txt && [ ! -s err.txt ] || fail "once on each side: $(cat err.txt)"
# A run of an archive by the name that reports give it.
ctxan -q --archive base.db spin.er phases.er || fail "archive"
ctxan -q base.db:2 spin.er --diff --format json | sed 's/"inputs":[^]]*]//g' >one.json || fail "a run of an archive"
ctxan -q base.db spin.er --diff --run 2 --format json | sed 's/"inputs":[^]]*]//g' | cmp -s - one.json || fail "base.db:2 is not --run 2"
expect 1 'base.db has no run 3: it has 2' ctxan base.db:3 spin.er --diff
expect 1 'spin.er:2: No such file' ctxan spin.er:2 spin.er --diff
yes 'main;solve 10' | head -300 >counts.folded
expect 1 "phases.er has the metric 'cpu-clock' and counts.folded 'count': choose a common one with --metric .they have none." ctxan phases.er counts.folded --diff
# The main thread, where none has that name.
ctxan -q phases.er -r functions --thread main --format csv >main.csv || fail "--thread main"
ctxan -q phases.er -r functions --thread 0 --format csv | cmp -s - main.csv || fail "the main thread: $(cat main.csv)"
ctxan -q phases.er spin.er --diff --thread main --limit 1 >out.txt || fail "--thread main on both sides"

# Options.
expect 1 '--rename requires --diff' ctxan phases.er --rename a=b
expect 1 '--per requires --diff' ctxan phases.er --per second
expect 1 '--per-count requires --diff' ctxan phases.er --per-count 3
expect 1 '--rename .a.=b.: Unmatched' ctxan phases.er spin.er --diff --rename 'a(=b'
expect 1 'expected calls:FUNC' ctxan phases.er spin.er --diff --per-count 0
expect 1 'expected calls:FUNC' ctxan phases.er spin.er --diff --per-count 1,x
expect 1 '--diff excludes --callers' ctxan phases.er spin.er --diff -r tree --callers
for words in '-r tree --function tokenize' '-r tree=tokenize'; do
	ctxan -q phases.er --diff -i 0:50% -i 50%:100% $words --format json >word.json || fail "$words"
	grep -q '"function":"tokenize"' word.json && ! grep -q '"function":"build_ast"' word.json || fail "$words: $(head -c 600 word.json)"
done
expect 1 'not in this format' ctxan phases.er spin.er --diff --export firefox
expect 1 'two sides and --diff' ctxan phases.er spin.er --export folded
ctxan phases.er spin.er --diff --filter 'B:NOBODY==1' 2>err.txt && fail "a filter of side B without sense"
grep -q 'column 1: no name' err.txt || fail "a filter of side B: $(cat err.txt)"

finish
