/*
 * Thread states through a real store: what intervals, threads and processors get of spans of time,
 * against cutting every span by hand.
 */
#include "query_fixture.h"

#include "ctxan/exporting.h"
#include "ctxan/options.h"
#include "model/export.h"
#include "model/wait_kind.h"

#define STATES 2u /* the fixture has two metrics of its own */
#define WAITS_MAX 400u

struct world {
	struct fixture fixture;
	struct ctx_store *store;
	const struct ctx_profile *profile; /* as the store gives it */
	struct ctx_wakeup waits[WAITS_MAX];
	size_t n_waits;
};

static const char *external_wakers[] = {"<interrupt>", "kworker/0:1"};

static void make_metrics(struct ctx_profile *p)
{
	struct ctx_metric_info *metrics =
		ctx_calloc(STATES + CTX_STATE_N + CTX_STATE_METRICS_N, sizeof(*metrics));

	memcpy(metrics, p->metrics, STATES * sizeof(*metrics));
	free(p->metrics);
	p->metrics = metrics;
	p->n_metrics = STATES + CTX_STATE_N + CTX_STATE_METRICS_N;
	p->has_states = true;
	p->states = STATES;
	for (unsigned s = 0; s < CTX_STATE_N; s++)
		metrics[STATES + s] =
			(struct ctx_metric_info){.name = ctx_state_name((enum ctx_thread_state)s),
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS};
	for (unsigned i = 0; i < CTX_STATE_METRICS_N; i++) {
		uint32_t *parts = ctx_arena_alloc(&p->arena, CTX_STATE_N * sizeof(*parts)), n = 0;

		for (uint32_t s = 0; s < CTX_STATE_N; s++) {
			if ((ctx_state_metrics[i].states & CTX_STATE_BIT(s)) != 0)
				parts[n++] = STATES + s;
		}
		metrics[STATES + CTX_STATE_N + i] =
			(struct ctx_metric_info){.name = ctx_state_metrics[i].name,
						 .word = ctx_state_metrics[i].word,
						 .kind = CTX_METRIC_SPAN,
						 .unit = CTX_UNIT_NS,
						 .parts = parts,
						 .n_parts = n};
	}
	p->external_wakers.n = CTX_COUNT_OF(external_wakers);
	p->external_wakers.items = ctx_calloc(p->external_wakers.n, sizeof(*p->external_wakers.items));
	memcpy(p->external_wakers.items, external_wakers, sizeof(external_wakers));
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct ctx_sample *)a)->time_ns, y = ((const struct ctx_sample *)b)->time_ns;

	return x < y ? -1 : x > y;
}

/*
 * The life of a thread from begin to end in spans, short ones and long ones. Returns how many
 * samples there are now.
 */
static size_t cut_life(struct fixture *fixture, uint32_t thread, size_t n, size_t max)
{
	struct ctx_interval life = fixture->profile.threads[thread].life;

	for (uint64_t at = life.begin_ns, end; at < life.end_ns; at = end) {
		uint32_t in_state = fixture_random(fixture, CTX_STATE_N);
		bool on_cpu = (CTX_STATES_ON_CPU & CTX_STATE_BIT(in_state)) != 0;
		uint32_t longest = fixture_random(fixture, 5) == 0 ? 200000 : 3000;
		uint32_t raw = fixture_random(fixture, fixture->raw.n);
		uint32_t stack = fixture->raw_to_stack[raw];

		end = at + 1 + fixture_random(fixture, longest);
		end = end < life.end_ns && n + 1 < max ? end : life.end_ns;
		fixture->samples[n++] = (struct ctx_sample){
			.time_ns = end - 1,
			.weight = end - at,
			.metric = STATES + in_state,
			.thread = thread,
			.raw_stack = raw,
			.stack = stack,
			.kept_depth = fixture_random(fixture, fixture->profile.cct.depth[stack] + 1),
			.cpu = on_cpu ? (int32_t)fixture_random(fixture, 4) - 1 : -1,
		};
	}
	return n;
}

static void make_spans(struct fixture *fixture)
{
	const size_t each = 1500;
	struct ctx_profile *p = &fixture->profile;
	size_t n = fixture->n_samples;

	fixture->samples = realloc(fixture->samples, (n + p->n_threads * each) * sizeof(*fixture->samples));
	assert_non_null(fixture->samples);
	for (uint32_t i = 0; i < p->n_threads; i++) {
		uint64_t begin =
			fixture_random(fixture, 3) == 0 ? 0 : fixture_random(fixture, FIXTURE_RUN_NS);
		uint64_t left = FIXTURE_RUN_NS - begin;

		p->threads[i].life = (struct ctx_interval){
			begin, fixture_random(fixture, 3) == 0
				       ? FIXTURE_RUN_NS
				       : begin + 1 + fixture_random(fixture, (uint32_t)left)};
		n = cut_life(fixture, i, n, n + each);
	}
	qsort(fixture->samples, n, sizeof(*fixture->samples), by_time);
	fixture->n_samples = n;
}

static void make_waits(struct world *world)
{
	struct fixture *fixture = &world->fixture;

	world->n_waits = fixture_random(fixture, WAITS_MAX);
	for (size_t i = 0; i < world->n_waits; i++) {
		struct ctx_wakeup *wait = &world->waits[i];
		uint32_t who = fixture_random(fixture, 3), n_threads = fixture->profile.n_threads;

		*wait = (struct ctx_wakeup){.time_ns = fixture_random(fixture, FIXTURE_RUN_NS),
					    .delay_ns = fixture_random(fixture, 4000),
					    .thread = fixture_random(fixture, n_threads),
					    .state = fixture_random(fixture, CTX_STATE_N),
					    .raw_stack = fixture_random(fixture, 3),
					    .waker = CTX_NONE,
					    .external_waker = CTX_NONE};
		wait->wait_ns = fixture_random(fixture, 9) == 0
					? 0
					: fixture_random(fixture, (uint32_t)wait->time_ns + 1);
		if (who == 0)
			wait->waker = fixture_random(fixture, n_threads);
		else if (who == 1)
			wait->external_waker = fixture_random(fixture, 2);
		if (who != 2)
			wait->waker_raw_stack = fixture_random(fixture, 2);
		wait->raw_stack = wait->raw_stack < fixture->raw.n ? wait->raw_stack : 0;
		wait->stack = fixture->raw_to_stack[wait->raw_stack];
		wait->waker_stack = fixture->raw_to_stack[wait->waker_raw_stack];
	}
}

