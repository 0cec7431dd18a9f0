#include "collect/uprobe_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GONE_MS 10000u /* the longest that a killed recorder is waited for */

static void close_all(int but)
{
	if (syscall(SYS_close_range, 0, but - 1, 0) == 0 &&
	    syscall(SYS_close_range, but + 1, UINT_MAX, 0) == 0)
		return;
	for (long fd = sysconf(_SC_OPEN_MAX) - 1; fd >= 0; fd--) {
		if (fd != but)
			close((int)fd);
	}
}

/* In a process of one thread, which has the recorder's memory: system calls alone. */
static _Noreturn void keep(int fd, int others_end, pid_t recorder)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	sigset_t none;
	ssize_t n;
	char byte;

	close(others_end);
	(void)setsid();
	(void)prctl(PR_SET_NAME, "ctxrec-keeper");
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, i == SIGSEGV || i == SIGBUS ? SIG_DFL : SIG_IGN);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	/* One that is killed closes its descriptors one by one, this pipe perhaps before others. */
	for (unsigned i = 0; n == 0 && i < GONE_MS && getppid() == recorder; i++)
		(void)nanosleep(&pause, NULL);
	close_all(fd);
	_exit(0);
}

void ctx_uprobe_keeper_begin(struct ctx_uprobe_keeper *keeper)
{
	pid_t recorder = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	keeper->pid = fork();
	if (keeper->pid == 0)
		keep(ends[0], ends[1], recorder);
	close(ends[0]);
	if (keeper->pid < 0) {
		close(ends[1]);
		keeper->pid = 0;
		return;
	}
	keeper->fd = ends[1];
}

void ctx_uprobe_keeper_end(struct ctx_uprobe_keeper *keeper)
{
	if (keeper->pid == 0)
		return;
	(void)!write(keeper->fd, "e", 1);
	close(keeper->fd);
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*keeper = (struct ctx_uprobe_keeper){0};
}
