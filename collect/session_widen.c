#include "collect/session_widen.h"

#include "base/mem.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The event that takes the place of one; -1: it cannot be opened. */
static int open_successor(struct ctx_session *session, const struct ctx_woken_event *event)
{
	struct ctx_woken *woken = &session->woken;
	struct perf_event_attr attr = woken->attr;
	int fd;

	attr.disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, event->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (ctx_grow(&woken->fds, &woken->fds_cap, woken->n_fds + 1, NULL) != CTX_OK ||
	    ctx_session_join(session, fd, event->ring_fd, woken->number, NULL) != CTX_OK) {
		close(fd);
		return -1;
	}
	woken->fds[woken->n_fds++] = fd;
	return fd;
}

/* In this order a wake-up in between is missed, not seen twice. */
static void change_over(struct ctx_session *session, int from, int to, bool enabled)
{
	(void)ioctl(from, PERF_EVENT_IOC_DISABLE, 0);
	if (enabled)
		(void)ioctl(to, PERF_EVENT_IOC_ENABLE, 0);
	for (size_t i = 0; i < session->n_whole_fds; i++) {
		if (session->whole_fds[i] == from)
			session->whole_fds[i] = to;
	}
}

void ctx_session_widen(struct ctx_session *session, bool enabled)
{
	struct ctx_woken *woken = &session->woken;

	woken->filter.text[0] = '\0';
	for (size_t i = 0; i < woken->n; i++) {
		int fd = open_successor(session, &woken->items[i]);

		if (fd >= 0)
			change_over(session, woken->items[i].fd, fd, enabled);
	}
}
