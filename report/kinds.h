/* The reports, one file each. A new report needs a line here. */
#ifndef CTX_REPORT_KINDS_H
#define CTX_REPORT_KINDS_H

#include "report/report.h"

/* In the order of --help. */
#define CTX_REPORTS(X)                                                                                       \
	X(summary)                                                                                           \
	X(header)                                                                                            \
	X(overview)                                                                                          \
	X(samples)                                                                                           \
	X(functions)                                                                                         \
	X(objects)                                                                                           \
	X(lines)                                                                                             \
	X(pcs)                                                                                               \
	X(source)                                                                                            \
	X(disasm)                                                                                            \
	X(tree)                                                                                              \
	X(callers)                                                                                           \
	X(callers_callees)                                                                                   \
	X(stacks)                                                                                            \
	X(states)                                                                                            \
	X(waits)                                                                                             \
	X(wakers)                                                                                            \
	X(heap)                                                                                              \
	X(leaks)                                                                                             \
	X(sync)                                                                                              \
	X(io)                                                                                                \
	X(calls)                                                                                             \
	X(events)                                                                                            \
	X(branches)                                                                                          \
	X(memory)                                                                                            \
	X(cachelines)                                                                                        \
	X(data_objects)                                                                                      \
	X(data_layout)                                                                                       \
	X(marks)                                                                                             \
	X(omp_regions)                                                                                       \
	X(omp_tasks)                                                                                         \
	X(indicators)                                                                                        \
	X(coverage)                                                                                          \
	X(vms)                                                                                               \
	X(threads)                                                                                           \
	X(processes)                                                                                         \
	X(timeline)                                                                                          \
	X(phases)                                                                                            \
	X(hosts)                                                                                             \
	X(versions)                                                                                          \
	X(recordings)                                                                                        \
	X(index)

#define CTX_REPORT_DECLARE(name) extern const struct ctx_report_kind ctx_report_##name;
CTX_REPORTS(CTX_REPORT_DECLARE)
#undef CTX_REPORT_DECLARE

#endif
