#include "collect/trace_marks.h"

#include <string.h>

#define OTHER_NAMES "<Others>"

void ctx_trace_marks_deinit(struct ctx_trace_marks *marks)
{
	ctx_strtab_deinit(&marks->names);
}

/* NULL: no memory. */
static const char *keep(struct ctx_trace_marks *marks, const char *text, size_t n)
{
	uint32_t id = ctx_strtab_find(&marks->names, text, n);

	if (id == UINT32_MAX && marks->names.n >= CTX_TRACE_NAMES_MAX)
		return OTHER_NAMES;
	if (id == UINT32_MAX && ctx_strtab_add(&marks->names, text, n, &id, NULL) != CTX_OK)
		return NULL;
	return marks->names.strings[id];
}

bool ctx_trace_mark_read(const struct ctx_trace_record *record, struct ctx_trace_marks *marks,
			 struct ctx_exp_mark *ret)
{
	size_t n = strnlen(record->text, record->text_bytes);

	if (record->words[1] >= CTX_MARK_N || n == 0 || n > CTX_RT_MARK_NAME_MAX)
		return false;
	ret->time_ns = record->words[0];
	ret->operation = (uint8_t)record->words[1];
	ret->value = (int64_t)record->words[2];
	ret->name = keep(marks, record->text, n);
	return ret->name != NULL;
}
