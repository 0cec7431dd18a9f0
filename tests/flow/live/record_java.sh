# ctxrec --vm java: methods that are interpreted, compiled and inlined, by name and line, in the trees of samples; the user's other options stay.
. "$(dirname "$0")/../common.sh" "$@"
need jq java
[ -e "$bin/libctxjvm.so" ] || skip "the agent for Java is not built: no jvmti.h"
. "$(dirname "$0")/../java_facts.sh"
tar -xJf "$source_dir/testdata/java/shares.tar.xz" Shares.class

for mode in -Xint -Xbatch; do
	rm -rf run.er
	JAVA_TOOL_OPTIONS=-Dshares.other=1 ctxrec --vm java -q --no-archive -o run.er -- java -Xmx64m -XX:+UseSerialGC $mode -cp . Shares 100 >out.txt 2>err.txt || fail "$mode: exit status: $(cat err.txt)"
	[ "$(cat out.txt)" = "done" ] || fail "$mode: another output: $(cat out.txt)"
	grep -q -- '-Dshares.other=1 -agentpath' err.txt || fail "$mode: the options of the user are not there: $(cat err.txt)"
	check_java "$mode"
	text run.er/log.xml >log.txt
	grep -q 'kind="vm" .*process="0" .*collector="Serial" command="Shares 100"' log.txt || fail "$mode: the virtual machine is not in the log"
	grep -q 'kind="vm-end"' log.txt || fail "$mode: it has no end"
	# Its row: every sample is in one of three columns, those of threads add up to it.
	ctxan run.er -r vms --format json >vms.json || fail "$mode: vms"
	jq -e '.rows | length == 1 and (.[0] | .collector == "Serial" and .command == "Shares 100" and .classes > 300 and .heap_used_bytes > 0 and .inside_samples > 0)' vms.json >/dev/null ||
		fail "$mode: $(cat vms.json)"
	ctxan run.er -r threads --format json | jq -c '[.rows[].inside_samples, .rows[].gc_samples, .rows[].outside_samples] | add' >threads.txt
	jq -c '.rows[0] | .inside_samples + .gc_samples + .outside_samples' vms.json | cmp -s - threads.txt || fail "$mode: threads have $(cat threads.txt) samples: $(cat vms.json)"
	jq '.samples' vms.json | cmp -s - threads.txt || fail "$mode: $(cat threads.txt) samples, and $(jq .samples vms.json)"
done
# The last one was compiled in the foreground.
ctxan run.er -r disasm='Shares.leaf(int)' >disasm.txt || fail "no disassembly"
grep -q 'Shares\.java:1[6-9]' disasm.txt || fail "instructions without lines: $(head -20 disasm.txt)"
grep -q 'movl ' disasm.txt || fail "no instructions: $(head -20 disasm.txt)"

# A child's virtual machine, and one that cannot reach the recorder.
rm -rf run.er
ctxrec --vm java -q --no-archive -o run.er -- sh -c 'java -Xint -XX:+UseSerialGC -cp . Shares 20; env JAVA_TOOL_OPTIONS="-agentpath:'"$bin"'/libctxjvm.so=nobody" java -XX:+UseSerialGC -cp . Shares 1' >out.txt 2>&1 || fail "children: exit status"
[ "$(grep -c '^done$' out.txt)" = 2 ] || fail "children: $(cat out.txt)"
text run.er/log.xml >log.txt
[ "$(grep -c 'kind="vm" ' log.txt)" = 1 ] || fail "children: $(grep -c 'kind="vm" ' log.txt) virtual machines"
# Of two virtual machines one is of interest: methods of the other one are in no stack, and its samples are outside.
tar -xJf "$source_dir/testdata/java/objects.tar.xz"
rm -rf run.er
ctxrec --vm java --vm-of 'main=~Sha.*' -q --no-archive -o run.er -- sh -c 'java -Xint -XX:+UseSerialGC -cp . Shares 200; java -Xint -XX:+UseSerialGC -cp . Objects 100' >out.txt 2>&1 || fail "of interest: exit status"
[ "$(grep -c '^done$' out.txt)" = 2 ] || fail "of interest: $(cat out.txt)"
ctxan run.er -r vms --format json | jq -c '[.rows[] | [.command, .inside_samples > 0]] | sort' >vms.txt
[ "$(cat vms.txt)" = '[["Objects 100",false],["Shares 200",true]]' ] || fail "of interest: $(cat vms.txt)"
ctxan run.er -r functions --limit 0 --format json >functions.json && jq -r '.rows[].function' functions.json >functions.txt || fail "of interest: functions"
grep -q '^Shares\.' functions.txt || fail "of interest: no methods: $(cat functions.txt)"
grep -q '^Objects\.' functions.txt && fail "of interest: methods of the other one"
ctxan run.er -r marks --format json | jq -c '[.rows[] | select(.name | test("virtual machine")) | [.name, .count, .open]] | sort' >marks.txt
[ "$(cat marks.txt)" = '[["virtual machine",2,0],["virtual machine of interest",1,0]]' ] || fail "of interest: $(cat marks.txt)"
# One that runs already, twice: the agent stays, and serves one recorder after the other. What is no virtual machine goes on.
mkfifo ready
java -XX:+UseSerialGC -Xint -cp . Shares 100 forever >ready 2>/dev/null &
program=$!
read -r said <ready
[ "$said" = begins ] || fail "attached: the program said: $said"
for times in first second; do
	rm -rf run.er
	ctxrec --vm java -q --no-archive -d 1.5 -o run.er -p $program 2>err.txt || fail "$times attach: $(cat err.txt)"
	[ -s err.txt ] && fail "$times attach: messages: $(cat err.txt)"
	kill -0 $program || fail "$times attach: the program has ended"
	ctxan run.er --export folded -o folded.txt || fail "$times attach: folded"
	grep -q '^java;Shares\.main(java\.lang\.String\[\]);Shares\.work(long);Shares\.\(mid\|deep\|by\)(' folded.txt || fail "$times attach: no methods: $(head -3 folded.txt)"
done
kill $program
wait $program 2>/dev/null
sleep 60 &
program=$!
rm -rf run.er
ctxrec --vm java -d 0.1 -o run.er -p $program 2>err.txt || fail "no virtual machine: exit status"
grep -q "process $program is no virtual machine of Java" err.txt || fail "no virtual machine: $(cat err.txt)"
kill $program || fail "it was ended"
# No virtual machine at all is said.
rm -rf run.er
ctxrec --vm java -o run.er -- true 2>err.txt || fail "without: exit status"
grep -q 'no virtual machine of Java has reported anything' err.txt || fail "without: $(cat err.txt)"
ctxrec --vm perl -o x.er -- true 2>err.txt && fail "perl is taken"
grep -q -- '--vm: "perl" is no virtual machine' err.txt || fail "perl: $(cat err.txt)"
finish
