/*
 * Internals of the store. Private to store/.
 *
 *	store_write.c	  create, trees, nodes, leaves, commit	 store_open.c	 open, header, small queries
 *	store_contents.c  entities and call stacks: writing	 store_load.c	 the same: reading
 *	store_put_code.c  sites, source files, code: writing	 store_code.c	 the same, locations: reading
 *	store_metrics.c	  metrics, external wakers: rows	 store_wakeups.c ended waits
 *	store_traced.c	  traced operations, their files	 store_read.c	 nodes and leaves, scans
 *	store_memory.c	  in memory: its own rows, others' contents
 *	store_sql.c	  SQL that only reads; vtab_*.c: its virtual tables
 *
 * Below these:
 *
 *	store_rows.c	  tables as rows and chunks		 store_blocks.c	 blocks of columns by time
 *	store_check.c	  invariants of all ids
 *
 * The row of tree t, node n has the id t << 32 | n in node_row, node_list and sample_block: no
 * index is needed, and the rows of a tree are adjacent. Likewise part p of the code of function f
 * has the id f << 32 | p.
 */
#ifndef CTX_STORE_STORE_IMPL_H
#define CTX_STORE_STORE_IMPL_H

#include "base/map64.h"
#include "store/block_codec.h"
#include "store/statement.h"
#include "store/store.h"

/* Keys of the table experiment that only archived runs have (model/profile.h: struct ctx_profile_losses). */
#define CTX_STORE_NO_SAMPLES "no_samples"
#define CTX_STORE_FIGURE "figure."

enum put_statement {
	PUT_TREE,
	PUT_NODE,
	PUT_LIST,
	PUT_BLOCK,
	PUT_TEXT,
	PUT_CODE,
	PUT_WAKEUPS,
	PUT_TRACED,
	N_PUT
};

/* Reads sample blocks: the store has one for its callers, every SQL cursor its own. */
struct leaf_reader {
	struct ctx_store *store;
	sqlite3_stmt *stmt;
	struct ctx_block_codec codec;
	struct ctx_sample *samples;
	size_t cap;
};

/* Writing: what has been put so far, to check later calls. */
struct put_state {
	uint32_t n_files, n_functions;
	uint32_t function; /* whose code was put last; CTX_NONE: none */
	uint32_t parts;	   /* of it */
	uint64_t end;	   /* of its last part */
	uint64_t bytes;	   /* of all its parts */
};

/*
 * Reading: the result of ctx_store_code, loaded at its first call, and the last results of its
 * reader.
 */
struct code_state {
	bool loaded;
	struct ctx_code code;
	struct ctx_trie raw_stacks;
	struct ctx_location *locations;
	struct ctx_site *sites;
	struct ctx_source_file *files;
	size_t n_files;
	sqlite3_stmt *get_text, *get_parts;
	struct ctx_block_codec codec;
	struct ctx_buf text;
	struct ctx_function_code *parts;
	size_t n_parts, parts_cap;
	struct ctx_buf bytes;	   /* of all these parts, one after the other */
	struct ctx_line_rows rows; /* the same */
};

struct ctx_store {
	sqlite3 *db;
	char *path;	 /* as passed by the caller; part of every message */
	char *temp_path; /* NULL: not writing */
	int lock_fd;	 /* writing: holds the lock that marks the temporary file as in use */
	bool failed;	 /* writing: a put failed; commit refuses */
	bool has_contents;
	bool is_lent; /* in memory: the contents belong to others */
	sqlite3_stmt *put[N_PUT];
	struct ctx_block_codec codec;
	struct put_state put_state;
	uint32_t n_wakeup_blocks, n_traced_blocks; /* written */

	struct ctx_profile profile;
	const char *fingerprint; /* in the profile's arena */
	struct ctx_tree_info *trees;
	size_t n_trees, trees_cap;
	struct ctx_map64 tree_of; /* thread << 32 | metric -> tree id */
	uint32_t *raw_to_stack;
	uint32_t n_raw_stacks, n_locations, n_sites;
	struct code_state code;
	uint64_t max_entries; /* limit of entries in one long array for the size of this file */
	struct leaf_reader leaf;
	sqlite3_stmt *get_node, *get_list;
	struct ctx_store_cost cost;
	int pages_at_open;
	bool has_modules; /* the virtual tables are registered */
};

static inline int64_t ctx_store_rowid(uint32_t high, uint32_t low)
{
	return (int64_t)((uint64_t)high << 32 | low);
}

/* The sites and source files of `contents`. */
CTX_MUST_CHECK enum ctx_status ctx_store_put_sources(struct ctx_store *store,
						     const struct ctx_store_contents *contents,
						     struct ctx_err *err);

/* Opens an empty database of this name for writing, with the statements for it. */
CTX_MUST_CHECK enum ctx_status ctx_store_open_empty(struct ctx_store *store, const char *name,
						    struct ctx_err *err);

/* CTX_E_NOTFOUND, with a message that says what is missing: an archived run without samples. */
CTX_MUST_CHECK enum ctx_status ctx_store_need_samples(const struct ctx_store *store, struct ctx_err *err);

