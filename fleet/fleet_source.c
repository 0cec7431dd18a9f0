#include "fleet/fleet_source.h"

#include "fleet/fleet_groups.h"
#include "fleet/fleet_index.h"
#include "fleet/fleet_stacks.h"
#include "fleet/fleet_sums.h"
#include "fleet/fleet_tests.h"

#include <inttypes.h>
#include <stdlib.h>

struct source {
	struct ctx_report_source base;
	const struct ctx_fleet_server *server;
	struct ctx_fleet_choice choice;
	struct ctx_fleet_profile fleet;
	struct ctx_interval interval;
	uint32_t *metrics; /* owned */
	size_t n_metrics;
	struct ctx_histogram *histograms; /* owned; of all threads together, by metric */
	struct ctx_report_part whole;
	struct ctx_report_part *parts;	       /* by thread; NULL: not asked for yet */
	struct ctx_histogram *part_histograms; /* n_metrics for each */
	size_t n_parts;
	uint64_t *thread_samples, *thread_weight; /* NULL: not asked for yet */
	struct ctx_report_states *states;
	size_t n_states;
	bool has_states, has_waits;
	struct ctx_report_waits *waits;
	size_t n_waits, waits_cap;
	struct ctx_fleet_tests tests;
	const char *by;
	struct ctx_fleet_index **indexes; /* owned, as each of them */
	size_t n_indexes, indexes_cap;
	struct ctx_fleet_groups **groups; /* the same */
	size_t n_groups, groups_cap;
};

static struct source *source_of(struct ctx_report_source *base)
{
	return base->impl;
}

static enum ctx_status cut(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "the fleet's histogram is cut");
}

static struct ctx_fleet_sums sums_of(const struct source *source)
{
	return (struct ctx_fleet_sums){
		.server = source->server, .choice = &source->choice, .fleet = &source->fleet};
}

/* ---- histograms ---- */

/* Rows (head, hash of the stack, sums): the stacks of all are learnt. */
static enum ctx_status learn(struct source *source, const struct ctx_buf *answer, size_t head_bytes,
			     size_t row_bytes, struct ctx_err *err)
{
	struct ctx_buf hashes CTX_AUTO_BUF = {0};
	enum ctx_status status;

	if (answer->n % row_bytes != 0)
		return cut(err);
	for (size_t i = 0; i < answer->n; i += row_bytes)
		ctx_buf_put(&hashes, answer->bytes + i + head_bytes, CTX_PATH_HASH_BYTES);
	status = ctx_buf_check(&hashes, err);
	if (status != CTX_OK)
		return status;
	return ctx_fleet_profile_learn(&source->fleet, source->server,
				       (struct ctx_bytes){hashes.bytes, hashes.n}, err);
}

/* Unless a test drops its stack, or it has only calls of other spans of a cell: nothing is left of these in this interval. */
static enum ctx_status add_entry(const struct source *source, struct ctx_histogram *histogram,
				 struct ctx_hist_entry entry, struct ctx_err *err)
{
	if (source->tests.n != 0)
		entry.calls = 0;
	if (!ctx_fleet_tests_pass(&source->tests, entry.stack) ||
	    (entry.weight == 0 && entry.samples == 0 && entry.calls == 0))
		return CTX_OK;
	return ctx_histogram_add(histogram, entry, err);
}

static enum ctx_status load_histogram(struct source *source, uint32_t metric, struct ctx_histogram *histogram,
				      struct ctx_err *err)
{
	struct ctx_buf answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	const struct ctx_fleet_sums question = sums_of(source);
	enum ctx_status status = ctx_fleet_sums_ask(&question, "stack", metric, &answer, err);

	if (status == CTX_OK)
		status = learn(source, &answer, 0, CTX_PATH_HASH_BYTES + CTX_FLEET_SUMS_BYTES, err);
	if (status == CTX_OK)
		status = ctx_fleet_tests_bind(&source->tests, &source->fleet.profile, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		uint32_t node = ctx_fleet_profile_node(&source->fleet, ctx_path_take(&cursor));
		struct ctx_hist_entry entry = ctx_fleet_sums_take(&question, metric, &cursor);

		entry.stack = node;
		status = add_entry(source, histogram, entry, err);
	}
	return status;
}

