/*
 * What a chunk says of itself: which metrics it has events of, how it was sampled, and of which virtual machine it is.
 */
#ifndef CTX_FORMATS_JFR_JFR_FACTS_H
#define CTX_FORMATS_JFR_JFR_FACTS_H

#include "formats/jfr/jfr_events.h"

struct ctx_jfr_facts {		    /* all zero is none */
	bool has[CTX_JFR_METRIC_N]; /* events of a metric */
	bool has_traced[CTX_TRACED_N];
	uint64_t period_ns[CTX_JFR_METRIC_N]; /* 0 unknown */
	bool is_counting;		      /* async-profiler's samples are of a counter, not of time */
	bool has_vm;
	int64_t pid;
	uint64_t vm_start_ms;
	char *vm_name, *vm_version, *vm_arguments, *java_arguments; /* owned; NULL unknown */
	char *gc;						    /* owned; NULL unknown */
	uint64_t figures[CTX_VM_FIGURE_N];			    /* the last ones; 0 unknown */
	uint64_t begin_ns, end_ns;  /* of all events that are read; UINT64_MAX and 0: none */
	uint64_t n_events, damaged; /* events that are read, and those that cannot be */
};

void ctx_jfr_facts_deinit(struct ctx_jfr_facts *facts);

/* Gathers the facts of a chunk. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_facts_read(struct ctx_jfr_facts *facts,
						  const struct ctx_jfr_chunk *chunk, struct ctx_err *err);

#endif
