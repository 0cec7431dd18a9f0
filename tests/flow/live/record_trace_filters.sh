# A traced program that forbids itself system calls (seccomp) goes on as without the runtime: threads and children that begin later, stacks of its own,
# programs that it executes; what can be recorded without a system call is.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_runtime

cat >strict.c <<'END_C'
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
static int shared_file;
__attribute__((noinline)) static void before_5(void)
{
	for (int i = 0; i < 5; i++)
		kept = malloc(16);
}
__attribute__((noinline)) static void after_7(void)
{
	for (int i = 0; i < 7; i++)
		kept = malloc(16);
}
__attribute__((noinline)) static void *of_a_thread_9(void *none)
{
	for (int i = 0; i < 9; i++)
		free(kept = malloc(16));
	return none;
}
__attribute__((noinline)) static void handler(int signal)
{
	(void)signal;
	kept = malloc(16);
}
__attribute__((noinline)) static void in_handler(void)
{
	raise(SIGUSR1);
}
__attribute__((noinline)) static void writes_3(void)
{
	for (int i = 0; i < 3; i++)
		if (write(shared_file, "abc", 3) != 3)
			_exit(3);
}
/* Everything else kills. What a thread, a child and a handler need is the program's own affair. */
static void forbid(int by_syscall)
{
	static const int allowed[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_futex, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_brk,
				      SYS_clone, SYS_clone3, SYS_set_robust_list, SYS_rseq, SYS_wait4, SYS_execve, SYS_rt_sigreturn,
				      SYS_tgkill, SYS_getpid, SYS_gettid, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_madvise, SYS_getrandom};
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
	/* As libraries ask whether there are filters. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != -1 || errno != EFAULT)
		_exit(4);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    (by_syscall ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) != 0)
		_exit(5);
}
/* read, write, exit and the return of a handler. */
static int strictest(void)
{
	before_5();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		_exit(5);
	kept = malloc(16);
	writes_3();
	syscall(SYS_exit, 7);
	return 1;
}
int main(int argc, char **argv)
{
	static char other[65536];
	const stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	pthread_t threads[40];
	int status;

	shared_file = open("written", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (strcmp(argv[1], "strictest") == 0)
		return strictest();
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (strcmp(argv[1], "first") != 0)
		before_5();
	forbid(strcmp(argv[1], "syscall") == 0);
	after_7();
	writes_3();
	in_handler();
	for (int i = 0; i < 40; i++) {
		if (pthread_create(&threads[i], NULL, of_a_thread_9, NULL) != 0)
			return 6;
		pthread_join(threads[i], NULL);
	}
	if (fork() == 0) {
		after_7();
		_exit(0);
	}
	if (wait(&status) < 0 || status != 0)
		return 8;
	(void)argc;
	return 7;
}
END_C
cc -O1 -g -fno-builtin -pthread -o strict strict.c || fail "strict.c"
./strict prctl
[ $? = 7 ] || skip "filters are not allowed here"

for how in prctl syscall; do
	for full in drop wait; do
		ctxrec -q --no-archive -o run.er -O --heap --io --sync --trace-full $full -- ./strict $how 2>err.txt
		got=$?
		[ $got = 7 ] || fail "$how, $full: exit status $got: $(cat err.txt)"
		grep -q '1 program has forbidden themselves system calls that tracing needs' err.txt || fail "$how, $full: not said: $(cat err.txt)"
		for wanted in before_5=5 after_7=7 handler=1 ; do
			got=$(allocations_of "${wanted%=*}")
			[ "$got" = "${wanted#*=}" ] || fail "$how, $full: ${wanted%=*} has $got allocations instead of ${wanted#*=}"
		done
		# Threads one after the other have slots that were made for them, as long as there are some: nobody is asked who has ended.
		got=$(allocations_of of_a_thread_9)
		[ $((got % 9)) = 0 ] && [ "$got" -ge 135 ] && [ "$got" -le 360 ] || fail "$how, $full: threads have $got allocations"
		got=$(ctxan run.er -r io --format json | jq '[.rows[] | select(.section == "stack") | select(.stack | index("writes_3")) | .write_bytes] | add // 0')
		[ "$got" = 9 ] || fail "$how, $full: $got bytes written instead of 9"
	done
done
# Before anything was recorded: nothing is asked for any more.
ctxrec -q --no-archive -o run.er -O --heap -- ./strict first 2>err.txt
got=$?
[ $got = 7 ] || fail "a filter at once: exit status $got: $(cat err.txt)"
ctxrec -q --no-archive -o run.er -O --heap -- ./strict strictest 2>err.txt
got=$?
[ $got = 7 ] || fail "strict mode: exit status $got: $(cat err.txt)"
[ "$(allocations_of before_5)" = 5 ] || fail "strict mode: $(allocations_of before_5) allocations instead of 5"
[ "$(cat written)" = abcabcabc ] || fail "strict mode: written is $(cat written)"
finish
