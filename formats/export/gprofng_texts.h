/*
 * log.xml, map.xml, overview and notes of one process.
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_TEXTS_H
#define CTX_FORMATS_EXPORT_GPROFNG_TEXTS_H

#include "formats/export/gprofng_groups.h"
#include "formats/export/gprofng_places.h"

/* The monotonic clock when the run began: any time except 0. */
#define CTX_GPX_RUN_NS ((int64_t)1000 * 1000000000)

enum ctx_gpx_kind {
	CTX_GPX_CLOCK,	 /* time on a CPU: gprofng's Total CPU */
	CTX_GPX_STATES,	 /* time in states of threads, as on Solaris */
	CTX_GPX_COUNTER, /* anything else: a hardware counter of that name */
};

/* How weights are written. */
struct ctx_gpx_data {
	enum ctx_gpx_kind kind;
	uint64_t tick_us; /* of clock and states: what NTICK counts */
	bool is_exact; /* every weight is a multiple of a tick; if not, an extra field has the exact weight */
};

struct ctx_gpx_process { /* an experiment directory */
	char *path;	 /* owned */
	char *lineage;	 /* owned; "" for the root process */
	uint64_t begin_ns, end_ns;
	bool closed;	    /* its end was recorded */
	uint32_t successor; /* the process after its exec; CTX_NONE */
};

struct ctx_gpx_texts {
	const struct ctx_export_input *input;
	const struct ctx_gpx_data *data;
	const struct ctx_gpx_process *processes;		 /* by process id */
	const uint64_t *thread_numbers;				 /* by thread id: THRID */
	const struct ctx_gpx_groups *threads, *children, *usage; /* of each process */
	uint32_t root_process;
	int64_t start_unix; /* seconds since 1970; 0 unknown */
};

/*
 * Writes the files of a process, except for its events; the places must be those of this process.
 * CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_texts_write(const struct ctx_gpx_texts *texts, uint32_t process,
						   const struct ctx_gpx_places *places, struct ctx_err *err);

/*
 * Writes DIRECTORY/kallsyms with the used kernel functions, for ctxan: gprofng does not read it.
 * Writes nothing if there are none. CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_kallsyms_write(const struct ctx_export_input *input,
						      const struct ctx_gpx_objects *objects,
						      const char *directory, struct ctx_err *err);

#endif
