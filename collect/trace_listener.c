/*
 *	connection --number of segments--> ctx_trace_segments_make --descriptor--> connection
 */
#include "collect/trace_listener.h"

#include "base/mem.h"
#include "collect/listening.h"
#include "runtime/count_layout.h"
#include "runtime/once_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 256u

static const struct ctx_listening_kind kind = {
	.type = SOCK_STREAM, .backlog = 4096, .prefix = "ctxrec-", .who = "traced processes"};

struct ctx_trace_listener {
	struct ctx_listening listening;
	struct ctx_trace_segments *segments;
	int once_fd, entries_fd;
	int arrived;			  /* an event */
	int connections[CONNECTIONS_MAX]; /* that have said nothing yet, the oldest first */
	size_t n_connections;
};

enum ctx_status ctx_trace_listener_create(struct ctx_trace_segments *segments, int once_fd, int entries_fd,
					  struct ctx_trace_listener **ret, struct ctx_err *err)
{
	struct ctx_trace_listener *listener = ctx_calloc(1, sizeof(*listener));
	enum ctx_status status;

	if (listener == NULL)
		return ctx_err_nomem(err);
	listener->segments = segments;
	listener->once_fd = once_fd;
	listener->entries_fd = entries_fd;
	listener->arrived = -1;
	status = ctx_listening_open(&listener->listening, &kind, err);
	if (status == CTX_OK) {
		listener->arrived = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (listener->arrived < 0)
			status = ctx_err_errno(err, CTX_E_IO, "eventfd");
	}
	if (status != CTX_OK) {
		ctx_trace_listener_destroy(listener);
		return status;
	}
	*ret = listener;
	return CTX_OK;
}

void ctx_trace_listener_destroy(struct ctx_trace_listener *listener)
{
	if (listener == NULL)
		return;
	ctx_listening_close(&listener->listening);
	if (listener->arrived >= 0)
		close(listener->arrived);
	for (size_t i = 0; i < listener->n_connections; i++)
		close(listener->connections[i]);
	free(listener);
}

const char *ctx_trace_listener_name(const struct ctx_trace_listener *listener)
{
	return listener->listening.name;
}

int ctx_trace_listener_fd(const struct ctx_trace_listener *listener)
{
	return listener->arrived;
}

void ctx_trace_listener_seen(const struct ctx_trace_listener *listener)
{
	uint64_t n;

	(void)!read(listener->arrived, &n, sizeof(n));
}

/* The thread */

/* With the descriptor, which is closed; -1: there is none for it. */
static void answer(int connection, int fd)
{
	char byte = fd >= 0 ? 's' : 'n';
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *part;

		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		part = CMSG_FIRSTHDR(&message);
		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(part), &fd, sizeof(fd));
	}
	(void)sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
}

/* It goes on without what it asked for. */
static void count_untraced(struct ctx_trace_segments *segments, unsigned what)
{
	if (what >= CTX_RT_UNTRACED_END)
		return;
	pthread_mutex_lock(&segments->lock);
	segments->untraced[what - CTX_RT_UNTRACED_FIRST]++;
	pthread_mutex_unlock(&segments->lock);
}

/* It does not wait any more, or has ended. */
static bool has_left(int connection)
{
	char byte;

	return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* False: it has said nothing yet. */
static bool serve(struct ctx_trace_listener *listener, int connection)
{
	const uint64_t one = 1;
	unsigned char number;
	int64_t pid;
	ssize_t n = recv(connection, &number, 1, MSG_DONTWAIT);
	int fd;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n != 1 || !ctx_listening_peer(connection, &pid))
		return true;
	if (number >= CTX_RT_UNTRACED_FIRST) {
		count_untraced(listener->segments, number);
		return true;
	}
	if (has_left(connection))
		return true;
	if (number == CTX_RT_ASK_ONCE || number == CTX_RT_ASK_COUNT) {
		int shared_fd = number == CTX_RT_ASK_ONCE ? listener->once_fd : listener->entries_fd;

		answer(connection, shared_fd >= 0 ? fcntl(shared_fd, F_DUPFD_CLOEXEC, 0) : -1);
		return true;
	}
	if (ctx_trace_segments_make(listener->segments, pid, number, &fd, NULL) != CTX_OK)
		fd = -1;
	else
		(void)!write(listener->arrived, &one, sizeof(one));
	answer(connection, fd);
	return true;
}

static void forget(struct ctx_trace_listener *listener, size_t i)
{
	close(listener->connections[i]);
	listener->n_connections--;
	memmove(&listener->connections[i], &listener->connections[i + 1],
		(listener->n_connections - i) * sizeof(*listener->connections));
}

/* Where there is no room, the oldest is not answered any more. */
static void keep(struct ctx_trace_listener *listener, int fd)
{
	if (listener->n_connections == CONNECTIONS_MAX) {
		forget(listener, 0);
		pthread_mutex_lock(&listener->segments->lock);
		listener->segments->failed++;
		pthread_mutex_unlock(&listener->segments->lock);
	}
	listener->connections[listener->n_connections++] = fd;
}

static void serve_new(void *context, int fd)
{
	struct ctx_trace_listener *listener = context;

	if (serve(listener, fd))
		close(fd);
	else
		keep(listener, fd);
}

static void serve_all(struct ctx_trace_listener *listener)
{
	ctx_listening_accept(&listener->listening, serve_new, listener);
	for (size_t i = listener->n_connections; i-- > 0;) {
		if (serve(listener, listener->connections[i]))
			forget(listener, i);
	}
}

static void *run_thread(void *context)
{
	struct ctx_trace_listener *listener = context;
	struct pollfd polled[CTX_LISTENING_POLLED + CONNECTIONS_MAX];

	for (;;) {
		size_t n = listener->n_connections;

		ctx_listening_poll(&listener->listening, polled);
		for (size_t i = 0; i < n; i++)
			polled[CTX_LISTENING_POLLED + i] =
				(struct pollfd){.fd = listener->connections[i], .events = POLLIN};
		(void)poll(polled, CTX_LISTENING_POLLED + n, -1);
		if (ctx_listening_has_ended(polled))
			return NULL;
		serve_all(listener);
	}
}

enum ctx_status ctx_trace_listener_start(struct ctx_trace_listener *listener, struct ctx_err *err)
{
	return ctx_listening_start(&listener->listening, run_thread, listener, err);
}

void ctx_trace_listener_end(struct ctx_trace_listener *listener)
{
	ctx_listening_stop(&listener->listening);
	serve_all(listener);
}