static enum ctx_status make_parts(struct source *source, struct ctx_err *err)
{
	const struct ctx_profile *profile = &source->fleet.profile;
	size_t n = profile->n_threads;

	source->parts = ctx_calloc(n + 1, sizeof(*source->parts));
	source->part_histograms = ctx_calloc((n + 1) * source->n_metrics, sizeof(*source->part_histograms));
	return source->parts != NULL && source->part_histograms != NULL ? CTX_OK : ctx_err_nomem(err);
}

static uint32_t find_thread(const struct ctx_fleet_profile *fleet, uint32_t key)
{
	uint32_t at = 0;

	while (at < fleet->profile.n_threads && fleet->thread_keys[at] != key)
		at++;
	return at < fleet->profile.n_threads ? at : CTX_NONE;
}

static enum ctx_status load_parts_of(struct source *source, size_t at, struct ctx_err *err)
{
	struct ctx_buf answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	uint32_t metric = source->metrics[at];
	const struct ctx_fleet_sums question = sums_of(source);
	enum ctx_status status = ctx_fleet_sums_ask(&question, "thread, stack", metric, &answer, err);

	if (status == CTX_OK)
		status = learn(source, &answer, sizeof(uint32_t),
			       sizeof(uint32_t) + CTX_PATH_HASH_BYTES + CTX_FLEET_SUMS_BYTES, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		uint32_t thread = find_thread(&source->fleet, ctx_cursor_get_u32(&cursor));
		uint32_t node = ctx_fleet_profile_node(&source->fleet, ctx_path_take(&cursor));
		struct ctx_hist_entry entry = ctx_fleet_sums_take(&question, metric, &cursor);

		entry.stack = node;
		if (thread == CTX_NONE)
			return cut(err);
		status = add_entry(source, &source->part_histograms[thread * source->n_metrics + at], entry,
				   err);
	}
	return status;
}

/* Of those groups that have samples in any of the metrics. */
static enum ctx_status load_parts(struct source *source, struct ctx_err *err)
{
	enum ctx_status status = make_parts(source, err);

	for (size_t i = 0; i < source->n_metrics && status == CTX_OK; i++)
		status = load_parts_of(source, i, err);
	for (uint32_t i = 0; i < source->fleet.profile.n_threads && status == CTX_OK; i++) {
		const struct ctx_histogram *histograms = &source->part_histograms[i * source->n_metrics];
		bool has = false;

		for (size_t k = 0; k < source->n_metrics; k++)
			has |= histograms[k].samples != 0;
		if (has)
			source->parts[source->n_parts++] = (struct ctx_report_part){i, histograms};
	}
	return status;
}

static enum ctx_status pull_parts(struct ctx_report_source *base, const struct ctx_parts_query *query,
				  struct ctx_report_parts *ret, struct ctx_err *err)
{
	struct source *source = source_of(base);
	enum ctx_status status;

	if (!query->per_thread) {
		*ret = (struct ctx_report_parts){&source->whole, 1, source->n_metrics, {0}};
		return CTX_OK;
	}
	if (source->parts == NULL) {
		status = load_parts(source, err);
		if (status != CTX_OK)
			return status;
	}
	*ret = (struct ctx_report_parts){source->parts, source->n_parts, source->n_metrics, {0}};
	return CTX_OK;
}

/* ---- sums of groups of threads ---- */

/* Sums without stacks. */
static enum ctx_status not_tested(const char *what, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_ARG, "the %s of a fleet exclude --focus, --ignore, --show and --hide",
			   what);
}

struct sums {
	uint64_t *samples, *weight; /* by thread */
};

static enum ctx_status load_sums(struct source *source, uint32_t metric, struct sums sums,
				 struct ctx_err *err)
{
	struct ctx_buf answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	const struct ctx_fleet_sums question = sums_of(source);
	enum ctx_status status = ctx_fleet_sums_ask(&question, "thread", metric, &answer, err);

	if (status != CTX_OK)
		return status;
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (ctx_cursor_left(&cursor) != 0) {
		uint32_t thread = find_thread(&source->fleet, ctx_cursor_get_u32(&cursor));
		struct ctx_hist_entry entry = ctx_fleet_sums_take(&question, metric, &cursor);

		if (cursor.failed || thread == CTX_NONE)
			return cut(err);
		sums.samples[thread] = entry.samples;
		sums.weight[thread] = entry.weight;
	}
	return CTX_OK;
}

