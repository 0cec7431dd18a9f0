# ctxrec --indicator '*:once': which lines are executed, and nothing of the program is disturbed: its own handlers of SIGTRAP, blocked signals, forks, its end
# by SIGTRAP, and a recorder that is killed.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_perf
[ -e "$bin/libctxrt.so" ] || skip "the runtime is for x86-64"
targets=$source_dir/testdata/targets
gcc -O0 -g "$targets/covered.c" -o covered -pthread -ldl || exit 1
printf 'int opened(int n)\n{\n\tif (n == 2)\n\t\treturn 5;\n\treturn n + 41;\n}\n' >opened.c
gcc -O0 -g -shared -fPIC opened.c -o libopened.so || exit 1
./covered ./libopened.so >wanted.txt
line() { grep -n "$1" "$targets/covered.c" | head -n 1 | cut -d: -f1; }

ctxrec -q -O -o run.er --indicator '*:once' --indicator "object:$PWD/libopened.so:once" -- ./covered ./libopened.so >out.txt 2>err.txt || fail "exit status $?: $(cat err.txt)"
cmp -s wanted.txt out.txt || fail "the program prints something else: $(cat out.txt)"
ctxan run.er -r coverage --format json >lines.json || fail "-r coverage"
jq -e '.rows | all(has("function") and has("object") and has("file") and has("line") and has("count"))' lines.json >/dev/null || fail "keys: $(head -n 3 lines.json)"
# count LINE: 1 executed, 0 not.
count() { jq --argjson line "$1" '[.rows[] | select((.file // "" | endswith("covered.c")) and .line == $line) | .count] | if length == 0 then "none" else (if add > 0 then 1 else 0 end) end' lines.json; }
for text in 'puts("all signals' 'alarms++' 'traps++' 'executed in the child alone' '_exit(in_child' 'opened != NULL ? opened(1)'; do
	[ "$(count "$(line "$text")")" = 1 ] || fail "$text: $(count "$(line "$text")")"
done
[ "$(count "$(line 'return 3; /\* never')")" = 0 ] || fail "never: $(count "$(line 'return 3; /\* never')")"
jq -e '[.rows[] | select(.function == "opened") | "\(.line) \(if .count > 0 then 1 else 0 end)"] == ["2 1", "3 1", "4 0", "5 1", "6 1"]' lines.json >/dev/null || fail "the library: $(jq -c '.rows[] | select(.function == "opened")' lines.json)"
ctxan run.er -r indicators --format json | jq -e '[.rows[] | .mechanism] == ["single-shot trap", "single-shot trap"] and all(.rows[]; .count > 0)' >/dev/null || fail "-r indicators: $(ctxan run.er -r indicators)"
ctxan run.er --export lcov >run.info || fail "--export lcov"
grep -q "^DA:$(line 'return 3; /\* never'),0$" run.info && grep -q "^DA:$(line 'alarms++'),1$" run.info && grep -q '^FNDA:1,in_child$' run.info || fail "lcov: $(cat run.info)"

# Its own end by SIGTRAP stays that.
ctxrec -q -O -o die.er --indicator '*:once' -- ./covered die >/dev/null 2>&1
[ $? = 133 ] || fail "dies of SIGTRAP: another exit status"
# With functions chosen, and in what a shell starts.
ctxrec -q -O -o some.er --indicator "$PWD/covered:in_*:once" -- sh -c './covered >out.txt; exit 0' 2>err.txt || fail "by pattern: $(cat err.txt)"
ctxan some.er -r coverage --format json | jq -e '[.rows[].function] | unique == ["in_child"]' >/dev/null || fail "by pattern: $(ctxan some.er -r coverage)"

# A recorder that is killed leaves a program that goes on as ever.
cat >loop.c <<'END'
#include <stdio.h>
#include <unistd.h>
int later(int n) { return n + 1; }
int main(void)
{
	int n = 0;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (access("killed", F_OK) != 0)
		usleep(1000);
	for (int i = 0; i < 10; i++)
		n = later(n);
	FILE *result = fopen("result", "w");
	fprintf(result, "%d\n", n);
	return fclose(result);
}
END
gcc -O0 -g loop.c -o loop
ctxrec -q -O -o killed.er --indicator '*:once' -- ./loop >pid.txt 2>/dev/null &
recorder=$!
for try in $(seq 200); do [ -s pid.txt ] && break; sleep 0.05; done
kill -9 $recorder
wait $recorder 2>/dev/null
: >killed
for try in $(seq 200); do [ -s result ] && break; sleep 0.05; done
[ "$(cat result)" = 10 ] || fail "after the recorder was killed: $(cat result 2>&1)"

# Refused before the program runs.
expect 1 'coverage .:once. needs a command' ctxrec -q -O -o no.er --indicator '*:once' -p $$
expect 1 'both change the program' ctxrec -q -O -o no.er --calls --indicator '*:once' -- ./covered
expect 1 'no function nothing_such' ctxrec -q -O -o no.er --indicator 'nothing_such:once' -- ./covered
gcc -O0 -g -static loop.c -o static_loop 2>/dev/null && expect 1 'static_loop cannot be traced' ctxrec -q -O -o no.er --indicator '*:once' -- ./static_loop
[ -e no.er ] && fail "a refused recording is left"
ctxrec -q -O -o plain.er -- ./covered >/dev/null
expect 1 'no coverage was recorded' ctxan plain.er -r coverage
expect 1 'no coverage was recorded' ctxan plain.er --export lcov
finish
