#include "formats/export/exports.h"

#include <stddef.h>

const struct ctx_export_kind *const *ctx_exports(void)
{
	static const struct ctx_export_kind *const kinds[] = {
		&ctx_export_folded,  &ctx_export_callgrind,    &ctx_export_speedscope,
		&ctx_export_firefox, &ctx_export_chrome_trace, &ctx_export_pprof,
		&ctx_export_gprofng, &ctx_export_indicators,   NULL};

	return kinds;
}