static enum ctx_status pull_thread_sums(struct ctx_report_source *base, struct ctx_report_thread_sums *ret,
					struct ctx_err *err)
{
	struct source *source = source_of(base);
	size_t n = source->fleet.profile.n_threads + 1u;

	if (source->tests.n != 0)
		return not_tested("threads", err);
	if (source->thread_samples == NULL) {
		struct sums sums = {ctx_calloc(n, sizeof(uint64_t)), ctx_calloc(n, sizeof(uint64_t))};
		enum ctx_status status = sums.samples != NULL && sums.weight != NULL
						 ? load_sums(source, source->metrics[0], sums, err)
						 : ctx_err_nomem(err);

		if (status != CTX_OK) {
			free(sums.samples);
			free(sums.weight);
			return status;
		}
		source->thread_samples = sums.samples;
		source->thread_weight = sums.weight;
	}
	*ret = (struct ctx_report_thread_sums){source->thread_samples, source->thread_weight, {0}};
	return CTX_OK;
}

/* ---- states ---- */

static enum ctx_status add_state(struct source *source, enum ctx_thread_state state, struct sums sums,
				 struct ctx_err *err)
{
	uint32_t metric = ctx_profile_state_metric(&source->fleet.profile, state);
	enum ctx_status status = load_sums(source, metric, sums, err);

	for (uint32_t i = 0; i < source->fleet.profile.n_threads && status == CTX_OK; i++) {
		source->states[i].thread = i;
		source->states[i].ns[state] = sums.weight[i];
		source->states[i].spans[state] = sums.samples[i];
		sums.weight[i] = sums.samples[i] = 0;
	}
	return status;
}

static bool has_time(const struct ctx_report_states *states)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < CTX_STATE_N; i++)
		ns |= states->ns[i];
	return ns != 0;
}

static enum ctx_status load_states(struct source *source, struct ctx_err *err)
{
	size_t n = source->fleet.profile.n_threads;
	uint64_t *samples CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*samples));
	uint64_t *weight CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*weight));
	enum ctx_status status = CTX_OK;

	free(source->states);
	source->states = ctx_calloc(n + 1, sizeof(*source->states));
	if (samples == NULL || weight == NULL || source->states == NULL)
		return ctx_err_nomem(err);
	for (enum ctx_thread_state state = 0; state < CTX_STATE_N && status == CTX_OK; state++)
		status = add_state(source, state, (struct sums){samples, weight}, err);
	source->n_states = 0;
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (has_time(&source->states[i]))
			source->states[source->n_states++] = source->states[i];
	}
	source->has_states = status == CTX_OK;
	return status;
}

static enum ctx_status pull_states(struct ctx_report_source *base, const struct ctx_report_states **ret,
				   size_t *ret_n, struct ctx_err *err)
{
	struct source *source = source_of(base);
	enum ctx_status status = source->tests.n != 0 ? not_tested("thread states", err)
				 : source->has_states ? CTX_OK
						      : load_states(source, err);

	if (status != CTX_OK)
		return status;
	*ret = source->states;
	*ret_n = source->n_states;
	return CTX_OK;
}

/* ---- waits ---- */

static enum ctx_status ask_waits(struct source *source, enum ctx_thread_state state, struct ctx_buf *answer,
				 struct ctx_err *err)
{
	const struct ctx_fleet_sums question = sums_of(source);
	struct ctx_buf sql CTX_AUTO_BUF = {0};

	ctx_buf_put_text(&sql, "SELECT stack, sum(samples), sum(weight), max(longest) FROM ctx_cell WHERE ");
	ctx_fleet_choice_put_cells(&source->choice, &sql);
	ctx_fleet_sums_put_metric(&question, ctx_profile_state_metric(&source->fleet.profile, state), &sql);
	ctx_buf_put_text(&sql, " GROUP BY stack HAVING sum(samples) != 0 ORDER BY stack");
	return ctx_fleet_choice_ask(&source->choice, source->server, &sql, answer, err);
}

static enum ctx_status load_waits_of(struct source *source, enum ctx_thread_state state, struct ctx_err *err)
{
	struct ctx_buf answer CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	enum ctx_status status = ask_waits(source, state, &answer, err);

