/* The reports, one file each; kinds.c has the table. */
#ifndef CTX_REPORT_KINDS_H
#define CTX_REPORT_KINDS_H

#include "report/report.h"

#define CTX_REPORT_DECLARE(name)                                                                             \
	CTX_MUST_CHECK enum ctx_status ctx_report_##name(const struct ctx_report_input *input,               \
							 const struct ctx_report_options *options,           \
							 struct ctx_err *err)

CTX_REPORT_DECLARE(header);
CTX_REPORT_DECLARE(overview);
CTX_REPORT_DECLARE(samples);
CTX_REPORT_DECLARE(functions);
CTX_REPORT_DECLARE(objects);
CTX_REPORT_DECLARE(lines);
CTX_REPORT_DECLARE(pcs);
CTX_REPORT_DECLARE(source);
CTX_REPORT_DECLARE(disasm);
CTX_REPORT_DECLARE(tree);
CTX_REPORT_DECLARE(callers_callees);
CTX_REPORT_DECLARE(stacks);
CTX_REPORT_DECLARE(states);
CTX_REPORT_DECLARE(wakers);
CTX_REPORT_DECLARE(heap);
CTX_REPORT_DECLARE(leaks);
CTX_REPORT_DECLARE(sync);
CTX_REPORT_DECLARE(io);
CTX_REPORT_DECLARE(threads);
CTX_REPORT_DECLARE(processes);
CTX_REPORT_DECLARE(timeline);
CTX_REPORT_DECLARE(index);

#endif