/* A store without a database yet: `size_bytes` of its file bounds what it may claim. */
CTX_MUST_CHECK enum ctx_status ctx_store_new(const char *name, uint64_t size_bytes, struct ctx_store **ret,
					     struct ctx_err *err);

/* Checks and loads the database that is open. */
CTX_MUST_CHECK enum ctx_status ctx_store_begin_reading(struct ctx_store *store, struct ctx_err *err);

/*
 * For reading. A file is untrusted: SQL in its schema runs without privileges, and damage is detected.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_harden(struct ctx_store *store, struct ctx_err *err);

/* Ends the transaction of a store that is written. */
CTX_MUST_CHECK enum ctx_status ctx_store_end_writing(struct ctx_store *store, struct ctx_err *err);

/* CTX_E_ARG: ids out of range. */
CTX_MUST_CHECK enum ctx_status ctx_store_check_contents(const struct ctx_store_contents *contents,
							struct ctx_err *err);

/* Reads and checks the list of time trees. */
CTX_MUST_CHECK enum ctx_status ctx_store_load_trees(struct ctx_store *store, struct ctx_err *err);

/* Reads and checks everything that open loads. */
CTX_MUST_CHECK enum ctx_status ctx_store_load(struct ctx_store *store, struct ctx_err *err);

void ctx_code_state_deinit(struct code_state *state);

void ctx_leaf_reader_deinit(struct leaf_reader *reader);

/*
 * The leaves of a tree that overlap a window, in time order: depth first over the nodes. Several
 * walks may be under way at once.
 */
struct pending_node {
	uint32_t node, parent;
};

struct leaf_walk {
	struct ctx_store *store;
	uint32_t tree;
	struct ctx_interval window;
	struct leaf_reader reader;
	struct pending_node *pending; /* to visit; the next one is last */
	size_t n_pending, pending_cap;
};

/* Call ctx_leaf_walk_deinit also after a failure. */
CTX_MUST_CHECK enum ctx_status ctx_leaf_walk_init(struct leaf_walk *walk, struct ctx_store *store,
						  uint32_t tree, struct ctx_interval window,
						  struct ctx_err *err);

/*
 * All samples of the next leaf (including those outside the window; there may be none); CTX_END
 * after the last.
 */
CTX_MUST_CHECK enum ctx_status ctx_leaf_walk_next(struct leaf_walk *walk,
						  const struct ctx_sample **ret_samples, size_t *ret_n,
						  struct ctx_err *err);
void ctx_leaf_walk_deinit(struct leaf_walk *walk);

/*
 * A table of items in blocks of columns, each block with the time that it covers, so that a query
 * of an interval reads few of them: ended waits, traced operations. The items of a table have one
 * type.
 */
struct block {
	uint64_t kind;
	size_t n;		  /* items */
	struct ctx_interval span; /* the end is included */
	struct ctx_bytes payload;
};

struct block_walk;

struct block_table {
	const char *items; /* name of the items for messages: "waits" */
	/*
	 * SQL: kind (0 if the table has none), n, first_ns, last_ns, payload, in the order of
	 * putting.
	 */
	const char *select;
	size_t item_bytes;
	/*
	 * Checks all items before any is written (CTX_E_ARG); then writes rows of up to
	 * CTX_CHUNK_ENTRIES items.
	 */
	enum ctx_status (*check)(const struct ctx_store *store, const void *items, size_t n,
				 struct ctx_err *err);
	enum ctx_status (*put)(struct ctx_store *store, const void *items, size_t n, struct ctx_err *err);
	/*
	 * Decodes the block into walk->items, which has room, and checks the items; fills in stacks
	 * from raw stacks.
	 */
	enum ctx_status (*decode)(struct block_walk *walk, const struct block *block, struct ctx_err *err);
};

extern const struct block_table ctx_wakeup_blocks,
	ctx_traced_blocks; /* array of struct ctx_wakeup or struct ctx_traced */

CTX_MUST_CHECK enum ctx_status ctx_blocks_put(struct ctx_store *store, const struct block_table *table,
					      const void *items, size_t n, struct ctx_err *err);

/* Walks the blocks of a table that may have items of a window. */
#define BLOCKS_OF_ALL_KINDS UINT64_MAX

struct block_walk {
	struct ctx_store *store;
	const struct block_table *table;
	uint64_t kind;
	struct ctx_interval window;
	sqlite3_stmt *stmt;
	struct ctx_block_codec codec;
	void *items; /* of the current block, checked, including those outside the window */
	size_t n, cap;
};

/*
 * Uses the store, table, kind and window set in it. Call ctx_block_walk_deinit also after a
 * failure.
 */
CTX_MUST_CHECK enum ctx_status ctx_block_walk_init(struct block_walk *walk, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_block_walk_next(struct block_walk *walk,
						   struct ctx_err *err); /* CTX_END after the last */
void ctx_block_walk_deinit(struct block_walk *walk);

#endif