	if (status == CTX_OK)
		status = learn(source, &answer, 0, CTX_PATH_HASH_BYTES + CTX_FLEET_SUMS_BYTES, err);
	if (status == CTX_OK)
		status = ctx_grow(
			&source->waits, &source->waits_cap,
			source->n_waits + answer.n / (CTX_PATH_HASH_BYTES + CTX_FLEET_SUMS_BYTES) + 1, err);
	cursor = ctx_cursor_make(answer.bytes, answer.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		struct ctx_report_waits *row = &source->waits[source->n_waits++];

		*row = (struct ctx_report_waits){
			.state = state,
			.stack = ctx_fleet_profile_node(&source->fleet, ctx_path_take(&cursor))};
		row->waits = ctx_cursor_get_u64(&cursor);
		row->wait_ns = ctx_cursor_get_u64(&cursor);
		row->wait_max_ns = ctx_cursor_get_u64(&cursor);
	}
	return status;
}

/* The longest first; ties by stack and state, for a stable order. */
static int compare_waits(const void *left, const void *right)
{
	const struct ctx_report_waits *a = left, *b = right;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->state < b->state ? -1 : a->state > b->state;
}

/* The wait states among those of the selected metrics; 0: all or none of them. */
static unsigned wait_states(const struct source *source)
{
	unsigned states = 0;

	for (size_t i = 0; i < source->n_metrics && source->fleet.profile.has_states; i++)
		states |= ctx_profile_metric_states(&source->fleet.profile, source->metrics[i]);
	states &= CTX_STATES_OF_WAITS;
	return states == CTX_STATES_OF_WAITS ? 0 : states;
}

/* The longest wait across the border of two cells is not known from them. */
static enum ctx_status check_waits(const struct source *source, struct ctx_err *err)
{
	if (source->tests.n != 0)
		return not_tested("waits", err);
	if (source->choice.n_partial != 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "waits are those of whole recordings, and the interval cuts %zu of them",
				   source->choice.n_partial);
	return CTX_OK;
}

static enum ctx_status load_waits(struct source *source, struct ctx_err *err)
{
	unsigned states = source->base.selection.wait_states;
	enum ctx_status status = check_waits(source, err);

	for (enum ctx_thread_state state = 0; state < CTX_STATE_N && status == CTX_OK; state++) {
		if ((CTX_STATE_BIT(state) & (states != 0 ? states : CTX_STATES_OF_WAITS)) != 0)
			status = load_waits_of(source, state, err);
	}
	if (status == CTX_OK && source->n_waits != 0)
		qsort(source->waits, source->n_waits, sizeof(*source->waits), compare_waits);
	source->has_waits = status == CTX_OK;
	return status;
}

static enum ctx_status pull_waits(struct ctx_report_source *base, const struct ctx_report_waits **ret,
				  size_t *ret_n, struct ctx_err *err)
{
	struct source *source = source_of(base);

	if (!source->has_waits)
		return ctx_err_set(err, CTX_E_ARG, "no report of waits was asked for");
	*ret = source->waits;
	*ret_n = source->n_waits;
	return CTX_OK;
}

/* Who ended them is not in the fleet: the report waits has no names of wakers then. */
static enum ctx_status pull_wakers(struct ctx_report_source *base, const struct ctx_report_wakers **ret,
				   size_t *ret_n, struct ctx_err *err)
{
	(void)base;
	(void)err;
	*ret = NULL;
	*ret_n = 0;
	return CTX_OK;
}

/* ---- sums by keys ---- */

static struct ctx_fleet_index_spec index_of(const struct source *source, const char *by,
					    const struct ctx_index_stacks *stacks)
{
	return (struct ctx_fleet_index_spec){.server = source->server,
					     .choice = &source->choice,
					     .fleet = &source->fleet,
					     .metrics = source->metrics,
					     .n_metrics = source->n_metrics,
					     .by = by,
					     .tests = &source->tests,
					     .stacks = stacks};
}

static enum ctx_status pull_index(struct ctx_report_source *base, const char *by,
				  const struct ctx_index_stacks *stacks, struct ctx_report_index *ret,
				  struct ctx_err *err)
{
	struct source *source = source_of(base);
	const struct ctx_fleet_index_spec spec = index_of(source, by != NULL ? by : source->by, stacks);
	enum ctx_status status = ctx_grow(&source->indexes, &source->indexes_cap, source->n_indexes + 1, err);

