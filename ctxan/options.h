/*
 * The command line of ctxan.
 */
#ifndef CTX_CTXAN_OPTIONS_H
#define CTX_CTXAN_OPTIONS_H

#include "base/err.h"
#include "model/export.h"
#include "query/selection_spec.h"
#include "report/report.h"
#include "timetree/timetree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One item of --report. */
struct ctx_option_report {
	const struct ctx_report_kind *kind;
	const char *subject;  /* "source=FUNC": FUNC; NULL: none was given. Belongs to argv */
	const char *function; /* "csingle=FUNC": --function for this report alone; NULL: as given */
	const char *by;	      /* "cpus": --by for this report alone; NULL: as given */
};

struct ctx_options {
	const char **inputs; /* recordings, databases, "-"; none: the newest recording here */
	size_t n_inputs, inputs_cap;
	struct ctx_option_report *reports; /* none: the default set */
	size_t n_reports, reports_cap;
	struct ctx_selection_spec selection;
	bool per_thread;
	bool top_only; /* --coverage top */
	struct ctx_report_options report;
	bool limit_given;
	const char *output; /* -o, NULL: standard output */
	const char
		*directory; /* that is to become `output`, of exports that are directories; not an option */
	const char *db;	    /* --db */
	bool reingest;
	struct ctx_timetree_params tree;
	bool tree_given; /* some parameter of the tree was asked for */
	bool no_inlines; /* at ingest */
	const char *symfs, *debug_root;
	const char **caches; /* --buildid-dir, in this order */
	size_t n_caches, caches_cap;
	const struct ctx_export_kind *export; /* --export, NULL none */
	size_t max_size;		      /* --max-size in bytes; 0: the format's own */
	const char *sql;
	bool show_sql;
	bool explain;
	bool quiet;
	bool help, version;
};

/*
 * Reads argv, options and arguments in any order. Arrays are owned by `ret` (ctx_options_deinit), strings
 * belong to argv. CTX_E_ARG with one line that names the option.
 */
CTX_MUST_CHECK enum ctx_status ctx_options_parse(int argc, char **argv, struct ctx_options *ret,
						 struct ctx_err *err);
void ctx_options_deinit(struct ctx_options *options);

/* Is the report of this name among those that are asked for? */
bool ctx_options_has_report(const struct ctx_options *options, const char *name);

/* What --help prints. */
void ctx_options_help(FILE *out);

#endif