static void world_begin(struct world *world, uint64_t seed)
{
	struct fixture *fixture = &world->fixture;

	fixture_init(fixture, seed, 1 + (uint32_t)seed % 5, 500);
	make_metrics(&fixture->profile);
	make_spans(fixture);
	make_waits(world);
	must(ctx_store_create(in_dir("a.db"), &world->store, err));
	put_trees(fixture, world->store);
	/* In several blocks. */
	for (size_t at = 0, n; at < world->n_waits; at += n) {
		n = 1 + fixture_random(fixture, (uint32_t)(world->n_waits - at));
		must(ctx_store_put_wakeups(world->store, world->waits + at, n, err));
	}
	must(fixture_put_contents(fixture, world->store, err));
	must(ctx_store_commit(world->store, err));
	must(ctx_store_open(in_dir("a.db"), &world->store, err));
	world->profile = ctx_store_profile(world->store);
}

static void world_end(struct world *world)
{
	ctx_store_close(world->store);
	fixture_deinit(&world->fixture);
}

static bool has_thread(const struct ctx_selection *selection, uint32_t thread)
{
	for (size_t i = 0; i < selection->n_threads; i++) {
		if (selection->threads[i] == thread)
			return true;
	}
	return selection->threads == NULL;
}

static bool is_part(const struct ctx_profile *p, uint32_t metric, uint32_t of)
{
	const struct ctx_metric_info *info = &p->metrics[of];

	for (uint32_t i = 0; i < info->n_parts; i++) {
		if (info->parts[i] == metric)
			return true;
	}
	return metric == of;
}

/* Filters and keys of these tests are constant over each block of time of this length. */
#define BLOCK_NS 500u

/* The parts of a sample. */
struct parts {
	struct ctx_sample items[FIXTURE_RUN_NS / BLOCK_NS + 2];
	size_t n;
};

static uint64_t block_end(uint64_t time_ns)
{
	return time_ns - time_ns % BLOCK_NS + BLOCK_NS;
}

/* The parts of a span that pass the filters, block by block; joined where they touch. */
static void kept_by_hand(const struct ctx_selection *selection, const struct ctx_profile *p,
			 const struct ctx_sample *span, struct parts *ret)
{
	uint64_t at = span->time_ns + 1 - span->weight, end;
	bool passed = false;

	ret->n = 0;
	for (; at <= span->time_ns; at = end) {
		struct ctx_sample probe = *span, *part;

		end = block_end(at) <= span->time_ns && selection->n_filters != 0 ? block_end(at)
										  : span->time_ns + 1;
		probe.time_ns = at;
		if (!ctx_selection_passes_filters(selection, &probe)) {
			passed = false;
			continue;
		}
		ret->n += !passed;
		part = &ret->items[ret->n - 1];
		if (!passed) {
			*part = *span;
			part->weight = 0;
			if (ret->n > 1)
				part->kept_depth = p->cct.depth[part->stack];
		}
		part->weight += end - at;
		part->time_ns = end - 1;
		passed = true;
	}
}

/* What the sample is in an interval of the selection: one part, or those of a span. */
static void by_hand(const struct world *world, const struct ctx_selection *selection, uint32_t metric,
		    size_t i, struct ctx_interval interval, struct parts *ret)
{
	struct ctx_sample span = world->fixture.samples[i];
	uint64_t begin = span.time_ns + 1 - span.weight;

	ret->n = 0;
	if (!is_part(&world->fixture.profile, span.metric, metric) || !has_thread(selection, span.thread) ||
	    !ctx_selection_has_cpu(selection, span.cpu))
		return;
	if (!ctx_metric_is_clipped(&world->fixture.profile.metrics[span.metric])) {
		ret->items[0] = span;
		ret->n = ctx_interval_has(interval, span.time_ns) &&
			 ctx_selection_passes_filters(selection, &span);
		return;
	}
	if (begin < interval.begin_ns)
		begin = interval.begin_ns;
	if (span.time_ns >= interval.end_ns)
		span.time_ns = interval.end_ns - 1;
	if (begin > span.time_ns)
		return;
	span.weight = span.time_ns + 1 - begin;
	kept_by_hand(selection, world->profile, &span, ret);
}

static void add_by_hand(const struct world *world, const struct parts *parts, bool raw,
			struct ctx_histogram *out)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct ctx_sample *part = &parts->items[i];
		const struct ctx_hist_entry entry = {
			.stack = part->raw_stack, .weight = part->weight, .samples = 1};

		if (raw)
			must(ctx_histogram_add(out, entry, err));
		else
			must(ctx_histogram_add_samples(out, &world->profile->cct, part, 1, err));
	}
}

/* The slow way. `thread` CTX_NONE: all selected. */
static void sum_by_hand(const struct world *world, const struct ctx_selection *selection, uint32_t metric,
			uint32_t thread, bool raw, struct ctx_histogram *out)
{
	for (size_t i = 0; i < world->fixture.n_samples; i++) {
		for (size_t k = 0; k < selection->n_intervals; k++) {
			static struct parts parts;

			if (thread != CTX_NONE && world->fixture.samples[i].thread != thread)
				continue;
			by_hand(world, selection, metric, i, selection->intervals[k], &parts);
			add_by_hand(world, &parts, raw, out);
		}
	}
}

static void assert_same(const struct ctx_histogram *a, const struct ctx_histogram *b, uint32_t n_stacks)
{
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->samples, b->samples);
	for (uint32_t i = 0; i < n_stacks; i++) {
		const struct ctx_hist_entry *x = ctx_histogram_get(a, i), *y = ctx_histogram_get(b, i);

		assert_int_equal(x != NULL ? x->weight : 0, y != NULL ? y->weight : 0);
		assert_int_equal(x != NULL ? x->samples : 0, y != NULL ? y->samples : 0);
		assert_int_equal(x != NULL ? x->calls : 0, y != NULL ? y->calls : 0);
	}
}

/* Only the top lists: never more than the total, and the omitted weight is reported. */
static void assert_top(const struct world *world, const struct ctx_selection *selection,
		       const struct ctx_histogram *truth)
{
	struct ctx_query query = ask_of(world->store, selection, CTX_TIMETREE_TOP_ONLY);
	struct ctx_histogram top = {0};

	ask_all(&query, &top);
	assert_int_equal(top.weight + query.cost.omitted_weight, truth->weight);
	assert_int_equal(top.samples + query.cost.omitted_samples, truth->samples);
	for (size_t i = 0; i < top.n; i++) {
		const struct ctx_hist_entry *entry = ctx_histogram_get(truth, top.entries[i].stack);

		assert_true(top.entries[i].weight <= (entry != NULL ? entry->weight : 0));
	}
	ctx_histogram_deinit(&top);
	ctx_query_deinit(&query);
}

