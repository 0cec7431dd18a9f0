#include "collect/listening.h"

#include "runtime/shared_layout.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_DIGITS 32u

enum { ABSTRACT, PATH, ENDS, SOCKETS_N = ENDS };

/* The sockets */

static int open_socket(const struct ctx_listening_kind *kind)
{
	return socket(AF_UNIX, kind->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int listen_at(const struct ctx_listening_kind *kind, const struct sockaddr_un *address, size_t length)
{
	int fd = open_socket(kind);

	if (fd >= 0 && (bind(fd, (const struct sockaddr *)address, (socklen_t)length) != 0 ||
			listen(fd, kind->backlog) != 0)) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static bool is_left(const struct ctx_listening_kind *kind, const char *name, struct sockaddr_un *address)
{
	size_t n = strlen(kind->prefix);
	struct stat info;
	bool refused;
	int fd;

	if (strlen(name) != n + RANDOM_DIGITS || strncmp(name, kind->prefix, n) != 0)
		return false;
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", CTX_RT_SOCKETS, name);
	if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
		return false;
	fd = open_socket(kind);
	refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		  errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused;
}

/* What a killed recorder could not remove. */
static void remove_left(const struct ctx_listening_kind *kind)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	DIR *dir = opendir(CTX_RT_SOCKETS);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (is_left(kind, entry->d_name, &address))
			(void)unlink(address.sun_path);
	}
	if (dir != NULL)
		closedir(dir);
}

static enum ctx_status open_sockets(struct ctx_listening *listening, struct ctx_err *err)
{
	const struct ctx_listening_kind *kind = listening->kind;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t random[2];
	size_t n;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return ctx_err_errno(err, CTX_E_IO, "getrandom");
	n = (size_t)snprintf(listening->name, sizeof(listening->name), "%s%016llx%016llx", kind->prefix,
			     (unsigned long long)random[0], (unsigned long long)random[1]);
	memcpy(address.sun_path + 1, listening->name, n);
	listening->fds[ABSTRACT] = listen_at(kind, &address, offsetof(struct sockaddr_un, sun_path) + 1 + n);
	if (listening->fds[ABSTRACT] < 0)
		return ctx_err_errno(err, CTX_E_IO, "socket for %s", kind->who);
	remove_left(kind);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", CTX_RT_SOCKETS, listening->name);
	listening->fds[PATH] = listen_at(kind, &address, sizeof(address));
	if (listening->fds[PATH] >= 0) {
		strcpy(listening->path, address.sun_path);
		/* As anybody can connect to the other one who knows the name. */
		(void)chmod(listening->path, 0666);
	}
	return CTX_OK;
}

enum ctx_status ctx_listening_open(struct ctx_listening *listening, const struct ctx_listening_kind *kind,
				   struct ctx_err *err)
{
	enum ctx_status status;

	*listening = (struct ctx_listening){.kind = kind, .fds = {-1, -1, -1}};
	listening->fds[ENDS] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	status = listening->fds[ENDS] < 0 ? ctx_err_errno(err, CTX_E_IO, "eventfd")
					  : open_sockets(listening, err);
	if (status != CTX_OK)
		ctx_listening_close(listening);
	return status;
}

void ctx_listening_close(struct ctx_listening *listening)
{
	ctx_listening_stop(listening);
	if (listening->path[0] != '\0')
		(void)unlink(listening->path);
	listening->path[0] = '\0';
	for (int i = 0; i < CTX_LISTENING_POLLED; i++) {
		if (listening->fds[i] >= 0)
			close(listening->fds[i]);
		listening->fds[i] = -1;
	}
}

static void accept_some(const struct ctx_listening *listening, int socket_fd,
			void (*take)(void *context, int fd), void *context)
{
	for (int i = 0; i < listening->kind->backlog && socket_fd >= 0; i++) {
		int fd = accept4(socket_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		take(context, fd);
	}
}

void ctx_listening_accept(const struct ctx_listening *listening, void (*take)(void *context, int fd),
			  void *context)
{
	for (int i = 0; i < SOCKETS_N; i++)
		accept_some(listening, listening->fds[i], take, context);
}

bool ctx_listening_peer(int fd, int64_t *ret_pid)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0)
		return false;
	*ret_pid = peer.pid;
	return true;
}

/* The thread */

/* Signals are for the other threads. */
enum ctx_status ctx_listening_start(struct ctx_listening *listening, void *(*run)(void *), void *context,
				    struct ctx_err *err)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	listening->runs = pthread_create(&listening->thread, NULL, run, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return listening->runs ? CTX_OK : ctx_err_nomem(err);
}

void ctx_listening_stop(struct ctx_listening *listening)
{
	const uint64_t one = 1;

	if (listening->runs && write(listening->fds[ENDS], &one, sizeof(one)) == (ssize_t)sizeof(one))
		pthread_join(listening->thread, NULL);
	listening->runs = false;
}

void ctx_listening_poll(const struct ctx_listening *listening, struct pollfd *polled)
{
	for (int i = 0; i < CTX_LISTENING_POLLED; i++)
		polled[i] = (struct pollfd){.fd = listening->fds[i], .events = POLLIN};
}

bool ctx_listening_has_ended(const struct pollfd *polled)
{
	return polled[ENDS].revents != 0;
}
