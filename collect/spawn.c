#include "collect/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

extern char **environ;

static int set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, usual;
	int error;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	error = posix_spawnattr_setsigmask(attributes, &none);
	if (error == 0)
		error = posix_spawnattr_setsigdefault(attributes, &usual);
	return error != 0
		       ? error
		       : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int set_streams(posix_spawn_file_actions_t *files, const int streams[3])
{
	int error = 0;

	for (int i = 0; i < 3 && error == 0; i++)
		error = streams[i] >= 0
				? posix_spawn_file_actions_adddup2(files, streams[i], i)
				: posix_spawn_file_actions_addopen(
					  files, i, "/dev/null", i == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
	return error;
}

int ctx_spawn(char *const *argv, const int streams[3], pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&files);

	if (error != 0)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error == 0) {
		error = set_signals(&attributes);
		if (error == 0)
			error = set_streams(&files, streams);
		if (error == 0)
			error = posix_spawn(ret, argv[0], &files, &attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return error;
}