static void ask(const struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	struct ctx_query query = ask_of(world->store, selection, 0);
	struct ctx_histogram truth = {0}, got = {0}, raw_truth = {0}, raw = {0};

	selection->metrics[0] = metric;
	sum_by_hand(world, selection, metric, CTX_NONE, false, &truth);
	ask_all(&query, &got);
	assert_same(&got, &truth, world->profile->cct.n);
	sum_by_hand(world, selection, metric, CTX_NONE, true, &raw_truth);
	must(ctx_query_raw_histogram(&query, metric, &raw, err));
	assert_same(&raw, &raw_truth, world->fixture.raw.n);
	assert_top(world, selection, &truth);
	ctx_histogram_deinit(&truth);
	ctx_histogram_deinit(&got);
	ctx_histogram_deinit(&raw_truth);
	ctx_histogram_deinit(&raw);
	ctx_query_deinit(&query);
}

#define SLICE_NS 50000u /* whole blocks */
#define KEYS_N (FIXTURE_RUN_NS / SLICE_NS * 1000)

/* Adds a part to the rows of the slices that it lies in; a point has one. */
static void add_to_rows(const struct ctx_sample *part, bool is_span, struct ctx_report_sum *rows)
{
	uint64_t at = is_span ? part->time_ns + 1 - part->weight : part->time_ns, end;
	int64_t cpu = part->cpu;

	if (is_span && (CTX_STATES_ON_CPU & CTX_STATE_BIT(part->metric - STATES)) == 0)
		cpu = -2;
	for (; at <= part->time_ns; at = end) {
		struct ctx_report_sum *row =
			&rows[at / SLICE_NS * 1000 + part->thread * 100 + (uint64_t)(cpu + 2)];

		end = at - at % SLICE_NS + SLICE_NS;
		end = end <= part->time_ns ? end : part->time_ns + 1;
		row->samples++;
		row->weight += is_span ? end - at : part->weight;
	}
}

/* By slice, thread and processor, in the metric and in the wall clock beside it. */
static void ask_index(const struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	static struct ctx_report_sum want[2][KEYS_N];
	static struct parts parts;
	uint32_t metrics[2] = {metric, STATES + CTX_STATE_N + CTX_STATE_METRICS_N - 1};
	struct ctx_query query = ask_of(world->store, selection, 0);
	struct ctx_query_index index;
	struct ctx_index_keys keys;

	selection->metrics[0] = metric;
	selection->metrics[1] = metrics[1];
	selection->n_metrics = 2;
	must(ctx_index_keys_read(&(struct ctx_selection_spec){0},
				 "TSTAMP / 50000 * 1000 + THRID * 100 + CPUID + 2", &keys, err));
	must(ctx_query_index(&query, &keys, NULL, &index, err));
	ctx_index_keys_deinit(&keys);
	memset(want, 0, sizeof(want));
	for (size_t m = 0; m < 2; m++) {
		struct ctx_histogram truth = {0};
		uint64_t weight = 0, samples = 0;

		for (size_t i = 0; i < world->fixture.n_samples * selection->n_intervals; i++) {
			by_hand(world, selection, metrics[m], i / selection->n_intervals,
				selection->intervals[i % selection->n_intervals], &parts);
			for (size_t k = 0; k < parts.n; k++)
				add_to_rows(&parts.items[k], parts.items[k].metric >= STATES, want[m]);
		}
		for (size_t row = 0; row < index.n; row++) {
			struct ctx_report_sum *sum = &want[m][index.keys[row]];

			assert_int_equal(index.sums[row * 2 + m].samples, sum->samples);
			assert_int_equal(index.sums[row * 2 + m].weight, sum->weight);
			samples += sum->samples;
			weight += sum->weight;
			*sum = (struct ctx_report_sum){0};
		}
		for (size_t key = 0; key < KEYS_N; key++)
			assert_int_equal(want[m][key].samples, 0);
		sum_by_hand(world, selection, metrics[m], CTX_NONE, false, &truth);
		assert_int_equal(weight, truth.weight);
		assert_int_equal(index.totals[m].weight, weight);
		assert_int_equal(index.totals[m].samples, samples);
		ctx_histogram_deinit(&truth);
	}
	selection->n_metrics = 1;
	ctx_query_index_free(&index);
	ctx_query_deinit(&query);
}

/* ---- several keys ---- */

#define KEYS_MOST 8u

/* A part of a sample, or a row, by its keys: names are the first thread that has them. */
struct keyed {
	int64_t keys[KEYS_MOST];
	struct ctx_report_sum sum;
};

static size_t n_compared; /* keys of the rows that are sorted */

static int by_keys(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;

	for (size_t i = 0; i < n_compared; i++) {
		if (a->keys[i] != b->keys[i])
			return a->keys[i] < b->keys[i] ? -1 : 1;
	}
	return 0;
}

static const char *name_by_hand(const struct ctx_profile *p, enum ctx_index_entity entity, uint32_t thread)
{
	static char patterns[8][64]; /* by thread */
	char *pattern = patterns[thread];
	size_t n = 0;

	if (entity == CTX_INDEX_COMMAND) /* "./app", "sh" */
		return p->threads[thread].process == 0 ? "app" : "sh";
	if (entity == CTX_INDEX_THREAD_NAME)
		return p->threads[thread].name;
	/* There are fewer than ten threads: each number is one digit. */
	for (const char *name = p->threads[thread].name; *name != '\0'; name++)
		pattern[n++] = *name >= '0' && *name <= '9' ? '*' : *name;
	pattern[n] = '\0';
	return pattern;
}

static int64_t first_named(const struct ctx_profile *p, enum ctx_index_entity entity, const char *name)
{
	for (uint32_t i = 0; i < p->n_threads; i++) {
		if (strcmp(name_by_hand(p, entity, i), name) == 0)
			return i;
	}
	fail_msg("no thread has the name %s", name);
	return -1;
}

static int64_t line_by_hand(const struct fixture *fixture, uint32_t raw)
{
	uint32_t site = CTX_NONE;

	while (raw != 0 && fixture->locations[fixture->raw.key[raw]].joins)
		raw = fixture->raw.parent[raw];
	if (raw != 0)
		site = fixture->locations[fixture->raw.key[raw]].site;
	if (site == CTX_NONE || fixture->sites[site].file == CTX_NONE || fixture->sites[site].line == 0)
		return -1;
	return CTX_INDEX_LINE_KEY(fixture->sites[site].file, fixture->sites[site].line);
}

