/*
 * One recording from beginning to end: opens the events, starts the command, moves records from the
 * rings to the writer until the end, closes the experiment, waits for the command.
 */
#ifndef CTX_COLLECT_RECORDER_H
#define CTX_COLLECT_RECORDER_H

#include "collect/recargs.h"

struct ctx_recording { /* the result */
	char *name;    /* of the experiment; owned; NULL: none */
	uint64_t samples, lost, dropped_by_limit, bytes, duration_ns;
	uint32_t processes, threads;
	int exit_code;
};

/* Receives what the user should see. */
struct ctx_recorder_user {
	void (*say)(void *context, const char *text); /* one line, without a newline */
	/* Called when the experiment is there, before the command runs; may be NULL. */
	void (*began)(void *context, const char *path);
	/*
	 * Called as soon as the experiment is complete, which can be before the command has ended;
	 * may be NULL.
	 */
	void (*finished)(void *context, const struct ctx_recording *recording);
	void *context;
};

/*
 * Fails when nothing could be recorded: CTX_E_NOTFOUND and CTX_E_PERM of the command itself come
 * with exit_code 127 and 126, all others leave it 0. Failures while the command runs are reported
 * through `say`; exit_code then is the command's, or 2 where the command did not fail itself.
 * Signals SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked meanwhile and SIGPIPE is ignored.
 */
CTX_MUST_CHECK enum ctx_status ctx_record(const struct ctx_rec_options *options,
					  const struct ctx_recorder_user *user, struct ctx_recording *ret,
					  struct ctx_err *err);

void ctx_recording_deinit(struct ctx_recording *recording);

#endif
