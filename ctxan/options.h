/*
 * The command line of ctxan.
 */
#ifndef CTX_CTXAN_OPTIONS_H
#define CTX_CTXAN_OPTIONS_H

#include "base/err.h"
#include "base/option_table.h"
#include "compare/weighting.h"
#include "ctxan/opening.h"
#include "ctxan/side_words.h"
#include "model/export.h"
#include "query/selection_spec.h"
#include "report/hiding_source.h"
#include "report/report.h"
#include "report/rules_report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One item of --report. */
struct ctx_option_report {
	const struct ctx_report_kind *kind;
	const char *subject;  /* "source=FUNC": FUNC; NULL: none was given. Belongs to argv */
	const char *function; /* "csingle=FUNC": --function for this report alone; NULL: as given */
	const char *by;	      /* "cpus": --by for this report alone; NULL: as given */
	bool no_fold;	      /* "calltree": --no-fold for this report alone */
};

/* Output other than reports as text on standard output. */
struct ctx_output_options {
	const char *path; /* NULL: standard output */
	const char *
		directory; /* temporary path, renamed to `path`, of exports that are directories; not an option */
	const struct ctx_export_kind *export; /* NULL: none */
	const char *check_indicators;	      /* a metadata file of indicators; NULL: none */
	bool match_symbols;		      /* of these: by name where a load object is another build */
	size_t max_size;		      /* of the export in bytes; 0: the format's own limit */
	const char *sql;
	bool show_sql;
};

/* --follow: the answer again and again while the recording goes on. */
struct ctx_follow_options {
	bool wanted;
	uint64_t last_ns;    /* of the recording, in each answer */
	uint64_t refresh_ns; /* from answer to answer */
};

/* --diff: how two sides are compared. */
struct ctx_comparing_options {
	bool wanted;
	const char **renames; /* RE=TEXT */
	size_t n_renames, renames_cap;
	struct ctx_weighting weighting;
	struct ctx_side_lists alone[CTX_COMPARE_SIDES]; /* --thread A:main */
};

/* Baselines: archives, and rules that a recording or a comparison must follow. */
struct ctx_baseline_options {
	const char *rules;	  /* file, or "default"; NULL: none */
	struct ctx_rules *parsed; /* owned */
	char *wrong_line;	  /* owned; of the rules' file, where it cannot be read */
	enum ctx_rules_format format;
	bool failed;	     /* a rule that fails has fired: set by the answer */
	const char *archive; /* to be written; NULL: none */
	bool append, with_samples;
};

/* The first word of the command line: recordings of many machines. */
enum ctx_fleet_word { CTX_FLEET_NONE, CTX_FLEET_ASK, CTX_FLEET_PUSH };

struct ctx_fleet_options {
	enum ctx_fleet_word command;
	bool init, check;
	const char *to, *credentials, *cluster;
	uint32_t retain_days; /* 0: for ever */
	const char **labels;  /* KEY=VALUE; owned */
	size_t n_labels, labels_cap;
};

/* In the order of the option's words. */
enum ctx_option_color {
	CTX_COLOR_AUTO, /* on a terminal, unless NO_COLOR is set */
	CTX_COLOR_ALWAYS,
	CTX_COLOR_NEVER,
};

struct ctx_options {
	const char **inputs; /* recordings, databases, "-"; none: the newest recording here */
	size_t n_inputs, inputs_cap;
	struct ctx_option_report *reports; /* none: the default set */
	size_t n_reports, reports_cap;
	struct ctx_selection_spec selection;
	struct ctx_report_options report;
	struct ctx_hiding hiding;
	struct ctx_opening_options opening;
	struct ctx_output_options output;
	struct ctx_follow_options follow;
	struct ctx_comparing_options diff; /* of two sides */
	struct ctx_baseline_options baseline;
	struct ctx_fleet_options fleet;
	enum ctx_option_color color;
	bool no_pager, no_config;
	bool browse;  /* in the terminal */
	bool open;    /* the page, in a browser */
	char *config; /* owned; the text of the configuration file, which values point into; NULL none */
	char *page;   /* owned; the place of the page of --open; NULL: -o */
	char *newest; /* owned; the recording that --open found; NULL: one was given */
	bool per_thread;
	bool top_only; /* --coverage top */
	bool limit_given;
	bool explain;
	bool quiet;
	bool help, version;
};

/* The rows of all options. */
extern const struct ctx_option_table ctx_options_table;

/*
 * Reads argv, options and arguments in any order. Arrays are owned by `ret` (ctx_options_deinit),
 * strings belong to argv, which loses words that mean nothing here, or to the configuration file.
 * CTX_E_ARG with one line that names the option.
 */
CTX_MUST_CHECK enum ctx_status ctx_options_parse(int argc, char **argv, struct ctx_options *ret,
						 struct ctx_err *err);
void ctx_options_deinit(struct ctx_options *options);

/* Whether the report of this name is requested. */
bool ctx_options_has_report(const struct ctx_options *options, const char *name);

/* Appends the reports of one --report: "functions,tree", "source=FUNC". CTX_E_ARG, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_option_reports_parse(struct ctx_options *options, const char *text,
							struct ctx_err *err);

/*
 * The same of ctxan fleet and ctxan push, and of their options elsewhere: CTX_E_ARG for what means nothing to the command, and for a
 * command line without what it needs.
 */
CTX_MUST_CHECK enum ctx_status ctx_options_check_fleet(const struct ctx_options *options,
						       struct ctx_err *err);

/* Refuses contradictory or meaningless combinations of options with CTX_E_ARG. */
CTX_MUST_CHECK enum ctx_status ctx_options_check(const struct ctx_options *options, struct ctx_err *err);

#endif
