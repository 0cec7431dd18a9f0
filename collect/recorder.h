/*
 * One recording from beginning to end: opens the events, starts the command, carries records from the rings
 * to the writer until it is time to stop, closes the experiment, waits for the command.
 */
#ifndef CTX_COLLECT_RECORDER_H
#define CTX_COLLECT_RECORDER_H

#include "collect/recargs.h"

struct ctx_recording { /* what came out of it */
	char *name;    /* of the experiment; owned; NULL: there is none */
	uint64_t samples, lost, dropped_by_limit, bytes, duration_ns;
	uint32_t processes, threads;
	int exit_code;
};

/* Called for each line that the user should see; `text` without a newline. */
typedef void ctx_say(void *context, const char *text);

/*
 * Fails when nothing could be recorded: CTX_E_NOTFOUND and CTX_E_PERM of the command itself come with
 * exit_code 127 and 126, all others leave it 0. What goes wrong while the command runs is told through `say`;
 * exit_code then is the command's, or 2 where the command did not fail itself. Signals SIGINT, SIGTERM,
 * SIGHUP and SIGCHLD are blocked meanwhile and SIGPIPE is ignored. `told`, if not NULL, is called as soon as
 * the experiment is complete, which can be before the command has ended.
 */
CTX_MUST_CHECK enum ctx_status ctx_record(const struct ctx_rec_options *options, ctx_say *say, void *context,
					  void (*told)(void *context, const struct ctx_recording *recording),
					  struct ctx_recording *ret, struct ctx_err *err);

void ctx_recording_deinit(struct ctx_recording *recording);

#endif
