/*
 * The two listening sockets of one name to which other processes connect, and the thread that serves them while the recorder is
 * busy. What connections say is for the caller (trace_listener.h, vm_listener.h).
 *
 * One socket is abstract: processes in this network namespace find it, whatever file system they have. The other is in
 * the directory CTX_RT_SOCKETS, for those in another network namespace that have the same file system there; where it cannot be
 * made there is the first one alone. Sockets of this kind that a killed recorder of the same user has left there are removed.
 */
#ifndef CTX_COLLECT_LISTENING_H
#define CTX_COLLECT_LISTENING_H

#include "base/err.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#define CTX_LISTENING_POLLED 3 /* descriptors: two sockets, and an event that ends the thread */

struct ctx_listening_kind {
	int type;	    /* SOCK_STREAM, SOCK_SEQPACKET */
	int backlog;	    /* connections that wait, and that are accepted at a time, at each socket */
	const char *prefix; /* of names; 32 random hexadecimal digits follow */
	const char *who;    /* connects, for messages */
};

struct ctx_listening {
	const struct ctx_listening_kind *kind;
	char name[64]; /* for who connects */
	char path[sizeof(((struct sockaddr_un *)NULL)
				 ->sun_path)]; /* of the socket in CTX_RT_SOCKETS; "": there is none */
	int fds[CTX_LISTENING_POLLED];	       /* -1: none */
	pthread_t thread;
	bool runs;
};

/* Makes the sockets; connections wait. `kind` is borrowed. CTX_E_IO: then it is closed. */
CTX_MUST_CHECK enum ctx_status ctx_listening_open(struct ctx_listening *listening,
						  const struct ctx_listening_kind *kind, struct ctx_err *err);
/* Stops the thread, and closes and removes the sockets. Once is enough, twice is allowed. */
void ctx_listening_close(struct ctx_listening *listening);

/* Starts the thread, which takes no signals. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_listening_start(struct ctx_listening *listening, void *(*run)(void *),
						   void *context, struct ctx_err *err);
/* Ends it and waits for that; nothing happens where it does not run. The sockets still take connections. */
void ctx_listening_stop(struct ctx_listening *listening);

/* Fills the first CTX_LISTENING_POLLED of what the thread polls; and whether, after poll(2), it has to end. */
void ctx_listening_poll(const struct ctx_listening *listening, struct pollfd *polled);
bool ctx_listening_has_ended(const struct pollfd *polled);

/* Accepts those who wait, non-blocking; `take` gets the descriptor, which is its own. No more than the backlog: somebody may connect without end. */
void ctx_listening_accept(const struct ctx_listening *listening, void (*take)(void *context, int fd),
			  void *context);

/* The process id of who has connected, by the kernel's word (SO_PEERCRED). False: it is not known in this pid namespace. */
bool ctx_listening_peer(int fd, int64_t *ret_pid);

#endif
