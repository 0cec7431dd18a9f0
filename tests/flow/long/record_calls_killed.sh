# ctxrec --calls where things go wrong, with each kind of hook: targets killed at 200 random moments and recorders at 100 (CTX_KILLS: another number, and
# half of it), full disks, programs that forbid themselves system calls, running processes, 10^8 calls (CTX_CALLS: another number) of one function.
# Output and exit status are those of the bare run, the experiment opens, its calls are those that the program made.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc python3
need_runtime
kills=${CTX_KILLS:-200}
most=${CTX_CALLS:-100000000}

cat >rounds.c <<'END'
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/seccomp.h>
#include <time.h>
#include <unistd.h>
struct counts { volatile long one, two, three; };
static struct counts *counts;
static volatile long sink;
__attribute__((noinline)) void one(struct counts *own) { own->one++; }
__attribute__((noinline)) void three(struct counts *own) { own->three++; }
__attribute__((noinline)) void two(struct counts *own)
{
	own->two++;
	for (int i = 0; i < 3; i++)
		three(own);
	sink++;
}
__attribute__((noinline)) void rounds(struct counts *own, long n)
{
	const struct timespec pause = {.tv_nsec = 100000};
	for (long i = 0; i < n; i++) {
		one(own);
		two(own);
		if (i % 64 == 0)
			nanosleep(&pause, NULL);
	}
}
static void *other(void *own)
{
	rounds(own, *(long *)((char *)own + 128));
	return NULL;
}
static void forbid(void)
{
	static const int allowed[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_futex, SYS_clock_nanosleep, SYS_newfstatat, SYS_munmap, SYS_madvise,
				      SYS_rt_sigreturn}; /* -pg has a timer with a signal */
	struct sock_filter filter[2 * sizeof(allowed) / sizeof(allowed[0]) + 2];
	struct sock_fprog program = {.filter = filter};
	size_t n = 0;
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(5);
}
int main(int n, char **arguments)
{
	long most = n > 1 ? atol(arguments[1]) : 0;
	const char *name = n > 2 ? arguments[2] : "/dev/null";
	int fd = strcmp(name, "forbid") != 0 && n > 2 ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	struct counts *second;
	pthread_t thread;
	if (fd >= 0 && ftruncate(fd, 4096) != 0)
		return 1;
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, fd >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, fd, 0);
	if (counts == MAP_FAILED)
		return 1;
	second = (struct counts *)((char *)counts + 64);
	((long *)counts)[24] = most; /* 128 bytes behind the other thread's */
	pthread_create(&thread, NULL, other, (char *)counts + 64);
	if (n > 2 && strcmp(name, "forbid") == 0) {
		/* What has called nothing by then is not recorded. */
		while (second->one == 0)
			;
		forbid();
		/* Its next calls are in the next 64 KiB of its stack. */
		*(volatile char *)alloca(((uintptr_t)__builtin_frame_address(0) & 0xffff) + 64) = 1;
	}
	rounds(counts, most);
	pthread_join(thread, NULL);
	printf("%ld %ld %ld\n", counts->one + second->one, counts->two + second->two, counts->three + second->three);
	fflush(stdout);
	if (strcmp(name, "forbid") == 0)
		_exit(7); /* -pg opens a file at the end */
	return 7;
}
END
kinds=0
# hooked COMPILER FLAGS...: one more program
hooked() {
	if "$@" -O1 -g -pthread rounds.c -o "rounds$kinds" 2>compiler.txt; then kinds=$((kinds + 1)); else leave_out "$*: $(head -n 1 compiler.txt)"; fi
}
hooked gcc -finstrument-functions
hooked gcc -pg
hooked gcc -pg -mfentry
hooked gcc -fpatchable-function-entry=5
hooked gcc -pg -mfentry -mnop-mcount -mrecord-mcount -fno-pie -no-pie
if command -v clang >/dev/null 2>&1; then hooked clang -fxray-instrument -fxray-instruction-threshold=1; else leave_out "no clang: -fxray-instrument"; fi
[ "$kinds" != 0 ] || { fail "no program"; finish; }

# moment SEED MOST: seconds
moment() { awk -v seed="$1" -v most="$2" 'BEGIN { srand(seed); printf "%.4f", rand() * most }'; }

