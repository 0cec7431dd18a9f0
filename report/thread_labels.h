/*
 * Labels of threads: "worker-1 102"; if more than a few threads share a name, one label for all of
 * them, "worker (200 threads)".
 */
#ifndef CTX_REPORT_THREAD_LABELS_H
#define CTX_REPORT_THREAD_LABELS_H

#include "base/buf.h"
#include "model/profile.h"

struct ctx_thread_labels {
	const struct ctx_profile *profile; /* borrowed */
	uint32_t *first; /* by thread: its representative, itself if it is not merged; owned */
	uint32_t *n;	 /* by thread: number of threads of its name, at the first of them */
	uint32_t few;
};

/*
 * Makes labels for the threads flagged in `is_there` (one flag for each thread of the profile).
 * Threads are merged if more than `few` of them share a name. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_thread_labels_init(struct ctx_thread_labels *labels,
						      const struct ctx_profile *profile, const bool *is_there,
						      uint32_t few, struct ctx_err *err);
void ctx_thread_labels_deinit(struct ctx_thread_labels *labels);

/* The representative of a thread; an id that is not in the profile represents itself. */
uint32_t ctx_thread_label(const struct ctx_thread_labels *labels, uint32_t thread);

/* The text of a label, safe to print. */
void ctx_thread_label_put(const struct ctx_thread_labels *labels, uint32_t thread, bool ascii,
			  struct ctx_buf *buf);

#endif
