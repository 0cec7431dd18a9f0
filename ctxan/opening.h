/*
 * Opens the database of an input: finds the newest recording, and ingests if there is no database
 * or the recording has changed.
 */
#ifndef CTX_CTXAN_OPENING_H
#define CTX_CTXAN_OPENING_H

#include "ingest/ingest_options.h"
#include "ingest/symbol_caches.h"
#include "store/store.h"
#include "timetree/timetree.h"

#define CTX_OPENING_SUFFIX ".ctxan.db" /* of the database beside a recording that is a file */

/* Options of ingesting, and of database paths. Strings are borrowed. */
struct ctx_opening_options {
	const char *db; /* the database's path; NULL: the default */
	bool reingest;	/* even if nothing changed */
	bool no_inlines;
	bool tree_given; /* the tree's parameters must match; otherwise the recording is ingested again */
	struct ctx_timetree_params tree;
	const char *symfs, *debug_root; /* "": none */
	const char **caches;		/* directories and tarballs of load objects, in this order; owned */
	size_t n_caches, caches_cap;
	const char **offsets; /* FILE=NS, of recordings that are merged; owned */
	size_t n_offsets, offsets_cap;
	bool merge;   /* the recordings are one */
	uint32_t run; /* of an archive, from 1; 0: all */
	bool quiet;   /* neither progress nor remarks */
};

/*
 * The name in `directory` (malloc'ed) of the newest recording there: an experiment *.er, or
 * perf.data. CTX_E_NOTFOUND: none.
 */
CTX_MUST_CHECK enum ctx_status ctx_opening_newest(const char *directory, char **ret, struct ctx_err *err);

/*
 * Whether the input is a process of an experiment, "x.er/_f1_x1.er", which has no recording of its
 * own: the experiment and the process's lineage, "_f1_x1", malloc'ed; else both are NULL. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_opening_split(const char *input, char **ret_experiment, char **ret_lineage,
						 struct ctx_err *err);

/*
 * The options of an ingest without a database: of an experiment that is followed. They borrow from
 * `caches`, which must be {0} and is deinited by the caller in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_opening_ingest_options(const char *experiment,
							  const struct ctx_opening_options *options,
							  struct ctx_symbol_caches *caches,
							  struct ctx_ingest_options *ret,
							  struct ctx_err *err);

/*
 * Opens the database of `input` (an experiment, perf.data or a database). Remarks and progress go
 * to stderr unless options->quiet.
 */
CTX_MUST_CHECK enum ctx_status ctx_opening_open(const char *input, const struct ctx_opening_options *options,
						struct ctx_store **ret, struct ctx_err *err);

/*
 * Opens the database of several recordings as one (ctxan/merging.h): that of options->db, or one in the cache of the
 * user, which stands for these places.
 */
CTX_MUST_CHECK enum ctx_status ctx_opening_merge(const char *const *inputs, size_t n,
						 const struct ctx_opening_options *options,
						 struct ctx_store **ret, struct ctx_err *err);

#endif
