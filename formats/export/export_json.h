/*
 * JSON as the writers of other tools' formats need it: values one after another into a file, nothing kept. Commas and
 * nesting are yajl's.
 *
 * The first failure sticks and later calls do nothing, so that a writer appends freely and looks once, at
 * ctx_export_json_finish (or at `status`, to stop early). Write errors are the file's own (ferror).
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

/* Everything else after this one. Fails with CTX_E_NOMEM; finish is due then, too. */
CTX_MUST_CHECK enum ctx_status ctx_export_json_init(struct ctx_export_json *json, FILE *out,
						    struct ctx_err *err);

/* Ends the file with a newline and releases. Returns the first failure. */
CTX_MUST_CHECK enum ctx_status ctx_export_json_finish(struct ctx_export_json *json);

/* A failure of the caller's own, which is in `err` already; the first one counts. */
void ctx_export_json_fail(struct ctx_export_json *json, enum ctx_status status);

void ctx_export_json_open(struct ctx_export_json *json);       /* { */
void ctx_export_json_close(struct ctx_export_json *json);      /* } */
void ctx_export_json_open_list(struct ctx_export_json *json);  /* [ */
void ctx_export_json_close_list(struct ctx_export_json *json); /* ] */

/* Of a member of an object; its value comes next. Keys are ours: plain text. */
void ctx_export_json_key(struct ctx_export_json *json, const char *key);

/* Any bytes, as valid text: ctx_export_put_text. */
void ctx_export_json_text(struct ctx_export_json *json, const char *text);

/* The text that is in `text`, which must be valid UTF-8. */
void ctx_export_json_buf(struct ctx_export_json *json, const struct ctx_buf *text);

/* A function's name as users see it: ctx_export_put_name. */
void ctx_export_json_name(struct ctx_export_json *json, const struct ctx_profile *profile, uint32_t function);

void ctx_export_json_number(struct ctx_export_json *json, uint64_t number);
void ctx_export_json_minus(struct ctx_export_json *json, uint64_t number); /* -number */

/* `number` / 10^digits (1 to 9), exactly, without zeros at the end: 1500000, 6 is 1.5. */
void ctx_export_json_decimal(struct ctx_export_json *json, uint64_t number, unsigned digits);

void ctx_export_json_bool(struct ctx_export_json *json, bool value);
void ctx_export_json_null(struct ctx_export_json *json);

/* JSON that is ready; `token` is one value. Faster than value for value. */
void ctx_export_json_ready(struct ctx_export_json *json, const struct ctx_buf *token);

/* A line break between two values, so that people can look at the file. */
void ctx_export_json_line(struct ctx_export_json *json);

/* Pairs. */
void ctx_export_json_key_text(struct ctx_export_json *json, const char *key, const char *text);
void ctx_export_json_key_number(struct ctx_export_json *json, const char *key, uint64_t number);

#endif
