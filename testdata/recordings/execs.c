/*
 * Processes that execute programs: execs PROGRAM
 *
 * Two children, one after the other, work for 20 ms and execute PROGRAM; then two at the same time execute this program
 * again, under the names "producer" and "consumer", and work for 100 ms each.
 */
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void work(long ms)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}

static void start(const char *program, const char *name)
{
	if (fork() != 0)
		return;
	work(20);
	execl(program, name, (char *)0);
	_exit(127);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		work(strcmp(argv[0], "producer") == 0 ? 100 : 150);
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		start(argv[1], argv[1]);
		wait(NULL);
	}
	start("/proc/self/exe", "producer");
	start("/proc/self/exe", "consumer");
	while (wait(NULL) > 0) {
	}
	return 0;
}
