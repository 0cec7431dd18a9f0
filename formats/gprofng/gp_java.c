#include "formats/gprofng/gp_java.h"

#include "base/java_name.h"
#include "base/mem.h"
#include "formats/gprofng/gp_wire.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#define TYPE_CLASS 0x0a03u
#define TYPE_METHOD 0x0b03u
#define HEAD_BYTES 24u /* of both: tsize, type, 4 bytes, two numbers */
#define NAME_BYTES_MAX 4096u

void ctx_gp_java_deinit(struct ctx_gp_java *java)
{
	free(java->methods);
	ctx_map64_deinit(&java->by_number);
	ctx_buf_deinit(&java->text);
	*java = (struct ctx_gp_java){0};
}

/* Records */

struct reading {
	struct ctx_gp_java *java;
	struct ctx_strtab *names;
	bool big_endian;
	bool has_class; /* java->text begins with its name, of class_bytes */
	size_t class_bytes;
	int64_t loaded_ns;
	struct ctx_err *err;
};

/* Returns the text at *at and moves *at to the next one: each takes a multiple of 4 bytes. */
static const char *take_text(const struct ctx_gp_record *record, size_t *at, size_t *ret_n)
{
	const char *text = (const char *)record->bytes + *at;

	*ret_n = *at < record->n ? strnlen(text, record->n - *at) : 0;
	*at += (*ret_n + 4) & ~(size_t)3;
	return text;
}

/* An array class has no methods. */
static enum ctx_status on_class(struct reading *reading, const struct ctx_gp_record *record)
{
	struct ctx_buf *text = &reading->java->text;
	size_t at = HEAD_BYTES, n;
	const char *name = take_text(record, &at, &n);

	reading->has_class = n != 0 && name[0] == 'L';
	reading->loaded_ns = (int64_t)ctx_gp_u64(record->bytes + 16, reading->big_endian);
	ctx_buf_clear(text);
	ctx_java_put_type(text, name, n);
	reading->class_bytes = text->n;
	return ctx_buf_check(text, reading->err);
}

static enum ctx_status on_method(struct reading *reading, const struct ctx_gp_record *record)
{
	struct ctx_gp_java *java = reading->java;
	struct ctx_gp_method method = {.loaded_ns = reading->loaded_ns};
	size_t at = HEAD_BYTES, n, signature_n;
	const char *name = take_text(record, &at, &n), *signature = take_text(record, &at, &signature_n);
	enum ctx_status status;
	uint32_t *place;

	if (!reading->has_class)
		return CTX_OK;
	java->text.n = reading->class_bytes;
	ctx_buf_put_text(&java->text, ".");
	ctx_buf_put(&java->text, name, n);
	ctx_java_put_parameters(&java->text, signature, signature_n);
	if (java->text.n > NAME_BYTES_MAX)
		java->text.n = NAME_BYTES_MAX;
	/* Methods that differ only in the return type have the same name but are distinct. */
	ctx_buf_put_u8(&java->text, 0);
	ctx_buf_put(&java->text, signature, signature_n);
	status = ctx_buf_check(&java->text, reading->err);
	if (status == CTX_OK)
		status = ctx_strtab_add(reading->names, (const char *)java->text.bytes, java->text.n,
					&method.name, reading->err);
	if (status == CTX_OK)
		status = ctx_grow(&java->methods, &java->cap, java->n + 1, reading->err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&java->by_number, ctx_gp_u64(record->bytes + 16, reading->big_endian));
	if (place == NULL)
		return ctx_err_nomem(reading->err);
	method.before = *place;
	*place = (uint32_t)java->n;
	java->methods[java->n++] = method;
	return CTX_OK;
}

enum ctx_status ctx_gp_java_read(struct ctx_gp_java *java, struct ctx_gp_blocks *blocks,
				 struct ctx_strtab *names, struct ctx_err *err)
{
	struct reading reading = {.java = java, .names = names, .big_endian = blocks->big_endian, .err = err};
	struct ctx_gp_record record;
	enum ctx_status status;

	while ((status = ctx_gp_blocks_next(blocks, &record, err)) == CTX_OK) {
		if (record.type != TYPE_CLASS && record.type != TYPE_METHOD)
			continue;
		if (record.n <= HEAD_BYTES) {
			java->damaged++;
			continue;
		}
		status = record.type == TYPE_CLASS ? on_class(&reading, &record)
						   : on_method(&reading, &record);
		if (status != CTX_OK)
			return status;
	}
	return status == CTX_END ? CTX_OK : status;
}

/*
 * Numbers are reused after classes are unloaded: takes the last one loaded by then, or the first of
 * all.
 */
uint32_t ctx_gp_java_find(const struct ctx_gp_java *java, uint64_t number, int64_t time_ns)
{
	uint32_t at = ctx_map64_get(&java->by_number, number), name = CTX_NONE;

	for (unsigned tries = 0; at != CTX_MAP64_NONE && tries < 1000; tries++) {
		name = java->methods[at].name;
		if (java->methods[at].loaded_ns <= time_ns)
			break;
		at = java->methods[at].before;
	}
	return name;
}
