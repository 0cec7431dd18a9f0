/*
 * The text files of an experiment as tables: processes, threads, and everything else as entries in
 * time order.
 *
 * Numbers in the files are only keys: rows cost the same whatever the numbers. A row that is
 * referred to but never described is artificial.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_LOG_H
#define CTX_FORMATS_EXPERIMENT_EXP_LOG_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "formats/experiment/exp_lines.h"
#include "formats/experiment/exp_log_code.h"
#include "model/call_counter.h"
#include "model/event_source.h"

struct ctx_exp_process_row {
	uint32_t key;	     /* number in the files */
	uint32_t number;     /* as announced; CTX_NONE: not yet */
	uint32_t parent_key; /* CTX_NONE */
	int64_t pid;
	const char *command; /* NULL: the parent's */
	const char *lineage;
	const char *cgroup; /* NULL: the parent's */
	int64_t inner_pid;
	uint64_t start_ns;
	uint32_t n_maps;
	bool known;	/* described in the log */
	bool has_ended; /* nothing more is written of it; set by the reader while the recording goes on */
};

struct ctx_exp_thread_row {
	uint32_t key;
	uint32_t number;
	uint32_t process; /* row */
	int64_t tid, inner_tid;
	const char *name;
	uint64_t start_ns;
	bool known;
};

struct ctx_exp_entry {
	uint64_t time_ns;
	uint32_t order; /* order of reading, for stable sorting */
	enum ctx_event_kind kind;
	uint32_t process, thread; /* rows; CTX_NONE where the kind has none */
	uint64_t a, b,
		c; /* map: address, size, offset; maps: row of the process that has them; exit: status and whether; throttle: count;
			     lost: row of `losses`, whether by the limit of bytes; vm: row of `codes.vms` */
	const char *text,
		*text2; /* map: path, build id; name, warning, damage; code: NULL, and `c` is its row of `codes`; function: `a` is */
};

struct ctx_exp_source_row {
	const char *path, *archive; /* as in the log; the archive's name is validated when it is opened */
};

struct ctx_exp_source_rows {
	struct ctx_exp_source_row *rows; /* each path once */
	size_t n, cap;
	struct ctx_strtab paths;
};

/* External wakers: not threads of the recording. */
struct ctx_exp_external_wakers {
	const char **names; /* by row */
	size_t n, cap;
	struct ctx_map64 of_key; /* number in the files -> row */
};

struct ctx_exp_bounds { /* counts of what is bounded */
	uint32_t n_maps, maps_left_out, n_damage, n_vms;
	/* Time when the limit of bytes was reached: later records are missing. 0: not reached. */
	uint64_t limit_ns;
};

struct ctx_exp_begin { /* first lines of log.xml */
	uint32_t version;
	bool has_run;				    /* the event `run`, */
	uint64_t run_ns;			    /* its time on CLOCK_MONOTONIC, */
	uint64_t run_wall_ns;			    /* and on CLOCK_REALTIME; 0 unknown */
	bool has_states;			    /* the log describes the file `states` */
	bool has_heap, has_sync, has_io, has_marks; /* and those of traced operations */
	bool has_omp, has_calls, has_accesses;
	bool has_call_sums;
	struct ctx_source_metric call_metrics[CTX_CALL_COUNTERS]; /* of these, from 0 */
	uint32_t call_counters; /* a bit for each of enum ctx_call_counter */
};

struct ctx_exp_losses {
	struct ctx_loss *rows; /* in the order of reading */
	size_t n, cap;
};

struct ctx_exp_last_words { /* last.xml */
	uint64_t alive_ns;  /* the recorder's last sign of life */
	bool has_failed;    /* it says why it stopped */
};

struct ctx_exp_log {
	struct ctx_arena arena;
	struct ctx_strtab strings; /* paths and build ids */
	struct ctx_exp_process_row *processes;
	size_t n_processes, processes_cap;
	struct ctx_exp_thread_row *threads;
	size_t n_threads, threads_cap;
	struct ctx_map64 process_of_key, thread_of_key;
	struct ctx_exp_entry *entries;
	size_t n_entries, entries_cap;
	struct ctx_property *properties;
	size_t n_properties, properties_cap;
	struct ctx_source_metric *metrics; /* by number; n_metrics at most 255 */
	uint64_t *periods;
	size_t n_metrics, metrics_cap, periods_cap;
	struct ctx_exp_source_rows sources;
	struct ctx_exp_external_wakers external_wakers;
	uint64_t last_ns; /* the largest time in the log */
	struct ctx_exp_bounds bounds;
	bool closed;
	struct ctx_exp_begin begin;
	struct ctx_exp_last_words last;
	struct ctx_exp_losses losses;
	struct ctx_exp_code_lines codes;
};

void ctx_exp_log_deinit(struct ctx_exp_log *log);

/*
 * Reads the lines from `read` on. Unusable lines become entries of kind CTX_EV_DAMAGE. Fails with
 * CTX_E_VERSION, CTX_E_LIMIT (see ctx_exp_lines_next), CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_log_read(struct ctx_exp_log *log, struct ctx_exp_text *text,
						struct ctx_err *err);

/*
 * Reads a line of kind "lost"; the entry, which has the time of the line, gets its begin. Fails with
 * CTX_E_FORMAT (not usable), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_log_loss(struct ctx_exp_log *log, const struct ctx_exp_line *line,
						struct ctx_exp_entry *entry, struct ctx_err *err);

/* Makes a property of a line of kind "unwinding": how many stacks reached their root. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_log_unwinding(struct ctx_exp_log *log, const struct ctx_exp_line *line,
						     struct ctx_err *err);

/*
 * Reads a line of kind "vm", which becomes a property too, "vm-figures" or "vm-end"; `entry` gets its row. CTX_E_FORMAT: there
 * are too many. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_log_vm(struct ctx_exp_log *log, const struct ctx_exp_line *line,
					      struct ctx_exp_entry *entry, struct ctx_err *err);

/* Drops the first `n` entries, which must be sorted: they were used. */
void ctx_exp_log_drop(struct ctx_exp_log *log, size_t n);

/*
 * Sorts the entries by time. Maps older than their process (inherited from its parent) are moved to
 * its start.
 */
void ctx_exp_log_sort(struct ctx_exp_log *log);

/* Adds an entry of damage, at time 0. */
CTX_MUST_CHECK enum ctx_status ctx_exp_log_damage(struct ctx_exp_log *log, const char *text,
						  struct ctx_err *err);

/* Adds a warning for the header of reports, at time 0. */
CTX_MUST_CHECK enum ctx_status ctx_exp_log_warning(struct ctx_exp_log *log, const char *text,
						   struct ctx_err *err);

/*
 * The row of a number in the files; an artificial row is added if the log does not describe it (a
 * thread belongs to row `process`).
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_log_process(struct ctx_exp_log *log, uint32_t key, uint32_t *ret_row,
						   struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_log_thread(struct ctx_exp_log *log, uint32_t key, uint32_t process,
						  uint32_t *ret_row, struct ctx_err *err);

#endif