static int64_t wait_by_hand(const struct ctx_sample *part)
{
	static const int64_t waits[CTX_STATE_N] = {
		[CTX_STATE_USER] = CTX_INDEX_ON_CPU,
		[CTX_STATE_SYSTEM] = CTX_INDEX_ON_CPU,
		[CTX_STATE_TRAP] = CTX_INDEX_ON_CPU,
		[CTX_STATE_TEXT_FAULT] = CTX_WAIT_KIND_PAGE_FAULT,
		[CTX_STATE_DATA_FAULT] = CTX_WAIT_KIND_PAGE_FAULT,
		[CTX_STATE_KERNEL_FAULT] = CTX_WAIT_KIND_PAGE_FAULT,
		[CTX_STATE_USER_LOCK] = CTX_WAIT_KIND_FUTEX,
		[CTX_STATE_SLEEP] = CTX_WAIT_KIND_OTHER,
		[CTX_STATE_STOPPED] = CTX_WAIT_KIND_STOPPED,
		[CTX_STATE_WAIT_CPU] = CTX_INDEX_WAIT_CPU,
		[CTX_STATE_UNKNOWN] = -1,
	};

	return part->metric >= STATES ? waits[part->metric - STATES] : -1;
}

static int64_t key_by_hand(const struct world *world, const struct ctx_sample *part,
			   const struct ctx_report_index_key *key)
{
	const struct ctx_profile *p = world->profile;
	uint32_t leaf = part->stack != 0 ? p->cct.key[part->stack] : CTX_NONE;
	bool is_span = part->metric >= STATES;

	switch (key->entity) {
	case CTX_INDEX_FUNCTION:
		return leaf != CTX_NONE ? (int64_t)leaf : -1;
	case CTX_INDEX_OBJECT:
		return leaf != CTX_NONE && p->functions[leaf].object != CTX_NONE
			       ? (int64_t)p->functions[leaf].object
			       : -1;
	case CTX_INDEX_LINE:
		return line_by_hand(&world->fixture, part->raw_stack);
	case CTX_INDEX_WAIT:
		return wait_by_hand(part);
	case CTX_INDEX_STATE:
		return is_span ? (int64_t)(part->metric - STATES) : -1;
	case CTX_INDEX_THREAD:
		return part->thread;
	case CTX_INDEX_CPU:
		return is_span && (CTX_STATES_ON_CPU & CTX_STATE_BIT(part->metric - STATES)) == 0 ? CTX_NO_CPU
												  : part->cpu;
	case CTX_INDEX_NUMBER: /* TSTAMP/50000 */
		return (int64_t)(part->time_ns / SLICE_NS);
	default:
		return first_named(p, key->entity, name_by_hand(p, key->entity, part->thread));
	}
}

/* Cut at the slices of time, if that is a key. Returns how many there are now. */
static size_t put_part(const struct world *world, const struct ctx_index_keys *keys, struct ctx_sample part,
		       struct keyed *rows, size_t n)
{
	uint64_t at = part.time_ns + 1 - part.weight, last = part.time_ns, end;
	bool is_span = part.metric >= STATES, cuts = false;

	for (size_t i = 0; i < keys->n; i++)
		cuts |= keys->keys[i].entity == CTX_INDEX_NUMBER;
	for (at = is_span ? at : last; at <= last; at = end) {
		end = cuts ? at - at % SLICE_NS + SLICE_NS : last + 1;
		end = end <= last ? end : last + 1;
		part.time_ns = end - 1;
		rows[n] = (struct keyed){.sum = {1, is_span ? end - at : part.weight}};
		for (size_t i = 0; i < keys->n; i++)
			rows[n].keys[i] = key_by_hand(world, &part, &keys->keys[i]);
		n++;
	}
	return n;
}

/* Sorts, and adds up the rows with the same keys. */
static size_t merge(struct keyed *rows, size_t n)
{
	size_t n_merged = 0;

	qsort(rows, n, sizeof(*rows), by_keys);
	for (size_t i = 0; i < n; i++) {
		if (n_merged == 0 || by_keys(&rows[n_merged - 1], &rows[i]) != 0) {
			rows[n_merged++] = rows[i];
			continue;
		}
		rows[n_merged - 1].sum.samples += rows[i].sum.samples;
		rows[n_merged - 1].sum.weight += rows[i].sum.weight;
	}
	return n_merged;
}

/* The rows of the answer that have samples of the metric, in the order of their keys. */
static size_t rows_of(const struct world *world, const struct ctx_index_keys *keys,
		      const struct ctx_query_index *index, size_t metric, struct keyed *rows)
{
	size_t n = 0;

	for (size_t row = 0; row < index->n; row++) {
		rows[n] = (struct keyed){.sum = index->sums[row * index->n_metrics + metric]};
		for (size_t i = 0; i < keys->n; i++) {
			enum ctx_index_entity entity = keys->keys[i].entity;
			int64_t key = index->keys[row * keys->n + i];

			if (entity >= CTX_INDEX_COMMAND && entity <= CTX_INDEX_THREAD_PATTERN)
				key = first_named(world->profile, entity,
						  ctx_strtab_get(&index->names, (uint32_t)key));
			rows[n].keys[i] = key;
		}
		n += rows[n].sum.samples != 0;
	}
	qsort(rows, n, sizeof(*rows), by_keys);
	return n;
}

static void assert_keys(const struct world *world, struct ctx_selection *selection, const char *by)
{
	static struct parts parts;
	const size_t most = 1u << 17;
	struct keyed *want = ctx_calloc(most, sizeof(*want)), *got = ctx_calloc(most, sizeof(*got));
	struct ctx_query query = ask_of(world->store, selection, 0);
	struct ctx_query_index index;
	struct ctx_index_keys keys;

	must(ctx_index_keys_read(&(struct ctx_selection_spec){0}, by, &keys, err));
	must(ctx_query_index(&query, &keys, NULL, &index, err));
	n_compared = keys.n;
	for (size_t m = 0; m < selection->n_metrics; m++) {
		size_t n = 0, n_got;

		for (size_t i = 0; i < world->fixture.n_samples * selection->n_intervals; i++) {
			by_hand(world, selection, selection->metrics[m], i / selection->n_intervals,
				selection->intervals[i % selection->n_intervals], &parts);
			for (size_t k = 0; k < parts.n; k++)
				n = put_part(world, &keys, parts.items[k], want, n);
			assert_true(n < most - 64);
		}
		n = merge(want, n);
		n_got = rows_of(world, &keys, &index, m, got);
		assert_int_equal(n_got, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(by_keys(&want[i], &got[i]), 0);
			assert_int_equal(want[i].sum.samples, got[i].sum.samples);
			assert_int_equal(want[i].sum.weight, got[i].sum.weight);
		}
	}
	ctx_query_index_free(&index);
	ctx_index_keys_deinit(&keys);
	ctx_query_deinit(&query);
	free(want);
	free(got);
}

