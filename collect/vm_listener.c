/*
 *	connection --recv--> its buffer --ctx_vm_listener_take--> recorder
 *
 * A connection is read by the thread, or by who takes from it, under one lock.
 */
#include "collect/vm_listener.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/listening.h"
#include "runtime/vm_messages.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAITING_MAX ((size_t)32 << 20) /* bytes of a connection that wait to be taken */
#define FULL_ROUND_MS 20

static const struct ctx_listening_kind kind = {
	.type = SOCK_SEQPACKET, .backlog = 256, .prefix = "ctxrec-vm-", .who = "virtual machines"};

struct connection {
	struct ctx_vm_connection info;
	int fd; /* -1: closed */
	struct ctx_buf received;
};

struct ctx_vm_listener {
	struct ctx_listening listening;
	pthread_mutex_t lock; /* for what follows */
	struct connection *connections[CTX_VM_CONNECTIONS_MAX];
	size_t n;
};

enum ctx_status ctx_vm_listener_create(struct ctx_vm_listener **ret, struct ctx_err *err)
{
	struct ctx_vm_listener *listener = ctx_calloc(1, sizeof(*listener));
	enum ctx_status status;

	if (listener == NULL)
		return ctx_err_nomem(err);
	status = ctx_listening_open(&listener->listening, &kind, err);
	if (status != CTX_OK) {
		free(listener);
		return status;
	}
	pthread_mutex_init(&listener->lock, NULL);
	*ret = listener;
	return CTX_OK;
}

void ctx_vm_listener_destroy(struct ctx_vm_listener *listener)
{
	if (listener == NULL)
		return;
	ctx_listening_close(&listener->listening);
	for (size_t i = 0; i < listener->n; i++) {
		if (listener->connections[i]->fd >= 0)
			close(listener->connections[i]->fd);
		ctx_buf_deinit(&listener->connections[i]->received);
		free(listener->connections[i]);
	}
	pthread_mutex_destroy(&listener->lock);
	free(listener);
}

const char *ctx_vm_listener_name(const struct ctx_vm_listener *listener)
{
	return listener->listening.name;
}

static void add_connection(void *context, int fd)
{
	struct ctx_vm_listener *listener = context;
	struct connection *connection;
	int64_t pid;

	if (listener->n == CTX_VM_CONNECTIONS_MAX || !ctx_listening_peer(fd, &pid) ||
	    (connection = ctx_calloc(1, sizeof(*connection))) == NULL) {
		close(fd);
		return;
	}
	connection->fd = fd;
	connection->info = (struct ctx_vm_connection){.pid = pid, .since_ns = ctx_clock_ns(CLOCK_MONOTONIC)};
	listener->connections[listener->n++] = connection;
}

static void accept_all(struct ctx_vm_listener *listener)
{
	ctx_listening_accept(&listener->listening, add_connection, listener);
}

size_t ctx_vm_listener_count(struct ctx_vm_listener *listener)
{
	size_t n;

	pthread_mutex_lock(&listener->lock);
	accept_all(listener);
	n = listener->n;
	pthread_mutex_unlock(&listener->lock);
	return n;
}

struct ctx_vm_connection ctx_vm_listener_get(struct ctx_vm_listener *listener, size_t connection)
{
	struct ctx_vm_connection info;

	pthread_mutex_lock(&listener->lock);
	info = listener->connections[connection]->info;
	pthread_mutex_unlock(&listener->lock);
	return info;
}

/* With the lock held: one message. False: there is none now, or no room for it. */
static bool read_one(struct connection *connection)
{
	uint8_t *room =
		connection->received.n < WAITING_MAX
			? ctx_buf_reserve(&connection->received, sizeof(uint32_t) + CTX_VM_MESSAGE_MAX)
			: NULL;
	uint32_t n;
	ssize_t got;

	if (room == NULL)
		return false;
	got = recv(connection->fd, room + sizeof(n), CTX_VM_MESSAGE_MAX, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	if (got <= 0) {
		close(connection->fd);
		connection->fd = -1;
		return false;
	}
	n = (uint32_t)got;
	memcpy(room, &n, sizeof(n));
	connection->received.n += sizeof(n) + n;
	return true;
}

static void read_all(struct connection *connection)
{
	while (connection->fd >= 0 && read_one(connection))
		continue;
}

bool ctx_vm_listener_take(struct ctx_vm_listener *listener, size_t number, struct ctx_buf *out)
{
	struct connection *connection;
	struct ctx_buf empty;
	bool goes_on;

	ctx_buf_clear(out);
	empty = *out;
	pthread_mutex_lock(&listener->lock);
	connection = listener->connections[number];
	read_all(connection);
	*out = connection->received;
	out->failed = false;
	connection->received = empty;
	goes_on = connection->fd >= 0;
	pthread_mutex_unlock(&listener->lock);
	return goes_on;
}

void ctx_vm_listener_order(struct ctx_vm_listener *listener, size_t number, uint32_t order)
{
	const struct connection *connection;

	pthread_mutex_lock(&listener->lock);
	connection = listener->connections[number];
	if (connection->fd >= 0)
		(void)send(connection->fd, &order, sizeof(order), MSG_DONTWAIT | MSG_NOSIGNAL);
	pthread_mutex_unlock(&listener->lock);
}

/* The thread */

/* Fills `polled`; returns how many, and whether somebody has to wait who cannot be polled. */
static nfds_t list(struct ctx_vm_listener *listener, struct pollfd *polled, bool *ret_is_full)
{
	nfds_t n = CTX_LISTENING_POLLED;

	*ret_is_full = false;
	ctx_listening_poll(&listener->listening, polled);
	for (size_t i = 0; i < listener->n; i++) {
		const struct connection *connection = listener->connections[i];

		if (connection->fd >= 0 && connection->received.n < WAITING_MAX)
			polled[n++] = (struct pollfd){.fd = connection->fd, .events = POLLIN};
		*ret_is_full |= connection->fd >= 0 && connection->received.n >= WAITING_MAX;
	}
	return n;
}

static void *run_thread(void *context)
{
	struct ctx_vm_listener *listener = context;
	struct pollfd polled[CTX_LISTENING_POLLED + CTX_VM_CONNECTIONS_MAX];

	for (;;) {
		bool is_full;
		nfds_t n;

		pthread_mutex_lock(&listener->lock);
		n = list(listener, polled, &is_full);
		pthread_mutex_unlock(&listener->lock);
		(void)poll(polled, n, is_full ? FULL_ROUND_MS : -1);
		if (ctx_listening_has_ended(polled))
			return NULL;
		pthread_mutex_lock(&listener->lock);
		accept_all(listener);
		for (size_t i = 0; i < listener->n; i++)
			read_all(listener->connections[i]);
		pthread_mutex_unlock(&listener->lock);
	}
}

enum ctx_status ctx_vm_listener_start(struct ctx_vm_listener *listener, struct ctx_err *err)
{
	return ctx_listening_start(&listener->listening, run_thread, listener, err);
}
