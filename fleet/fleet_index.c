#include "fleet/fleet_index.h"

#include "fleet/fleet_stacks.h"
#include "fleet/fleet_sums.h"
#include "fleet/fleet_text.h"
#include "fleet/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a key is asked of. */
enum subject { OF_RECORDING, OF_THREAD, OF_STACK };

static const struct {
	const char *name;
	enum subject subject;
	enum ctx_index_entity entity;
} words[] = {
	{"thread-pattern", OF_THREAD, CTX_INDEX_THREAD_PATTERN},
	{"function", OF_STACK, CTX_INDEX_FUNCTION},
	{"object", OF_STACK, CTX_INDEX_OBJECT},
};

struct ctx_fleet_index {
	struct ctx_report_index rows;
	struct ctx_report_index_key by[CTX_INDEX_KEYS_MAX];
	enum subject subjects[CTX_INDEX_KEYS_MAX];
	size_t n_by;
	char *owned; /* names of keys */
	/* Values of keys that are texts: their ids in `texts`. */
	struct ctx_strtab texts;
	const char **names;
	/* Recordings with the same values are a part. */
	struct ctx_strtab parts; /* their values, as bytes */
	uint32_t *part_of;	 /* by chosen recording */
	/* Rows: their values, as bytes; sums, n_metrics of each. */
	struct ctx_strtab keys;
	int64_t *values;
	struct ctx_report_sum *sums, *totals;
	size_t n_rows, sums_cap;
};

/* ---- keys ---- */

static enum ctx_status add_key(struct ctx_fleet_index *index, const char *name, struct ctx_err *err)
{
	struct ctx_report_index_key key = {name, true, CTX_INDEX_LABEL};
	enum subject subject = OF_RECORDING;

	if (*name == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--by: a key is missing");
	if (!ctx_where_is_text(name))
		return ctx_err_set(err, CTX_E_ARG, "--by %s: recordings have no single value of it", name);
	for (size_t i = 0; i < CTX_COUNT_OF(words); i++) {
		if (strcmp(words[i].name, name) != 0)
			continue;
		subject = words[i].subject;
		key.entity = words[i].entity;
	}
	for (size_t i = 0; i < index->n_by; i++) {
		if (strcmp(index->by[i].name, name) == 0)
			return ctx_err_set(err, CTX_E_ARG, "--by: duplicate key '%s'", name);
	}
	if (index->n_by == CTX_INDEX_KEYS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "--by: more than %u keys", CTX_INDEX_KEYS_MAX);
	index->subjects[index->n_by] = subject;
	index->by[index->n_by++] = key;
	return CTX_OK;
}

static enum ctx_status read_keys(struct ctx_fleet_index *index, const char *by, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	char *at, *end;

	index->owned = strdup(by);
	if (index->owned == NULL)
		return ctx_err_nomem(err);
	for (at = index->owned; at != NULL && status == CTX_OK; at = end) {
		end = strchr(at, ',');
		if (end != NULL)
			*end++ = '\0';
		status = add_key(index, at, err);
	}
	return status;
}

static enum ctx_status add_stack_key(struct ctx_fleet_index *index, struct ctx_err *err)
{
	if (index->n_by == CTX_INDEX_KEYS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "--by: more than %u keys", CTX_INDEX_KEYS_MAX - 1);
	index->subjects[index->n_by] = OF_STACK;
	index->by[index->n_by++] = (struct ctx_report_index_key){"stack", true, CTX_INDEX_NUMBER};
	return CTX_OK;
}

enum ctx_status ctx_fleet_index_check(const char *by, struct ctx_err *err)
{
	struct ctx_fleet_index index = {0};
	enum ctx_status status = read_keys(&index, by, err);