/* In a metric by chance and in the wall clock beside it. */
static void ask_keys(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	static const char *const lists[] = {
		"command,object,function",
		"thread-pattern,state",
		"wait,function",
		"line,TSTAMP/50000",
		"comm, cpu ,wait",
		"sym,TSTAMP/50000,thread,dso,state",
		"line",
		"thread,command,thread-name,thread-pattern,object,cpu,state,wait",
	};

	selection->metrics[0] = metric;
	selection->metrics[1] = STATES + CTX_STATE_N + CTX_STATE_METRICS_N - 1;
	selection->n_metrics = 2;
	assert_keys(world, selection, lists[fixture_random(&world->fixture, CTX_COUNT_OF(lists))]);
	selection->n_metrics = 1;
}

/*
 * Every thread that has samples in any metric, with all of them; of one part, the selected threads
 * together.
 */
static void assert_parts(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	const uint32_t ids[3] = {metric, STATES + CTX_STATE_SLEEP, STATES + CTX_STATE_N};
	const struct ctx_query_metrics metrics = {ids, 1 + metric % 3};
	struct ctx_query query = ask_of(world->store, selection, 0);

	for (int per_thread = 0; per_thread < 2; per_thread++) {
		uint32_t n_threads = per_thread ? world->profile->n_threads : 1;
		struct ctx_query_parts parts;
		size_t at = 0;

		must(ctx_query_parts(&query, &metrics, per_thread, &parts, err));
		for (uint32_t i = 0; i < n_threads; i++) {
			uint32_t thread = per_thread ? i : CTX_NONE;
			bool has_part = at < parts.n && parts.parts[at].thread == thread;

			assert_true(has_part || per_thread);
			for (size_t m = 0; m < metrics.n; m++) {
				struct ctx_histogram truth = {0};

				sum_by_hand(world, selection, ids[m], thread, false, &truth);
				if (has_part)
					assert_same(&parts.parts[at].histograms[m], &truth,
						    world->profile->cct.n);
				else
					assert_int_equal(truth.samples, 0);
				ctx_histogram_deinit(&truth);
			}
			at += has_part;
		}
		assert_int_equal(at, parts.n);
		ctx_query_parts_free(&parts);
	}
	ctx_query_deinit(&query);
}

static uint64_t overlap(struct ctx_interval a, struct ctx_interval b)
{
	uint64_t begin = a.begin_ns > b.begin_ns ? a.begin_ns : b.begin_ns;
	uint64_t end = a.end_ns < b.end_ns ? a.end_ns : b.end_ns;

	return end > begin ? end - begin : 0;
}

/* Wall is the life, as far as it is selected; and so is the sum of all states. */
static void assert_wall_is_life(const struct world *world, struct ctx_selection *selection)
{
	struct ctx_query query = ask_of(world->store, selection, 0);
	uint64_t *samples, *weight;
	struct ctx_report_states *states;
	size_t n, at = 0;

	selection->metrics[0] = STATES + CTX_STATE_N + CTX_STATE_METRICS_N - 1;
	must(ctx_query_thread_sums(&query, selection->metrics[0], &samples, &weight, err));
	must(ctx_query_states(&query, &states, &n, err));
	for (uint32_t i = 0; i < world->profile->n_threads; i++) {
		uint64_t want = 0, sum = 0;

		for (size_t k = 0; k < selection->n_intervals && has_thread(selection, i); k++)
			want += overlap(world->profile->threads[i].life, selection->intervals[k]);
		if (!ctx_selection_is_filtered(selection))
			assert_int_equal(weight[i], want);
		if (at == n || states[at].thread != i) {
			assert_int_equal(weight[i], 0);
			continue;
		}
		for (unsigned s = 0; s < CTX_STATE_N; s++)
			sum += states[at].ns[s];
		assert_int_equal(sum, weight[i]);
		at++;
	}
	assert_int_equal(at, n);
	assert_int_equal(query.cost.omitted_weight, 0);
	free(samples);
	free(weight);
	free(states);
	ctx_query_deinit(&query);
}

static void assert_states(const struct world *world, const struct ctx_selection *selection)
{
	struct ctx_query query = ask_of(world->store, selection, 0);
	struct ctx_report_states *states;
	size_t n;

	must(ctx_query_states(&query, &states, &n, err));
	for (size_t i = 0; i < n; i++) {
		for (unsigned s = 0; s < CTX_STATE_N; s++) {
			struct ctx_histogram truth = {0};

			sum_by_hand(world, selection, STATES + s, states[i].thread, false, &truth);
			assert_int_equal(states[i].ns[s], truth.weight);
			assert_int_equal(states[i].spans[s], truth.samples);
			ctx_histogram_deinit(&truth);
		}
	}
	free(states);
	ctx_query_deinit(&query);
}

static void assert_slices(const struct world *world, struct ctx_selection *selection)
{
	struct ctx_query query = ask_of(world->store, selection, 0);
	struct ctx_report_slices got;
	const struct ctx_report_slice *slices;
	size_t n_threads = 0, per_thread = 1 + (size_t)(world->fixture.seed % 9);
	struct ctx_query_slicing slicing = {STATES + CTX_STATE_N + CTX_STATE_METRICS_N - 1, per_thread, 3};

	must(ctx_query_slices(&query, &slicing, &got, err));
	slices = got.slices;
	for (uint32_t i = 0; i < world->profile->n_threads; i++)
		n_threads += has_thread(selection, i);
	assert_int_equal(got.per_thread, per_thread);
	assert_int_equal(got.n, (1 + (n_threads < 3 ? n_threads : 3)) * per_thread);
	assert_int_equal(got.threads_left_out, n_threads < 3 ? 0 : n_threads - 3);
	for (size_t i = 0; i < got.n; i++) {
		struct ctx_selection one = *selection;
		struct ctx_interval parts[3];
		uint64_t sum = 0;

		one.intervals = parts;
		one.n_intervals = 0;
		for (size_t k = 0; k < selection->n_intervals; k++) {
			struct ctx_interval part = selection->intervals[k], slice = slices[i].interval;

			part.begin_ns = part.begin_ns > slice.begin_ns ? part.begin_ns : slice.begin_ns;
			part.end_ns = part.end_ns < slice.end_ns ? part.end_ns : slice.end_ns;
			if (!ctx_interval_is_empty(part))
				parts[one.n_intervals++] = part;
		}
		for (unsigned s = 0; s < CTX_STATE_N; s++) {
			struct ctx_histogram truth = {0};

			sum_by_hand(world, &one, STATES + s, slices[i].thread, false, &truth);
			assert_int_equal(slices[i].state_ns[s], truth.weight);
			sum += truth.weight;
			ctx_histogram_deinit(&truth);
		}
		assert_int_equal(slices[i].weight, sum);
	}
	free((struct ctx_report_slice *)(uintptr_t)slices);
	ctx_query_deinit(&query);
}

