/*
 * Takes arbitrary bytes as messages of an agent in a virtual machine, each behind a byte of its length: methods that were kept can be
 * parsed again, code is at the addresses of its message, and rows are within their messages. And as
 * the file of its counters.
 */
#include "collect/vm_image.h"
#include "collect/vm_perfdata.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ctx_vm_image *image)
{
	for (uint32_t i = 0; i < image->n_methods; i++) {
		struct ctx_vm_class class;
		struct ctx_vm_method method;

		ctx_vm_image_method(image, i, &class, &method);
		if (method.lines == NULL || ctx_vm_line_of(&method, method.code_bytes) > UINT16_MAX)
			abort();
	}
	for (size_t i = 0; i < image->ranges.n; i++) {
		const struct ctx_range *range = &image->ranges.items[i];
		const struct ctx_vm_known_code *code = ctx_vm_image_code_at(image, range->begin);

		if (code == NULL || !code->is_complete || range->begin - code->address >= code->bytes)
			abort();
		for (const struct ctx_vm_kept_rows *rows = code->rows; rows != NULL; rows = rows->next) {
			struct ctx_cursor cursor = ctx_cursor_make(rows->at, (size_t)(rows->end - rows->at));
			struct ctx_vm_row row;

			for (uint32_t k = 0; k < rows->n && ctx_vm_parse_row(&cursor, &row); k++)
				(void)ctx_vm_place_of(&row, row.depth - 1);
		}
	}
}

static void check_objects(struct ctx_cursor rest)
{
	struct ctx_cursor copy = rest;
	struct ctx_vm_object object;

	if (ctx_vm_parse_allocation(&copy, &object) && object.n_frames != 0)
		(void)ctx_vm_object_frame(&object, object.n_frames - 1);
	if (ctx_vm_parse_monitor(&rest, &object) && object.n_frames != 0)
		(void)ctx_vm_object_frame(&object, object.n_frames - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_vm_image image = {0};
	struct ctx_vm_counters counters;

	if (!ctx_vm_perfdata_parse(data, size, &counters) && counters.running_ns != CTX_VM_UNKNOWN)
		abort();
	while (size != 0) {
		size_t n = data[0] < size ? data[0] : size - 1;
		struct ctx_cursor rest;
		struct ctx_vm_head head;
		struct ctx_vm_hello hello;
		struct ctx_vm_bye bye;
		uint32_t code;

		if (ctx_vm_parse_head(data + 1, n, &head, &rest)) {
			struct ctx_cursor copy = rest;

			(void)ctx_vm_parse_hello(&copy, &hello);
			copy = rest;
			(void)ctx_vm_parse_bye(&copy, &bye);
			check_objects(rest);
			if (ctx_vm_image_take(&image, &head, &rest, &code, NULL) != CTX_OK)
				break;
		}
		data += n + 1;
		size -= n + 1;
	}
	check(&image);
	ctx_vm_image_deinit(&image);
	return 0;
}
