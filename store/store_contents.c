#include "base/mem.h"
#include "store/store_check.h"
#include "store/store_rows.h"

#include <string.h>

enum ctx_status ctx_store_check_contents(const struct ctx_store_contents *contents, struct ctx_err *err)
{
	const struct ctx_profile *profile = contents->profile;
	const struct ctx_code code = {
		.raw_stacks = contents->raw_stacks,
		.raw_to_stack = contents->raw_to_stack,
		.locations = contents->locations,
		.n_locations = contents->n_locations,
		.sites = contents->sites,
		.n_sites = contents->n_sites,
		.n_files = contents->n_files,
	};
	enum ctx_status status = ctx_store_check_profile(profile, CTX_E_ARG, err);

	if (status != CTX_OK)
		return status;
	if (contents->n_locations >= CTX_NONE || contents->n_sites >= CTX_NONE ||
	    contents->n_files >= INT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%zu locations, %zu sites, %zu source files",
				   contents->n_locations, contents->n_sites, contents->n_files);
	status = ctx_store_check_code(&code, profile, CTX_E_ARG, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < contents->n_mappings; i++) {
		if (!ctx_store_is_id(contents->mappings[i].process, profile->n_processes, false) ||
		    !ctx_store_is_id(contents->mappings[i].object, profile->n_objects, false))
			return ctx_store_range(CTX_E_ARG, "mapping", i, err);
	}
	return CTX_OK;
}

/* ---- rows ---- */

static void bind_property(struct ctx_store_rows *rows, size_t i)
{
	ctx_bind_text(rows->stmt, 2, rows->contents->profile->properties[i].key);
	ctx_bind_text(rows->stmt, 3, rows->contents->profile->properties[i].value);
}

static void bind_warning(struct ctx_store_rows *rows, size_t i)
{
	ctx_bind_text(rows->stmt, 2, rows->contents->profile->warnings[i]);
}

static void bind_process(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_process_info *process = &rows->contents->profile->processes[i];

	ctx_bind_id(rows->stmt, 2, process->parent);
	sqlite3_bind_int64(rows->stmt, 3, process->pid);
	if (process->has_exit_status)
		sqlite3_bind_int64(rows->stmt, 4, process->exit_status);
	else
		sqlite3_bind_null(rows->stmt, 4);
	ctx_bind_text(rows->stmt, 5, process->command);
	ctx_bind_text(rows->stmt, 6, process->lineage);
	ctx_bind_u64(rows->stmt, 7, process->life.begin_ns);
	ctx_bind_u64(rows->stmt, 8, process->life.end_ns);
	ctx_bind_u64(rows->stmt, 9, process->samples);
	ctx_bind_u64(rows->stmt, 10, process->weight);
	ctx_bind_text(rows->stmt, 11, process->cgroup != NULL ? process->cgroup : "");
	sqlite3_bind_int64(rows->stmt, 12, process->inner_pid);
}

static void bind_thread(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_thread_info *thread = &rows->contents->profile->threads[i];

	ctx_bind_id(rows->stmt, 2, thread->process);
	sqlite3_bind_int64(rows->stmt, 3, thread->tid);
	ctx_bind_text(rows->stmt, 4, thread->name);
	ctx_bind_u64(rows->stmt, 5, thread->life.begin_ns);
	ctx_bind_u64(rows->stmt, 6, thread->life.end_ns);
	ctx_bind_u64(rows->stmt, 7, thread->samples);
	ctx_bind_u64(rows->stmt, 8, thread->weight);
	sqlite3_bind_int64(rows->stmt, 9, thread->inner_tid);
}

static void bind_object(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_object_info *object = &rows->contents->profile->objects[i];

	ctx_bind_text(rows->stmt, 2, object->path);
	ctx_bind_text(rows->stmt, 3, object->build_id);
	ctx_bind_text(rows->stmt, 4, object->symbols);
}

static void bind_mapping(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_mapping_info *mapping = &rows->contents->mappings[i];

	ctx_bind_id(rows->stmt, 2, mapping->process);
	ctx_bind_id(rows->stmt, 3, mapping->object);
	ctx_bind_u64(rows->stmt, 4, mapping->address);
	ctx_bind_u64(rows->stmt, 5, mapping->size);
	ctx_bind_u64(rows->stmt, 6, mapping->file_offset);
	ctx_bind_u64(rows->stmt, 7, mapping->life.begin_ns);
	ctx_bind_u64(rows->stmt, 8, mapping->life.end_ns);
}

static void bind_function(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_function_info *function = &rows->contents->profile->functions[i];

	ctx_bind_text(rows->stmt, 2, function->name);
	/* Mostly equal to the name: then NULL, which needs no space. */
	if (strcmp(function->linkage_name, function->name) == 0)
		sqlite3_bind_null(rows->stmt, 3);
	else
		ctx_bind_text(rows->stmt, 3, function->linkage_name);
	ctx_bind_text(rows->stmt, 4, function->aliases);
	ctx_bind_id(rows->stmt, 5, function->object);
	ctx_bind_u64(rows->stmt, 6, function->offset);
	ctx_bind_u64(rows->stmt, 7, function->size);
	ctx_bind_u64(rows->stmt, 8, function->kind);
	ctx_bind_u64(rows->stmt, 9, function->inlined);
	ctx_bind_text(rows->stmt, 10, function->parts != NULL ? function->parts : "");
	ctx_bind_u64(rows->stmt, 11, function->code_kind);
}

