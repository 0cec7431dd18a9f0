/*
 * A progress bar on stderr, for work that takes longer than a second; silent when stderr is no
 * terminal.
 */
#ifndef CTX_CTXAN_PROGRESS_H
#define CTX_CTXAN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ctx_progress {
	const char *what;
	bool enabled;
	bool shown;
	uint64_t start_ns, last_ns;
};

struct ctx_progress ctx_progress_start(const char *what, bool quiet);

/* For struct ctx_ingest_options; context is a struct ctx_progress. */
void ctx_progress_update(void *context, uint64_t done, uint64_t total, uint64_t samples);

/* Wipes the bar away. */
void ctx_progress_end(struct ctx_progress *progress);

#endif
