#include "report/report_exports.h"

#include <stddef.h>

const struct ctx_export_kind *const *ctx_report_exports(void)
{
	static const struct ctx_export_kind *const kinds[] = {&ctx_export_html, &ctx_export_html_static,
							      &ctx_export_flamegraph, &ctx_export_lcov, NULL};

	return kinds;
}
