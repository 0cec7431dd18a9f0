/*
 * The contents of log.xml as tables.
 *
 *	<experiment> <system> <process> <setting> --> facts
 *	<profile> <profdata> <profpckt> <field>   --> data files, layouts, counters
 *	<event>                                   --> run, exit, labels of samples, descendants, messages
 *
 * Times are ns from the event `run`; that one alone is absolute.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_LOG_H
#define CTX_FORMATS_GPROFNG_GP_LOG_H

#include "base/arena.h"
#include "formats/gprofng/gp_layout.h"
#include "formats/gprofng/gp_xml.h"

#define CTX_GP_LAYOUTS_MAX 32u
#define CTX_GP_FILES_MAX 16u

enum ctx_gp_message_kind {
	CTX_GP_MESSAGE_ERROR,
	CTX_GP_MESSAGE_WARNING,
	CTX_GP_MESSAGE_COMMENT,
};

struct ctx_gp_message {
	enum ctx_gp_message_kind kind;
	uint64_t id; /* of the collector's table */
	const char *text;
};

struct ctx_gp_label { /* a sample of the overview, by its number */
	int64_t time_ns;
	uint64_t id;
	const char *label;
};

struct ctx_gp_counter {
	uint64_t tag;
	const char *name;   /* as requested */
	const char *title;  /* "" none */
	const char *prefix; /* of the title; usually "" */
	uint64_t interval;
	uint64_t cpu; /* gprofng's number of the kind of processor; 0 unknown */
	bool has_memory;
};

/*
 * A descendant about to be started (`started` false) or started; or an exec, which ends this
 * experiment.
 */
struct ctx_gp_descent {
	int64_t time_ns;
	const char *variant, *lineage, *text;
	bool started;
};

/* Recurring intervals, such as pauses. */
struct ctx_gp_phases {
	uint64_t n;
	int64_t total_ns;
	int64_t since_ns; /* of the one that is open */
	bool goes_on;
};

struct ctx_gp_named_thread {
	int64_t tid;
	const char *name;
};

/* Texts are "" where the log has none. */
struct ctx_gp_writer {
	const char *version;	/* of the format: "12.4" */
	uint64_t version_major; /* 12 */
	const char *collector;	/* "2.40.00" */
};

struct ctx_gp_machine {
	const char *host, *arch, *os;
	uint64_t page_bytes, n_pages, n_cpus, clock_mhz;
	bool is_32bit, big_endian; /* the process is 64-bit, and so are its records */
};

struct ctx_gp_process {
	int64_t pid, ppid; /* -1 unknown */
	const char *cwd, *command;
};

struct ctx_gp_times {
	int64_t run_ns;	  /* absolute, of the monotonic clock */
	int64_t run_unix; /* seconds since 1970; 0 unknown */
	bool has_run, has_exit, has_exec;
	int64_t exit_ns; /* of exit, otherwise of the exec */
	int64_t last_ns; /* of any event */
};

struct ctx_gp_settings {
	uint64_t n_states; /* thread states that the clock profile distinguishes; Linux: 1 */
	uint64_t ticks_us; /* length of a clock tick; 0: no clock profile was requested */
	uint64_t sample_period_s;
	const char *follow;
	const char *jvm;	    /* version of the Java virtual machine; "" no Java */
	const char *heap, *io;	    /* "" or "on" */
	const char *sync_threshold; /* "" none */
};

struct ctx_gp_log {
	struct ctx_arena arena;
	struct ctx_gp_writer writer;
	struct ctx_gp_machine machine;
	struct ctx_gp_process process;
	struct ctx_gp_times times;
	struct ctx_gp_settings settings;

	const char *files[CTX_GP_FILES_MAX]; /* names of data files, safe ones only */
	size_t n_files;
	struct ctx_gp_layout layouts[CTX_GP_LAYOUTS_MAX];
	size_t n_layouts;

	struct ctx_gp_counter *counters;
	size_t n_counters, counters_cap;
	struct ctx_gp_label *labels;
	size_t n_labels, labels_cap;
	struct ctx_gp_descent *descents;
	size_t n_descents, descents_cap;
	struct ctx_gp_message *messages;
	size_t n_messages, messages_cap;
	struct ctx_gp_named_thread *threads; /* of Java */
	size_t n_threads, threads_cap;
	struct ctx_gp_phases pauses;	  /* of the collection */
	struct ctx_gp_phases collections; /* of garbage, by Java */
	uint64_t damaged;		  /* tags that could not be used */
	char damage[256];		  /* the first one, "" none */
};

/*
 * Reads DIRECTORY/log.xml. CTX_E_NOTFOUND, CTX_E_FORMAT (not an experiment), CTX_E_VERSION,
 * CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_log_read(struct ctx_gp_log *log, const char *path, struct ctx_err *err);

/* The same from open tags. */
CTX_MUST_CHECK enum ctx_status ctx_gp_log_parse(struct ctx_gp_log *log, struct ctx_gp_xml *xml,
						struct ctx_err *err);

/* Adds the messages of a file next to the log (warnings.xml). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_log_add_messages(struct ctx_gp_log *log, struct ctx_gp_xml *xml,
						       struct ctx_err *err);

void ctx_gp_log_deinit(struct ctx_gp_log *log);

/* The layout of a type in a data file, or NULL. */
const struct ctx_gp_layout *ctx_gp_log_layout(const struct ctx_gp_log *log, size_t file, uint32_t type);

/* A description of a message of the collector; NULL: unknown. */
const char *ctx_gp_message_meaning(uint64_t id);

#endif
