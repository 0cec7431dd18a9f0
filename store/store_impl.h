/*
 * The store's inside, shared by its own files only.
 *
 *	store_write.c     create, trees, nodes, leaves, commit      store_open.c   open, check the header, small queries
 *	store_contents.c  nouns and call stacks: writing            store_load.c   nouns and call stacks: reading
 *	store_put_code.c  sites, source files, code: writing        store_code.c   locations, sites, files, texts, code: reading
 *	store_metrics.c   metrics and outsiders: both               store_blocks.c   blocks of columns by time: both
 *	store_wakeups.c   waits that were ended: both               store_traced.c   traced operations and their files: both
 *	store_read.c      nodes and leaves, scan                    store_sql.c    SQL that only reads; vtab_*.c: its virtual tables
 *
 * A row of tree t, node n has the id t << 32 | n, in node_row, node_list and sample_block alike: no index is
 * needed, and the rows of a tree lie together. In the same way part p of the code of function f has the id f << 32 | p.
 */
#ifndef CTX_STORE_STORE_IMPL_H
#define CTX_STORE_STORE_IMPL_H

#include "base/map64.h"
#include "store/block_codec.h"
#include "store/statement.h"
#include "store/store.h"

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
	const struct ctx_store *store;
	sqlite3_stmt *stmt;
	struct ctx_block_codec codec;
	struct ctx_sample *samples;
	size_t cap;
};

/* Writing: what has been put so far, to check what comes behind it. */
struct put_state {
	uint32_t n_files, n_functions;
	uint32_t function; /* whose code was put last; CTX_NONE: of none */
	uint32_t parts;	   /* of it */
	uint64_t end;	   /* of its last part */
	uint64_t bytes;	   /* of all its parts */
};

/* Reading: what ctx_store_code gives, loaded at its first call, and what its reader gave last. */
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
	char *path;	 /* as the caller named it: in every message */
	char *temp_path; /* NULL: not writing */
	int lock_fd;	 /* writing: holds the lock that says that the temporary file is alive */
	bool failed;	 /* writing: something could not be put; commit refuses */
	bool has_contents;
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
	uint64_t max_entries; /* of one long array: what a file of this size can reasonably hold */
	struct leaf_reader leaf;
	sqlite3_stmt *get_node, *get_list;
	struct ctx_store_cost cost;
	int pages_at_open;
	bool has_modules; /* the virtual tables are registered */
};

static inline int64_t node_rowid(uint32_t tree, uint32_t node)
{
	return (int64_t)((uint64_t)tree << 32 | node);
}

/* Deeper inlining than this is not written, and not believed: whoever follows callers comes to an end soon. */
#define SITE_DEPTH_MAX 256u

static inline bool store_is_id(uint32_t id, uint64_t n, bool none_allowed)
{
	return id < n || (none_allowed && id == CTX_NONE);
}

/* A message for the thing of a kind, `what`, with number `i`. Gives `wrong`. */
enum ctx_status store_range(enum ctx_status wrong, const char *what, size_t i, struct ctx_err *err);

/* Ids in range, no process its own ancestor: both before writing (CTX_E_ARG) and after reading
 * (CTX_E_FORMAT); `wrong` says which. */
CTX_MUST_CHECK enum ctx_status store_check_profile(const struct ctx_profile *profile, enum ctx_status wrong,
						   struct ctx_err *err);

/* The same for the metrics: what the parts of sums are, and which metrics are states. */
CTX_MUST_CHECK enum ctx_status store_check_metrics(const struct ctx_profile *profile, enum ctx_status wrong,
						   struct ctx_err *err);

/* The same for locations, sites and raw stacks. */
CTX_MUST_CHECK enum ctx_status store_check_code(const struct ctx_code *code,
						const struct ctx_profile *profile, enum ctx_status wrong,
						struct ctx_err *err);

/* An entry of a long array that is being written, as a number. */
typedef uint64_t (*store_entry_fn)(const struct ctx_store_contents *contents, size_t i);

/* Writes `total` entries in chunks; `sql` inserts a row of id, n and one blob for each of `entries`. */
CTX_MUST_CHECK enum ctx_status store_put_chunks(struct ctx_store *store,
						const struct ctx_store_contents *contents, const char *sql,
						const store_entry_fn *entries, int n_entries, size_t total,
						struct ctx_err *err);

/* Something with rows that is being written. */
struct store_rows {
	struct ctx_store *store;
	const struct ctx_store_contents *contents;
	sqlite3_stmt *stmt;
	bool failed; /* memory ran out while a row was made */
};

typedef void (*store_bind_fn)(struct store_rows *rows, size_t i);

/* The metrics, outsiders and traced files of `contents`: a row each. */
void store_bind_metric(struct store_rows *rows, size_t i);
void store_bind_outsider(struct store_rows *rows, size_t i);
void store_bind_traced_file(struct store_rows *rows, size_t i);

/* The sites and source files of `contents`. */
CTX_MUST_CHECK enum ctx_status store_put_sources(struct ctx_store *store,
						 const struct ctx_store_contents *contents,
						 struct ctx_err *err);

/* Reads everything that open promises, and checks it. */
CTX_MUST_CHECK enum ctx_status store_load(struct ctx_store *store, struct ctx_err *err);

/* A table being read into an array: `take` gets the statement on row `i`, ids are checked to run from 0. */
struct store_reader {
	struct ctx_store *store;
	sqlite3_stmt *stmt;
	bool failed; /* memory ran out for a string */
};

