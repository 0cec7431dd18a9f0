#include "base/buf.h"
#include "base/mem.h"
#include "formats/experiment/exp_keep.h"
#include "formats/experiment/exp_log.h"

/* Appends a count of the line, unless it is 0. */
__attribute__((format(printf, 4, 0))) static void put_count(struct ctx_buf *text,
							    const struct ctx_exp_line *line, const char *name,
							    const char *format)
{
	uint64_t n = 0;

	(void)ctx_exp_line_number(line, name, &n);
	if (n != 0)
		ctx_buf_printf(text, format, (unsigned long long)n);
}

/* Reasons added by later versions are ignored. */
enum ctx_status ctx_exp_log_unwinding(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				      struct ctx_err *err)
{
	uint64_t counts[CTX_TRUNCATED_N], all = 0;
	struct ctx_buf text = {0};
	struct ctx_property *property;
	enum ctx_status status;

	for (size_t i = 0; i < CTX_TRUNCATED_N; i++) {
		if (!ctx_exp_line_number(line, ctx_exp_unwinding_names[i], &counts[i]) ||
		    counts[i] > UINT64_MAX / CTX_TRUNCATED_N)
			counts[i] = 0;
		all += counts[i];
	}
	ctx_buf_printf(&text, "%llu of %llu stacks up to their root",
		       (unsigned long long)counts[CTX_TRUNCATED_NOT], (unsigned long long)all);
	put_count(&text, line, "joined", " (%llu with callers of an earlier one)");
	put_count(&text, line, "gap", " (%llu with frames left out in the middle)");
	put_count(&text, line, "exec", " (%llu in an execve)");
	for (size_t i = CTX_TRUNCATED_NOT + 1; i < CTX_TRUNCATED_N; i++) {
		if (counts[i] != 0)
			ctx_buf_printf(&text, "; %llu: %s", (unsigned long long)counts[i],
				       ctx_truncation_text((enum ctx_truncation)i));
	}
	put_count(&text, line, "unread", "; of %llu the recorder may not read the memory of the process");
	put_count(&text, line, "by_code", "; %llu by instructions");
	put_count(&text, line, "by_frame_pointer", "; %llu by frame pointers");
	put_count(&text, line, "by_chain", "; %llu along the kernel's frame pointers");
	ctx_buf_put_u8(&text, 0);
	status = ctx_buf_check(&text, err);
	if (status == CTX_OK)
		status = ctx_grow(&log->properties, &log->properties_cap, log->n_properties + 1, err);
	if (status == CTX_OK) {
		property = &log->properties[log->n_properties];
		property->key = "unwinding";
		property->value = ctx_arena_strdup(&log->arena, (const char *)text.bytes);
		if (property->value == NULL)
			status = ctx_err_nomem(err);
		log->n_properties += status == CTX_OK;
	}
	ctx_buf_deinit(&text);
	return status;
}
