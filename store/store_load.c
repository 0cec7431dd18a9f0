#include "base/mem.h"
#include "store/store_check.h"
#include "store/store_rows.h"

#include <string.h>

#define FIGURES_MAX 256u

/* ---- rows ---- */

static enum ctx_status take_property(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	struct ctx_property *item = ctx_store_append(&profile->properties, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	item->key = ctx_store_reader_text(reader, 1);
	item->value = ctx_store_reader_text(reader, 2);
	profile->n_properties = i + 1;
	return CTX_OK;
}

static enum ctx_status take_warning(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	const char **item = ctx_store_append(&profile->warnings, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	*item = ctx_store_reader_text(reader, 1);
	profile->n_warnings = i + 1;
	return CTX_OK;
}

static enum ctx_status take_process(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	struct ctx_process_info *item = ctx_store_append(&profile->processes, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	item->parent = ctx_column_id(reader->stmt, 1);
	item->pid = sqlite3_column_int64(reader->stmt, 2);
	item->has_exit_status = sqlite3_column_type(reader->stmt, 3) != SQLITE_NULL;
	item->exit_status = sqlite3_column_int(reader->stmt, 3);
	item->command = ctx_store_reader_text(reader, 4);
	item->lineage = ctx_store_reader_text(reader, 5);
	item->life.begin_ns = ctx_column_u64(reader->stmt, 6);
	item->life.end_ns = ctx_column_u64(reader->stmt, 7);
	item->samples = ctx_column_u64(reader->stmt, 8);
	item->weight = ctx_column_u64(reader->stmt, 9);
	item->cgroup = ctx_store_reader_text(reader, 10);
	item->inner_pid = sqlite3_column_int64(reader->stmt, 11);
	profile->n_processes = (uint32_t)i + 1;
	return CTX_OK;
}

static enum ctx_status take_thread(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	struct ctx_thread_info *item = ctx_store_append(&profile->threads, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	item->process = ctx_column_id(reader->stmt, 1);
	item->tid = sqlite3_column_int64(reader->stmt, 2);
	item->name = ctx_store_reader_text(reader, 3);
	item->life.begin_ns = ctx_column_u64(reader->stmt, 4);
	item->life.end_ns = ctx_column_u64(reader->stmt, 5);
	item->samples = ctx_column_u64(reader->stmt, 6);
	item->weight = ctx_column_u64(reader->stmt, 7);
	item->inner_tid = sqlite3_column_int64(reader->stmt, 8);
	profile->n_threads = (uint32_t)i + 1;
	return CTX_OK;
}

static enum ctx_status take_object(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	struct ctx_object_info *item = ctx_store_append(&profile->objects, i, sizeof(*item));

	if (item == NULL)
		return ctx_err_nomem(err);
	item->path = ctx_store_reader_text(reader, 1);
	item->build_id = ctx_store_reader_text(reader, 2);
	item->symbols = ctx_store_reader_text(reader, 3);
	profile->n_objects = (uint32_t)i + 1;
	return CTX_OK;
}

static enum ctx_status take_function(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	struct ctx_function_info *item = ctx_store_append(&profile->functions, i, sizeof(*item));
	uint32_t kind = ctx_column_id(reader->stmt, 7), code_kind = ctx_column_id(reader->stmt, 10);

	if (item == NULL)
		return ctx_err_nomem(err);
	if (kind > CTX_FUNCTION_ARTIFICIAL || code_kind >= CTX_CODE_N)
		return ctx_store_bad(reader->store, "a function of unknown kind", err);
	item->code_kind = (enum ctx_code_kind)code_kind;
	item->name = ctx_store_reader_text(reader, 1);
	item->linkage_name = sqlite3_column_type(reader->stmt, 2) == SQLITE_NULL
				     ? item->name
				     : ctx_store_reader_text(reader, 2);
	item->aliases = ctx_store_reader_text(reader, 3);
	item->object = ctx_column_id(reader->stmt, 4);
	item->offset = ctx_column_u64(reader->stmt, 5);
	item->size = ctx_column_u64(reader->stmt, 6);
	item->kind = (enum ctx_function_kind)kind;
	item->inlined = sqlite3_column_int64(reader->stmt, 8) != 0;
	item->parts = ctx_store_reader_text(reader, 9);
	profile->n_functions = (uint32_t)i + 1;
	return CTX_OK;
}

static enum ctx_status take_usage(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	struct ctx_usage_info *item = ctx_store_append(&profile->usage, i, sizeof(*item));
	sqlite3_stmt *stmt = reader->stmt;

	if (item == NULL)
		return ctx_err_nomem(err);
	*item = (struct ctx_usage_info){
		.time_ns = ctx_column_u64(stmt, 1),
		.process = ctx_column_id(stmt, 2),
		.user_ns = ctx_column_u64(stmt, 3),
		.system_ns = ctx_column_u64(stmt, 4),
		.rss_bytes = ctx_column_u64(stmt, 5),
		.vsize_bytes = ctx_column_u64(stmt, 6),
		.minor_faults = ctx_column_u64(stmt, 7),
		.major_faults = ctx_column_u64(stmt, 8),
		.voluntary_switches = ctx_column_u64(stmt, 9),
		.involuntary_switches = ctx_column_u64(stmt, 10),
		.read_bytes = ctx_column_u64(stmt, 11),
		.write_bytes = ctx_column_u64(stmt, 12),
		.threads = ctx_column_u64(stmt, 13),
	};
	profile->n_usage = i + 1;
	return CTX_OK;
}

static enum ctx_status take_tree(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_store *store = reader->store;
	sqlite3_stmt *stmt = reader->stmt;
	enum ctx_status status = ctx_grow(&store->trees, &store->trees_cap, i + 1, err);

	if (status != CTX_OK)
		return status;
	store->trees[i] = (struct ctx_tree_info){
		.id = (uint32_t)i,
		.thread = ctx_column_id(stmt, 1),
		.metric = ctx_column_id(stmt, 2),
		.leaf_samples = ctx_column_id(stmt, 3),
		.fanout = ctx_column_id(stmt, 4),
		.percent = ctx_column_id(stmt, 5),
		.mode = ctx_column_id(stmt, 6),
		.keep_tail = sqlite3_column_int(stmt, 7) != 0,
		.same_as = ctx_column_id(stmt, 8),
	};
	store->n_trees = i + 1;
	return CTX_OK;
}

static enum ctx_status check_trees(struct ctx_store *store, struct ctx_err *err)
{
	for (size_t i = 0; i < store->n_trees; i++) {
		const struct ctx_tree_info *tree = &store->trees[i];
		uint32_t *place;

		if (tree->metric >= store->profile.n_metrics ||
		    (tree->thread != CTX_NONE && tree->thread >= store->profile.n_threads))
			return ctx_store_bad(store, "a time tree of no thread or metric", err);
		if (tree->same_as != CTX_NONE &&
		    (tree->same_as >= store->n_trees || store->trees[tree->same_as].same_as != CTX_NONE ||
		     store->trees[tree->same_as].metric != tree->metric))
			return ctx_store_bad(store, "a time tree refers to one that is not there", err);
		place = ctx_map64_place(&store->tree_of, (uint64_t)tree->thread << 32 | tree->metric);
		if (place == NULL)
			return ctx_err_nomem(err);
		if (*place != CTX_MAP64_NONE)
			return ctx_store_bad(store, "two time trees of one thread and metric", err);
		*place = (uint32_t)i;
	}
	return CTX_OK;
}

enum ctx_status ctx_store_load_trees(struct ctx_store *store, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_store_read_rows(store, "SELECT * FROM time_tree ORDER BY id", take_tree, err);

	return status == CTX_OK ? check_trees(store, err) : status;
}

static enum ctx_status read_entities(struct ctx_store *store, struct ctx_err *err)
{
	static const struct {
		const char *sql;
		ctx_store_take_fn take;
	} tables[] = {
		{"SELECT * FROM property ORDER BY id", take_property},
		{"SELECT * FROM warning ORDER BY id", take_warning},
		{"SELECT * FROM metric ORDER BY id", ctx_store_take_metric},
		{"SELECT * FROM outsider ORDER BY id", ctx_store_take_external_waker},
		{"SELECT * FROM traced_file ORDER BY id", ctx_store_take_traced_file},
		{"SELECT * FROM process ORDER BY id", take_process},
		{"SELECT * FROM thread ORDER BY id", take_thread},
		{"SELECT * FROM load_object ORDER BY id", take_object},
		{"SELECT * FROM function ORDER BY id", take_function},
		{"SELECT * FROM usage ORDER BY id", take_usage},
		{"SELECT * FROM loss ORDER BY id", ctx_store_take_loss},
		{"SELECT * FROM vm ORDER BY id", ctx_store_take_vm},
	};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(tables) && status == CTX_OK; i++)
		status = ctx_store_read_rows(store, tables[i].sql, tables[i].take, err);
	return status;
}

/* ---- the table of single facts ---- */

struct facts {
	uint64_t stacks, raw_stacks, locations, sites;
};

/* Of an archived run; a damaged one may have more than there are. */
static void take_figure(struct ctx_store_reader *reader, const char *name)
{
	struct ctx_profile_losses *losses = &reader->store->profile.losses;
	struct ctx_kept_figure *item;

	if (losses->n_figures == FIGURES_MAX)
		return;
	item = ctx_store_append(&losses->figures, losses->n_figures, sizeof(*item));
	if (item != NULL)
		item->name = ctx_arena_strdup(&reader->store->profile.arena, name);
	if (item == NULL || item->name == NULL) {
		reader->failed = true;
		return;
	}
	item->value = sqlite3_column_double(reader->stmt, 1);
	losses->n_figures++;
}

static void take_fact(struct ctx_store_reader *reader, struct facts *facts)
{
	struct ctx_store *store = reader->store;
	struct ctx_profile *profile = &store->profile;
	const char *key = (const char *)sqlite3_column_text(reader->stmt, 0);
	const struct {
		const char *key;
		const char **text;
		uint64_t *number;
	} known[] = {
		{"name", &profile->name, NULL},
		{"notes", &profile->notes, NULL},
		{"fingerprint", &store->fingerprint, NULL},
		{"begin_ns", NULL, &profile->run.begin_ns},
		{"end_ns", NULL, &profile->run.end_ns},
		{"lost_samples", NULL, &profile->losses.samples},
		{"throttled", NULL, &profile->losses.throttled},
		{"damaged", NULL, &profile->losses.damaged},
		{"heap_operations", NULL, &profile->traced[CTX_TRACED_HEAP]},
		{"sync_operations", NULL, &profile->traced[CTX_TRACED_SYNC]},
		{"io_operations", NULL, &profile->traced[CTX_TRACED_IO]},
		{"mark_operations", NULL, &profile->traced[CTX_TRACED_MARK]},
		{"calls", NULL, &profile->traced[CTX_TRACED_CALL]},
		{"branch_entries", NULL, &profile->traced[CTX_TRACED_BRANCH]},
		{"memory_accesses", NULL, &profile->traced[CTX_TRACED_MEMORY]},
		{"omp_operations", NULL, &profile->traced[CTX_TRACED_OMP]},
		{"stacks", NULL, &facts->stacks},
		{"raw_stacks", NULL, &facts->raw_stacks},
		{"locations", NULL, &facts->locations},
		{"sites", NULL, &facts->sites},
	};

	if (key == NULL)
		return;
	if (strncmp(key, CTX_STORE_FIGURE, strlen(CTX_STORE_FIGURE)) == 0) {
		take_figure(reader, key + strlen(CTX_STORE_FIGURE));
		return;
	}
	if (strcmp(key, CTX_STORE_NO_SAMPLES) == 0)
		profile->losses.sample_blocks = true;
	for (size_t i = 0; i < CTX_COUNT_OF(known); i++) {
		if (strcmp(key, known[i].key) != 0)
			continue;
		if (known[i].text != NULL)
			*known[i].text = ctx_store_reader_text(reader, 1);
		else
			*known[i].number = ctx_column_u64(reader->stmt, 1);
	}
	if (strcmp(key, "closed") == 0)
		profile->closed = sqlite3_column_int64(reader->stmt, 1) != 0;
	if (strcmp(key, "call_stacks") == 0)
		profile->losses.call_stacks = sqlite3_column_int64(reader->stmt, 1) == 0;
	if (strcmp(key, "call_log") == 0)
		profile->losses.call_log = sqlite3_column_int64(reader->stmt, 1) == 0;
	if (strcmp(key, "states") == 0) {
		profile->has_states = true;
		profile->states = ctx_column_id(reader->stmt, 1);
	}
}

static enum ctx_status read_facts(struct ctx_store *store, struct facts *facts, struct ctx_err *err)
{
	struct ctx_store_reader reader = {.store = store};
	enum ctx_status status = ctx_statement_prepare(
		store->db, store->path, "SELECT key, value FROM experiment", &reader.stmt, err);
	int rc = SQLITE_DONE;

	store->profile.name = store->profile.notes = store->fingerprint = "";
	while (status == CTX_OK && (rc = sqlite3_step(reader.stmt)) == SQLITE_ROW) {
		take_fact(&reader, facts);
		if (reader.failed)
			status = ctx_err_nomem(err);
	}
	if (status == CTX_OK && rc != SQLITE_DONE)
		status = ctx_statement_fail(store->db, rc, store->path, err);
	sqlite3_finalize(reader.stmt);
	if (status == CTX_OK && (facts->stacks == 0 || facts->raw_stacks == 0))
		status = ctx_store_bad(store, "has no call stacks, not even the root", err);
	if (status == CTX_OK &&
	    (facts->stacks > store->max_entries || facts->raw_stacks > store->max_entries ||
	     facts->locations > store->max_entries || facts->sites > store->max_entries ||
	     facts->stacks >= CTX_NONE || facts->raw_stacks >= CTX_NONE || facts->locations >= CTX_NONE ||
	     facts->sites >= CTX_NONE))
		status = ctx_store_bad(store, "claims more call stacks than the file can hold", err);
	return status;
}

/* ---- long arrays ---- */

static enum ctx_status load_stacks(struct ctx_store *store, const struct facts *facts, struct ctx_err *err)
{
	const struct ctx_store_column functions = {"stack_block", "function", (uint32_t)facts->stacks, true};
	const struct ctx_store_column stacks = {"raw_stack_block", "stack", (uint32_t)facts->raw_stacks,
						true};
	enum ctx_status status = ctx_store_load_trie(store, &functions, &store->profile.cct, err);

	store->n_raw_stacks = (uint32_t)facts->raw_stacks;
	store->n_locations = (uint32_t)facts->locations;
	store->n_sites = (uint32_t)facts->sites;
	if (status == CTX_OK)
		status = ctx_store_load_column(store, &stacks, &store->raw_to_stack, err);
	for (uint32_t i = 0; status == CTX_OK && i < store->n_raw_stacks; i++) {
		if (store->raw_to_stack[i] >= store->profile.cct.n)
			status = ctx_store_bad(store, "a raw stack of no call stack", err);
	}
	return status;
}

enum ctx_status ctx_store_load(struct ctx_store *store, struct ctx_err *err)
{
	struct facts facts = {0};
	enum ctx_status status = read_facts(store, &facts, err);

	if (status == CTX_OK)
		status = read_entities(store, err);
	if (status == CTX_OK)
		status = load_stacks(store, &facts, err);
	if (status == CTX_OK)
		status = ctx_store_load_trees(store, err);
	if (status == CTX_OK) {
		status = ctx_store_check_profile(&store->profile, CTX_E_FORMAT, err);
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "%s", store->path);
	}
	return status;
}
