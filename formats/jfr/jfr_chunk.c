#include "formats/jfr/jfr_chunk.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define TEXTS_DEEP 6u /* a class's name is a symbol, which is a text, which may be a constant */
#define NS_PER_S 1000000000u

/* --- header --- */

static uint64_t fixed_at(const uint8_t *bytes, unsigned offset, unsigned width)
{
	struct ctx_cursor cursor = ctx_cursor_make(bytes + offset, width);

	return ctx_jfr_get_fixed(&cursor, width);
}

bool ctx_jfr_header_read(const uint8_t *bytes, struct ctx_jfr_header *ret)
{
	if (memcmp(bytes, "FLR\0", 4) != 0)
		return false;
	*ret = (struct ctx_jfr_header){
		.major = (uint16_t)fixed_at(bytes, 4, 2),
		.minor = (uint16_t)fixed_at(bytes, 6, 2),
		.size = fixed_at(bytes, 8, 8),
		.metadata_at = fixed_at(bytes, 24, 8),
		.start_ns = fixed_at(bytes, 32, 8),
		.duration_ns = fixed_at(bytes, 40, 8),
		.start_ticks = fixed_at(bytes, 48, 8),
		.ticks_per_second = fixed_at(bytes, 56, 8),
		.compressed = (bytes[67] & 1) != 0,
	};
	return ret->ticks_per_second != 0 && ret->start_ns <= INT64_MAX && ret->duration_ns <= INT64_MAX;
}

/* --- events --- */

struct ctx_jfr_bytes ctx_jfr_bytes_at(const struct ctx_jfr_chunk *chunk, const uint8_t *at)
{
	return (struct ctx_jfr_bytes){
		.cursor = ctx_cursor_make(at, (size_t)(chunk->bytes + chunk->end - at)),
		.compressed = chunk->header.compressed,
	};
}

/* What stands at `at`: false if it is not whole. `ret` is behind the type. */
static bool event_at(const struct ctx_jfr_chunk *chunk, size_t at, struct ctx_jfr_bytes *ret,
		     uint64_t *ret_type, size_t *ret_size)
{
	uint64_t size;

	*ret = ctx_jfr_bytes_at(chunk, chunk->bytes + at);
	size = ctx_jfr_get(ret, 4);
	if (size == 0 || size > chunk->end - at)
		return false;
	ret->cursor.end = chunk->bytes + at + size;
	*ret_size = (size_t)size;
	*ret_type = ctx_jfr_get(ret, 8);
	return !ret->cursor.failed && ret->cursor.at <= ret->cursor.end;
}

bool ctx_jfr_chunk_next(const struct ctx_jfr_chunk *chunk, size_t *at, struct ctx_jfr_event *ret)
{
	while (*at < chunk->end) {
		uint64_t type;
		size_t size;

		if (!event_at(chunk, *at, &ret->fields, &type, &size))
			return false;
		*at += size;
		if (type <= CTX_JFR_TYPE_CHECKPOINT)
			continue;
		ret->class = ctx_jfr_types_find(&chunk->types, type);
		if (ret->class != NONE)
			return true;
	}
	return false;
}

/* --- opening --- */

void ctx_jfr_chunk_deinit(struct ctx_jfr_chunk *chunk)
{
	for (size_t i = 0; chunk->pools != NULL && i < chunk->types.n_classes; i++)
		ctx_map64_deinit(&chunk->pools[i]);
	free(chunk->pools);
	free(chunk->entries);
	ctx_jfr_types_deinit(&chunk->types);
	*chunk = (struct ctx_jfr_chunk){0};
}

/* Behind start, duration and what else the heads of metadata and checkpoints have. */
static void skip_head(struct ctx_jfr_bytes *bytes, unsigned numbers)
{
	for (unsigned i = 0; i < numbers; i++)
		(void)ctx_jfr_get(bytes, 8);
}

static enum ctx_status add_entry(struct ctx_jfr_chunk *chunk, uint32_t class, uint64_t key, uint64_t at,
				 struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&chunk->pools[class], key);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place != CTX_MAP64_NONE) {
		chunk->entries[*place] = at;
		return CTX_OK;
	}
	*place = (uint32_t)chunk->n_entries;
	status = chunk->n_entries < UINT32_MAX - 1
			 ? ctx_grow(&chunk->entries, &chunk->entries_cap, chunk->n_entries + 1, err)
			 : ctx_err_set(err, CTX_E_LIMIT, "more than four thousand million constants");
	if (status == CTX_OK)
		chunk->entries[chunk->n_entries++] = at;
	return status;
}

/* An entry whose value is not whole is none; the rest of the checkpoint cannot be read. */
static enum ctx_status add_pool(struct ctx_jfr_chunk *chunk, struct ctx_jfr_bytes *bytes, struct ctx_err *err)
{
	uint32_t class = ctx_jfr_types_find(&chunk->types, ctx_jfr_get(bytes, 8));
	uint32_t n = ctx_jfr_get_count(bytes);
	enum ctx_status status = CTX_OK;

