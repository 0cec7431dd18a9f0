/*
 * Streaming JSON writer for the formats of other tools: values go straight to the file. yajl
 * handles commas and nesting.
 *
 * The first failure sticks and later calls do nothing, so a writer checks once, at
 * ctx_export_json_finish (or `status`, to stop early). Write errors are those of the file (ferror).
 */
#ifndef CTX_FORMATS_EXPORT_EXPORT_JSON_H
#define CTX_FORMATS_EXPORT_EXPORT_JSON_H

#include "base/buf.h"
#include "model/profile.h"

#include <stdio.h>

struct yajl_gen_t;

struct ctx_export_json {
	FILE *out;		/* borrowed */
	struct yajl_gen_t *gen; /* owned */
	struct ctx_buf token;
	struct ctx_err *err; /* borrowed; may be NULL */
	enum ctx_status status;
};

/* Starts the writer. Fails with CTX_E_NOMEM; call ctx_export_json_finish in any case. */
CTX_MUST_CHECK enum ctx_status ctx_export_json_init(struct ctx_export_json *json, FILE *out,
						    struct ctx_err *err);

/* Ends the file with a newline and releases the writer. Returns the first failure. */
CTX_MUST_CHECK enum ctx_status ctx_export_json_finish(struct ctx_export_json *json);

/* Sets a failure of the caller, which is in `err` already; the first failure counts. */
void ctx_export_json_fail(struct ctx_export_json *json, enum ctx_status status);

void ctx_export_json_open(struct ctx_export_json *json);       /* { */
void ctx_export_json_close(struct ctx_export_json *json);      /* } */
void ctx_export_json_open_list(struct ctx_export_json *json);  /* [ */
void ctx_export_json_close_list(struct ctx_export_json *json); /* ] */

/* The key of a member of an object; its value must follow. Keys are plain text. */
void ctx_export_json_key(struct ctx_export_json *json, const char *key);

/* Any bytes, made valid by ctx_export_put_text. */
void ctx_export_json_text(struct ctx_export_json *json, const char *text);

/* The text that is in `text`, which must be valid UTF-8. */
void ctx_export_json_buf(struct ctx_export_json *json, const struct ctx_buf *text);

/* A function's name as shown to users: ctx_export_put_name. */
void ctx_export_json_name(struct ctx_export_json *json, const struct ctx_profile *profile, uint32_t function);

void ctx_export_json_number(struct ctx_export_json *json, uint64_t number);
void ctx_export_json_minus(struct ctx_export_json *json, uint64_t number); /* -number */

/* `number` / 10^digits (1 to 9), exactly, without trailing zeros: 1500000, 6 is 1.5. */
void ctx_export_json_decimal(struct ctx_export_json *json, uint64_t number, unsigned digits);

void ctx_export_json_bool(struct ctx_export_json *json, bool value);
void ctx_export_json_null(struct ctx_export_json *json);

/* Preformatted JSON; `token` is one value. Faster than separate values. */
void ctx_export_json_ready(struct ctx_export_json *json, const struct ctx_buf *token);

/* A line break between two values, for readability. */
void ctx_export_json_line(struct ctx_export_json *json);

/* A key and its value. */
void ctx_export_json_key_text(struct ctx_export_json *json, const char *key, const char *text);
void ctx_export_json_key_number(struct ctx_export_json *json, const char *key, uint64_t number);

#endif
