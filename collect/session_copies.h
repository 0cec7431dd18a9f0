/*
 * One event with copies of several sizes: an event for each size, of which one is enabled at a time.
 *
 * The size of the copy is a property of the event and cannot be changed once it is open; nor can the events be reached
 * that threads inherit. Enabling and disabling reaches them. What remains of the period is kept in each of them, so a
 * thread loses less than a period for each size in all, however often they change; during a change itself (some
 * microseconds, and one for each thread) there are no samples, and no sample is there twice.
 */
#ifndef CTX_COLLECT_SESSION_COPIES_H
#define CTX_COLLECT_SESSION_COPIES_H

#include "collect/procfs.h"
#include "collect/session_sizes.h"

struct ctx_session_copies {
	struct ctx_ids
		fds[CTX_COPY_N]; /* the n-th of each are one event of one thread and CPU; -1: none. Owned, but
					   for those of the usual size */
	enum ctx_copy now;
	enum ctx_copy before; /* the same as `now` once a change is complete */
};

#define CTX_SESSION_COPIES_NONE ((struct ctx_session_copies){.now = CTX_COPY_USUAL, .before = CTX_COPY_USUAL})

/*
 * Adds one event, whose samples go into the ring of `ring_fd`; -1: it could not be opened. Takes the descriptors, but
 * for the usual one, which is open already. Fails with CTX_E_NOMEM, CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_session_copies_add(struct ctx_session_copies *copies,
						      const int fds[CTX_COPY_N], int ring_fd,
						      struct ctx_err *err);

/* From now on samples have copies of this size. O(threads) in the kernel. */
void ctx_session_copies_set(struct ctx_session_copies *copies, enum ctx_copy copy);

/*
 * To be called in the round after: a thread that was being created during the change can have inherited the events as
 * they were.
 */
void ctx_session_copies_repeat(struct ctx_session_copies *copies);

void ctx_session_copies_disable(const struct ctx_session_copies *copies);
void ctx_session_copies_close(struct ctx_session_copies *copies);

#endif