# check_trees NAME EXPERIMENT: it opens, and its calls can be those of the program: two threads at most are between the calls of a round. $calls has those of
# one, two and three.
check_trees() {
	calls=
	ctxan -q "$2" --db trees.db -r calls --format json >trees.json 2>err.txt || { fail "$1: does not open: $(cat err.txt)"; rm -f trees.db; return; }
	rm -f trees.db
	calls=$(jq -r '[.rows[] | select(.section == "function" and (.object | test("rounds")))] as $rows | ($rows | INDEX(.function)) as $f | ($f.one.calls // 0) as $one | ($f.two.calls // 0) as $two
		| ($f.three.calls // 0) as $three | ($f.rounds.calls // 0) as $rounds
		| if $rounds <= 2 and $one >= $two and $one - $two <= 2 and $three <= 3 * $two and 3 * $two - $three <= 6
		and ($f.three.total // 0) <= ($f.two.total // 0) and ($f.one.total // 0) + ($f.two.total // 0) <= ($f.rounds.total // 0)
		and ($rows | all(.self <= .total and .min <= .max and .calls >= 1)) then "\($one) \($two) \($three)" else empty end' trees.json)
	[ -n "$calls" ] || fail "$1: trees: $(jq -c '[.rows[] | select(.section == "function") | {function, calls, total, self, elapsed, unwound}]' trees.json)"
}
calls_of() { jq --arg f "$1" '[.rows[] | select(.section == "function" and .function == $f) | .calls] | add // 0' trees.json; }

# The target is killed, from its exec on: what it has called is there.
mkfifo pid
for i in $(seq "$kills"); do
	rm -rf n killed.er
	ctxrec -q -O --no-archive --states off -o killed.er --calls --trace-full wait -- sh -c "echo \$\$ >pid; exec ./rounds$((i % kinds)) 100000000 n" >/dev/null 2>err.txt &
	recorder=$!
	read -r target <pid
	sleep "$(moment "$i" 0.08)"
	kill -9 "$target"
	wait $recorder
	[ $? = 137 ] || fail "target killed, $i: exit status; $(cat err.txt)"
	check_trees "target killed, $i" killed.er
	if [ -s n ]; then
		# A call may have begun and not counted itself.
		# shellcheck disable=SC2086,SC2046
		echo $calls $(od -An -v -td8 -w8 -j0 -N88 n) | awk '{ for (i = 1; i <= 3; i++) { own = $(3 + i) + $(11 + i); if ($i < own || $i > own + 2) exit 1 } exit NF < 14 }' ||
			fail "target killed, $i: $calls instead of $(od -An -v -td8 -w8 -N88 n | tr '\n' ' ')"
	fi
done

# The recorder is killed: the target goes on, with what is patched in it.
./rounds0 1500 >bare.txt
echo $? >>bare.txt
mkfifo said
for i in $(seq $((kills / 2))); do
	rm -rf gone.er
	ctxrec -q --no-archive --states off -o gone.er --calls --trace-full "$([ $((i / kinds % 2)) = 0 ] && echo wait || echo drop)" -- sh -c "echo begun; ./rounds$((i % kinds)) 1500; echo \$?" >said 2>/dev/null &
	recorder=$!
	{
		read -r begun
		sleep "$(moment "$i" 0.08)"
		kill -9 $recorder 2>/dev/null
		timeout 30 cat >gone.txt
	} <said
	wait $recorder 2>/dev/null
	[ "$begun" = begun ] && cmp -s bare.txt gone.txt || fail "recorder killed, $i: $(cat gone.txt)"
	check_trees "recorder killed, $i" gone.er
done

# Running processes: what calls its hooks by itself is recorded; what would have to be patched is not, which is said. They go on when ctxrec is told to end.
for kind in $(seq 0 $((kinds - 1))); do
	rm -rf at.er
	./rounds"$kind" 400000 >said &
	target=$!
	{
		ctxrec -q -O --no-archive --states off -o at.er --calls -p $target 2>err.txt &
		recorder=$!
		sleep 0.4
		kill -INT $recorder
		timeout 30 cat >after.txt
	} <said
	wait $target
	[ $? = 7 ] && [ "$(cat after.txt)" = "800000 800000 2400000" ] || fail "-p, $kind: $(cat after.txt)"
	wait $recorder
	ctxan -q at.er -r calls --format json >trees.json 2>>err.txt || fail "-p, $kind: does not open: $(cat err.txt)"
	if [ "$kind" -lt 3 ]; then
		[ "$(calls_of one)" -gt 0 ] && [ "$(calls_of one)" -le 800000 ] || fail "-p, $kind: $(calls_of one) calls; $(cat err.txt)"
	else
		grep -q 'are patched only when a program starts' err.txt || fail "-p, $kind: $(cat err.txt)"
	fi
done

# A program that forbids itself all but a few system calls: it is not killed for those of the recorder's library, and its calls are there.
for kind in $(seq 0 $((kinds - 1))); do
	ctxrec -q -O --no-archive --states off -o strict.er --calls --trace-full wait -- "./rounds$kind" 3000 forbid >after.txt 2>err.txt
	[ $? = 7 ] && [ "$(cat after.txt)" = "6000 6000 18000" ] || fail "seccomp, $kind: $(cat after.txt err.txt)"
	check_trees "seccomp, $kind" strict.er
	[ "$calls" = "6000 6000 18000" ] || fail "seccomp, $kind: $calls calls; $(cat err.txt)"
done

cat >many.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static volatile long sink;
__attribute__((noinline)) static void once(void) { sink++; }
int main(int n, char **arguments)
{
	long most = n > 1 ? atol(arguments[1]) : 0;
	for (long i = 0; i < most; i++)
		once();
	printf("%ld\n", sink);
	return 3;
}
END
gcc -O2 -g -finstrument-functions many.c -o many || fail "many.c"

# A full disk: the target runs on, what is there opens.
if mkdir small && mount -t tmpfs -o size=256k tmpfs small 2>mount.err; then
	for full in wait drop; do
		ctxrec -q -O --no-archive --states off -o small/full.er --calls --trace-full $full -- ./many 5000000 >after.txt 2>err.txt
		[ $? = 3 ] && [ "$(cat after.txt)" = 5000000 ] || fail "full disk, $full: $(cat after.txt err.txt)"
		ctxan -q small/full.er --db full.db -r calls --format json >trees.json 2>err.txt || fail "full disk, $full: does not open: $(cat err.txt)"
		[ "$(calls_of once)" -le 5000000 ] || fail "full disk, $full: $(calls_of once) calls"
		rm -rf full.db small/full.er
	done
	umount small
	# Where what waits to be written is as much as may be, the target does not wait for it.
	mount -t tmpfs -o size=1m tmpfs small
	timeout 60 ctxrec -q -O --no-archive --states off -o small/full.er --calls --trace-full wait --memory 2M -- ./many 20000000 >after.txt 2>err.txt
	[ $? = 3 ] && [ "$(cat after.txt)" = 20000000 ] || fail "full disk, full queues: $(cat after.txt err.txt)"
	umount small
else
	leave_out "no tmpfs may be mounted: a full disk"
fi

# Many calls: memory and disk are bounded, and what had no room in the ring is said.
cat >measure.py <<'END'
import resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as out:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=out)
sys.exit(status)
END
for full in wait drop; do
	begun=$(date +%s%N)
	python3 measure.py memory.txt ctxrec -q -O --no-archive --states off -o many.er --calls --trace-full $full -- ./many "$most" >after.txt 2>err.txt
	[ $? = 3 ] && [ "$(cat after.txt)" = "$most" ] || fail "many calls, $full: $(cat after.txt err.txt)"
	printf '%s calls, %s: %s ms, %s KiB of memory, %s KiB on disk; %s\n' "$most" $full $((($(date +%s%N) - begun) / 1000000)) "$(cat memory.txt)" "$(du -sk many.er | cut -f 1)" "$(cat err.txt)"
	# Rings and queues have 64 MB together with what waits to be written; events of one function take less than half a byte.
	[ "$(cat memory.txt)" -le 200000 ] || fail "many calls, $full: $(cat memory.txt) KiB"
	[ "$(du -sk many.er | cut -f 1)" -le $((most / 1000 + 4000)) ] || fail "many calls, $full: $(du -sk many.er)"
	if [ $full = wait ]; then
		python3 measure.py memory.txt ctxan -q many.er -r calls --format json >trees.json 2>err.txt || fail "many calls: $(cat err.txt)"
		[ "$(calls_of once)" = "$most" ] || fail "many calls: $(calls_of once) instead of $most; $(cat err.txt)"
		[ "$(cat memory.txt)" -le 400000 ] || fail "many calls: ctxan took $(cat memory.txt) KiB"
	fi
done
finish
