/*
 * Starts 1,000 children (or as many as the argument says), at most 20 at a time; each works for a
 * millisecond and leaves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void work(void)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < 1000000);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000, running = 0;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			work();
			_exit(i & 127);
		}
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (++running == 20) {
			wait(NULL);
			running--;
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