	if (status == CTX_OK)
		status = ctx_fleet_index_make(&spec, &source->indexes[source->n_indexes], err);
	if (status == CTX_OK)
		*ret = *ctx_fleet_index_rows(source->indexes[source->n_indexes++]);
	return status;
}

static enum ctx_status pull_groups(struct ctx_report_source *base, const char *key,
				   const struct ctx_report_fleet_group **ret, size_t *ret_n,
				   struct ctx_err *err)
{
	struct source *source = source_of(base);
	const struct ctx_fleet_index_spec spec = index_of(source, key, NULL);
	enum ctx_status status = ctx_grow(&source->groups, &source->groups_cap, source->n_groups + 1, err);

	if (status == CTX_OK)
		status = ctx_fleet_groups_make(&spec, &source->groups[source->n_groups], err);
	if (status == CTX_OK)
		*ret = ctx_fleet_groups_rows(source->groups[source->n_groups++], ret_n);
	return status;
}

/* ---- what a fleet does not have ---- */

static enum ctx_status has_not(struct ctx_err *err, const char *what)
{
	return ctx_err_set(err, CTX_E_ARG, "a fleet has no %s: ask one recording", what);
}

static enum ctx_status pull_raw(struct ctx_report_source *base, const struct ctx_histogram **ret,
				struct ctx_err *err)
{
	(void)base;
	(void)ret;
	return has_not(err, "addresses and lines");
}

static enum ctx_status pull_traced(struct ctx_report_source *base, enum ctx_traced_kind kind,
				   struct ctx_report_traced *ret, struct ctx_err *err)
{
	(void)base;
	(void)kind;
	(void)ret;
	return has_not(err, "traced operations one by one");
}

static enum ctx_status pull_calls(struct ctx_report_source *base, uint64_t from_ns, ctx_report_call_fn each,
				  void *context, struct ctx_err *err)
{
	(void)base;
	(void)from_ns;
	(void)each;
	(void)context;
	return has_not(err, "calls one by one");
}

static enum ctx_status pull_slices(struct ctx_report_source *base, size_t per_thread, size_t max_threads,
				   struct ctx_report_slices *ret, struct ctx_err *err)
{
	(void)base;
	(void)per_thread;
	(void)max_threads;
	(void)ret;
	return has_not(err, "time line");
}

static enum ctx_status pull_phases(struct ctx_report_source *base, bool of_run, const struct ctx_phases **ret,
				   struct ctx_err *err)
{
	(void)base;
	(void)of_run;
	(void)ret;
	return has_not(err, "phases");
}

static enum ctx_status pull_levels(struct ctx_report_source *base, const struct ctx_report_level **ret,
				   size_t *ret_n /* NOLINT(readability-non-const-parameter) */,
				   struct ctx_err *err)
{
	(void)base;
	(void)ret;
	(void)ret_n;
	return has_not(err, "time trees");
}

static enum ctx_status pull_code(struct ctx_report_source *base, struct ctx_report_code *ret,
				 struct ctx_err *err)
{
	(void)base;
	(void)ret;
	return has_not(err, "code");
}

static enum ctx_status pull_samples(struct ctx_report_source *base, const struct ctx_samples_query *query,
				    ctx_report_sample_fn each, void *context, struct ctx_err *err)
{
	(void)base;
	(void)query;
	(void)each;
	(void)context;
	return has_not(err, "samples one by one");
}

static enum ctx_status pull_mappings(struct ctx_report_source *base, const struct ctx_mapping_info **ret,
				     size_t *ret_n /* NOLINT(readability-non-const-parameter) */,
				     struct ctx_err *err)
{
	(void)base;
	(void)ret;
	(void)ret_n;
	return has_not(err, "mappings");
}

/* ---- open, load, close ---- */

