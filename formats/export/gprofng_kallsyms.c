#include "base/fileio.h"
#include "base/mem.h"
#include "formats/export/export_stack.h"
#include "formats/export/gprofng_texts.h"
#include "model/event_source.h"

#include <inttypes.h>
#include <string.h>

/* "[ext4]" for "[ext4]" and ".../ext4.ko.xz"; empty for the kernel itself. */
static void put_module(struct ctx_buf *out, const char *path)
{
	const char *base = ctx_path_base(path);
	size_t n = strcspn(base + (base[0] == '['), ".]");

	if (strncmp(base, "[kernel", strlen("[kernel")) == 0 || n == 0)
		return;
	ctx_buf_put_text(out, "\t[");
	ctx_buf_put(out, base + (base[0] == '['), n);
	ctx_buf_put_text(out, "]");
}

static void put_name(struct ctx_buf *out, const struct ctx_function_info *info)
{
	size_t begin = out->n;

	ctx_export_put_text(out, info->linkage_name[0] != '\0' ? info->linkage_name : info->name);
	for (size_t i = begin; i < out->n; i++) {
		if (out->bytes[i] == ' ')
			out->bytes[i] = '_';
	}
}

/*
 * A kallsyms function reaches to the next symbol of any type: before a gap
 * a data symbol ends it.
 */
static void put_object(struct ctx_buf *out, const struct ctx_export_input *input,
		       const struct ctx_gpx_object *object, const char *path)
{
	for (size_t i = 0; i < object->n_symbols; i++) {
		const struct ctx_gpx_symbol *symbol = &object->symbols[i];
		const struct ctx_function_info *info = symbol->function < input->profile->n_functions
							       ? &input->profile->functions[symbol->function]
							       : NULL;

		if (symbol->begin < CTX_KERNEL_START || info == NULL || info->kind != CTX_FUNCTION_ORDINARY)
			continue;
		ctx_buf_printf(out, "%016" PRIx64 " t ", symbol->begin);
		put_name(out, info);
		put_module(out, path);
		ctx_buf_put_text(out, "\n");
		if (i + 1 == object->n_symbols || object->symbols[i + 1].begin != symbol->end)
			ctx_buf_printf(out, "%016" PRIx64 " d -\n", symbol->end);
	}
}

enum ctx_status ctx_gpx_kallsyms_write(const struct ctx_export_input *input,
				       const struct ctx_gpx_objects *objects, const char *directory,
				       struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "kallsyms");
	struct ctx_buf out = {0};
	enum ctx_status status;

	for (uint32_t i = 0; i < input->profile->n_objects; i++)
		put_object(&out, input, &objects->items[i], input->profile->objects[i].path);
	status = path != NULL ? ctx_buf_check(&out, err) : ctx_err_nomem(err);
	if (status == CTX_OK && out.n != 0)
		status = ctx_file_replace(path, out.bytes, out.n, err);
	ctx_buf_deinit(&out);
	return status;
}