/* ---- wakers ---- */

/* Are waits in this state asked for? Where the metric has no waits, all are. */
static bool is_asked(const struct ctx_selection *selection, uint32_t state)
{
	static const unsigned waits[] = {CTX_STATE_TEXT_FAULT, CTX_STATE_DATA_FAULT, CTX_STATE_KERNEL_FAULT,
					 CTX_STATE_USER_LOCK,  CTX_STATE_SLEEP,	     CTX_STATE_STOPPED};
	uint32_t metric = selection->metrics[0];
	bool has_waits = false, has_this = false, is_wall = metric == STATES + CTX_STATE_N + 7;

	for (size_t i = 0; i < CTX_COUNT_OF(waits); i++) {
		uint32_t base = STATES + waits[i];
		bool has = metric == base;

		for (unsigned sum = 0; sum < CTX_STATE_METRICS_N; sum++)
			has |= metric == STATES + CTX_STATE_N + sum &&
			       (ctx_state_metrics[sum].states >> waits[i] & 1) != 0;
		has_waits |= has;
		has_this |= has && waits[i] == state;
	}
	return has_this || !has_waits || is_wall;
}

static uint64_t inside(const struct ctx_selection *selection, uint64_t begin, uint64_t length)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < selection->n_intervals; i++)
		sum += overlap((struct ctx_interval){begin, begin + length}, selection->intervals[i]);
	return sum;
}

/* The same of a wait, where filters take it for a span of its state. */
static uint64_t waited(const struct world *world, const struct ctx_selection *selection,
		       const struct ctx_wakeup *wait)
{
	static struct parts parts;
	uint64_t sum = 0;

	for (size_t i = 0; i < selection->n_intervals; i++) {
		const struct ctx_interval *interval = &selection->intervals[i];
		uint64_t begin = wait->time_ns - wait->wait_ns, end = wait->time_ns;
		struct ctx_sample part = {.stack = wait->stack,
					  .thread = wait->thread,
					  .cpu = -1,
					  .metric = STATES + wait->state};

		begin = begin > interval->begin_ns ? begin : interval->begin_ns;
		end = end < interval->end_ns ? end : interval->end_ns;
		if (begin >= end)
			continue;
		part.time_ns = end - 1;
		part.weight = end - begin;
		kept_by_hand(selection, world->profile, &part, &parts);
		for (size_t k = 0; k < parts.n; k++)
			sum += parts.items[k].weight;
	}
	return sum;
}

/* It took no time, and it was selected. */
static bool at_once(const struct ctx_selection *selection, const struct ctx_wakeup *wait)
{
	const struct ctx_sample point = {.time_ns = wait->time_ns - 1,
					 .stack = wait->stack,
					 .thread = wait->thread,
					 .cpu = -1,
					 .metric = STATES + wait->state};

	return wait->wait_ns == 0 && inside(selection, wait->time_ns, 1) != 0 &&
	       ctx_selection_passes_filters(selection, &point);
}

/* By state and stack, of all threads together: against the spans, added up by hand. */
static void assert_waits(const struct world *world, const struct ctx_selection *selection)
{
	struct ctx_query query = ask_of(world->store, selection, 0);
	struct ctx_histogram truth[CTX_STATE_N] = {0};
	struct ctx_report_waits *rows;
	uint64_t left = 0;
	size_t n;

	must(ctx_query_waits(&query, &rows, &n, err));
	for (unsigned s = 0; s < CTX_STATE_N; s++) {
		if ((CTX_STATES_OF_WAITS & CTX_STATE_BIT(s)) == 0 || !is_asked(selection, s))
			continue;
		sum_by_hand(world, selection, STATES + s, CTX_NONE, false, &truth[s]);
		/* Entries without a sample only count calls. */
		for (size_t i = 0; i < truth[s].n; i++)
			left += truth[s].entries[i].samples != 0;
	}
	assert_int_equal(n, left);
	for (size_t i = 0; i < n; i++) {
		const struct ctx_hist_entry *entry = ctx_histogram_get(&truth[rows[i].state], rows[i].stack);

		assert_non_null(entry);
		assert_int_equal(rows[i].waits, entry->samples);
		assert_int_equal(rows[i].wait_ns, entry->weight);
		assert_in_range(rows[i].wait_max_ns, rows[i].wait_ns / rows[i].waits, rows[i].wait_ns);
		assert_true(i == 0 || rows[i - 1].wait_ns >= rows[i].wait_ns);
	}
	for (unsigned s = 0; s < CTX_STATE_N; s++)
		ctx_histogram_deinit(&truth[s]);
	free(rows);
	ctx_query_deinit(&query);
}

