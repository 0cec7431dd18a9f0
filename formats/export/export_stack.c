#include "formats/export/export_stack.h"

#include "base/fileio.h"
#include "base/utf8.h"

#include <string.h>

size_t ctx_export_frames(const struct ctx_profile *profile, uint32_t stack, uint32_t *functions)
{
	const struct ctx_trie *cct = &profile->cct;
	size_t depth = cct->depth[stack];

	for (size_t i = depth; i > 0; i--) {
		functions[i - 1] = cct->key[stack];
		stack = cct->parent[stack];
	}
	return depth;
}

uint32_t ctx_export_deepest(const struct ctx_trie *cct)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < cct->n; i++)
		depth = cct->depth[i] > depth ? cct->depth[i] : depth;
	return depth;
}

const char *ctx_export_object(const struct ctx_profile *profile, uint32_t function)
{
	uint32_t object = profile->functions[function].object;

	return object != CTX_NONE ? ctx_path_base(profile->objects[object].path) : "";
}

void ctx_export_put_text(struct ctx_buf *buf, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		uint32_t code;
		size_t length = ctx_utf8_decode(text, n, &code);

		if (code == UINT32_MAX)
			ctx_buf_printf(buf, "\xef\xbf\xbd");
		else if (code < 0x20 || code == 0x7f)
			ctx_buf_put_u8(buf, ' ');
		else
			ctx_buf_put(buf, text, length);
		text += length;
		n -= length;
	}
}

void ctx_export_put_object(struct ctx_buf *buf, const struct ctx_profile *profile, uint32_t function)
{
	const char *object = ctx_export_object(profile, function);
	bool bracketed = object[0] == '['; /* "[kernel]" */

	ctx_buf_put_text(buf, bracketed ? " " : " [");
	ctx_export_put_text(buf, object);
	ctx_buf_put_text(buf, bracketed ? "" : "]");
}

void ctx_export_put_name(struct ctx_buf *buf, const struct ctx_profile *profile, uint32_t function)
{
	const struct ctx_function_info *info = &profile->functions[function];

	ctx_export_put_text(buf, info->name);
	if (info->kind == CTX_FUNCTION_UNKNOWN && info->object != CTX_NONE)
		ctx_export_put_object(buf, profile, function);
}
