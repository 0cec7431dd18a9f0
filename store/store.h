/*
 * The database: the only folder that uses SQLite. One file contains one ingested experiment and is
 * self-contained.
 *
 * Small tables are rows (processes, threads, functions, time-tree nodes); large ones are columns in
 * blobs (samples, call stacks). Schema: docs/schema.md. Written in one transaction into
 * "PATH.<pid>.tmp", renamed to PATH by ctx_store_commit: a killed ingest leaves nothing at PATH.
 * The same calls give the same bytes.
 */
#ifndef CTX_STORE_STORE_H
#define CTX_STORE_STORE_H

#include "base/buf.h"
#include "model/code.h"
#include "model/interval.h"
#include "model/profile.h"
#include "model/sample.h"
#include "model/timenode.h"
#include "model/traced.h"
#include "model/wakeup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_store;

/* ---- writing ---- */

CTX_MUST_CHECK enum ctx_status ctx_store_create(const char *path, struct ctx_store **ret,
						struct ctx_err *err);

/*
 * A database in memory, for this process alone: trees, nodes, leaves, wake-ups and operations are
 * written by the same calls, and ctx_store_lend takes the place of contents and commit.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_create_in_memory(struct ctx_store **ret, struct ctx_err *err);

/* A table of trees: one per (thread, metric), and one per metric for all threads together (thread
 * CTX_NONE). */
struct ctx_tree_info {
	uint32_t id;	 /* dense from 0 */
	uint32_t thread; /* CTX_NONE: all threads */
	uint32_t metric;
	uint32_t leaf_samples, fanout, percent, mode; /* as in struct ctx_timetree_params */
	bool keep_tail;
	uint32_t same_as; /* another tree's id when the contents are equal (one thread has all samples) and
			     are stored there; CTX_NONE otherwise */
};

