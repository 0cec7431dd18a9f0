/*
 * Uprobes: places in files at which the kernel counts executions, defined as events of tracefs.
 *
 * An event may have several places. Nothing is armed by a definition: the kernel puts its instruction into memory where a
 * perf event of the definition is open and the process is one of the event's, and takes it out when that event is closed,
 * which it also is when the recorder is killed. A definition that a killed recorder left behind is removed by the next
 * one. Events are called ctxrec_PID/iN, with the recorder's process id.
 *
 * Source: the kernel's Documentation/trace/uprobetracer.rst.
 */
#ifndef CTX_COLLECT_UPROBES_H
#define CTX_COLLECT_UPROBES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_uprobe_place {
	const char *path; /* of the file */
	uint64_t offset;  /* in the file */
};

struct ctx_uprobes {	     /* all zero is valid: none */
	const char *tracefs; /* borrowed */
	unsigned n;	     /* definitions */
};

struct ctx_uprobe_event { /* what is defined */
	const struct ctx_uprobe_place *places;
	size_t n;
	bool is_return; /* of the functions that begin there */
};

/*
 * Removes the definitions of recorders that are no more. Fails with CTX_E_PERM (no tracefs, or not for this user),
 * CTX_E_NOTFOUND (a kernel without uprobes), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_uprobes_begin(struct ctx_uprobes *uprobes, const char *tracefs,
						 struct ctx_err *err);

/*
 * Defines an event. `*ret_id` is the tracepoint's number (perf_event_attr.config). Fails with CTX_E_ARG (the kernel does not
 * take the place), CTX_E_PERM, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_uprobes_define(struct ctx_uprobes *uprobes,
						  const struct ctx_uprobe_event *event, uint64_t *ret_id,
						  struct ctx_err *err);

/* Removes all definitions; their perf events must have been closed. */
void ctx_uprobes_end(struct ctx_uprobes *uprobes);

/*
 * The commands, each ended by a newline, that remove the definitions of recorders that are no more from a list of
 * definitions (uprobe_events). `is_alive`: whether a process is.
 */
void ctx_uprobes_list_stale(const char *definitions, bool (*is_alive)(int64_t pid), struct ctx_buf *out);

#endif