	free(index.owned);
	return status;
}

static bool asks(const struct ctx_fleet_index *index, enum subject subject)
{
	bool found = false;

	for (size_t i = 0; i < index->n_by; i++)
		found |= index->subjects[i] == subject;
	return found;
}

static bool asks_stacks(const struct ctx_fleet_index *index, const struct ctx_fleet_index_spec *spec)
{
	return asks(index, OF_STACK) || spec->tests->n != 0;
}

/* ---- parts ---- */

static enum ctx_status cut(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "the fleet's list of recordings is cut");
}

static enum ctx_status ask_recordings(const struct ctx_fleet_index *index,
				      const struct ctx_fleet_index_spec *spec, struct ctx_buf *answer,
				      struct ctx_err *err)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0};

	ctx_buf_put_text(&sql, "SELECT push");
	for (size_t i = 0; i < index->n_by; i++) {
		if (index->subjects[i] != OF_RECORDING)
			continue;
		ctx_buf_put_text(&sql, ", ");
		ctx_where_put_column(index->by[i].name, &sql);
	}
	ctx_buf_put_text(
		&sql,
		" FROM ctx_recording WHERE push GLOBAL IN (SELECT push FROM chosen) ORDER BY begin_ns, push");
	return ctx_fleet_choice_ask(spec->choice, spec->server, &sql, answer, err);
}

/* The values of a recording: of keys of others -1. */
static enum ctx_status take_recording(struct ctx_fleet_index *index, struct ctx_cursor *cursor,
				      uint32_t *ret_part, struct ctx_err *err)
{
	int64_t values[CTX_INDEX_KEYS_MAX];
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < index->n_by && status == CTX_OK; i++) {
		uint32_t id;

		values[i] = -1;
		if (index->subjects[i] != OF_RECORDING)
			continue;
		status = ctx_fleet_text_take(&index->texts, cursor, &id, err);
		if (cursor->failed)
			return cut(err);
		values[i] = id;
	}
	if (status != CTX_OK)
		return status;
	return ctx_strtab_add(&index->parts, (const char *)values, index->n_by * sizeof(*values), ret_part,
			      err);
}

/* The answer has the order of the choice. */
static enum ctx_status make_parts(struct ctx_fleet_index *index, const struct ctx_fleet_index_spec *spec,
				  struct ctx_err *err)
{
	struct ctx_buf answer CTX_AUTO_BUF = {0};
	struct ctx_cursor chosen = ctx_cursor_make(spec->choice->pushes.bytes, spec->choice->pushes.n),
			  cursor;
	enum ctx_status status = ask_recordings(index, spec, &answer, err);

	index->part_of = ctx_calloc(spec->choice->n + 1, sizeof(*index->part_of));
	if (index->part_of == NULL)
		return ctx_err_nomem(err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	for (size_t i = 0; i < spec->choice->n && status == CTX_OK; i++) {
		uint64_t push = ctx_cursor_get_u64(&chosen);

		(void)ctx_cursor_get_u8(&chosen);
		if (ctx_cursor_get_u64(&cursor) != push)
			return cut(err);
		status = take_recording(index, &cursor, &index->part_of[i], err);
	}
	return status == CTX_OK && ctx_cursor_left(&cursor) != 0 ? cut(err) : status;
}

/* ---- rows ---- */

static const char *thread_name(const struct ctx_fleet_profile *fleet, uint32_t key)
{
	for (uint32_t i = 0; i < fleet->profile.n_threads; i++) {
		if (fleet->thread_keys[i] == key)
			return fleet->profile.threads[i].name;
	}
	return NULL;
}

static enum ctx_status put_thread(struct ctx_fleet_index *index, const struct ctx_fleet_profile *fleet,
				  uint32_t key, int64_t *values, struct ctx_err *err)
{
	const char *name = thread_name(fleet, key);
	uint32_t id;
	enum ctx_status status = name != NULL ? ctx_strtab_add_text(&index->texts, name, &id, err) : cut(err);

	for (size_t i = 0; i < index->n_by && status == CTX_OK; i++) {
		if (index->subjects[i] == OF_THREAD)
			values[i] = id;
	}
	return status;
}

struct stack_values {
	int64_t *values;
	bool *passes; /* all tests */
};

static enum ctx_status put_stack(const struct ctx_fleet_index *index, const struct ctx_fleet_index_spec *spec,
				 struct ctx_path_hash hash, struct stack_values ret, struct ctx_err *err)
{
	const struct ctx_profile *profile = &spec->fleet->profile;
	uint32_t node = ctx_fleet_profile_node(spec->fleet, hash), function;