CTX_MUST_CHECK enum ctx_status ctx_store_put_tree(struct ctx_store *store, const struct ctx_tree_info *tree,
						  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_store_put_node(struct ctx_store *store, uint32_t tree,
						  const struct ctx_timenode *node, struct ctx_err *err);

struct ctx_store_node {
	uint32_t tree, node; /* ids */
};

/*
 * The samples of one leaf, as a block of columns. Samples of one metric in time order; of one
 * thread, or of all in the merged tree.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_put_leaf(struct ctx_store *store, struct ctx_store_node leaf,
						  const struct ctx_sample *samples, size_t n,
						  struct ctx_err *err);

/*
 * Everything known at the end of an ingest: the entities of `profile` (including its cct),
 * locations, raw stacks (key = location) with the CCT node of each, mappings, sites and source
 * files. A location that joins has object, function and site CTX_NONE. Inlining deeper than 256 is
 * refused.
 */
struct ctx_store_contents {
	const struct ctx_profile *profile;
	const struct ctx_location *locations;
	size_t n_locations;
	const struct ctx_trie *raw_stacks;
	const uint32_t *raw_to_stack; /* by raw stack node */
	const struct ctx_mapping_info *mappings;
	size_t n_mappings;
	const struct ctx_site *sites;
	size_t n_sites;
	const struct ctx_source_file *files;
	size_t n_files;
	/*
	 * Of the ingested files and the parameters of the ingest: ctx_store_fingerprint returns it.
	 */
	const char *fingerprint;
};

CTX_MUST_CHECK enum ctx_status ctx_store_put_contents(struct ctx_store *store,
						      const struct ctx_store_contents *contents,
						      struct ctx_err *err);

/*
 * Texts and code are compressed. They must follow ctx_store_put_contents, which defines the files
 * and functions (CTX_E_ARG before it, and for unknown ids). Items that are too large fail with
 * CTX_E_LIMIT. After either failure nothing of the item is stored, and the store can still be used.
 */
#define CTX_STORE_TEXT_MAX ((size_t)16 << 20)	    /* bytes of a text */
#define CTX_STORE_CODE_MAX ((size_t)1 << 20)	    /* bytes of one part of a function */
#define CTX_STORE_PARTS_MAX 256u		    /* parts of a function */
#define CTX_STORE_PARTS_BYTES_MAX ((size_t)4 << 20) /* bytes of all parts of a function together */

/* The text of a source file (index in contents.files). A second one replaces it. */
CTX_MUST_CHECK enum ctx_status ctx_store_put_source_text(struct ctx_store *store, uint32_t file,
							 const char *text, size_t n, struct ctx_err *err);

/*
 * One part of a function's code, not empty; several parts one call after the other, in order of
 * address and not overlapping. The lines ascend strictly and lie in the part.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_put_code(struct ctx_store *store,
						  const struct ctx_function_code *code, struct ctx_err *err);

/*
 * Writes a block of ended waits, in any order; any number of calls, before or after
 * ctx_store_put_contents. n 0 does nothing. The `stack`s are not stored: they follow from the raw
 * stacks.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_put_wakeups(struct ctx_store *store,
						     const struct ctx_wakeup *wakeups, size_t n,
						     struct ctx_err *err);

/*
 * Writes a block of traced operations of one kind, in order of time; otherwise as
 * ctx_store_put_wakeups.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_put_traced(struct ctx_store *store,
						    const struct ctx_traced *operations, size_t n,
						    struct ctx_err *err);

/*
 * Ends the transaction, checks the file, renames it into place and releases `store` (also on
 * failure: then the temporary file is removed).
 */
CTX_MUST_CHECK enum ctx_status ctx_store_commit(struct ctx_store *store, struct ctx_err *err);

/*
 * Ends the writing of a store in memory: from now on it is read as one opened by ctx_store_open, but for
 * SQL; strings must not be NULL. The contents stay the caller's, unchanged until the store is closed, and are not copied: it costs a
 * check of them, and not the writing and reading of all entities. Mappings, texts and code are left
 * out. After a failure the store can only be closed.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_lend(struct ctx_store *store,
					      const struct ctx_store_contents *contents, struct ctx_err *err);

/* ---- reading ---- */

/*
 * Opens read-only. CTX_E_NOTFOUND, CTX_E_FORMAT (not a database of this program, or damaged),
 * CTX_E_VERSION (schema of a newer or older program: ingest again).
 */
CTX_MUST_CHECK enum ctx_status ctx_store_open(const char *path, struct ctx_store **ret, struct ctx_err *err);

/*
 * True if the file begins like a database of this program. Cheap; also false if it cannot be read.
 */
bool ctx_store_is_database(const char *path);

/* Borrowed, "" if none. */
const char *ctx_store_fingerprint(const struct ctx_store *store);

/* All entities. Borrowed: lives as long as the store. */
const struct ctx_profile *ctx_store_profile(const struct ctx_store *store);

/*
 * Locations, sites, raw stacks and the names of source files: read at the first call. Borrowed, as
 * above. Cost: the raw stacks are the largest table of all (12 bytes for each address-level stack).
 */
CTX_MUST_CHECK enum ctx_status ctx_store_code(struct ctx_store *store, const struct ctx_code **ret,
					      struct ctx_err *err);

/*
 * Reads texts and instructions from the database on demand. The result of one function stays valid
 * while the other is called. Damage is CTX_E_FORMAT. Cost: decompressing the requested item.
 */
struct ctx_code_reader ctx_store_code_reader(struct ctx_store *store);

/* All trees, by id, same_as as stored. Borrowed. */
const struct ctx_tree_info *ctx_store_trees(const struct ctx_store *store, size_t *ret_n);

/* The tree of (thread or CTX_NONE, metric), with same_as resolved; NULL: no samples. */
const struct ctx_tree_info *ctx_store_find_tree(const struct ctx_store *store, uint32_t thread,
						uint32_t metric);

/* Functions of struct ctx_timetree_reader; see there for meaning and lifetimes. */
CTX_MUST_CHECK enum ctx_status ctx_store_get_node(struct ctx_store *store, struct ctx_store_node node,
						  bool want_lists, struct ctx_timenode *ret,
						  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_store_get_leaf(struct ctx_store *store, struct ctx_store_node leaf,
						  const struct ctx_sample **ret_samples, size_t *ret_n,
						  struct ctx_err *err);

typedef enum ctx_status (*ctx_store_sample_fn)(void *context, const struct ctx_sample *sample,
					       struct ctx_err *err);

struct ctx_store_scan {
	struct ctx_interval window;
	ctx_store_sample_fn each; /* for every sample in the window, in time order; a failure ends the scan */
	void *context;		  /* of `each` */
};

/*
 * Scans the samples of a tree, for filters that no tree indexes (CPU). Reads only the leaves that
 * overlap the window.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_scan(struct ctx_store *store, uint32_t tree,
					      const struct ctx_store_scan *scan, struct ctx_err *err);

/* The same for several trees: merged by time; at equal times in the order of the trees. */
CTX_MUST_CHECK enum ctx_status ctx_store_scan_merged(struct ctx_store *store, const uint32_t *trees, size_t n,
						     const struct ctx_store_scan *scan, struct ctx_err *err);

/*
 * Calls `each` for every wait that ended in the window or had begun in it (time_ns - wait_ns < end,
 * time_ns >= begin), with the stacks filled in; ordered by block, not by time. Reads only the
 * blocks that can contain such waits.
 */
typedef enum ctx_status (*ctx_store_wakeup_fn)(void *context, const struct ctx_wakeup *wakeup,
					       struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_store_scan_wakeups(struct ctx_store *store, struct ctx_interval window,
						      ctx_store_wakeup_fn each, void *context,
						      struct ctx_err *err);

typedef enum ctx_status (*ctx_store_traced_fn)(void *context, const struct ctx_traced *operation,
					       struct ctx_err *err);

struct ctx_store_traced_scan {
	enum ctx_traced_kind kind; /* CTX_TRACED_N: all kinds */
	struct ctx_interval window;
	ctx_store_traced_fn each; /* for every operation in the window (by time_ns), in order of time */
	void *context;		  /* of `each` */
};

/* Scans traced operations, with the stack filled in. Reads only blocks that overlap the window. */
CTX_MUST_CHECK enum ctx_status ctx_store_scan_traced(struct ctx_store *store,
						     const struct ctx_store_traced_scan *scan,
						     struct ctx_err *err);

/* Cost of reading since open, for --explain. */
struct ctx_store_cost {
	uint64_t rows;	 /* time-tree rows */
	uint64_t blocks; /* sample blocks decoded */
	uint64_t bytes;	 /* of blobs read */
	uint64_t pages;	 /* database pages read from the file (cache misses) */
};
struct ctx_store_cost ctx_store_cost(const struct ctx_store *store);

/*
 * Appends the whole database as bytes, as a file would have them: of one that is open for reading, or of one that was
 * made in memory and has its contents, which ends its writing. For archives (store/archive.h).
 */
CTX_MUST_CHECK enum ctx_status ctx_store_image(struct ctx_store *store, struct ctx_buf *out,
					       struct ctx_err *err);

/*
 * Closes a store opened for reading or writing; an uncommitted one leaves no file behind. NULL is
 * fine.
 */
void ctx_store_close(struct ctx_store *store);

/* ---- SQL ---- */

struct ctx_sql_result_row {
	int n;
	const char *const *names;  /* column names */
	const char *const *values; /* text of each; NULL for SQL NULL */
	const bool *numeric;	   /* the value is a number in the database */
};

/*
 * Runs one or more statements that only read (others are refused: CTX_E_ARG) against the tables,
 * views and virtual tables of docs/schema.md. `each` is called for every row; a failure of it ends
 * the run. CTX_E_ARG with SQLite's message for a wrong statement.
 */
typedef enum ctx_status (*ctx_sql_row_fn)(void *context, const struct ctx_sql_result_row *row,
					  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_store_sql(struct ctx_store *store, const char *sql, ctx_sql_row_fn each,
					     void *context, struct ctx_err *err);

struct ctx_sql_arguments {
	struct ctx_interval interval;
	uint32_t metric;
	const uint32_t *threads; /* ids; NULL: all */
	size_t n_threads;
};

/*
 * A statement for ctx_store_sql that computes the numbers of a report, for users to paste.
 * malloc'ed (free()); NULL: no single statement computes them, unknown report, or out of memory.
 */
char *ctx_store_show_sql(const char *report, const struct ctx_sql_arguments *arguments);

#endif
