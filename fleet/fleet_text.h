/*
 * Texts of rows, kept in a table of strings. Names have no zero bytes: a text ends at one.
 */
#ifndef CTX_FLEET_FLEET_TEXT_H
#define CTX_FLEET_FLEET_TEXT_H

#include "base/cursor.h"
#include "base/strtab.h"

/* The id of the next String of a row; UINT32_MAX: it is cut, and the cursor has failed. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_text_take(struct ctx_strtab *texts, struct ctx_cursor *cursor,
						   uint32_t *ret_id, struct ctx_err *err);

/* The same as text, for several in a row: nothing once *status is a failure. NULL: cut, or that. */
const char *ctx_fleet_text_keep(struct ctx_strtab *texts, struct ctx_cursor *cursor, enum ctx_status *status,
				struct ctx_err *err);

#endif