	/* The histograms, which came first, have all of them. */
	if (node == CTX_NONE || (spec->stacks != NULL && node >= spec->stacks->n))
		return ctx_err_set(err, CTX_E_FORMAT, "the fleet's call stacks changed meanwhile: ask again");
	*ret.passes = ctx_fleet_tests_pass(spec->tests, node);
	if (spec->stacks != NULL) {
		profile = spec->stacks->profile;
		node = spec->stacks->stack_of[node];
	}
	function = profile->cct.key[node];
	for (size_t i = 0; i < index->n_by; i++) {
		if (index->subjects[i] != OF_STACK)
			continue;
		if (index->by[i].entity == CTX_INDEX_NUMBER)
			ret.values[i] = node;
		else if (node == CTX_TRIE_ROOT)
			continue;
		else if (index->by[i].entity == CTX_INDEX_FUNCTION)
			ret.values[i] = function;
		else if (profile->functions[function].object != CTX_NONE)
			ret.values[i] = profile->functions[function].object;
	}
	return CTX_OK;
}

static struct ctx_fleet_sums sums_of(const struct ctx_fleet_index *index,
				     const struct ctx_fleet_index_spec *spec)
{
	return (struct ctx_fleet_sums){spec->server, spec->choice, spec->fleet, index->part_of};
}

/* Room for the sums of a row, which are 0 where it is new. */
static enum ctx_status make_room(struct ctx_fleet_index *index, uint32_t row, size_t n_metrics,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&index->sums, &index->sums_cap, (row + 1) * n_metrics, err);

	if (status == CTX_OK && row == index->n_rows) {
		memset(index->sums + row * n_metrics, 0, n_metrics * sizeof(*index->sums));
		index->n_rows++;
	}
	return status;
}

static void add(struct ctx_report_sum *sum, const struct ctx_hist_entry *entry)
{
	sum->samples += entry->samples;
	sum->weight += entry->weight;
}

static enum ctx_status take_row(struct ctx_fleet_index *index, const struct ctx_fleet_index_spec *spec,
				size_t metric, struct ctx_cursor *cursor, struct ctx_err *err)
{
	const struct ctx_fleet_sums sums = sums_of(index, spec);
	int64_t values[CTX_INDEX_KEYS_MAX];
	struct ctx_hist_entry entry;
	bool passes = true;
	uint32_t row;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < index->n_by; i++)
		values[i] = -1;
	if (asks(index, OF_RECORDING)) {
		uint32_t part = ctx_cursor_get_u32(cursor);

		if (part >= index->parts.n)
			return cut(err);
		memcpy(values, ctx_strtab_get(&index->parts, part), index->n_by * sizeof(*values));
	}
	if (asks(index, OF_THREAD))
		status = put_thread(index, spec->fleet, ctx_cursor_get_u32(cursor), values, err);
	if (status == CTX_OK && asks_stacks(index, spec))
		status = put_stack(index, spec, ctx_path_take(cursor), (struct stack_values){values, &passes},
				   err);
	if (status != CTX_OK)
		return status;
	entry = ctx_fleet_sums_take(&sums, spec->metrics[metric], cursor);
	if (!passes || (entry.weight == 0 && entry.samples == 0))
		return CTX_OK;
	status = ctx_strtab_add(&index->keys, (const char *)values, index->n_by * sizeof(*values), &row, err);
	if (status == CTX_OK)
		status = make_room(index, row, spec->n_metrics, err);
	if (status != CTX_OK)
		return status;
	add(&index->sums[row * spec->n_metrics + metric], &entry);
	add(&index->totals[metric], &entry);
	return CTX_OK;
}

