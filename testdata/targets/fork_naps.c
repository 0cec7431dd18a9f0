/*
 * Starts as many children as the argument says, one after the other. Each naps for a millisecond in a
 * function of its own; each tenth then executes this program again, which naps in another function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int sum; /* no call below is the last thing that its function does */

__attribute__((noinline)) static void nap(void)
{
	const struct timespec millisecond = {0, 1000000};

	nanosleep(&millisecond, NULL);
	sum++;
}

__attribute__((noinline)) static void nap_of_child(void)
{
	nap();
	sum++;
}

__attribute__((noinline)) static void nap_of_image(void)
{
	nap();
	sum++;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 300;

	if (argc > 1 && strcmp(argv[1], "image") == 0) {
		nap_of_image();
		return 0;
	}
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			nap_of_child();
			if (i % 10 == 9)
				execl("/proc/self/exe", argv[0], "image", (char *)NULL);
			_exit(0);
		}
		if (pid < 0) {
			perror("fork");
			return 1;
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
