/*
 * The processes, threads, functions and names of a trace, each known by a dense number.
 */
#ifndef CTX_FORMATS_TRACEEVENT_TE_MODEL_H
#define CTX_FORMATS_TRACEEVENT_TE_MODEL_H

#include "base/map64.h"
#include "base/strtab.h"
#include "model/event_source.h"

#include <stdbool.h>

/* Numbers of processes and threads that the file names by text, or that are lanes, are from here on. */
#define CTX_TE_OWN_NUMBERS ((int64_t)1 << 32)

struct ctx_te_process {
	int64_t pid;
	uint32_t name;	 /* CTX_TE_NO_NAME */
	uint32_t number; /* of the source; CTX_NONE: not announced */
	uint32_t lanes;	 /* its first lane, linked by ctx_te_thread.next_lane; CTX_NONE */
	int64_t last_ns; /* of all its events */
};

struct ctx_te_open {	    /* a slice */
	int64_t end_ns;	    /* INT64_MAX: by its end event */
	int64_t cpu_end_ns; /* -1 unknown */
	uint64_t serial;
	uint32_t function;
};

struct ctx_te_thread {
	int64_t tid;
	int64_t last_ns; /* of all its events */
	int64_t cpu_ns;	 /* its CPU time at its last event; -1 unknown */
	uint32_t process;
	uint32_t name;	 /* CTX_TE_NO_NAME */
	uint32_t number; /* of the source; CTX_NONE: not announced */
	bool is_lane;
	uint32_t next_lane;	  /* of the process; CTX_NONE */
	uint32_t pool, next_free; /* of a lane */
	struct ctx_te_open *open; /* owned; from the root */
	size_t n_open, open_cap;
	/* Of the slice before, to see the order of the file. */
	int64_t slice_begin_ns, slice_end_ns;
};

struct ctx_te_pool {   /* lanes of a process and category */
	uint32_t free; /* the first free one, linked by ctx_te_thread.next_free; CTX_NONE */
	uint32_t n;
};

struct ctx_te_function {
	uint32_t name, category;
	bool is_announced;
};

struct ctx_te_model {
	struct ctx_strtab names;
	struct ctx_te_process *processes; /* owned */
	size_t n_processes, processes_cap;
	struct ctx_te_thread *threads; /* owned */
	size_t n_threads, threads_cap;
	struct ctx_te_function *functions; /* owned */
	size_t n_functions, functions_cap;
	struct ctx_map64 process_of;  /* by pid */
	struct ctx_map64 number_of;   /* of a tid */
	struct ctx_map64 thread_of;   /* by process and number of the tid */
	struct ctx_map64 function_of; /* by name and category */
	struct ctx_te_pool *pools;    /* owned */
	size_t n_pools, pools_cap;
	struct ctx_map64 pool_of; /* by process and category */
	uint32_t n_numbers;
};

void ctx_te_model_deinit(struct ctx_te_model *model);

/* Each finds or adds. CTX_E_NOMEM, CTX_E_LIMIT. */
CTX_MUST_CHECK enum ctx_status ctx_te_model_process(struct ctx_te_model *model, int64_t pid, uint32_t *ret,
						    struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_te_model_thread(struct ctx_te_model *model, uint32_t process, int64_t tid,
						   uint32_t *ret, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_te_model_function(struct ctx_te_model *model, uint32_t name,
						     uint32_t category, uint32_t *ret, struct ctx_err *err);

/* A free lane of the category, which is busy from then on, or a new one. CTX_E_NOMEM, CTX_E_LIMIT. */
CTX_MUST_CHECK enum ctx_status ctx_te_model_lane(struct ctx_te_model *model, uint32_t process,
						 uint32_t category, uint32_t *ret, struct ctx_err *err);
void ctx_te_model_free_lane(struct ctx_te_model *model, uint32_t lane);

#endif
