/*
 * The report wakers as text: waits grouped by thread, state and place, with their wakers below.
 */
#ifndef CTX_REPORT_WAKERS_TEXT_H
#define CTX_REPORT_WAKERS_TEXT_H

#include "report/wakers_rows.h"

/* Prints titles, the total and the groups. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_wakers_put_text(const struct ctx_wakers_view *view,
						   const struct ctx_wakers_sums *total, struct ctx_err *err);

#endif
