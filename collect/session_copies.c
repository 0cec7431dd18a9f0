#include "collect/session_copies.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum ctx_status ctx_session_copies_add(struct ctx_session_copies *copies, const int fds[CTX_COPY_N],
				       int ring_fd, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (unsigned i = 0; i < CTX_COPY_N; i++) {
		bool is_own = i != CTX_COPY_USUAL && fds[i] >= 0;

		if (status == CTX_OK && is_own && ioctl(fds[i], PERF_EVENT_IOC_SET_OUTPUT, ring_fd) != 0)
			status = ctx_err_errno(err, CTX_E_IO, "an event cannot share a ring buffer");
		if (status == CTX_OK)
			status = ctx_ids_add(&copies->fds[i], fds[i], err);
		if (status != CTX_OK && is_own)
			close(fds[i]);
	}
	return status;
}

/* The usual one stands for a size that could not be opened. */
static int fd_of(const struct ctx_session_copies *copies, enum ctx_copy copy, size_t i)
{
	int64_t fd = copies->fds[copy].items[i];

	return (int)(fd >= 0 ? fd : copies->fds[CTX_COPY_USUAL].items[i]);
}

static void replace(const struct ctx_session_copies *copies, enum ctx_copy old, enum ctx_copy new)
{
	for (size_t i = 0; i < copies->fds[CTX_COPY_USUAL].n; i++) {
		int from = fd_of(copies, old, i), to = fd_of(copies, new, i);

		if (from == to)
			continue;
		(void)ioctl(from, PERF_EVENT_IOC_DISABLE, 0);
		(void)ioctl(to, PERF_EVENT_IOC_ENABLE, 0);
	}
}

void ctx_session_copies_set(struct ctx_session_copies *copies, enum ctx_copy copy)
{
	replace(copies, copies->now, copy);
	copies->before = copies->now;
	copies->now = copy;
}

void ctx_session_copies_repeat(struct ctx_session_copies *copies)
{
	if (copies->before != copies->now)
		replace(copies, copies->before, copies->now);
	copies->before = copies->now;
}

void ctx_session_copies_disable(const struct ctx_session_copies *copies)
{
	for (unsigned i = 0; i < CTX_COPY_N; i++) {
		for (size_t k = 0; k < copies->fds[i].n; k++) {
			if (copies->fds[i].items[k] >= 0)
				(void)ioctl((int)copies->fds[i].items[k], PERF_EVENT_IOC_DISABLE, 0);
		}
	}
}

void ctx_session_copies_close(struct ctx_session_copies *copies)
{
	for (unsigned i = 0; i < CTX_COPY_N; i++) {
		for (size_t k = 0; i != CTX_COPY_USUAL && k < copies->fds[i].n; k++) {
			if (copies->fds[i].items[k] >= 0)
				close((int)copies->fds[i].items[k]);
		}
		ctx_ids_deinit(&copies->fds[i]);
	}
	*copies = CTX_SESSION_COPIES_NONE;
}
