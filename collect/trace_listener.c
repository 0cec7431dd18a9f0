/*
 *	connection --number of segments--> ctx_trace_segments_make --descriptor--> connection
 */
#include "collect/trace_listener.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096
#define CONNECTIONS_MAX 256u
#define PREFIX "ctxrec-"
#define NAME_LENGTH (sizeof(PREFIX) - 1 + 32)

enum { ABSTRACT, PATH, ENDS, SOCKETS_N = ENDS, FIXED_N };

struct ctx_trace_listener {
	struct ctx_trace_segments *segments;
	char name[NAME_LENGTH + 1];
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "": there is no socket */
	int fds[FIXED_N]; /* the sockets, and an event that ends the thread; -1: none */
	int arrived;	  /* an event */
	pthread_t thread;
	bool runs;
	int connections[CONNECTIONS_MAX]; /* that have said nothing yet, the oldest first */
	size_t n_connections;
};

/* The sockets */

static int listen_at(const struct sockaddr_un *address, size_t length)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && (bind(fd, (const struct sockaddr *)address, (socklen_t)length) != 0 ||
			listen(fd, BACKLOG) != 0)) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static bool is_left(const char *name, struct sockaddr_un *address)
{
	struct stat info;
	bool refused;
	int fd;

	if (strlen(name) != NAME_LENGTH || strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0)
		return false;
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", CTX_RT_SOCKETS, name);
	if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		  errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused;
}

/* What a killed recorder could not remove. */
static void remove_left(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	DIR *dir = opendir(CTX_RT_SOCKETS);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (is_left(entry->d_name, &address))
			(void)unlink(address.sun_path);
	}
	if (dir != NULL)
		closedir(dir);
}

static enum ctx_status open_sockets(struct ctx_trace_listener *listener, struct ctx_err *err)
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
		return ctx_err_errno(err, CTX_E_IO, "socket for traced processes");
	remove_left();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", CTX_RT_SOCKETS, listener->name);
	listener->fds[PATH] = listen_at(&address, sizeof(address));
	if (listener->fds[PATH] >= 0) {
		strcpy(listener->path, address.sun_path);
		(void)chmod(listener->path,
			    0666); /* as anybody can connect to the other one who knows the name */
	}
	return CTX_OK;
}

enum ctx_status ctx_trace_listener_create(struct ctx_trace_segments *segments,
					  struct ctx_trace_listener **ret, struct ctx_err *err)
{
	struct ctx_trace_listener *listener = ctx_calloc(1, sizeof(*listener));
	enum ctx_status status;

	if (listener == NULL)
		return ctx_err_nomem(err);
	listener->segments = segments;
	for (int i = 0; i < FIXED_N; i++)
		listener->fds[i] = -1;
	listener->arrived = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	listener->fds[ENDS] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	status = listener->arrived < 0 || listener->fds[ENDS] < 0 ? ctx_err_errno(err, CTX_E_IO, "eventfd")
								  : open_sockets(listener, err);
	if (status != CTX_OK) {
		ctx_trace_listener_destroy(listener);
		return status;
	}
	*ret = listener;
	return CTX_OK;
}

static void stop_thread(struct ctx_trace_listener *listener)
{
	const uint64_t one = 1;

	if (listener->runs && write(listener->fds[ENDS], &one, sizeof(one)) == (ssize_t)sizeof(one))
		pthread_join(listener->thread, NULL);
	listener->runs = false;
}

void ctx_trace_listener_destroy(struct ctx_trace_listener *listener)
{
	if (listener == NULL)
		return;
	stop_thread(listener);
	if (listener->path[0] != '\0')
		(void)unlink(listener->path);
	for (int i = 0; i < FIXED_N; i++) {
		if (listener->fds[i] >= 0)
			close(listener->fds[i]);
	}
	if (listener->arrived >= 0)
		close(listener->arrived);
	for (size_t i = 0; i < listener->n_connections; i++)
		close(listener->connections[i]);
	free(listener);
}

const char *ctx_trace_listener_name(const struct ctx_trace_listener *listener)
{
	return listener->name;
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
static void count_told(struct ctx_trace_segments *segments, unsigned what)
{
	if (what >= CTX_RT_TOLD_END)
		return;
	pthread_mutex_lock(&segments->lock);
	segments->told[what - CTX_RT_TOLD_FIRST]++;
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
	struct ucred peer;
	socklen_t length = sizeof(peer);
	ssize_t n = recv(connection, &number, 1, MSG_DONTWAIT);
	int fd;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n != 1 || getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0)
		return true;
	if (number >= CTX_RT_TOLD_FIRST) {
		count_told(listener->segments, number);
		return true;
	}
	if (has_left(connection))
		return true;
	if (ctx_trace_segments_make(listener->segments, peer.pid, number, &fd, NULL) != CTX_OK)
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

/* No more at once than can wait: somebody may connect without end. */
static void accept_some(struct ctx_trace_listener *listener, int socket_fd)
{
	int fd;

	for (unsigned i = 0; i < BACKLOG && socket_fd >= 0; i++) {
		fd = accept4(socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		if (serve(listener, fd))
			close(fd);
		else
			keep(listener, fd);
	}
}

static void serve_all(struct ctx_trace_listener *listener)
{
	for (int i = 0; i < SOCKETS_N; i++)
		accept_some(listener, listener->fds[i]);
	for (size_t i = listener->n_connections; i-- > 0;) {
		if (serve(listener, listener->connections[i]))
			forget(listener, i);
	}
}

static void *run_thread(void *context)
{
	struct ctx_trace_listener *listener = context;
	struct pollfd polled[FIXED_N + CONNECTIONS_MAX];

	for (;;) {
		size_t n = listener->n_connections;

		for (int i = 0; i < FIXED_N; i++)
			polled[i] = (struct pollfd){.fd = listener->fds[i], .events = POLLIN};
		for (size_t i = 0; i < n; i++)
			polled[FIXED_N + i] =
				(struct pollfd){.fd = listener->connections[i], .events = POLLIN};
		(void)poll(polled, FIXED_N + n, -1);
		if (polled[ENDS].revents != 0)
			return NULL;
		serve_all(listener);
	}
}

/* Signals are for the other threads. */
enum ctx_status ctx_trace_listener_start(struct ctx_trace_listener *listener, struct ctx_err *err)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	listener->runs = pthread_create(&listener->thread, NULL, run_thread, listener) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return listener->runs ? CTX_OK : ctx_err_nomem(err);
}

void ctx_trace_listener_end(struct ctx_trace_listener *listener)
{
	stop_thread(listener);
	serve_all(listener);
}
