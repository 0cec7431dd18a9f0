/*
 * Of the report sync: locks that different threads take in inverse orders; and texts of objects and threads.
 */
#ifndef CTX_REPORT_SYNC_CYCLES_H
#define CTX_REPORT_SYNC_CYCLES_H

#include "report/traced_page.h"

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
