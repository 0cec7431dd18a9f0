/*
 *	connection --recv--> its buffer --ctx_vm_listener_take--> recorder
 *
 * A connection is read by the thread, or by who takes from it, under one lock.
 */
#include "collect/vm_listener.h"

#include "base/clock.h"
#include "base/mem.h"
#include "runtime/shared_layout.h"
#include "runtime/vm_messages.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 256
#define WAITING_MAX ((size_t)32 << 20) /* bytes of a connection that wait to be taken */
#define FULL_ROUND_MS 20
#define PREFIX "ctxrec-vm-"
#define NAME_LENGTH (sizeof(PREFIX) - 1 + 32)

enum { ABSTRACT, PATH, ENDS, SOCKETS_N = ENDS, FIXED_N };

struct connection {
	struct ctx_vm_connection info;
	int fd; /* -1: it says nothing more */
	struct ctx_buf said;
};

struct ctx_vm_listener {
	char name[NAME_LENGTH + 1];
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "": there is no socket */
	int fds[FIXED_N]; /* the sockets, and an event that ends the thread; -1: none */
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock; /* for what follows */
	struct connection *connections[CTX_VM_CONNECTIONS_MAX];
	size_t n;
};

static int listen_at(const struct sockaddr_un *address, size_t length)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && (bind(fd, (const struct sockaddr *)address, (socklen_t)length) != 0 ||
			listen(fd, BACKLOG) != 0)) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static enum ctx_status open_sockets(struct ctx_vm_listener *listener, struct ctx_err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return ctx_err_errno(err, CTX_E_IO, "getrandom");
	snprintf(listener->name, sizeof(listener->name), PREFIX "%016llx%016llx",
		 (unsigned long long)random[0], (unsigned long long)random[1]);
	memcpy(address.sun_path + 1, listener->name, NAME_LENGTH);
	listener->fds[ABSTRACT] =
		listen_at(&address, offsetof(struct sockaddr_un, sun_path) + 1 + NAME_LENGTH);
	if (listener->fds[ABSTRACT] < 0)
		return ctx_err_errno(err, CTX_E_IO, "socket for virtual machines");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", CTX_RT_SOCKETS, listener->name);
	listener->fds[PATH] = listen_at(&address, sizeof(address));
	if (listener->fds[PATH] >= 0) {
		strcpy(listener->path, address.sun_path);
		/* Anybody can connect to the other one who knows the name. */
		(void)chmod(listener->path, 0666);
	}
	return CTX_OK;
}

enum ctx_status ctx_vm_listener_create(struct ctx_vm_listener **ret, struct ctx_err *err)
{
	struct ctx_vm_listener *listener = ctx_calloc(1, sizeof(*listener));
	enum ctx_status status;

	if (listener == NULL)
		return ctx_err_nomem(err);
	pthread_mutex_init(&listener->lock, NULL);
	for (int i = 0; i < FIXED_N; i++)
		listener->fds[i] = -1;
	listener->fds[ENDS] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	status = listener->fds[ENDS] < 0 ? ctx_err_errno(err, CTX_E_IO, "eventfd")
					 : open_sockets(listener, err);
	if (status != CTX_OK) {
		ctx_vm_listener_destroy(listener);
		return status;
	}
	*ret = listener;
	return CTX_OK;
}

void ctx_vm_listener_destroy(struct ctx_vm_listener *listener)
{
	const uint64_t one = 1;

	if (listener == NULL)
		return;
	if (listener->runs && write(listener->fds[ENDS], &one, sizeof(one)) == (ssize_t)sizeof(one))
		pthread_join(listener->thread, NULL);
	if (listener->path[0] != '\0')
		(void)unlink(listener->path);
	for (int i = 0; i < FIXED_N; i++) {
		if (listener->fds[i] >= 0)
			close(listener->fds[i]);
	}
	for (size_t i = 0; i < listener->n; i++) {
		if (listener->connections[i]->fd >= 0)
			close(listener->connections[i]->fd);
		ctx_buf_deinit(&listener->connections[i]->said);
		free(listener->connections[i]);
	}
	pthread_mutex_destroy(&listener->lock);
	free(listener);
}

const char *ctx_vm_listener_name(const struct ctx_vm_listener *listener)
{
	return listener->name;
}

static void add_connection(struct ctx_vm_listener *listener, int fd)
{
	struct connection *connection;
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (listener->n == CTX_VM_CONNECTIONS_MAX ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0 ||
	    (connection = ctx_calloc(1, sizeof(*connection))) == NULL) {
		close(fd);
		return;
	}
	connection->fd = fd;
	connection->info =
		(struct ctx_vm_connection){.pid = peer.pid, .since_ns = ctx_clock_ns(CLOCK_MONOTONIC)};
	listener->connections[listener->n++] = connection;
}

static void accept_some(struct ctx_vm_listener *listener, int socket_fd)
{
	for (unsigned i = 0; i < BACKLOG && socket_fd >= 0; i++) {
		int fd = accept4(socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		add_connection(listener, fd);
	}
}

static void accept_all(struct ctx_vm_listener *listener)
{
	for (int i = 0; i < SOCKETS_N; i++)
		accept_some(listener, listener->fds[i]);
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
	uint8_t *room = connection->said.n < WAITING_MAX
				? ctx_buf_reserve(&connection->said, sizeof(uint32_t) + CTX_VM_MESSAGE_MAX)
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
	connection->said.n += sizeof(n) + n;
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
	*out = connection->said;
	out->failed = false;
	connection->said = empty;
	goes_on = connection->fd >= 0;
	pthread_mutex_unlock(&listener->lock);
	return goes_on;
}

/* The thread */

/* Fills `polled`; returns how many, and whether somebody has to wait who cannot be polled. */
static nfds_t list(struct ctx_vm_listener *listener, struct pollfd *polled, bool *ret_is_full)
{
	nfds_t n = 0;

	*ret_is_full = false;
	for (int i = 0; i < FIXED_N; i++)
		polled[n++] = (struct pollfd){.fd = listener->fds[i], .events = POLLIN};
	for (size_t i = 0; i < listener->n; i++) {
		const struct connection *connection = listener->connections[i];

		if (connection->fd >= 0 && connection->said.n < WAITING_MAX)
			polled[n++] = (struct pollfd){.fd = connection->fd, .events = POLLIN};
		*ret_is_full |= connection->fd >= 0 && connection->said.n >= WAITING_MAX;
	}
	return n;
}

static void *run_thread(void *context)
{
	struct ctx_vm_listener *listener = context;
	struct pollfd polled[FIXED_N + CTX_VM_CONNECTIONS_MAX];

	for (;;) {
		bool is_full;
		nfds_t n;

		pthread_mutex_lock(&listener->lock);
		n = list(listener, polled, &is_full);
		pthread_mutex_unlock(&listener->lock);
		(void)poll(polled, n, is_full ? FULL_ROUND_MS : -1);
		if (polled[ENDS].revents != 0)
			return NULL;
		pthread_mutex_lock(&listener->lock);
		accept_all(listener);
		for (size_t i = 0; i < listener->n; i++)
			read_all(listener->connections[i]);
		pthread_mutex_unlock(&listener->lock);
	}
}

/* Signals are for the other threads. */
enum ctx_status ctx_vm_listener_start(struct ctx_vm_listener *listener, struct ctx_err *err)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	listener->runs = pthread_create(&listener->thread, NULL, run_thread, listener) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return listener->runs ? CTX_OK : ctx_err_nomem(err);
}
