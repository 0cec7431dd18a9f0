/*
 * Starts processes one after the other, each of which ends at once:
 *
 *	storm fork N              the child calls _exit
 *	storm vfork N PROGRAM     vfork and exec
 *	storm spawn N PROGRAM     posix_spawn
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(const char *how, char **command)
{
	pid_t pid = -1;

	if (strcmp(how, "spawn") == 0)
		return posix_spawn(&pid, command[0], NULL, NULL, command, environ) == 0 ? pid : -1;
	if (strcmp(how, "vfork") == 0) {
		pid = vfork();
		if (pid == 0) {
			execv(command[0], command);
			_exit(127);
		}
		return pid;
	}
	pid = fork();
	if (pid == 0)
		_exit(0);
	return pid;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	if (n <= 0 || (argc == 3) != (strcmp(argv[1], "fork") == 0)) {
		fprintf(stderr, "usage: storm fork N | storm vfork|spawn N PROGRAM\n");
		return 2;
	}
	while (n-- > 0) {
		pid_t pid = start(argv[1], argv + 3);
		int status;

		if (pid < 0) {
			perror("storm");
			return 1;
		}
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				return 1;
	}
	return 0;
}
