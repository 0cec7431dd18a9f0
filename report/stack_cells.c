#include "report/stack_cells.h"

#include "report/part_cells.h"

static uint32_t function_at(const struct ctx_profile *profile, uint32_t stack, uint32_t depth)
{
	return profile->cct.key[ctx_trie_ancestor(&profile->cct, stack, depth)];
}

static uint32_t depth_of(const struct ctx_profile *profile, uint32_t stack)
{
	return stack < profile->cct.n ? profile->cct.depth[stack] : 0;
}

void ctx_stack_put_list(struct ctx_out *out, const char *key, uint32_t stack)
{
	const struct ctx_profile *profile = out->profile;

	ctx_out_list_begin(out, key);
	for (uint32_t i = 1; i <= depth_of(profile, stack); i++)
		ctx_out_list_name(out, ctx_function_cell(profile, function_at(profile, stack, i)).name);
	ctx_out_list_end(out);
}

struct ctx_cell ctx_stack_joined_cell(struct ctx_out *out, uint32_t stack, struct ctx_buf *buf)
{
	const struct ctx_profile *profile = out->profile;

	ctx_buf_clear(buf);
	for (uint32_t i = 1; i <= depth_of(profile, stack); i++) {
		if (i != 1)
			ctx_buf_put_u8(buf, ';');
		ctx_buf_put_text(buf, ctx_function_cell(profile, function_at(profile, stack, i)).name);
	}
	ctx_buf_put_u8(buf, '\0');
	if (buf->failed) {
		ctx_out_fail(out, CTX_E_NOMEM);
		return ctx_cell_name(NULL);
	}
	return ctx_cell_name((const char *)buf->bytes);
}