static void assert_wakers(const struct world *world, const struct ctx_selection *selection)
{
	struct ctx_query query = ask_of(world->store, selection, 0);
	struct ctx_report_wakers *rows;
	uint64_t n_waits = 0, wait_ns = 0;
	size_t n;

	must(ctx_query_wakers(&query, &rows, &n, err));
	for (size_t r = 0; r < n; r++) {
		struct ctx_report_wakers want = rows[r];

		want.waits = want.wait_ns = want.wait_max_ns = want.delay_ns = want.delay_max_ns = 0;
		for (size_t i = 0; i < world->n_waits; i++) {
			const struct ctx_wakeup *wait = &world->waits[i];
			uint64_t part, delay;

			if (wait->thread != want.thread || wait->state != want.state ||
			    wait->stack != want.stack || wait->waker != want.waker ||
			    wait->external_waker != want.external_waker ||
			    wait->waker_stack != want.waker_stack)
				continue;
			part = waited(world, selection, wait);
			delay = inside(selection, wait->time_ns, wait->delay_ns);
			if (part == 0 && !at_once(selection, wait))
				continue;
			want.waits++;
			want.wait_ns += part;
			want.wait_max_ns = part > want.wait_max_ns ? part : want.wait_max_ns;
			want.delay_ns += delay;
			want.delay_max_ns = delay > want.delay_max_ns ? delay : want.delay_max_ns;
		}
		assert_memory_equal(&rows[r], &want, sizeof(want));
		assert_true(want.waits != 0 && has_thread(selection, want.thread));
		assert_true(is_asked(selection, want.state));
		assert_true(r == 0 || rows[r - 1].wait_ns >= want.wait_ns);
		n_waits += want.waits;
		wait_ns += want.wait_ns;
	}
	for (size_t i = 0; i < world->n_waits; i++) {
		const struct ctx_wakeup *wait = &world->waits[i];
		uint64_t part = waited(world, selection, wait);

		if (!has_thread(selection, wait->thread) || !is_asked(selection, wait->state))
			continue;
		n_waits -= part != 0 || at_once(selection, wait);
		wait_ns -= part;
	}
	assert_int_equal(n_waits, 0);
	assert_int_equal(wait_ns, 0);
	free(rows);
	ctx_query_deinit(&query);
}

/* ---- exports ---- */

struct received {
	struct ctx_histogram histogram;
	uint64_t last_ns;
};

static struct received received;

static enum ctx_status receive(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct ctx_export_input *input = context;
	bool is_inside = false;

	assert_true(sample->time_ns >= received.last_ns);
	received.last_ns = sample->time_ns;
	for (size_t i = 0; i < input->selection->n_intervals; i++)
		is_inside |= ctx_interval_has(input->selection->intervals[i], sample->time_ns);
	assert_true(is_inside);
	return ctx_histogram_add_samples(&received.histogram, &input->profile->cct, sample, 1, err);
}

static enum ctx_status write_all(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	struct ctx_export_input copy = *input;

	(void)out;
	return input->source->samples(input->source, &(struct ctx_samples_query){.thread = CTX_NONE}, receive,
				      &copy, err);
}

static void assert_exported(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	static const struct ctx_export_kind kind = {.name = "all", .suffix = "", .write = write_all};
	struct ctx_options options = {.output.export = &kind};
	struct ctx_histogram truth = {0};

	received = (struct received){0};
	selection->metrics[0] = metric;
	sum_by_hand(world, selection, metric, CTX_NONE, false, &truth);
	must(ctx_exporting_answer(world->store, "x", selection, &options, err));
	assert_same(&received.histogram, &truth, world->profile->cct.n);
	ctx_histogram_deinit(&truth);
	ctx_histogram_deinit(&received.histogram);
}

/* ---- SQL ---- */

static enum ctx_status add_row(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	(void)err;
	if (row->values[row->n - 1] != NULL)
		*(uint64_t *)context += strtoull(row->values[row->n - 1], NULL, 10);
	return CTX_OK;
}

/* The last column of all rows together. */
static uint64_t sql_sum(const struct world *world, const char *sql)
{
	uint64_t sum = 0;

	must(ctx_store_sql(world->store, sql, add_row, &sum, err));
	return sum;
}

/* One interval, no processors: that is what --show-sql is for. */
static void assert_sql(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	static const char *const reports[] = {"threads", "processes", "functions"};
	const struct ctx_interval interval = selection->intervals[0];
	struct ctx_histogram truth = {0};
	char text[400];

	selection->n_intervals = 1;
	selection->cpus = NULL;
	selection->n_cpus = 0;
	selection->n_filters = 0;
	sum_by_hand(world, selection, metric, CTX_NONE, false, &truth);
	for (size_t i = 0; i < CTX_COUNT_OF(reports); i++) {
		char *sql = ctx_store_show_sql(
			reports[i], &(struct ctx_sql_arguments){{interval.begin_ns, interval.end_ns},
								metric,
								selection->threads,
								selection->n_threads});

		assert_non_null(sql);
		if (i < 2)
			assert_int_equal(sql_sum(world, sql), truth.weight);
		free(sql);
	}
	if (selection->threads == NULL) {
		snprintf(text, sizeof(text), "SELECT cum FROM call_tree(%llu, %llu, %u) WHERE parent IS NULL",
			 (unsigned long long)interval.begin_ns, (unsigned long long)interval.end_ns, metric);
		assert_int_equal(sql_sum(world, text), truth.weight);
		snprintf(text, sizeof(text), "SELECT sum(exclusive) FROM functions(%llu, %llu, %u)",
			 (unsigned long long)interval.begin_ns, (unsigned long long)interval.end_ns, metric);
		assert_true(sql_sum(world, text) <= truth.weight);
	}
	if (selection->threads == NULL && metric >= STATES && metric < STATES + CTX_STATE_N) {
		snprintf(text, sizeof(text),
			 "SELECT sum(min(end_ns, %llu) - max(begin_ns, %llu)) FROM thread_state "
			 "WHERE last_ns >= %llu AND begin_ns < %llu AND state = '%s'",
			 (unsigned long long)interval.end_ns, (unsigned long long)interval.begin_ns,
			 (unsigned long long)interval.begin_ns, (unsigned long long)interval.end_ns,
			 ctx_state_name((enum ctx_thread_state)(metric - STATES)));
		assert_int_equal(sql_sum(world, text), truth.weight);
	}
	ctx_histogram_deinit(&truth);
}

static void assert_wakeups_in_sql(const struct world *world, struct ctx_interval interval)
{
	uint64_t n = 0, wait_ns = 0, by_threads = 0;
	char text[200];

	for (size_t i = 0; i < world->n_waits; i++) {
		if (!ctx_interval_has(interval, world->waits[i].time_ns))
			continue;
		n++;
		wait_ns += world->waits[i].wait_ns;
		by_threads += world->waits[i].waker != CTX_NONE;
	}
	snprintf(text, sizeof(text), "FROM wakeups WHERE time_ns >= %llu AND time_ns < %llu",
		 (unsigned long long)interval.begin_ns, (unsigned long long)interval.end_ns);
	for (int i = 0; i < 3; i++) {
		static const char *const what[] = {"count(*)", "sum(wait_ns)", "count(waker)"};
		char sql[300];

		snprintf(sql, sizeof(sql), "SELECT %s %s", what[i], text);
		assert_int_equal(sql_sum(world, sql), i == 0 ? n : i == 1 ? wait_ns : by_threads);
	}
}

/* ---- tests ---- */

