/*
 * perf-cpuN.dat: the kernel's records of switches, names and ends of threads on a processor, as the ring of perf events
 * had them. Each ends with pid, tid and time.
 */
#ifndef CTX_FORMATS_UFTRACE_UF_PERF_H
#define CTX_FORMATS_UFTRACE_UF_PERF_H

#include "formats/uftrace/uf_stream.h"

enum ctx_uf_perf_kind {
	CTX_UF_PERF_RUNS,      /* switched in */
	CTX_UF_PERF_PREEMPTED, /* switched out, runnable */
	CTX_UF_PERF_BLOCKED,   /* switched out, waits */
	CTX_UF_PERF_NAME,
	CTX_UF_PERF_EXIT,
};

struct ctx_uf_perf_event {
	uint64_t time_ns;
	int64_t tid;
	const char *name; /* of NAME; borrowed up to the next call */
	enum ctx_uf_perf_kind kind;
};

struct ctx_uf_perf {
	struct ctx_uf_stream stream;
	int32_t cpu;
	bool is_bad; /* read up to `bad_at`, where no record is */
	uint64_t bad_at;
	uint64_t last_ns; /* an earlier time behind it is taken for it */
	char name[64];
};

/* The next event; other records are passed over. CTX_END; CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uf_perf_next(struct ctx_uf_perf *perf, struct ctx_uf_perf_event *ret,
						struct ctx_err *err);

#endif
