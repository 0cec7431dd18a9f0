/*
 * The sockets (listening.h) to which agents in virtual machines connect (runtime/vm_messages.h), and a thread that takes their
 * messages while the recorder is busy.
 *
 * The process id is the kernel's word. Messages wait in memory until they are taken; of a virtual machine with more than
 * 32 MiB of them nothing more is read, and its agent drops messages and counts them.
 */
#ifndef CTX_COLLECT_VM_LISTENER_H
#define CTX_COLLECT_VM_LISTENER_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_VM_CONNECTIONS_MAX 16384u /* of a recording in all */

struct ctx_vm_listener;

/* Fails with CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vm_listener_create(struct ctx_vm_listener **ret, struct ctx_err *err);
/* NULL is allowed. */
void ctx_vm_listener_destroy(struct ctx_vm_listener *listener);

/* Starts the thread: connections wait until then. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_vm_listener_start(struct ctx_vm_listener *listener, struct ctx_err *err);

/* The name of the socket. Borrowed. */
const char *ctx_vm_listener_name(const struct ctx_vm_listener *listener);

/* How many have connected up to now; numbers of connections are below it. */
size_t ctx_vm_listener_count(struct ctx_vm_listener *listener);

struct ctx_vm_connection {
	int64_t pid;
	uint64_t since_ns; /* when it connected */
};
struct ctx_vm_connection ctx_vm_listener_get(struct ctx_vm_listener *listener, size_t connection);

/*
 * All messages of a connection up to now that were not taken before, also those that the thread has not read yet, each behind a
 * u32 of its bytes. `out` is replaced; it keeps its memory. False: the connection is closed, and `out` has the last messages.
 */
bool ctx_vm_listener_take(struct ctx_vm_listener *listener, size_t connection, struct ctx_buf *out);

/* Sends an order (runtime/vm_messages.h) to an agent; one that has gone, or does not take it, stays as it is. */
void ctx_vm_listener_order(struct ctx_vm_listener *listener, size_t number, uint32_t order);

#endif