static enum ctx_status add_metric(struct ctx_fleet_index *index, const struct ctx_fleet_index_spec *spec,
				  size_t metric, struct ctx_err *err)
{
	const struct ctx_fleet_sums sums = sums_of(index, spec);
	bool parts = asks(index, OF_RECORDING), threads = asks(index, OF_THREAD),
	     stacks = asks_stacks(index, spec);
	struct ctx_buf answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	char columns[32];
	enum ctx_status status;

	snprintf(columns, sizeof(columns), "%s%s%s%s%s", parts ? "part" : "", parts && threads ? ", " : "",
		 threads ? "thread" : "", (parts || threads) && stacks ? ", " : "", stacks ? "stack" : "");
	status = ctx_fleet_sums_ask(&sums, columns, spec->metrics[metric], &answer, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		status = take_row(index, spec, metric, &cursor, err);
		if (status == CTX_OK && cursor.failed)
			status = cut(err);
	}
	return status;
}

/* Tables that cannot move any more, as the report takes them. */
static enum ctx_status finish(struct ctx_fleet_index *index, struct ctx_err *err)
{
	size_t n = index->keys.n;

	index->names = ctx_calloc(index->texts.n + 1, sizeof(*index->names));
	index->values = ctx_calloc(n + 1, index->n_by * sizeof(*index->values));
	if (index->names == NULL || index->values == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < index->texts.n; i++)
		index->names[i] = ctx_strtab_get(&index->texts, i);
	for (uint32_t i = 0; i < n; i++)
		memcpy(index->values + i * index->n_by, ctx_strtab_get(&index->keys, i),
		       index->n_by * sizeof(*index->values));
	index->rows = (struct ctx_report_index){.by = index->by,
						.n_by = index->n_by,
						.keys = index->values,
						.names = index->names,
						.n = n,
						.sums = index->sums,
						.totals = index->totals};
	return CTX_OK;
}

enum ctx_status ctx_fleet_index_make(const struct ctx_fleet_index_spec *spec, struct ctx_fleet_index **ret,
				     struct ctx_err *err)
{
	struct ctx_fleet_index *index = ctx_calloc(1, sizeof(*index));
	enum ctx_status status;

	if (index == NULL)
		return ctx_err_nomem(err);
	status = read_keys(index, spec->by, err);
	if (status == CTX_OK && spec->by_stack)
		status = add_stack_key(index, err);
	index->totals = ctx_calloc(spec->n_metrics + 1, sizeof(*index->totals));
	if (status == CTX_OK && index->totals == NULL)
		status = ctx_err_nomem(err);
	if (status == CTX_OK && asks(index, OF_RECORDING))
		status = make_parts(index, spec, err);
	for (size_t i = 0; i < spec->n_metrics && status == CTX_OK; i++)
		status = add_metric(index, spec, i, err);
	if (status == CTX_OK)
		status = finish(index, err);
	if (status != CTX_OK) {
		ctx_fleet_index_destroy(index);
		return status;
	}
	*ret = index;
	return CTX_OK;
}

void ctx_fleet_index_destroy(struct ctx_fleet_index *index)
{
	if (index == NULL)
		return;
	ctx_strtab_deinit(&index->texts);
	ctx_strtab_deinit(&index->parts);
	ctx_strtab_deinit(&index->keys);
	free(index->owned);
	free(index->names);
	free(index->part_of);
	free(index->values);
	free(index->sums);
	free(index->totals);
	free(index);
}

const struct ctx_report_index *ctx_fleet_index_rows(const struct ctx_fleet_index *index)
{
	return &index->rows;
}
