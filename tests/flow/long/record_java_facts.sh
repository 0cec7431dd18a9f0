# ctxrec --vm java against what is known and what Java itself says: shares of methods that are given by the program's own clock, and those of JFR's samples in the same
# program; garbage collections against -Xlog:gc with every collector; virtual machines that start and end, attach and detach, many times.
. "$(dirname "$0")/../common.sh" "$@"
need jq java jfr python3
[ -e "$bin/libctxjvm.so" ] || skip "the agent for Java is not built: no jvmti.h"
tar -xJf "$source_dir/testdata/java/shares.tar.xz" Shares.class

# share FUNCTION...: of the samples below main, in per mille, one for each function (its leaf frame's method in the user's view).
shares() {
	ctxan run.er -r functions --limit 0 --format json | jq -r --argjson names "$(printf '%s\n' "$@" | jq -R . | jq -s .)" \
		'[.rows[] | select(.function == "Shares.work(long)").inclusive] as [$all] | $names[] as $n | [.rows[] | select(.function == $n).inclusive][0] // 0 | . * 1000 / $all | floor' | tr '\n' ' '
}

# mid, deep and by have a quarter, a half and a quarter of the time: 1200 samples, so three standard errors are some 40.
for mode in -Xint -Xmixed; do
	rm -rf run.er
	ctxrec --vm java -q --no-archive -o run.er -- java -XX:+UseSerialGC $mode -cp . Shares 300 >/dev/null 2>&1 || fail "$mode: exit status"
	set -- $(shares 'Shares.mid(long)' 'Shares.deep(int, long)' 'Shares.by(java.util.function.IntUnaryOperator, long)')
	echo "$mode: mid $1, deep $2, by $3 per mille"
	[ "$1" -ge 205 ] && [ "$1" -le 295 ] && [ "$2" -ge 450 ] && [ "$2" -le 550 ] && [ "$3" -ge 205 ] && [ "$3" -le 295 ] || fail "$mode: shares $*"
	# Stacks that reach their root, of all that are in Java's methods.
	ctxan run.er --export folded -o folded.txt
	awk '/Shares\./ { all += $NF; whole += $0 ~ /Truncated-stack/ ? 0 : $NF } END { printf "%d per mille whole\n", whole * 1000 / all; exit whole < 0.97 * all }' folded.txt ||
		fail "$mode: fewer than 97 % of the stacks are whole"
done

# The same run, as JFR saw it: its samples are of running threads in Java code. Interpreted: of compiled code JFR 17 loses half of the samples, most of them
# in leaf methods (mid: 1 to 6 % instead of 25, without ctxrec as well).
rm -rf run.er
ctxrec --vm java -q --no-archive -o run.er -- java -Xint -XX:+UseSerialGC -XX:StartFlightRecording:settings=profile,filename=same.jfr -cp . Shares 1500 >/dev/null 2>&1 || fail "jfr: exit status"
set -- $(shares 'Shares.mid(long)' 'Shares.deep(int, long)' 'Shares.by(java.util.function.IntUnaryOperator, long)')
jfr print --json --events jdk.ExecutionSample same.jfr >samples.json
python3 - "$@" <<'EOF' || fail "jfr: other shares"
import json, math, sys
count, n = {'mid': 0, 'deep': 0, 'by': 0}, 0
for event in json.load(open('samples.json'))['recording']['events']:
    names = [f['method']['name'] for f in event['values']['stackTrace']['frames'] if f['method']['type']['name'] == 'Shares']
    for name in count:
        if name in names:
            count[name] += 1
            n += 1
            break
print('jfr: %d samples, %s; ctxrec: %s per mille' % (n, count, sys.argv[1:]))
if n < 100:
    sys.exit('JFR has too few samples')
for name, ours in zip(count, sys.argv[1:]):
    p = int(ours) / 1000
    if abs(count[name] / n - p) > 4 * math.sqrt(p * (1 - p) / n) + 0.03:
        sys.exit('%s: JFR %.3f, ctxrec %.3f' % (name, count[name] / n, p))
EOF

# Garbage collections: as many pauses, and as long, as the log says; each is some 10 us longer, since the log's begins later.
cat >Churn.java <<'EOF'
public class Churn {
    static Object[] keep = new Object[2000];
    public static void main(String[] words) {
        for (int i = 0; i < 3000000; i++)
            keep[i % 2000] = new byte[500 + i % 1000];
        System.gc();
    }
}
EOF
javac Churn.java 2>/dev/null || leave_out "no javac: garbage collections are not compared"
for collector in Serial Parallel G1; do
	[ -e Churn.class ] || break
	rm -rf run.er
	ctxrec --vm java -q --no-archive -o run.er -- java -Xmx64m -XX:+Use${collector}GC -Xlog:gc:file=gc.log -cp . Churn >/dev/null 2>&1 || fail "$collector: exit status"
	grep -c 'Pause' gc.log >logged.txt
	ctxan run.er -r marks --format json | jq -r '.rows[] | select(.name == "GC pause") | "\(.count) \(.total_ns / 1e6)"' >marked.txt
	sum=$(sed -n 's/.*Pause.* \([0-9.]*\)ms$/\1/p' gc.log | awk '{ s += $1 } END { print s }')
	echo "$collector: log $(cat logged.txt) pauses, $sum ms; marks: $(cat marked.txt)"
	# G1 logs two short pauses of its marking that are no collections.
	[ -s marked.txt ] && awk -v n="$(cat logged.txt)" -v ms="$sum" '{ exit !($1 <= n && $1 >= n * 0.8 && $2 >= ms * 0.97 && $2 <= ms * 1.05 + 0.1 * n) }' marked.txt || fail "$collector: garbage collections"
done

# Every collector, and virtual machines that come and go: none crashes.
for collector in Serial Parallel G1 Shenandoah Z Epsilon; do
	for i in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf run.er
		ctxrec --vm java -F 5000 -q --no-archive -o run.er -- java -Xmx256m -XX:+UnlockExperimentalVMOptions -XX:+Use${collector}GC -cp . Shares 5 >out.txt 2>err.txt || fail "$collector: exit status $?: $(cat err.txt)"
		grep -q "^done$" out.txt || fail "$collector: $(cat out.txt)"
	done
done
mkfifo ready
java -XX:+UseSerialGC -cp . Shares 20 forever >ready 2>/dev/null &
program=$!
read -r said <ready
for i in $(seq 100); do
	rm -rf run.er
	ctxrec --vm java -q --no-archive -d 0.1 -o run.er -p $program 2>err.txt || fail "attach $i: exit status"
	kill -0 $program 2>/dev/null || { fail "attach $i: the program has ended"; break; }
done
# The recorder is killed at some moment: the program goes on.
for i in 1 2 3 4 5 6 7 8 9 10; do
	rm -rf run.er
	timeout -s KILL 0.$i ctxrec --vm java -q --no-archive -o run.er -p $program 2>/dev/null
	kill -0 $program 2>/dev/null || { fail "killed $i: the program has ended"; break; }
done
[ "$(ls /proc/$program/fd | wc -l)" -lt 30 ] || fail "descriptors are left: $(ls -l /proc/$program/fd)"
kill $program
wait $program 2>/dev/null
finish