	if (class == NONE)
		bytes->cursor.failed = true;
	for (uint32_t i = 0; i < n && status == CTX_OK && !bytes->cursor.failed; i++) {
		uint64_t key = ctx_jfr_get(bytes, 8);
		uint64_t at = (uint64_t)(bytes->cursor.at - chunk->bytes);

		ctx_jfr_skip_class(&chunk->types, class, bytes);
		if (!bytes->cursor.failed)
			status = add_entry(chunk, class, key, at, err);
	}
	return status;
}

static enum ctx_status add_pools(struct ctx_jfr_chunk *chunk, struct ctx_jfr_bytes *bytes,
				 struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint32_t n;

	skip_head(bytes, 3); /* start, duration, the distance to the checkpoint before */
	(void)ctx_cursor_get_u8(&bytes->cursor);
	n = ctx_jfr_get_count(bytes);
	for (uint32_t i = 0; i < n && status == CTX_OK && !bytes->cursor.failed; i++)
		status = add_pool(chunk, bytes, err);
	chunk->damaged += bytes->cursor.failed;
	return status;
}

/* The end of the events that are whole, and the metadata that counts: of the header, else the last one. */
static bool find_metadata(struct ctx_jfr_chunk *chunk, struct ctx_jfr_bytes *ret)
{
	size_t at = CTX_JFR_HEADER_BYTES, size;
	struct ctx_jfr_bytes bytes;
	bool found = false, is_named = false;
	uint64_t type;

	chunk->end = chunk->n;
	while (at < chunk->n && event_at(chunk, at, &bytes, &type, &size)) {
		if (type == CTX_JFR_TYPE_METADATA && !is_named) {
			is_named = at == chunk->header.metadata_at;
			*ret = bytes;
			found = true;
		}
		at += size;
	}
	chunk->end = at < chunk->n ? at : chunk->n;
	return found;
}

enum ctx_status ctx_jfr_chunk_open(struct ctx_jfr_chunk *chunk, struct ctx_err *err)
{
	struct ctx_jfr_bytes bytes;
	enum ctx_status status;
	uint64_t type;
	size_t size;

	if (!find_metadata(chunk, &bytes))
		return ctx_err_set(err, CTX_E_FORMAT, "no metadata");
	skip_head(&bytes, 3); /* start, duration, number */
	status = ctx_jfr_types_read(&chunk->types, &bytes, err);
	if (status != CTX_OK)
		return status;
	chunk->pools = ctx_calloc(chunk->types.n_classes + 1, sizeof(*chunk->pools));
	if (chunk->pools == NULL)
		return ctx_err_nomem(err);
	for (size_t at = CTX_JFR_HEADER_BYTES; at < chunk->end && status == CTX_OK; at += size) {
		if (!event_at(chunk, at, &bytes, &type, &size))
			break;
		if (type == CTX_JFR_TYPE_CHECKPOINT)
			status = add_pools(chunk, &bytes, err);
	}
	return status;
}

/* --- values --- */

bool ctx_jfr_read(const struct ctx_jfr_chunk *chunk, uint32_t class, struct ctx_jfr_bytes *bytes,
		  struct ctx_jfr_object *object)
{
	const struct ctx_jfr_types *types = &chunk->types;
	const struct ctx_jfr_class *of = &types->classes[class];

	memset(object, 0, sizeof(*object));
	for (uint32_t i = 0; i < of->n_fields && !of->is_bad && !bytes->cursor.failed; i++) {
		const struct ctx_jfr_field *field = &types->fields[of->first_field + i];
		struct ctx_jfr_value value = {.field = field, .at = bytes->cursor.at};
		uint32_t kind =
			field->is_constant ? (uint32_t)CTX_JFR_LONG : types->classes[field->class].kind;

		if (field->is_array || kind == CTX_JFR_STRUCT || kind == CTX_JFR_STRING)
			ctx_jfr_skip_value(types, field, bytes);
		else
			value.number = ctx_jfr_get_kind((enum ctx_jfr_kind)kind, bytes);
		if (field->role != CTX_JFR_ROLES)
			object->values[field->role] = value;
	}
	return !of->is_bad && !bytes->cursor.failed;
}

/* Where the value of a constant begins. */
static bool constant_at(const struct ctx_jfr_chunk *chunk, uint32_t class, uint64_t key,
			struct ctx_jfr_bytes *ret)
{
	uint32_t entry = class != NONE ? ctx_map64_get(&chunk->pools[class], key) : NONE;

	if (entry == NONE)
		return false;
	*ret = ctx_jfr_bytes_at(chunk, chunk->bytes + chunk->entries[entry]);
	return true;
}

