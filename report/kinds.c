#include "report/kinds.h"

#include <string.h>

#define PLACE(name) &ctx_report_##name,

static const struct ctx_report_kind *const kinds[] = {CTX_REPORTS(PLACE) NULL};

const struct ctx_report_kind *const *ctx_report_kinds(void)
{
	return kinds;
}

const struct ctx_report_kind *ctx_report_find(const char *name)
{
	for (const struct ctx_report_kind *const *kind = kinds; *kind != NULL; kind++) {
		if (strcmp((*kind)->name, name) == 0)
			return *kind;
	}
	return NULL;
}

static bool same_name(const char *a, const char *b)
{
	for (; *a != '\0' && (*a == '_' ? '-' : *a) == *b; a++)
		b++;
	return *a == *b;
}

const struct ctx_report_kind *ctx_report_find_alias(const char *name, bool *ret_takes_function)
{
	*ret_takes_function = false;
	for (const struct ctx_report_kind *const *kind = kinds; *kind != NULL; kind++) {
		const struct ctx_report_alias *alias = (*kind)->aliases;

		if (same_name(name, (*kind)->name))
			return *kind;
		for (; alias != NULL && alias->name != NULL; alias++) {
			if (!same_name(name, alias->name))
				continue;
			*ret_takes_function = alias->takes_function;
			return *kind;
		}
	}
	return NULL;
}

enum ctx_status ctx_report_print(const struct ctx_report_kind *kind, struct ctx_report_source *source,
				 const struct ctx_report_options *options, struct ctx_err *err)
{
	if (kind->order != NULL && options->sort != NULL)
		return ctx_err_set(err, CTX_E_ARG, "%s cannot be sorted%s", kind->name, kind->order);
	return kind->print(source, options, err);
}