static void bind_usage(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_usage_info *usage = &rows->contents->profile->usage[i];
	const uint64_t values[] = {
		usage->time_ns,
		usage->process,
		usage->user_ns,
		usage->system_ns,
		usage->rss_bytes,
		usage->vsize_bytes,
		usage->minor_faults,
		usage->major_faults,
		usage->voluntary_switches,
		usage->involuntary_switches,
		usage->read_bytes,
		usage->write_bytes,
		usage->threads,
	};

	for (size_t k = 0; k < CTX_COUNT_OF(values); k++)
		ctx_bind_u64(rows->stmt, (int)k + 2, values[k]);
}

static enum ctx_status put_entities(struct ctx_store *store, const struct ctx_store_contents *contents,
				    struct ctx_err *err)
{
	const struct ctx_profile *profile = contents->profile;
	struct ctx_store_rows rows = {.store = store, .contents = contents};
	const struct {
		const char *sql;
		size_t n;
		ctx_store_bind_fn bind;
	} tables[] = {
		{"INSERT INTO property VALUES (?, ?, ?)", profile->n_properties, bind_property},
		{"INSERT INTO warning VALUES (?, ?)", profile->n_warnings, bind_warning},
		{"INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", profile->n_metrics,
		 ctx_store_bind_metric},
		{"INSERT INTO outsider VALUES (?, ?)", profile->external_wakers.n,
		 ctx_store_bind_external_waker},
		{"INSERT INTO traced_file VALUES (?, ?)", profile->n_files, ctx_store_bind_traced_file},
		{"INSERT INTO process VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", profile->n_processes,
		 bind_process},
		{"INSERT INTO thread VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", profile->n_threads, bind_thread},
		{"INSERT INTO load_object VALUES (?, ?, ?, ?)", profile->n_objects, bind_object},
		{"INSERT INTO mapping VALUES (?, ?, ?, ?, ?, ?, ?, ?)", contents->n_mappings, bind_mapping},
		{"INSERT INTO function VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", profile->n_functions,
		 bind_function},
		{"INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", profile->n_usage,
		 bind_usage},
		{"INSERT INTO loss VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", profile->losses.n_items,
		 ctx_store_bind_loss},
		{"INSERT INTO vm VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		 profile->vms.n, ctx_store_bind_vm},
	};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(tables) && status == CTX_OK; i++)
		status = ctx_store_put_rows(&rows, tables[i].sql, tables[i].n, tables[i].bind, err);
	return status;
}

/* Of an archived run: that it has no samples, and what they said. */
static enum ctx_status put_kept(struct ctx_store *store, const struct ctx_profile_losses *losses,
				sqlite3_stmt *stmt, struct ctx_err *err)
{
	struct ctx_buf key CTX_AUTO_BUF = {0};
	enum ctx_status status = CTX_OK;

	if (!losses->sample_blocks)
		return CTX_OK;
	ctx_bind_text(stmt, 1, CTX_STORE_NO_SAMPLES);
	ctx_bind_u64(stmt, 2, 1);
	status = ctx_statement_run(stmt, store->path, err);
	for (size_t i = 0; i < losses->n_figures && status == CTX_OK; i++) {
		ctx_buf_clear(&key);
		ctx_buf_printf(&key, CTX_STORE_FIGURE "%s", losses->figures[i].name);
		ctx_buf_put_u8(&key, '\0');
		status = ctx_buf_check(&key, err);
		if (status != CTX_OK)
			return status;
		ctx_bind_text(stmt, 1, (const char *)key.bytes);
		sqlite3_bind_double(stmt, 2, losses->figures[i].value);
		status = ctx_statement_run(stmt, store->path, err);
	}
	return status;
}

static enum ctx_status put_experiment(struct ctx_store *store, const struct ctx_store_contents *contents,
				      struct ctx_err *err)
{
	const struct ctx_profile *profile = contents->profile;
	const struct {
		const char *key;
		const char *text; /* NULL: a number */
		uint64_t number;
	} facts[] = {
		{"name", profile->name, 0},
		{"notes", profile->notes, 0},
		{"fingerprint", contents->fingerprint, 0},
		{"begin_ns", NULL, profile->run.begin_ns},
		{"end_ns", NULL, profile->run.end_ns},
		{"closed", NULL, profile->closed},
		{"lost_samples", NULL, profile->losses.samples},
		{"throttled", NULL, profile->losses.throttled},
		{"damaged", NULL, profile->losses.damaged},
		{"stacks", NULL, profile->cct.n},
		{"raw_stacks", NULL, contents->raw_stacks->n},
		{"locations", NULL, contents->n_locations},
		{"sites", NULL, contents->n_sites},
		{"heap_operations", NULL, profile->traced[CTX_TRACED_HEAP]},
		{"sync_operations", NULL, profile->traced[CTX_TRACED_SYNC]},
		{"io_operations", NULL, profile->traced[CTX_TRACED_IO]},
		{"mark_operations", NULL, profile->traced[CTX_TRACED_MARK]},
		{"calls", NULL, profile->traced[CTX_TRACED_CALL]},
		{"branch_entries", NULL, profile->traced[CTX_TRACED_BRANCH]},
		{"memory_accesses", NULL, profile->traced[CTX_TRACED_MEMORY]},
		{"omp_operations", NULL, profile->traced[CTX_TRACED_OMP]},
		{"states", NULL, profile->states},
		{"call_stacks", NULL, !profile->losses.call_stacks},
		{"call_log", NULL, !profile->losses.call_log},
	};
	sqlite3_stmt *stmt = NULL;
	enum ctx_status status = ctx_statement_prepare(store->db, store->path,
						       "INSERT INTO experiment VALUES (?, ?)", &stmt, err);

