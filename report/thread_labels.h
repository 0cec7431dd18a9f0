/*
 * How threads are called on a page with many of them: "worker-1 102"; but of a name that more than a few share, all are one,
 * "worker (200 threads)".
 */
#ifndef CTX_REPORT_THREAD_LABELS_H
#define CTX_REPORT_THREAD_LABELS_H

#include "base/buf.h"
#include "model/profile.h"

struct ctx_thread_labels {
	const struct ctx_profile *profile; /* borrowed */
	uint32_t *first; /* by thread: the one that stands for it, itself if it stands alone; owned */
	uint32_t *n;	 /* by thread: of its name, where it is the first of them */
	uint32_t few;
};

/*
 * For the threads that are on the page, by `is_there` (one flag for each thread of the profile). A name that more than `few` of them
 * have is one. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_thread_labels_init(struct ctx_thread_labels *labels,
						      const struct ctx_profile *profile, const bool *is_there,
						      uint32_t few, struct ctx_err *err);
void ctx_thread_labels_deinit(struct ctx_thread_labels *labels);

/* The thread that stands for this one; what is no thread of the profile stands for itself. */
uint32_t ctx_thread_label(const struct ctx_thread_labels *labels, uint32_t thread);

/* The text of a label, safe to print. */
void ctx_thread_label_put(const struct ctx_thread_labels *labels, uint32_t thread, bool ascii,
			  struct ctx_buf *buf);

#endif
