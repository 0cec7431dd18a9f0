#include "ctxan/export_kinds.h"

#include "base/mem.h"
#include "formats/export/exports.h"
#include "report/report_exports.h"

#include <string.h>

const struct ctx_export_kind *ctx_export_kind_at(size_t number)
{
	const struct ctx_export_kind *const *lists[] = {ctx_report_exports(), ctx_exports()};

	for (size_t i = 0; i < CTX_COUNT_OF(lists); i++) {
		for (const struct ctx_export_kind *const *kind = lists[i]; *kind != NULL; kind++) {
			if (number-- == 0)
				return *kind;
		}
	}
	return NULL;
}

const struct ctx_export_kind *ctx_export_kind_find(const char *name)
{
	const struct ctx_export_kind *kind;

	for (size_t i = 0; (kind = ctx_export_kind_at(i)) != NULL; i++) {
		if (strcmp(kind->name, name) == 0)
			break;
	}
	return kind;
}
