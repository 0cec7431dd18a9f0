#include "collect/vm_parse.h"

#include <string.h>

#define PLACE_BYTES 12u
#define LINE_BYTES 4u
#define DEPTH_MAX 1024u
#define OBJECT_BYTES_MAX ((uint64_t)1 << 40)
#define CODE_BYTES_MAX ((uint32_t)64 << 20) /* of one method, or stub */

static struct ctx_vm_text get_text(struct ctx_cursor *rest)
{
	size_t n = ctx_cursor_get_u16(rest);
	const uint8_t *at = ctx_cursor_get_bytes(rest, n);

	return at != NULL ? (struct ctx_vm_text){(const char *)at, n} : (struct ctx_vm_text){"", 0};
}

bool ctx_vm_parse_head(const uint8_t *bytes, size_t n, struct ctx_vm_head *ret, struct ctx_cursor *ret_rest)
{
	*ret_rest = ctx_cursor_make(bytes, n);
	ret->kind = ctx_cursor_get_u32(ret_rest);
	ret->dropped = ctx_cursor_get_u32(ret_rest);
	ret->time_ns = ctx_cursor_get_u64(ret_rest);
	return !ret_rest->failed && ret->kind != 0 && ret->kind < CTX_VM_MESSAGE_N;
}

bool ctx_vm_parse_hello(struct ctx_cursor *rest, struct ctx_vm_hello *ret)
{
	ret->message_version = ctx_cursor_get_u32(rest);
	ret->name = get_text(rest);
	ret->version = get_text(rest);
	ret->collector = get_text(rest);
	ret->command = get_text(rest);
	ret->heap_max_bytes = ctx_cursor_get_u64(rest);
	return !rest->failed && ret->message_version == CTX_VM_VERSION;
}

bool ctx_vm_parse_class(struct ctx_cursor *rest, struct ctx_vm_class *ret)
{
	ret->name = get_text(rest);
	ret->file = get_text(rest);
	ret->n_methods = ctx_cursor_get_u32(rest);
	return !rest->failed;
}

bool ctx_vm_parse_method(struct ctx_cursor *rest, struct ctx_vm_method *ret)
{
	ret->id = ctx_cursor_get_u64(rest);
	ret->address = ctx_cursor_get_u64(rest);
	ret->code_begin = ctx_cursor_get_u64(rest);
	ret->code_bytes = ctx_cursor_get_u32(rest);
	ret->is_native = ctx_cursor_get_u32(rest) != 0;
	ret->name = get_text(rest);
	ret->signature = get_text(rest);
	ret->n_lines = ctx_cursor_get_u32(rest);
	if (ret->n_lines > ctx_cursor_left(rest) / LINE_BYTES)
		return false;
	ret->lines = ctx_cursor_get_bytes(rest, (size_t)ret->n_lines * LINE_BYTES);
	return !rest->failed;
}

static uint16_t u16_at(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

uint32_t ctx_vm_line_of(const struct ctx_vm_method *method, uint32_t bytecode)
{
	uint32_t line = 0, best = 0;

	/* Compilers write the entries in any order. */
	for (uint32_t i = 0; i < method->n_lines; i++) {
		uint32_t begin = u16_at(method->lines + (size_t)i * LINE_BYTES);

		if (begin <= bytecode && (line == 0 || begin >= best)) {
			best = begin;
			line = u16_at(method->lines + (size_t)i * LINE_BYTES + 2);
		}
	}
	return line;
}

bool ctx_vm_parse_code(struct ctx_cursor *rest, struct ctx_vm_code *ret)
{
	ret->number = ctx_cursor_get_u32(rest);
	ret->address = ctx_cursor_get_u64(rest);
	ret->bytes = ctx_cursor_get_u32(rest);
	ret->method = ctx_cursor_get_u64(rest);
	ret->name = get_text(rest);
	return !rest->failed && ret->bytes != 0 && ret->bytes <= CODE_BYTES_MAX && ret->address != 0 &&
	       ret->address <= UINT64_MAX - ret->bytes;
}

bool ctx_vm_parse_row(struct ctx_cursor *rest, struct ctx_vm_row *ret)
{
	ret->end = ctx_cursor_get_u32(rest);
	ret->depth = ctx_cursor_get_u32(rest);
	if (rest->failed || ret->depth == 0 || ret->depth > DEPTH_MAX)
		return false;
	ret->places = ctx_cursor_get_bytes(rest, (size_t)ret->depth * PLACE_BYTES);
	return !rest->failed;
}

static struct ctx_vm_place place_at(const uint8_t *at)
{
	struct ctx_vm_place place;

	memcpy(&place.method, at, sizeof(place.method));
	memcpy(&place.bytecode, at + sizeof(place.method), sizeof(place.bytecode));
	return place;
}

struct ctx_vm_place ctx_vm_place_of(const struct ctx_vm_row *row, uint32_t i)
{
	return place_at(row->places + (size_t)i * PLACE_BYTES);
}

/* The class and the stack, at the end of a message. */
static bool get_stack(struct ctx_cursor *rest, struct ctx_vm_object *ret)
{
	ret->class = get_text(rest);
	ret->n_frames = ctx_cursor_get_u32(rest);
	if (rest->failed || ret->n_frames > CTX_VM_STACK_MAX)
		return false;
	ret->frames = ctx_cursor_get_bytes(rest, (size_t)ret->n_frames * PLACE_BYTES);
	return !rest->failed;
}

bool ctx_vm_parse_allocation(struct ctx_cursor *rest, struct ctx_vm_object *ret)
{
	*ret = (struct ctx_vm_object){.tid = ctx_cursor_get_u32(rest)};
	ret->bytes = ctx_cursor_get_u64(rest);
	return get_stack(rest, ret) && ret->bytes != 0 && ret->bytes <= OBJECT_BYTES_MAX;
}

bool ctx_vm_parse_monitor(struct ctx_cursor *rest, struct ctx_vm_object *ret)
{
	*ret = (struct ctx_vm_object){.tid = ctx_cursor_get_u32(rest)};
	ret->flags = ctx_cursor_get_u32(rest);
	ret->owner = ctx_cursor_get_u32(rest);
	ret->begin_ns = ctx_cursor_get_u64(rest);
	ret->hash = ctx_cursor_get_u64(rest);
	return get_stack(rest, ret);
}

struct ctx_vm_place ctx_vm_object_frame(const struct ctx_vm_object *object, uint32_t i)
{
	return place_at(object->frames + (size_t)i * PLACE_BYTES);
}

bool ctx_vm_parse_bye(struct ctx_cursor *rest, struct ctx_vm_bye *ret)
{
	ret->heap_used_bytes = ctx_cursor_get_u64(rest);
	ret->heap_max_bytes = ctx_cursor_get_u64(rest);
	ret->classes = ctx_cursor_get_u64(rest);
	ret->compilations = ctx_cursor_get_u64(rest);
	return !rest->failed;
}
