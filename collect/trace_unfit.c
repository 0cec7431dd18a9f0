#include "collect/trace_unfit.h"

#include <string.h>

/* As a terminal may print it: neither control characters of ASCII nor those of Latin 1 in UTF-8. */
static void copy_name(char out[CTX_TRACE_UNFIT_NAME], const char *text, size_t n)
{
	size_t first = n < CTX_TRACE_UNFIT_NAME ? 0 : n - (CTX_TRACE_UNFIT_NAME - 1);

	for (size_t i = first; i < n; i++) {
		unsigned char c = (unsigned char)text[i], before = i != 0 ? (unsigned char)text[i - 1] : 0;

		out[i - first] = c < ' ' || c == 0x7f || (before == 0xc2 && c < 0xa0) ? '?' : (char)c;
	}
	out[n - first] = '\0';
}

static struct ctx_trace_unfit_program *find(struct ctx_trace_unfit *unfit, const char *name,
					    enum ctx_program why)
{
	for (size_t i = 0; i < unfit->n; i++) {
		if (unfit->programs[i].why == why && strcmp(unfit->programs[i].name, name) == 0)
			return &unfit->programs[i];
	}
	if (unfit->n == CTX_TRACE_UNFIT_MAX)
		return NULL;
	return &unfit->programs[unfit->n++];
}

bool ctx_trace_unfit_add(struct ctx_trace_unfit *unfit, const struct ctx_trace_record *record)
{
	uint64_t why = record->words[1];
	size_t n = record->text != NULL ? strnlen(record->text, record->text_bytes) : 0;
	struct ctx_trace_unfit_program *program;
	char name[CTX_TRACE_UNFIT_NAME];

	if (why >= CTX_PROGRAM_N || why == CTX_PROGRAM_FITS || why == CTX_PROGRAM_UNKNOWN || n == 0)
		return false;
	copy_name(name, record->text, n);
	program = find(unfit, name, (enum ctx_program)why);
	if (program == NULL)
		return true;
	memcpy(program->name, name, sizeof(name));
	program->why = (enum ctx_program)why;
	program->times++;
	unfit->times++;
	return true;
}
