# Where perf events are refused ctxrec says which setting to change, and does not run the command.
. "$(dirname "$0")/../common.sh" "$@"
need cc
[ "$(uname -m)" = x86_64 ] || skip "the stand-in for a refusing kernel is written for x86-64"

cat >refuse.c <<'END'
/* perf_event_open fails as REFUSE says; every other system call goes on to the kernel. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
	long x[6], result;
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		x[i] = va_arg(args, long);
	va_end(args);
	/* The kernel reads the attributes first, a filter does not. */
	if (number == SYS_perf_event_open && (x[0] != 0 || getenv("FILTER") != NULL)) {
		errno = atoi(getenv("REFUSE"));
		return -1;
	}
	register long r10 __asm__("r10") = x[3];
	register long r8 __asm__("r8") = x[4];
	register long r9 __asm__("r9") = x[5];
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(x[0]), "S"(x[1]), "d"(x[2]), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}
END
cc -shared -fPIC -o refuse.so refuse.c || fail "the stand-in"
ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

expect 1 "kernel.perf_event_paranoid.*CAP_PERFMON" env REFUSE=13 LD_PRELOAD=./refuse.so ctxrec -o no.er -- touch ran
expect 1 "kernel.perf_event_paranoid.*CAP_PERFMON" env REFUSE=1 LD_PRELOAD=./refuse.so ctxrec -o no.er -- touch ran
expect 1 "seccomp filter .*Operation not permitted.*--cap-add PERFMON" env FILTER=1 REFUSE=1 LD_PRELOAD=./refuse.so ctxrec -o no.er -- touch ran
expect 1 "no perf events" env REFUSE=38 LD_PRELOAD=./refuse.so ctxrec -o no.er -- touch ran
[ ! -e ran ] || fail "the command was run without a recording"
[ ! -e no.er ] || fail "an experiment of nothing"
finish