static struct ctx_report_source make_base(struct source *source, const struct ctx_fleet_source_spec *spec)
{
	return (struct ctx_report_source){.selection = {.profile = &source->fleet.profile,
							.path = spec->path,
							.intervals = &source->interval,
							.n_intervals = 1,
							.clock_ns = source->choice.hull.begin_ns,
							.filter = spec->filter,
							.options = spec->options},
					  .impl = source,
					  .parts = pull_parts,
					  .raw_histogram = pull_raw,
					  .thread_sums = pull_thread_sums,
					  .states = pull_states,
					  .wakers = pull_wakers,
					  .waits = pull_waits,
					  .traced = pull_traced,
					  .calls = pull_calls,
					  .index = pull_index,
					  .fleet_groups = pull_groups,
					  .slices = pull_slices,
					  .phases = pull_phases,
					  .levels = pull_levels,
					  .code = pull_code,
					  .samples = pull_samples,
					  .mappings = pull_mappings};
}

enum ctx_status ctx_fleet_source_open(const struct ctx_fleet_source_spec *spec,
				      struct ctx_report_source **ret, struct ctx_err *err)
{
	struct source *source = ctx_calloc(1, sizeof(*source));
	enum ctx_status status;

	if (source == NULL)
		return ctx_err_nomem(err);
	source->server = spec->server;
	source->by = spec->by != NULL ? spec->by : "host";
	source->base.impl = source;
	status = ctx_fleet_tests_make(&source->tests, spec->tests, spec->n_tests, err);
	if (status == CTX_OK)
		status = ctx_fleet_choose(spec->server, &spec->choice, &source->choice, err);
	if (status == CTX_OK)
		status = ctx_fleet_profile_make(spec->server, &source->choice, &source->fleet, err);
	if (status != CTX_OK) {
		ctx_fleet_source_close(&source->base);
		return status;
	}
	source->interval = source->fleet.profile.run;
	source->base = make_base(source, spec);
	*ret = &source->base;
	return CTX_OK;
}

enum ctx_status ctx_fleet_source_load(struct ctx_report_source *base, const uint32_t *metrics, size_t n,
				      bool waits, struct ctx_err *err)
{
	struct source *source = source_of(base);
	enum ctx_status status = CTX_OK;

	source->metrics = ctx_calloc(n, sizeof(*source->metrics));
	source->histograms = ctx_calloc(n, sizeof(*source->histograms));
	if (source->metrics == NULL || source->histograms == NULL)
		return ctx_err_nomem(err);
	source->n_metrics = n;
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		source->metrics[i] = metrics[i];
		status = load_histogram(source, metrics[i], &source->histograms[i], err);
	}
	base->selection.wait_states = wait_states(source);
	if (status == CTX_OK && waits && source->fleet.profile.has_states)
		status = load_waits(source, err);
	source->whole = (struct ctx_report_part){CTX_NONE, source->histograms};
	base->selection.metrics = source->metrics;
	base->selection.n_metrics = n;
	return status;
}

static void free_histograms(struct ctx_histogram *histograms, size_t n)
{
	for (size_t i = 0; histograms != NULL && i < n; i++)
		ctx_histogram_deinit(&histograms[i]);
	free(histograms);
}

enum ctx_status ctx_fleet_source_blocks(struct ctx_report_source *base, const char *key,
					struct ctx_fleet_blocks **ret, struct ctx_err *err)
{
	const struct ctx_fleet_index_spec spec = index_of(source_of(base), key, NULL);

	return ctx_fleet_blocks_make(&spec, &base->selection, ret, err);
}

void ctx_fleet_source_close(struct ctx_report_source *base)
{
	struct source *source = base != NULL ? source_of(base) : NULL;

	if (source == NULL)
		return;
	free_histograms(source->histograms, source->n_metrics);
	free_histograms(source->part_histograms, source->n_metrics * (source->fleet.profile.n_threads + 1u));
	free(source->parts);
	free(source->thread_samples);
	free(source->thread_weight);
	free(source->states);
	free(source->waits);
	for (size_t i = 0; i < source->n_indexes; i++)
		ctx_fleet_index_destroy(source->indexes[i]);
	for (size_t i = 0; i < source->n_groups; i++)
		ctx_fleet_groups_destroy(source->groups[i]);
	free(source->indexes);
	free(source->groups);
	ctx_fleet_tests_deinit(&source->tests);
	free(source->metrics);
	ctx_fleet_profile_deinit(&source->fleet);
	ctx_fleet_choice_deinit(&source->choice);
	free(source);
}
