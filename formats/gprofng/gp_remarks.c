/* The lines on the experiment in the header of reports: properties and warnings. */
#include "formats/gprofng/gp_reader.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum ctx_status ctx_gp_property(struct ctx_gp_reader *reader, struct ctx_err *err, const char *key,
				const char *fmt, ...)
{
	struct ctx_source_info *info = &reader->source.info;
	char text[4096];
	va_list args;
	enum ctx_status status;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (text[0] == '\0')
		return CTX_OK;
	status = ctx_grow(&info->properties, &reader->n_properties_cap, info->n_properties + 1, err);
	if (status != CTX_OK)
		return status;
	info->properties[info->n_properties].key = key;
	info->properties[info->n_properties].value = ctx_arena_strdup(&reader->arena, text);
	if (info->properties[info->n_properties].value == NULL)
		return ctx_err_nomem(err);
	info->n_properties++;
	return CTX_OK;
}

enum ctx_status ctx_gp_warn(struct ctx_gp_reader *reader, struct ctx_err *err, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	enum ctx_status status;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (size_t i = 0; i < reader->warnings.n; i++) {
		if (strcmp(reader->warnings.texts[i], text) == 0)
			return CTX_OK;
	}
	if (reader->warnings.n == 200)
		return CTX_OK;
	status = ctx_grow(&reader->warnings.texts, &reader->warnings.cap, reader->warnings.n + 1, err);
	if (status != CTX_OK)
		return status;
	reader->warnings.texts[reader->warnings.n] = ctx_arena_strdup(&reader->arena, text);
	if (reader->warnings.texts[reader->warnings.n] == NULL)
		return ctx_err_nomem(err);
	reader->warnings.n++;
	return CTX_OK;
}
