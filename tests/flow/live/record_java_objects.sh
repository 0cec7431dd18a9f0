# ctxrec --vm java --heap --sync: allocations of Java by class and method, and waits for monitors with class and methods.
. "$(dirname "$0")/../common.sh" "$@"
need jq java
[ -e "$bin/libctxjvm.so" ] || skip "the agent for Java is not built: no jvmti.h"
[ -e "$bin/libctxrt.so" ] || skip "there is no runtime for this machine"
tar -xJf "$source_dir/testdata/java/objects.tar.xz"

# An array that is a hundred times as large as the distance between samples is one of them, and weighs its bytes: 102400 and a head of 16.
ctxrec --vm java --heap --heap-sample 1024 --sync -q --no-archive --states off -o run.er -- java -Xmx64m -XX:+UseSerialGC -Xint -cp . Objects 300 >out.txt 2>err.txt ||
	fail "exit status: $(cat err.txt)"
[ "$(cat out.txt)" = "done" ] || fail "another output: $(cat out.txt)"
ctxan run.er --metric "Java Bytes Allocated" -r functions --limit 0 --format json >functions.json || fail "functions"
of() { jq -c --arg name "$1" '[.rows[] | select(.function == $name) | .inclusive]' functions.json; }
[ "$(of 'Objects.big()')" = "[$((300 * 102416))]" ] || fail "big: $(of 'Objects.big()')"
jq -e --argjson least $((300 * 102416)) '.rows[] | select(.function == "byte[]") | .exclusive >= $least' functions.json >/dev/null || fail "byte[]: $(of 'byte[]')"
ctxan run.er -r vms --format json | jq -e --argjson least $((300 * 102416)) '.rows[0].allocated_bytes >= $least' >/dev/null || fail "vms: $(ctxan run.er -r vms --format json)"

# One thread waited for a monitor, one in Object.wait(), each with its methods.
waits() { # OPERATION METHOD [CLASS]: how many such waits for an object of the class are below the method
	ctxan run.er --format json --sql "with recursive up(wait, id) as (
		select t.time_ns, t.stack from traced as t join stack as s on s.id = t.stack join function as f on f.id = s.function
			where t.kind = 'sync' and t.operation = '$1' and f.name = '${3:-Objects\$Lock}'
		union all select up.wait, s.parent from up join stack as s on s.id = up.id where s.parent != 0)
		select count(distinct wait) as n from up join stack as s on s.id = up.id join function as f on f.id = s.function where f.name = '$2'" | jq '.[0].n'
}
[ "$(waits mutex 'Objects.enter()')" = 1 ] || fail "waits in enter: $(waits mutex 'Objects.enter()')"
[ "$(waits condition 'Objects.await()')" -ge 1 ] || fail "waits in await: $(waits condition 'Objects.await()')"
# A lock of java.util.concurrent, and a thread that parks. The main thread had monitor and lock. JDK 24 and later keep owners of monitors elsewhere.
[ "$(waits mutex 'Objects.lock()' 'java.util.concurrent.locks.ReentrantLock$NonfairSync')" = 1 ] || fail "waits in lock: $(ctxan run.er -r sync)"
[ "$(waits condition 'Objects.park()')" -ge 1 ] || fail "waits in park: $(ctxan run.er -r sync)"
ctxan run.er --format json --sql "select f.name as class, th.name as thread, count(*) as n from traced as t join thread as th on th.id = t.thread join stack as s on s.id = t.stack
	join function as f on f.id = s.function where t.kind = 'sync' and t.operation = 'block' and (f.name = 'Objects\$Lock' or f.name = 'java.util.concurrent.locks.ReentrantLock\$NonfairSync') group by 1, 2" >blocks.json || fail "blocks"
jq -c '[.[] | [.class, .thread, .n]] | sort' blocks.json >blocks.txt
lock='["java.util.concurrent.locks.ReentrantLock$NonfairSync","java",1]'
version=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = \([0-9]*\).*/\1/p')
if [ "${version:?java says no version}" -ge 24 ]; then
	grep -qF "$lock" blocks.txt || fail "owner of the lock: $(cat blocks.json)"
else
	[ "$(cat blocks.txt)" = '[["Objects$Lock","java",1],'"$lock"']' ] || fail "owners: $(cat blocks.json)"
fi
# Nothing is printed but what the program prints, and the one line of each virtual machine.
[ "$(wc -l <err.txt)" = 1 ] || fail "messages: $(cat err.txt)"
finish
