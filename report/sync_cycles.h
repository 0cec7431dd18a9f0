/*
 * Of the report sync: locks that different threads take in inverse orders; and numbers and texts of locks.
 */
#ifndef CTX_REPORT_SYNC_CYCLES_H
#define CTX_REPORT_SYNC_CYCLES_H

#include "report/traced_page.h"

/* Dense numbers of locks. Two processes may have different ones at the same address. {0} is empty. */
struct ctx_sync_locks {
	struct ctx_map64 addresses, locks;
};

/* The number of the lock at an address of a process, from 0. CTX_MAP64_NONE: no memory. */
uint32_t ctx_sync_lock_number(struct ctx_sync_locks *locks, uint32_t process, uint64_t address);
void ctx_sync_locks_deinit(struct ctx_sync_locks *locks);

/* Columns of the report. */
struct ctx_sync_cycle_columns {
	unsigned cycle, process, thread, held, address, stack;
	unsigned holder, held_text, object,
		text; /* of text only: thread, held lock, lock that is taken, stack */
};

/*
 * Prints header and table: a row for each order of a cycle. The page is not begun yet, and is not ended. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_sync_cycles_put(struct ctx_traced_page *page,
						   const struct ctx_sync_cycle_columns *columns,
						   struct ctx_err *err);

/* "mutex 0x7f00", with the process where there are several; `kind` NULL: not known. Valid as long as the page. */
const char *ctx_sync_object_text(struct ctx_traced_page *page, uint32_t process, uint64_t address,
				 const char *kind);

/* "123 name" */
const char *ctx_sync_thread_text(struct ctx_traced_page *page, uint32_t thread);

#endif
