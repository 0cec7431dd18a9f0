#include "collect/vm_image.h"

#include "base/mem.h"
#include "model/profile.h"

#include <string.h>

#define CODES_MAX ((size_t)1 << 20)

void ctx_vm_image_deinit(struct ctx_vm_image *image)
{
	for (size_t i = 0; i < image->n_codes; i++)
		free(image->codes[i].instructions);
	ctx_arena_deinit(&image->arena);
	free(image->methods);
	free(image->codes);
	ctx_map64_deinit(&image->by_id);
	ctx_map64_deinit(&image->by_address);
	ctx_map64_deinit(&image->code_of_number);
	ctx_ranges_deinit(&image->ranges);
	*image = (struct ctx_vm_image){0};
}

/* Copies what is left of a message. *ret is NULL where there is no room for it, which is counted. CTX_E_NOMEM. */
static enum ctx_status keep(struct ctx_vm_image *image, const struct ctx_cursor *rest, const uint8_t **ret,
			    struct ctx_err *err)
{
	size_t n = ctx_cursor_left(rest);
	uint8_t *copy;

	*ret = NULL;
	if (image->arena.total_bytes >= CTX_VM_IMAGE_BYTES_MAX) {
		image->left_out++;
		return CTX_OK;
	}
	copy = ctx_arena_alloc(&image->arena, n + 1);
	if (copy == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		memcpy(copy, rest->at, n);
	*ret = copy;
	return CTX_OK;
}

static enum ctx_status set(struct ctx_map64 *map, uint64_t key, uint32_t value, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(map, key);

	if (place == NULL)
		return ctx_err_nomem(err);
	*place = value;
	return CTX_OK;
}

/* A class that is reported again, since it was redefined or was loaded while events were switched on, replaces the first. */
static enum ctx_status add_method(struct ctx_vm_image *image, const struct ctx_vm_method *method,
				  const struct ctx_vm_known_method *known, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&image->methods, &image->methods_cap, image->n_methods + 1, err);
	uint32_t index = (uint32_t)image->n_methods;

	if (status != CTX_OK)
		return status;
	image->methods[image->n_methods++] = *known;
	status = set(&image->by_id, method->id, index, err);
	return status == CTX_OK && method->address != 0 ? set(&image->by_address, method->address, index, err)
							: status;
}

static enum ctx_status take_methods(struct ctx_vm_image *image, const struct ctx_cursor *rest,
				    struct ctx_err *err)
{
	struct ctx_vm_known_method known = {.numbers = {[0 ... CTX_VM_RUN_N - 1] = CTX_NONE}};
	enum ctx_status status = keep(image, rest, &known.class, err);
	struct ctx_cursor cursor;
	struct ctx_vm_class class;

	if (known.class == NULL)
		return status;
	cursor = ctx_cursor_make(known.class, ctx_cursor_left(rest));
	known.end = cursor.end;
	if (!ctx_vm_parse_class(&cursor, &class)) {
		image->damaged++;
		return CTX_OK;
	}
	for (uint32_t i = 0; i < class.n_methods && status == CTX_OK; i++) {
		struct ctx_vm_method method;

		known.at = cursor.at;
		if (!ctx_vm_parse_method(&cursor, &method)) {
			image->damaged++;
			break;
		}
		status = add_method(image, &method, &known, err);
	}
	return status;
}

static enum ctx_status take_code(struct ctx_vm_image *image, struct ctx_cursor *rest, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&image->codes, &image->codes_cap, image->n_codes + 1, err);
	struct ctx_vm_known_code *known;
	struct ctx_vm_code code;

	if (status != CTX_OK)
		return status;
	if (!ctx_vm_parse_code(rest, &code) || image->n_codes >= CODES_MAX) {
		image->damaged += image->n_codes < CODES_MAX;
		image->left_out += image->n_codes >= CODES_MAX;
		return CTX_OK;
	}
	known = &image->codes[image->n_codes];
	*known = (struct ctx_vm_known_code){
		.address = code.address,
		.method = code.method,
		.unload_ns = UINT64_MAX,
		.name = ctx_arena_strndup(&image->arena, code.name.at, code.name.n),
		.bytes = code.bytes,
	};
	if (known->name == NULL)
		return ctx_err_nomem(err);
	return set(&image->code_of_number, code.number, (uint32_t)image->n_codes++, err);
}

/* The incomplete code that a message continues; NULL: none. */
static struct ctx_vm_known_code *unfinished(struct ctx_vm_image *image, struct ctx_cursor *rest)
{
	uint32_t number = ctx_cursor_get_u32(rest);
	uint32_t index = ctx_map64_get(&image->code_of_number, number);
	struct ctx_vm_known_code *code =
		index != CTX_MAP64_NONE && !rest->failed ? &image->codes[index] : NULL;

	/* Its first message may have been dropped. */
	return code != NULL && !code->is_complete ? code : NULL;
}

static enum ctx_status take_rows(struct ctx_vm_image *image, struct ctx_cursor *rest, struct ctx_err *err)
{
	struct ctx_vm_known_code *code = unfinished(image, rest);
	uint32_t n = ctx_cursor_get_u32(rest);
	struct ctx_vm_kept_rows *rows;
	enum ctx_status status;
	const uint8_t *kept;