typedef enum ctx_status (*store_take_fn)(struct store_reader *reader, size_t i, struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status store_read_rows(struct ctx_store *store, const char *sql, store_take_fn take,
					       struct ctx_err *err);

/* For the rows of the tables metric, outsider and traced_file. */
CTX_MUST_CHECK enum ctx_status store_take_metric(struct store_reader *reader, size_t i, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status store_take_outsider(struct store_reader *reader, size_t i,
						   struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status store_take_traced_file(struct store_reader *reader, size_t i,
						      struct ctx_err *err);

/* A copy in the profile's arena; NULL in the database is "". Bytes behind a zero byte are cut. */
const char *store_reader_text(struct store_reader *reader, int at);

/* Appends one zeroed item to an array of `n` items and gives its place, NULL when memory is short; for arrays without a
 * capacity beside them: it is the next power of two. */
void *store_append(void *items_pointer, size_t n, size_t size);

/* The chunks of `column` of `table` as one array of exactly `n` numbers, each at most UINT32_MAX if `narrow`
 * (uint32_t array) or any (uint64_t array). malloc'ed. */
CTX_MUST_CHECK enum ctx_status store_load_column(struct ctx_store *store, const char *table,
						 const char *column, uint32_t n, bool narrow, void *ret,
						 struct ctx_err *err);

/* A trie from distances to parents and keys plus one, as they are stored; both arrays are taken over, also on failure. */
CTX_MUST_CHECK enum ctx_status store_take_trie(struct ctx_store *store, struct ctx_trie *trie,
					       uint32_t *parent, uint32_t *key, uint32_t n,
					       struct ctx_err *err);

void code_state_deinit(struct code_state *state);

void leaf_reader_deinit(struct leaf_reader *reader);

/* The samples of one leaf, checked; n 0 when it has none. Borrowed until the next call with this reader. */
CTX_MUST_CHECK enum ctx_status leaf_reader_get(struct leaf_reader *reader, uint32_t tree, uint32_t node,
					       struct ctx_store_cost *cost,
					       const struct ctx_sample **ret_samples, size_t *ret_n,
					       struct ctx_err *err);

/*
 * The leaves of a tree that overlap a window, in time order: depth first over the nodes. Several walks may be
 * under way at once.
 */
struct pending_node {
	uint32_t node, parent;
};

struct leaf_walk {
	struct ctx_store *store;
	uint32_t tree;
	struct ctx_interval window;
	struct leaf_reader reader;
	struct pending_node *pending; /* to visit, the next one last */
	size_t n_pending, pending_cap;
};

/* leaf_walk_deinit is due also after a failure. */
CTX_MUST_CHECK enum ctx_status leaf_walk_init(struct leaf_walk *walk, struct ctx_store *store, uint32_t tree,
					      struct ctx_interval window, struct ctx_err *err);

/* All samples of the next leaf (those outside the window too; there may be none); CTX_END behind the last. */
CTX_MUST_CHECK enum ctx_status leaf_walk_next(struct leaf_walk *walk, const struct ctx_sample **ret_samples,
					      size_t *ret_n, struct ctx_err *err);
void leaf_walk_deinit(struct leaf_walk *walk);

/*
 * What is kept in blocks of columns, each block with the time that it covers, so that a question about an interval reads few of them:
 * waits that were ended, traced operations. The items of a table have one type.
 */
struct block {
	uint64_t kind;
	size_t n;		  /* items */
	struct ctx_interval span; /* the end belongs to it */
	const void *payload;
	size_t size_bytes;
};

struct block_walk;

struct block_table {
	const char *items; /* what they are, for messages: "waits" */
	const char
		*select; /* kind (0 where there are none), n, first_ns, last_ns, payload, as they were put */
	size_t item_bytes;
	/* All items before one is written, CTX_E_ARG; then up to CTX_CHUNK_ENTRIES of them become a row. */
	enum ctx_status (*check)(const struct ctx_store *store, const void *items, size_t n,
				 struct ctx_err *err);
	enum ctx_status (*put)(struct ctx_store *store, const void *items, size_t n, struct ctx_err *err);
	/* Makes walk->items of the block, for which there is room, and checks them; their stacks follow from the raw ones. */
	enum ctx_status (*decode)(struct block_walk *walk, const struct block *block, struct ctx_err *err);
};

extern const struct block_table wakeup_blocks, traced_blocks; /* of struct ctx_wakeup, struct ctx_traced */

CTX_MUST_CHECK enum ctx_status blocks_put(struct ctx_store *store, const struct block_table *table,
					  const void *items, size_t n, struct ctx_err *err);

/* The blocks of a table that can have some of a window, one after the other. */
#define BLOCKS_OF_ALL_KINDS UINT64_MAX

struct block_walk {
	struct ctx_store *store;
	const struct block_table *table;
	uint64_t kind;
	struct ctx_interval window;
	sqlite3_stmt *stmt;
	struct ctx_block_codec codec;
	void *items; /* of the current block, checked; those outside the window too */
	size_t n, cap;
};

/* block_walk_deinit is due also after a failure. */
CTX_MUST_CHECK enum ctx_status block_walk_init(struct block_walk *walk, struct ctx_store *store,
					       const struct block_table *table, uint64_t kind,
					       struct ctx_interval window, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status block_walk_next(struct block_walk *walk,
					       struct ctx_err *err); /* CTX_END behind the last */
void block_walk_deinit(struct block_walk *walk);

#endif
