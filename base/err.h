/*
 * Errors: a status to branch on, and a message for the user.
 *
 * A function that can fail returns enum ctx_status and takes `struct ctx_err *err` last; the caller
 * owns it (usually on the stack) and may pass NULL when only the status matters. 0 is success,
 * CTX_END is the end of a sequence (not a failure), negative values are failures. `*ret` parameters
 * are written on success only. Library folders never print and never exit.
 *
 * A message says what and where: "profile: offset 4096: checksum differs". Each folder boundary
 * prepends its context once with ctx_err_prefix.
 */
#ifndef CTX_BASE_ERR_H
#define CTX_BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>

#define CTX_MUST_CHECK __attribute__((warn_unused_result))
#define CTX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

enum ctx_status {
	CTX_OK = 0,
	CTX_END = 1,	     /* no more items; not a failure */
	CTX_E_NOMEM = -1,    /* memory ran out */
	CTX_E_IO = -2,	     /* the operating system refused: errno text is in the message */
	CTX_E_FORMAT = -3,   /* bytes that do not follow their format */
	CTX_E_ARG = -4,	     /* a caller's or user's argument is wrong */
	CTX_E_NOTFOUND = -5, /* the named thing does not exist */
	CTX_E_VERSION = -6,  /* made by a newer version of the format */
	CTX_E_PERM = -7,     /* permission is missing; the message says which */
	CTX_E_LIMIT = -8,    /* a stated limit was reached */
	CTX_E_INTERNAL = -9, /* an internal bug, reported instead of asserted */
};

#define CTX_ERR_MAX 1024

struct ctx_err {
	enum ctx_status status;
	char msg[CTX_ERR_MAX]; /* one line, no newline; control characters are replaced by '?' */
};

/*
 * Stores status and message in `err` (may be NULL) and returns `status`, for `return
 * ctx_err_set(...)`.
 */
enum ctx_status ctx_err_set(struct ctx_err *err, enum ctx_status status, const char *fmt, ...)
	CTX_PRINTF(3, 4);

/* The same, with ": " and the text of errno at the time of the call appended. */
enum ctx_status ctx_err_errno(struct ctx_err *err, enum ctx_status status, const char *fmt, ...)
	CTX_PRINTF(3, 4);

/* Prepends "<text>: " to the message; returns the status that is stored (or `status` passed
 * through if err is NULL). */
enum ctx_status ctx_err_prefix(struct ctx_err *err, enum ctx_status status, const char *fmt, ...)
	CTX_PRINTF(3, 4);

/* CTX_E_NOMEM with the standard message. */
enum ctx_status ctx_err_nomem(struct ctx_err *err);

#endif