bool ctx_jfr_object(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value,
		    struct ctx_jfr_object *ret)
{
	const struct ctx_jfr_field *field = value->field;
	struct ctx_jfr_bytes bytes;

	if (field == NULL || field->is_array || field->class == NONE)
		return false;
	if (!field->is_constant)
		bytes = ctx_jfr_bytes_at(chunk, value->at);
	else if (!constant_at(chunk, field->class, value->number, &bytes))
		return false;
	return ctx_jfr_read(chunk, field->class, &bytes, ret);
}

bool ctx_jfr_item(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_field *field,
		  struct ctx_jfr_bytes *bytes, struct ctx_jfr_object *ret)
{
	struct ctx_jfr_bytes constant;

	if (field->class == NONE)
		return false;
	if (!field->is_constant)
		return ctx_jfr_read(chunk, field->class, bytes, ret);
	return constant_at(chunk, field->class, ctx_jfr_get(bytes, 8), &constant) && !bytes->cursor.failed &&
	       ctx_jfr_read(chunk, field->class, &constant, ret);
}

/* The text of a value of a type; true: to be continued with the value that `value` is then. */
static bool text_step(const struct ctx_jfr_chunk *chunk, struct ctx_jfr_value *value, struct ctx_buf *out)
{
	const struct ctx_jfr_field *field = value->field;
	struct ctx_jfr_bytes bytes;
	const struct ctx_jfr_class *class;
	uint64_t key;

	if (field->is_array || field->class == NONE)
		return false;
	class = &chunk->types.classes[field->class];
	if (!field->is_constant)
		bytes = ctx_jfr_bytes_at(chunk, value->at);
	else if (!constant_at(chunk, field->class, value->number, &bytes))
		return false;
	if (class->kind == CTX_JFR_STRING) {
		if (ctx_jfr_get_text(&bytes, out, &key) &&
		    constant_at(chunk, chunk->types.texts, key, &bytes))
			(void)ctx_jfr_get_text(&bytes, out, &key);
		return false;
	}
	if (class->is_bad || class->text_field == NONE)
		return false;
	for (uint32_t i = 0; i < class->text_field; i++)
		ctx_jfr_skip_value(&chunk->types, &chunk->types.fields[class->first_field + i], &bytes);
	*value = (struct ctx_jfr_value){.field = &chunk->types.fields[class->first_field + class->text_field],
					.at = bytes.cursor.at};
	if (value->field->is_constant)
		value->number = ctx_jfr_get(&bytes, 8);
	return !bytes.cursor.failed;
}

void ctx_jfr_text(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value, struct ctx_buf *out)
{
	struct ctx_jfr_value at = *value;

	for (unsigned i = 0; i < TEXTS_DEEP && at.field != NULL; i++) {
		if (!text_step(chunk, &at, out))
			break;
	}
}

/* --- times --- */

/* `value` * `by` / `of`, at most INT64_MAX. */
static uint64_t scale(uint64_t value, uint64_t by, uint64_t of)
{
	unsigned __int128 ret = (unsigned __int128)value * by / of;

	return ret < INT64_MAX ? (uint64_t)ret : INT64_MAX;
}

uint64_t ctx_jfr_time_ns(const struct ctx_jfr_chunk *chunk, uint64_t ticks)
{
	const struct ctx_jfr_header *header = &chunk->header;
	uint64_t since;

	if (ticks < header->start_ticks) {
		since = scale(header->start_ticks - ticks, NS_PER_S, header->ticks_per_second);
		return since < header->start_ns ? header->start_ns - since : 0;
	}
	since = scale(ticks - header->start_ticks, NS_PER_S, header->ticks_per_second);
	return since < INT64_MAX - header->start_ns ? header->start_ns + since : INT64_MAX;
}

uint64_t ctx_jfr_span_ns(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value)
{
	if (value->field == NULL || value->number > INT64_MAX)
		return 0;
	switch (value->field->unit) {
	case CTX_JFR_NS:
		return value->number;
	case CTX_JFR_US:
		return scale(value->number, 1000, 1);
	case CTX_JFR_MS:
		return scale(value->number, 1000000, 1);
	case CTX_JFR_S:
		return scale(value->number, NS_PER_S, 1);
	default:
		return scale(value->number, NS_PER_S, chunk->header.ticks_per_second);
	}
}

int64_t ctx_jfr_thousandths(const struct ctx_jfr_chunk *chunk, const struct ctx_jfr_value *value)
{
	double number;
	unsigned kind;

	if (value->field == NULL || value->field->is_constant || value->field->class == NONE)
		return 0;
	kind = chunk->types.classes[value->field->class].kind;
	memcpy(&number, &value->number, sizeof(number));
	if (kind != CTX_JFR_FLOAT && kind != CTX_JFR_DOUBLE)
		number = (double)(int64_t)value->number;
	return fabs(number) < 1e12 ? llround(number * 1000) : 0;
}