	for (size_t i = 0; i < CTX_COUNT_OF(facts) && status == CTX_OK; i++) {
		if (strcmp(facts[i].key, "states") == 0 && !profile->has_states)
			continue;
		ctx_bind_text(stmt, 1, facts[i].key);
		if (facts[i].text != NULL)
			ctx_bind_text(stmt, 2, facts[i].text);
		else
			ctx_bind_u64(stmt, 2, facts[i].number);
		status = ctx_statement_run(stmt, store->path, err);
	}
	if (status == CTX_OK)
		status = put_kept(store, &profile->losses, stmt, err);
	sqlite3_finalize(stmt);
	return status;
}

/* ---- long arrays in chunks ---- */

/* A parent is stored as the distance to it: 1 along a path, so that most values are 1. */
static uint64_t stack_parent(const struct ctx_store_contents *contents, size_t i)
{
	return i - contents->profile->cct.parent[i];
}

/* The root has no function and is 0; the others are stored plus one. */
static uint64_t stack_function(const struct ctx_store_contents *contents, size_t i)
{
	return i == 0 ? 0 : (uint64_t)contents->profile->cct.key[i] + 1;
}

static uint64_t raw_stack_parent(const struct ctx_store_contents *contents, size_t i)
{
	return i - contents->raw_stacks->parent[i];
}

static uint64_t raw_stack_location(const struct ctx_store_contents *contents, size_t i)
{
	return i == 0 ? 0 : (uint64_t)contents->raw_stacks->key[i] + 1;
}

static uint64_t raw_stack_stack(const struct ctx_store_contents *contents, size_t i)
{
	return contents->raw_to_stack[i];
}

static uint64_t location_object(const struct ctx_store_contents *contents, size_t i)
{
	return (uint32_t)(contents->locations[i].object + 1);
}

static uint64_t location_function(const struct ctx_store_contents *contents, size_t i)
{
	return (uint32_t)(contents->locations[i].function + 1);
}

static uint64_t location_address(const struct ctx_store_contents *contents, size_t i)
{
	return contents->locations[i].address;
}

static uint64_t location_site(const struct ctx_store_contents *contents, size_t i)
{
	return (uint32_t)(contents->locations[i].site + 1);
}

static uint64_t location_joins(const struct ctx_store_contents *contents, size_t i)
{
	return contents->locations[i].joins;
}

static enum ctx_status put_arrays(struct ctx_store *store, const struct ctx_store_contents *contents,
				  struct ctx_err *err)
{
	static const ctx_store_entry_fn stack[] = {stack_parent, stack_function};
	static const ctx_store_entry_fn raw_stack[] = {raw_stack_stack, raw_stack_parent, raw_stack_location};
	static const ctx_store_entry_fn location[] = {location_object, location_function, location_address,
						      location_site, location_joins};
	const struct ctx_store_chunks arrays[] = {
		{"INSERT INTO stack_block VALUES (?, ?, ?, ?)", stack, CTX_COUNT_OF(stack),
		 contents->profile->cct.n},
		{"INSERT INTO raw_stack_block VALUES (?, ?, ?, ?, ?)", raw_stack, CTX_COUNT_OF(raw_stack),
		 contents->raw_stacks->n},
		{"INSERT INTO location_block VALUES (?, ?, ?, ?, ?, ?, ?)", location, CTX_COUNT_OF(location),
		 contents->n_locations},
	};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(arrays) && status == CTX_OK; i++)
		status = ctx_store_put_chunks(store, contents, &arrays[i], err);
	return status;
}

enum ctx_status ctx_store_put_contents(struct ctx_store *store, const struct ctx_store_contents *contents,
				       struct ctx_err *err)
{
	enum ctx_status status = ctx_store_check_contents(contents, err);

	if (status == CTX_OK)
		status = put_experiment(store, contents, err);
	if (status == CTX_OK)
		status = put_entities(store, contents, err);
	if (status == CTX_OK)
		status = put_arrays(store, contents, err);
	if (status == CTX_OK)
		status = ctx_store_put_sources(store, contents, err);
	store->has_contents = status == CTX_OK;
	if (status == CTX_OK)
		return CTX_OK;
	store->failed = true;
	return status;
}
