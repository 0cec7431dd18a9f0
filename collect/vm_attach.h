/*
 * Loads an agent into a Java virtual machine that runs already, by the protocol of HotSpot's attach mechanism: no program of a
 * JDK is needed.
 *
 *	.attach_pidN, SIGQUIT --> the virtual machine listens at /tmp/.java_pidN --"load"--> Agent_OnAttach
 *
 * SIGQUIT ends a process that does not catch it: it is sent only where libjvm.so is mapped and the signal is caught.
 */
#ifndef CTX_COLLECT_VM_ATTACH_H
#define CTX_COLLECT_VM_ATTACH_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether it is a virtual machine of Java that catches SIGQUIT, by the texts of its maps and status files in /proc. */
bool ctx_vm_attach_is_java(const char *maps, const char *status);

/*
 * What the virtual machine answered: CTX_OK, CTX_END (nothing yet, or not all), CTX_E_IO (it refused; the message says why).
 */
CTX_MUST_CHECK enum ctx_status ctx_vm_attach_answer(const char *text, struct ctx_err *err);

/*
 * Asks process `pid` to load the library with these options. *ret_fd, the caller's, is the connection: it stays open until the
 * answer has come, for which this waits a second. Fails with CTX_E_NOTFOUND (no virtual machine of Java, or the library is not
 * in its file system), CTX_E_PERM, CTX_E_IO (it does not answer, or refuses).
 */
CTX_MUST_CHECK enum ctx_status ctx_vm_attach(int64_t pid, const char *library, const char *options,
					     int *ret_fd, struct ctx_err *err);

#endif
