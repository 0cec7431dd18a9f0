/*
 * Which recordings: terms of the command line as a condition on ctx_recording.
 *
 *	service=web  version=1.4.*  host!=db3  'duration>10s'  lost=0  region=eu
 *
 * The keys host, service, version, container, command, program, kernel, arch, name, recording (hexadecimal) and day (on which it began,
 * UTC) are columns; build-id is
 * that of any load object; duration, samples (of the first metric) and lost are numbers, compared by = != < <= > >=; all other keys
 * are labels. A value may have * (any bytes) and ? (one); without them it is the whole value. A label that a recording does not
 * have is "". All terms must be true; of several that ask the same key by = one must be.
 */
#ifndef CTX_FLEET_WHERE_H
#define CTX_FLEET_WHERE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* Appends the condition, "1" for no terms. CTX_E_ARG: a term that is none, or a number that is none; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_where_put(const char *const *terms, size_t n, struct ctx_buf *sql,
					     struct ctx_err *err);

/* Whether a recording has one text for the key: it is a column with a text, or a label. */
bool ctx_where_is_text(const char *key);
/* Appends the expression of this text. */
void ctx_where_put_column(const char *key, struct ctx_buf *sql);

/*
 * A time of the clock of the day, in ns since 1970: "2026-11-21T10:00", "2026-11-21T10:00:30", "2026-11-21", each in UTC; *at is moved
 * behind it. False: it is none.
 */
bool ctx_where_take_time(const char **at, uint64_t *ret_ns);

#endif
