#include "ctxan/standard_input.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/perfdata/perfdata.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)
#define MAGIC_BYTES 8u /* of perf.data, at its beginning */

/*
 * For the signal handler, which may call little more than unlink: the files that can be in the
 * directory. The third is the database while it is written (store/).
 */
enum { RECORDING, DATABASE, DATABASE_TEMPORARY, DIRECTORY, N_PATHS };
static char paths[N_PATHS][PATH_MAX];
static volatile sig_atomic_t reading;

static void on_signal(int number)
{
	if (number == SIGINT && reading) {
		reading = 0; /* the next one ends the program */
		return;
	}
	for (int i = 0; i < DIRECTORY; i++)
		unlink(paths[i]);
	rmdir(paths[DIRECTORY]);
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < CTX_COUNT_OF(numbers); i++) {
		/* Signals ignored by the parent stay ignored. */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

static enum ctx_status make_directory(struct ctx_standard_input *input, struct ctx_err *err)
{
	const char *parent = getenv("TMPDIR");

	if (parent == NULL || parent[0] == '\0')
		parent = "/tmp";
	if (asprintf(&input->directory, "%s/ctxan-XXXXXX", parent) < 0) {
		input->directory = NULL;
		return ctx_err_nomem(err);
	}
	if (mkdtemp(input->directory) == NULL) {
		free(input->directory);
		input->directory = NULL; /* nothing to remove */
		return ctx_err_errno(err, CTX_E_IO, "a temporary directory in %s", parent);
	}
	input->recording = ctx_path_join(input->directory, CTX_STANDARD_INPUT_NAME);
	input->database = ctx_path_join(input->directory, "ctxan.db");
	if (input->recording == NULL || input->database == NULL)
		return ctx_err_nomem(err);
	if (snprintf(paths[DATABASE_TEMPORARY], PATH_MAX, "%s.%ld.tmp", input->database, (long)getpid()) >=
	    PATH_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: the name is too long", parent);
	snprintf(paths[RECORDING], PATH_MAX, "%s", input->recording);
	snprintf(paths[DATABASE], PATH_MAX, "%s", input->database);
	snprintf(paths[DIRECTORY], PATH_MAX, "%s", input->directory);
	return CTX_OK;
}

static enum ctx_status copy(const char *recording, struct ctx_err *err)
{
	char *bytes CTX_AUTO_FREE = malloc(PIECE_BYTES);
	int fd CTX_AUTO_CLOSE = open(recording, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool known = false;
	uint64_t total = 0;
	ssize_t got;

	if (bytes == NULL)
		return ctx_err_nomem(err);
	if (fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", recording);
	while ((got = read(STDIN_FILENO, bytes, PIECE_BYTES)) != 0) {
		enum ctx_status status;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ctx_err_errno(err, CTX_E_IO, CTX_STANDARD_INPUT_NAME);
		status = ctx_file_write(fd, recording, bytes, (size_t)got, err);
		if (status != CTX_OK)
			return status;
		total += (uint64_t)got;
		known = known || ctx_perfdata_is(recording);
		/*
		 * Checked early: an endless input that is not a recording must not fill the disk.
		 */
		if (!known && total >= MAGIC_BYTES)
			break;
	}
	if (total == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "standard input is empty");
	return known ? CTX_OK : ctx_err_set(err, CTX_E_FORMAT, "standard input is not perf.data");
}

enum ctx_status ctx_standard_input_take(struct ctx_standard_input *ret, struct ctx_err *err)
{
	struct ctx_standard_input input = {0};
	enum ctx_status status;

	if (isatty(STDIN_FILENO))
		return ctx_err_set(err, CTX_E_ARG,
				   "'-' reads a recording from standard input, which is a terminal: perf "
				   "record -o - -- COMMAND | ctxan -");
	status = make_directory(&input, err);
	if (status == CTX_OK) {
		reading = 1;
		catch_signals();
		status = copy(input.recording, err);
		reading = 0;
	}
	if (status != CTX_OK) {
		ctx_standard_input_remove(&input);
		return status;
	}
	*ret = input;
	return CTX_OK;
}

void ctx_standard_input_remove(struct ctx_standard_input *input)
{
	if (input->directory != NULL && ctx_dir_remove(input->directory, NULL) != CTX_OK)
		rmdir(input->directory);
	free(input->directory);
	free(input->recording);
	free(input->database);
	*input = (struct ctx_standard_input){0};
}
