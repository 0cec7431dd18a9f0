# In a container without privileges: what is possible is recorded, what is not is said, with the setting or the capability that is missing.
. "$(dirname "$0")/../common.sh" "$@"
need unshare cc jq
need_perf
unshare -Urm true 2>unshare.err || skip "no user namespaces here: $(head -n 1 unshare.err)"

cat >burn.c <<'END'
#include <time.h>
__attribute__((noinline)) static void burn(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC / 10; clock() < end;)
		for (volatile int i = 0; i < 1000000; i++)
			;
}
int main(void)
{
	burn();
	return 0;
}
END
cc -O1 -o burn burn.c || fail "burn.c"

# Root of a user namespace has no rights outside; nothing of /sys is needed.
unshare -Urm sh -c 'mount -t tmpfs none /sys; ctxrec --no-archive -o user.er -- ./burn' 2>user.err
status=$?
grep -q 'perf_event_paranoid is' user.err && skip "ordinary users may not record here: $(cat user.err)"
[ $status = 0 ] || fail "in a user namespace: $(cat user.err)"
grep -q 'only samples in user mode: .*perf_event_paranoid of 1 or less, or the capability CAP_PERFMON of the host: root of this user namespace' user.err ||
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ] || fail "not said: $(cat user.err)"
ctxan -q user.er -r functions --limit 0 | grep -q 'burn \[burn\]' || fail "no burn: $(ctxan -q user.er -r functions)"
ctxan -q user.er -r states >/dev/null || fail "states"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
	expect 1 'not allowed to watch the whole system: kernel.perf_event_paranoid is [0-9]; needs 0 .*CAP_PERFMON of the host' unshare -Ur ctxrec -a -o no.er -- touch ran
	expect 1 '--states full: .*needs root or CAP_PERFMON' unshare -Ur ctxrec --states full -o no.er -- touch ran
fi

# A filter in front of the kernel, as Docker has it.
cat >filter.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	(void)argc;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	execvp(argv[1], argv + 1);
	return 127;
}
END
cc -o filter filter.c || fail "filter.c"
if ./filter true; then
	expect 1 'seccomp filter .*Operation not permitted.*--cap-add PERFMON' ./filter ctxrec -o no.er -- touch ran
else
	leave_out "no seccomp filters here"
fi

# Locked memory: one recording has all that a user may have, and a little is left to the next one by its own limit. A user of this test alone.
user_id=$((100000 + $$))
as_user() {
	limit=$1
	shift
	(cd user && ulimit -l "$limit" && exec setpriv --reuid=$user_id --regid=$user_id --clear-groups "$@")
}
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 0 ] &&
	[ "$(cat /proc/sys/kernel/perf_event_mlock_kb)" = $((512 + $(getconf PAGESIZE) / 1024)) ]; then
	mkdir user && chown $user_id user && chmod 755 "$work"
	mkfifo user/release
	as_user 0 ctxrec -q --no-archive -o first.er -- sh -c 'touch began; read line <release' 2>first.err &
	first=$!
	while [ ! -e user/began ] && kill -0 $first 2>/dev/null; do sleep 0.02; done
	as_user $((4 * $(getconf PAGESIZE) / 1024 * $(nproc))) ctxrec --no-archive -o second.er -- ../burn 2>second.err ||
		fail "beside another recording: $(cat second.err)"
	grep -q 'only 1024 bytes of each stack are copied: the limit on locked memory' second.err || fail "small rings, large copies: $(cat second.err)"
	ctxan -q user/second.er -r functions --limit 0 | grep -q 'burn \[burn\]' || fail "no burn in small rings"
	expect 1 'of 8 KiB per CPU exceed the limit on locked memory, which is one for all' as_user 0 ctxrec -o third.er -- touch ran
	[ ! -e user/ran ] || fail "the command was run without rings"
	timeout 20 sh -c 'echo >user/release'
	wait $first || fail "the first recording: $(cat first.err)"
else
	leave_out "locked memory: needs root and kernel.perf_event_mlock_kb as it is by default"
fi
[ ! -e ran ] || fail "the command was run without a recording"
[ ! -e no.er ] || fail "an experiment of nothing"
finish
