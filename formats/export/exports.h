/*
 * Export formats: files for other tools.
 */
#ifndef CTX_FORMATS_EXPORT_EXPORTS_H
#define CTX_FORMATS_EXPORT_EXPORTS_H

#include "model/export.h"

/* folded, callgrind, speedscope, firefox, chrome-trace, pprof, gprofng, indicators; ends with a NULL name. */
const struct ctx_export_kind *const *ctx_exports(void);

extern const struct ctx_export_kind
	ctx_export_folded; /* one line per stack, for flamegraph.pl and the like */
extern const struct ctx_export_kind ctx_export_callgrind; /* callgrind_annotate, KCachegrind */
extern const struct ctx_export_kind
	ctx_export_speedscope; /* speedscope.app: one profile per thread, with time */
extern const struct ctx_export_kind ctx_export_firefox;	     /* profiler.firefox.com: processed profile */
extern const struct ctx_export_kind ctx_export_chrome_trace; /* chrome://tracing, Perfetto */
extern const struct ctx_export_kind ctx_export_pprof;	     /* go tool pprof: profile.proto, gzip */
extern const struct ctx_export_kind ctx_export_gprofng;	     /* gprofng display: an experiment directory */
extern const struct ctx_export_kind ctx_export_indicators;   /* what ctxrec --indicators counts next: XML */

#endif
