/*
 * Times of the day as text, in UTC.
 */
#ifndef CTX_BASE_UTC_H
#define CTX_BASE_UTC_H

#include <stdbool.h>
#include <stdint.h>

#define CTX_UTC_MAX 64u

/* "2026-11-21 10:00:30", of seconds since 1970. False: no calendar has that time, and `out` is "". */
bool ctx_utc_text(int64_t seconds, char out[CTX_UTC_MAX]);

/* The same with its zone: "2026-11-21 10:00:30 UTC". */
bool ctx_utc_stamp(int64_t seconds, char out[CTX_UTC_MAX]);

#endif