	if (code == NULL || rest->failed)
		return CTX_OK;
	status = keep(image, rest, &kept, err);
	if (kept == NULL)
		return status;
	rows = ctx_arena_alloc(&image->arena, sizeof(*rows));
	if (rows == NULL)
		return ctx_err_nomem(err);
	*rows = (struct ctx_vm_kept_rows){.at = kept, .end = kept + ctx_cursor_left(rest), .n = n};
	if (code->last_rows != NULL)
		code->last_rows->next = rows;
	else
		code->rows = rows;
	code->last_rows = rows;
	return CTX_OK;
}

static enum ctx_status take_bytes(struct ctx_vm_image *image, struct ctx_cursor *rest, struct ctx_err *err)
{
	struct ctx_vm_known_code *code = unfinished(image, rest);
	uint32_t at = ctx_cursor_get_u32(rest);
	size_t n = ctx_cursor_left(rest);

	if (code == NULL || rest->failed)
		return CTX_OK;
	if (at > code->bytes || n > code->bytes - at) {
		image->damaged++;
		return CTX_OK;
	}
	if (code->instructions == NULL) {
		if (image->instruction_bytes + code->bytes > CTX_VM_IMAGE_BYTES_MAX) {
			image->left_out++;
			return CTX_OK;
		}
		code->instructions = ctx_calloc(1, code->bytes);
		image->instruction_bytes += code->bytes;
	}
	if (code->instructions == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		memcpy(code->instructions + at, rest->at, n);
	return CTX_OK;
}

/* The first moment at which nothing else was there: code runs before its message is sent, which is at `sent_ns`. */
static uint64_t begin_of(const struct ctx_vm_image *image, const struct ctx_vm_known_code *code,
			 uint64_t sent_ns)
{
	uint64_t begin_ns = 0, end = code->address + code->bytes;

	for (size_t i = ctx_ranges_below(&image->ranges, end); i < image->ranges.n; i++) {
		const struct ctx_range *range = &image->ranges.items[i];
		uint64_t gone_ns = image->codes[range->value].unload_ns;

		if (range->end <= code->address)
			break;
		if (gone_ns > sent_ns) /* its unloading was not reported */
			gone_ns = sent_ns;
		begin_ns = gone_ns > begin_ns ? gone_ns : begin_ns;
	}
	return begin_ns;
}

static enum ctx_status take_end(struct ctx_vm_image *image, const struct ctx_vm_head *head,
				struct ctx_cursor *rest, uint32_t *ret_code, struct ctx_err *err)
{
	struct ctx_vm_known_code *code = unfinished(image, rest);
	uint64_t bytes;
	enum ctx_status status;

	if (code == NULL)
		return CTX_OK;
	code->begin_ns = begin_of(image, code, head->time_ns);
	image->ranges.max = CODES_MAX;
	status = ctx_ranges_put(&image->ranges,
				(struct ctx_range){code->address, code->address + code->bytes,
						   (uint64_t)(code - image->codes)},
				&bytes, err);
	if (status != CTX_OK)
		return status;
	code->is_complete = true;
	if (image->code_end == 0 || code->address < image->code_begin)
		image->code_begin = code->address;
	if (code->address + code->bytes > image->code_end)
		image->code_end = code->address + code->bytes;
	*ret_code = (uint32_t)(code - image->codes);
	return CTX_OK;
}

static void take_unload(struct ctx_vm_image *image, const struct ctx_vm_head *head, struct ctx_cursor *rest)
{
	uint64_t address = ctx_cursor_get_u64(rest);
	struct ctx_vm_known_code *code = rest->failed ? NULL : ctx_vm_image_code_at(image, address);

	if (code != NULL && code->address == address && code->unload_ns == UINT64_MAX)
		code->unload_ns = head->time_ns;
}

enum ctx_status ctx_vm_image_take(struct ctx_vm_image *image, const struct ctx_vm_head *head,
				  struct ctx_cursor *rest, uint32_t *ret_code, struct ctx_err *err)
{
	*ret_code = CTX_NONE;
	switch (head->kind) {
	case CTX_VM_METHODS:
		return take_methods(image, rest, err);
	case CTX_VM_CODE:
		return take_code(image, rest, err);
	case CTX_VM_CODE_ROWS:
		return take_rows(image, rest, err);
	case CTX_VM_CODE_BYTES:
		return take_bytes(image, rest, err);
	case CTX_VM_CODE_END:
		return take_end(image, head, rest, ret_code, err);
	case CTX_VM_UNLOAD:
		take_unload(image, head, rest);
		return CTX_OK;
	default:
		return CTX_OK;
	}
}

void ctx_vm_image_method(const struct ctx_vm_image *image, uint32_t index, struct ctx_vm_class *ret_class,
			 struct ctx_vm_method *ret)
{
	const struct ctx_vm_known_method *known = &image->methods[index];
	struct ctx_cursor class = ctx_cursor_make(known->class, (size_t)(known->end - known->class));
	struct ctx_cursor method = ctx_cursor_make(known->at, (size_t)(known->end - known->at));

	/* They were parsed before they were kept. */
	(void)ctx_vm_parse_class(&class, ret_class);
	(void)ctx_vm_parse_method(&method, ret);
}

void ctx_vm_image_forget_instructions(struct ctx_vm_image *image, struct ctx_vm_known_code *code)
{
	if (code->instructions == NULL)
		return;
	image->instruction_bytes -= code->bytes;
	free(code->instructions);
	code->instructions = NULL;
}

struct ctx_vm_known_code *ctx_vm_image_code_at(const struct ctx_vm_image *image, uint64_t address)
{
	const struct ctx_range *range = ctx_ranges_find(&image->ranges, address, NULL);

	return range != NULL ? &image->codes[range->value] : NULL;
}