static void for_many(void (*each)(struct world *, struct ctx_selection *, uint32_t metric), int rounds)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		static struct world world;

		world_begin(&world, seed);
		for (int round = 0; round < rounds; round++) {
			struct choice choice;

			choose(&world.fixture, &choice);
			each(&world, &choice.selection,
			     fixture_random(&world.fixture, world.profile->n_metrics));
		}
		world_end(&world);
	}
}

/* The same with a filter, one of `n` in turn, and another one that keeps most. */
static void for_many_filtered(void (*each)(struct world *, struct ctx_selection *, uint32_t metric),
			      int rounds, const char *const *filters, size_t n)
{
	for (uint64_t seed = 20; seed < 26; seed++) {
		static struct world world;

		world_begin(&world, seed);
		for (int round = 0; round < rounds; round++) {
			struct ctx_expression *bound[2];
			struct choice choice;

			choose(&world.fixture, &choice);
			must(ctx_expression_parse(filters[(size_t)round % n], &bound[0], NULL, err));
			must(ctx_expression_parse("TSTAMP >= 0 && DEPTH < 1000", &bound[1], NULL, err));
			for (int i = 0; i < 2; i++)
				must(ctx_expression_bind(bound[i], world.profile, err));
			choice.selection.profile = world.profile;
			choice.selection.filters = bound;
			choice.selection.n_filters = 2;
			each(&world, &choice.selection,
			     fixture_random(&world.fixture, world.profile->n_metrics));
			for (int i = 0; i < 2; i++)
				ctx_expression_destroy(bound[i]);
		}
		world_end(&world);
	}
}

static void one_histogram(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	ask(world, selection, metric);
}

static void test_query_states__an_interval_gets_the_part_of_a_span_inside(void **state)
{
	(void)state;
	for_many(one_histogram, 120);
}

static void test_query_states__filters_keep_the_parts_of_a_span_where_they_hold(void **state)
{
	static const char *const filters[] = {
		"WEIGHT % 2 == 1",
		"TSTAMP / 500 & 1",
		"TSTAMP >= 200000 && TSTAMP < 417500 || WEIGHT > 100000",
		"TSTAMP >> 3 < 50000 && STATE != \"USER\"",
		"STATE == \"SLEEP|USER\" || METRIC == 1",
		"THRID == 1 && CPUID",
		"DEPTH * 7 % 3",
		"1 / (WEIGHT % 5)",
		"0",
		"STACK SOME IN \".*[aeiou].\"",
	};

	(void)state;
	for_many_filtered(one_histogram, 48, filters, CTX_COUNT_OF(filters));
}

static void one_index(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	ask_index(world, selection, metric);
}

static void test_query_states__parts_have_every_metric_of_every_thread(void **state)
{
	static const char *const filters[] = {"THRID % 2", "STATE == \"SLEEP\""};

	(void)state;
	for_many(assert_parts, 20);
	for_many_filtered(assert_parts, 10, filters, CTX_COUNT_OF(filters));
}

static void test_query_states__an_index_sums_the_selection(void **state)
{
	static const char *const filters[] = {"WEIGHT % 3", "CPUID != 1 && TSTAMP % 100000 < 73000"};

	(void)state;
	for_many(one_index, 6);
	for_many_filtered(one_index, 6, filters, CTX_COUNT_OF(filters));
}

static void test_query_states__an_index_by_several_keys_sums_the_selection(void **state)
{
	static const char *const filters[] = {"WEIGHT % 3", "CPUID != 1 && TSTAMP % 100000 < 73000"};

	(void)state;
	for_many(ask_keys, 7);
	for_many_filtered(ask_keys, 4, filters, CTX_COUNT_OF(filters));
}

static void one_wall(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	(void)metric;
	assert_wall_is_life(world, selection);
}

static void test_query_states__wall_is_the_selected_life(void **state)
{
	(void)state;
	for_many(one_wall, 60);
}

static void one_division(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	(void)metric;
	assert_states(world, selection);
	assert_waits(world, selection);
	assert_slices(world, selection);
}

static void test_query_states__threads_and_slices_divide_into_states(void **state)
{
	(void)state;
	for_many(one_division, 12);
}

/* Filters that say the same of a whole span and of its parts. */
static void test_query_states__slices_divide_filtered_time(void **state)
{
	static const char *const filters[] = {"THRID % 2", "STATE != \"USER\"", "DEPTH > 2 && CPUID != 1",
					      "TSTAMP * 1e-6 > 0.3999999 && TSTAMP != -1"};

	(void)state;
	for_many_filtered(one_division, 6, filters, CTX_COUNT_OF(filters));
}

static void one_waker(struct world *world, struct ctx_selection *selection, uint32_t metric)
{
	selection->metrics[0] = metric;
	assert_wakers(world, selection);
	assert_wakeups_in_sql(world, selection->intervals[0]);
}

static void test_query_states__waits_that_are_alike_are_summed(void **state)
{
	(void)state;
	for_many(one_waker, 30);
}

static void test_query_states__filters_see_waits_as_spans_of_their_states(void **state)
{
	static const char *const filters[] = {"WEIGHT % 2", "THRID != 1 && STATE == \"USER_LOCK|SLEEP\"",
					      "TSTAMP / 500 % 3 && CPUID < 0", "DEPTH > 3"};

	(void)state;
	for_many_filtered(one_waker, 12, filters, CTX_COUNT_OF(filters));
}

static void test_query_states__exports_get_parts_in_order_of_time(void **state)
{
	(void)state;
	for_many(assert_exported, 40);
}

static void test_query_states__sql_cuts_the_same_way(void **state)
{
	(void)state;
	for_many(assert_sql, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_own_dir(test_query_states__an_interval_gets_the_part_of_a_span_inside),
		in_own_dir(test_query_states__filters_keep_the_parts_of_a_span_where_they_hold),
		in_own_dir(test_query_states__parts_have_every_metric_of_every_thread),
		in_own_dir(test_query_states__an_index_sums_the_selection),
		in_own_dir(test_query_states__an_index_by_several_keys_sums_the_selection),
		in_own_dir(test_query_states__slices_divide_filtered_time),
		in_own_dir(test_query_states__wall_is_the_selected_life),
		in_own_dir(test_query_states__threads_and_slices_divide_into_states),
		in_own_dir(test_query_states__waits_that_are_alike_are_summed),
		in_own_dir(test_query_states__filters_see_waits_as_spans_of_their_states),
		in_own_dir(test_query_states__exports_get_parts_in_order_of_time),
		in_own_dir(test_query_states__sql_cuts_the_same_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
