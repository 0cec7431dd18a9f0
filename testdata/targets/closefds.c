/*
 * Fails with 1 when it was started with a descriptor other than 0, 1 and 2; then closes all there
 * are and works for 100 ms.
 */
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct timespec now;

	for (int fd = 3; fd < 1024; fd++) {
		if (close(fd) == 0)
			return 1;
	}
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < 100000000);
	return 0;
}
