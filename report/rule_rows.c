#include "report/rule_rows.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "report/function_names.h"
#include "report/names.h"
#include "report/rule_evidence.h"
#include "report/rule_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kind's rows while they are made: a sum for each measure and recording. */
struct draft {
	struct ctx_rule_row *rows; /* owned */
	size_t n, cap;
	struct ctx_strtab keys; /* by row: name, and behind a zero byte the object */
};

struct ctx_rule_world {
	struct ctx_arena arena;			/* texts and figures */
	const struct ctx_rule_world_spec *spec; /* while it is made */
	struct ctx_report_source **sources;	/* owned; of A, then of B */
	double *scales; /* owned; by recording, of CTX_RULE_WEIGHTINGS: what figures are multiplied by */
	size_t n_runs[CTX_COMPARE_SIDES], n;
	struct draft drafts[CTX_RULE_KINDS];
	struct ctx_rule_rows rows;
};

static bool uses_kind(const struct ctx_rule_world *world, enum ctx_rule_kind kind)
{
	for (size_t i = 0; i < CTX_RULE_WEIGHTINGS * ctx_rule_n_measures(kind); i++) {
		if (ctx_rules_use(world->spec->rules, kind, i / CTX_RULE_WEIGHTINGS,
				  (enum ctx_rule_weighting)(i % CTX_RULE_WEIGHTINGS)))
			return true;
	}
	return false;
}

static size_t side_of(const struct ctx_rule_world *world, size_t run)
{
	return run < world->n_runs[CTX_COMPARE_A] ? CTX_COMPARE_A : CTX_COMPARE_B;
}

static double mean_part(const struct ctx_rule_world *world, size_t run)
{
	return 1 / (double)world->n_runs[side_of(world, run)];
}

/* ---- rows ---- */

/* The row of this name and object, new ones without figures. */
static enum ctx_status find_row(struct ctx_rule_world *world, enum ctx_rule_kind kind, struct ctx_buf *key,
				size_t *ret, struct ctx_err *err)
{
	struct draft *draft = &world->drafts[kind];
	size_t n = CTX_RULE_WEIGHTINGS * ctx_rule_n_measures(kind);
	struct ctx_rule_row row = {0};
	uint32_t id;
	enum ctx_status status = ctx_buf_check(key, err);

	if (status == CTX_OK)
		status = ctx_strtab_add(&draft->keys, (const char *)key->bytes, key->n, &id, err);
	if (status != CTX_OK)
		return status;
	*ret = id;
	if (id < draft->n)
		return CTX_OK;
	status = ctx_grow(&draft->rows, &draft->cap, draft->n + 1, err);
	if (status != CTX_OK)
		return status;
	row.figures = ctx_arena_alloc(&world->arena, n * sizeof(*row.figures));
	if (row.figures == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		row.figures[i] = (struct ctx_rule_figure){
			.known = true, .low = (double)NAN, .high = (double)NAN, .p = (double)NAN};
	row.name = ctx_strtab_get(&draft->keys, id);
	row.object = row.name + strlen(row.name) + 1;
	draft->rows[draft->n++] = row;
	return CTX_OK;
}

static void end_table(struct ctx_rule_world *world, enum ctx_rule_kind kind)
{
	world->rows.tables[kind].rows = world->drafts[kind].rows;
	world->rows.tables[kind].n = world->drafts[kind].n;
}

/* ---- functions and load objects ---- */

static void put_item(struct ctx_buf *key, const struct ctx_profile *profile, uint32_t id,
		     enum ctx_rule_kind kind)
{
	const struct ctx_function_info *function = &profile->functions[id];
	const char *path = function->object != CTX_NONE ? profile->objects[function->object].path : "";

	ctx_buf_clear(key);
	if (kind == CTX_RULE_FUNCTION)
		ctx_buf_put(key, function->name, ctx_function_plain_length(function));
	else if (path[0] != '\0')
		ctx_match_put_object(key, path);
	else
		ctx_buf_put_text(key, function->name);
	ctx_buf_put_u8(key, '\0');
	if (kind == CTX_RULE_FUNCTION && path[0] != '\0')
		ctx_match_put_object(key, path);
	ctx_buf_put_u8(key, '\0');
}

/* Of weights in ns, per cent, and ns a second: in ms, shares, and ms a second. */
static double unit_of(enum ctx_rule_weighting weighting)
{
	return weighting == CTX_RULE_OF_ALL ? 1e-2 : 1e-6;
}

static void set_figure(struct ctx_rule_figure *figure, const struct ctx_diff_row *row, double unit)
{
	const struct ctx_evidence *evidence = &row->evidence;
	bool known = isfinite(evidence->high - evidence->low) && evidence->high > evidence->low;

	for (size_t side = 0; side < CTX_COMPARE_SIDES; side++)
		figure->value[side] += row->weight[side] * unit;
	/* Functions of one name are one row: what is known of the one that changed most. */
	if (figure->verdict != NULL)
		return;
	figure->verdict = ctx_verdict_word(row->verdict);
	if (known) {
		figure->low = evidence->low * unit;
		figure->high = evidence->high * unit;
		figure->p = evidence->p;
	}
}

/* One measure of functions or load objects in one unit, compared. */
static enum ctx_status compare_items(struct ctx_rule_world *world, enum ctx_rule_kind kind, size_t figure,
				     struct ctx_err *err)
{
	static const enum ctx_weights weights[CTX_RULE_WEIGHTINGS] = {
		CTX_WEIGHTS_ABSOLUTE, CTX_WEIGHTS_SHARE, CTX_WEIGHTS_PER_SECOND, CTX_WEIGHTS_PER_COUNT};
	enum ctx_rule_weighting weighting = (enum ctx_rule_weighting)(figure % CTX_RULE_WEIGHTINGS);
	struct ctx_diff_spec spec = {
		.sides = {world->spec->sides[CTX_COMPARE_A], world->spec->sides[CTX_COMPARE_B]},
		.subject = kind == CTX_RULE_OBJECT ? CTX_DIFF_OBJECTS : CTX_DIFF_FUNCTIONS,
		.total = figure / CTX_RULE_WEIGHTINGS == CTX_RULE_TOTAL,
		.renames = world->spec->renames,
		.weighting = {.weights = weights[weighting]}};
	struct ctx_buf key CTX_AUTO_BUF = {0};
	struct ctx_diff diff;
	enum ctx_status status = CTX_OK;

	if (weighting == CTX_RULE_BY_COUNT && !world->rows.counted)
		return CTX_OK;
	if (weighting == CTX_RULE_BY_COUNT)
		spec.weighting = *world->spec->per_count;
	status = ctx_diff_make(&spec, &diff, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < diff.n && status == CTX_OK; i++) {
		const struct ctx_diff_item *item = &diff.items.items[diff.rows[i].item];
		size_t at;

		put_item(&key, item->profile, item->function, kind);
		status = find_row(world, kind, &key, &at, err);
		if (status == CTX_OK)
			set_figure(&world->drafts[kind].rows[at].figures[figure], &diff.rows[i],
				   unit_of(weighting));
	}
	ctx_diff_deinit(&diff);
	return status;
}

/* One recording's items, without a comparison. */
struct items {
	struct ctx_rule_world *world;
	enum ctx_rule_kind kind;
	size_t run;
	const struct ctx_matching *matching;
	uint32_t *seen; /* owned; by item: the stack that was added last, and 1 */
};

static void add_value(const struct items *items, struct ctx_rule_figure *figures, size_t measure, double ms)
{
	const double *scales = items->world->scales + items->run * CTX_RULE_WEIGHTINGS;

	for (enum ctx_rule_weighting w = CTX_RULE_ABSOLUTE; w < CTX_RULE_WEIGHTINGS; w++)
		figures[ctx_rule_figure_at(measure, w)].value[CTX_COMPARE_B] +=
			ms * scales[w] * mean_part(items->world, items->run);
}

static enum ctx_status add_stack(struct items *items, const struct ctx_hist_entry *entry, struct ctx_err *err)
{
	const struct ctx_profile *profile = items->world->sources[items->run]->selection.profile;
	const struct ctx_trie *cct = &profile->cct;
	struct ctx_buf key CTX_AUTO_BUF = {0};
	double ms = (double)entry->weight / 1e6;

	for (uint32_t node = entry->stack; node != CTX_TRIE_ROOT; node = cct->parent[node]) {
		uint32_t item = items->matching->item_of[0][cct->key[node]];
		struct ctx_rule_figure *figures;
		enum ctx_status status;
		size_t at;

		if (items->seen[item] == entry->stack + 1)
			continue;
		items->seen[item] = entry->stack + 1;
		put_item(&key, items->matching->items[item].profile, items->matching->items[item].function,
			 items->kind);
		status = find_row(items->world, items->kind, &key, &at, err);
		if (status != CTX_OK)
			return status;
		figures = items->world->drafts[items->kind].rows[at].figures;
		add_value(items, figures, CTX_RULE_TOTAL, ms);
		if (node == entry->stack)
			add_value(items, figures, CTX_RULE_SELF, ms);
	}
	return CTX_OK;
}

static enum ctx_status add_items(struct ctx_rule_world *world, enum ctx_rule_kind kind, size_t run,
				 struct ctx_err *err)
{
	struct ctx_report_source *source = world->sources[run];
	const struct ctx_match_recording input = {source->selection.profile, CTX_COMPARE_B};
	const struct ctx_match_spec match = {.recordings = &input,
					     .n = 1,
					     .subject = kind == CTX_RULE_OBJECT ? CTX_MATCH_OBJECTS
										: CTX_MATCH_FUNCTIONS,
					     .renames = world->spec->renames};
	struct ctx_report_parts parts;
	struct ctx_matching matching;
	struct items items = {world, kind, run, &matching, NULL};
	enum ctx_status status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);

	if (status == CTX_OK)
		status = ctx_matching_make(&match, &matching, err);
	if (status != CTX_OK)
		return status;
	items.seen = ctx_calloc((size_t)matching.n_items + 1, sizeof(*items.seen));
	if (items.seen == NULL)
		status = ctx_err_nomem(err);
	for (size_t i = 0; i < parts.n && status == CTX_OK; i++) {
		const struct ctx_histogram *histogram = parts.parts[i].histograms;

		for (size_t e = 0; e < histogram->n && status == CTX_OK; e++)
			status = add_stack(&items, &histogram->entries[e], err);
	}
	free(items.seen);
	ctx_matching_deinit(&matching);
	return status;
}

static enum ctx_status make_items(struct ctx_rule_world *world, enum ctx_rule_kind kind, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (!uses_kind(world, kind))
		return CTX_OK;
	for (size_t i = 0; world->rows.compared && i < CTX_RULE_WEIGHTINGS * ctx_rule_n_measures(kind); i++) {
		if (status == CTX_OK && ctx_rules_use(world->spec->rules, kind, i / CTX_RULE_WEIGHTINGS,
						      (enum ctx_rule_weighting)(i % CTX_RULE_WEIGHTINGS)))
			status = compare_items(world, kind, i, err);
	}
	for (size_t run = 0; !world->rows.compared && run < world->n && status == CTX_OK; run++)
		status = add_items(world, kind, run, err);
	end_table(world, kind);
	return status;
}

/* ---- sums by recording ---- */

/* The sums of one measure: by row, then by recording. */
struct sums {
	double *values; /* owned */
	size_t cap, n_rows, n_runs;
	const double *scales; /* borrowed; by recording, of CTX_RULE_WEIGHTINGS */
};

static enum ctx_status add_sum(struct sums *sums, size_t row, size_t run, double value, struct ctx_err *err)
{
	if (row >= sums->n_rows) {
		enum ctx_status status = ctx_grow(&sums->values, &sums->cap, (row + 1) * sums->n_runs, err);

		if (status != CTX_OK)
			return status;
		memset(sums->values + sums->n_rows * sums->n_runs, 0,
		       (row + 1 - sums->n_rows) * sums->n_runs * sizeof(*sums->values));
		sums->n_rows = row + 1;
	}
	sums->values[row * sums->n_runs + run] += value;
	return CTX_OK;
}

/* Means and evidence of the rows in each unit. */
static enum ctx_status judge(struct ctx_rule_world *world, enum ctx_rule_kind kind, size_t measure,
			     const struct sums *sums, struct ctx_err *err)
{
	double *scaled CTX_AUTO_FREE = ctx_calloc(sums->n_rows * world->n + 1, sizeof(*scaled));
	const struct ctx_rule_sums given = {scaled,
					    sums->n_rows,
					    {world->n_runs[CTX_COMPARE_A], world->n_runs[CTX_COMPARE_B]},
					    ctx_rule_kind_has_rows(kind)};
	enum ctx_status status = scaled != NULL ? CTX_OK : ctx_err_nomem(err);

	for (enum ctx_rule_weighting w = CTX_RULE_ABSOLUTE; w < CTX_RULE_WEIGHTINGS && status == CTX_OK;
	     w++) {
		for (size_t i = 0; i < sums->n_rows * world->n; i++)
			scaled[i] = sums->values[i] * sums->scales[i % world->n * CTX_RULE_WEIGHTINGS + w];
		status = ctx_rule_sums_judge(&given, world->drafts[kind].rows, ctx_rule_figure_at(measure, w),
					     err);
	}
	return status;
}

static enum ctx_status add_threads(struct ctx_rule_world *world, size_t run, struct sums *sums,
				   struct ctx_err *err)
{
	struct ctx_report_source *source = world->sources[run];
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_buf key CTX_AUTO_BUF = {0};
	struct ctx_report_thread_sums threads;
	enum ctx_status status = source->thread_sums(source, &threads, err);

	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++) {
		uint64_t weight = threads.weight != NULL ? threads.weight[i] : profile->threads[i].weight;
		size_t at;

		if (weight == 0)
			continue;
		ctx_buf_clear(&key);
		ctx_thread_name_pattern(profile->threads[i].name, &key);
		ctx_buf_put(&key, "\0", 2);
		status = find_row(world, CTX_RULE_THREAD, &key, &at, err);
		if (status == CTX_OK)
			status = add_sum(sums, at, run, (double)weight / 1e6, err);
	}
	return status;
}

/* "parse.c:120": a line is known by its file's name without directories. */
static enum ctx_status add_lines(struct ctx_rule_world *world, size_t run, struct sums *sums,
				 struct ctx_err *err)
{
	struct ctx_report_source *source = world->sources[run];
	struct ctx_buf key CTX_AUTO_BUF = {0};
	struct ctx_report_index index;
	enum ctx_status status = source->index(source, "line", NULL, &index, err);

	for (size_t i = 0; status == CTX_OK && i < index.n; i++) {
		const struct ctx_report_sum *sum = &index.sums[i * source->selection.n_metrics];
		size_t at;

		ctx_buf_clear(&key);
		if (index.keys[i] >= 0)
			ctx_buf_printf(&key, "%s:%u",
				       ctx_name_of_path(index.files[CTX_INDEX_FILE_OF(index.keys[i])].path),
				       CTX_INDEX_LINE_OF(index.keys[i]));
		else
			ctx_buf_put_text(&key, "<Unknown>");
		ctx_buf_put(&key, "\0", 2);
		status = find_row(world, CTX_RULE_LINE, &key, &at, err);
		if (status == CTX_OK)
			status = add_sum(sums, at, run, (double)sum->weight / 1e6, err);
	}
	return status;
}

static enum ctx_status make_sums(struct ctx_rule_world *world, enum ctx_rule_kind kind, struct ctx_err *err)
{
	struct sums sums = {.n_runs = world->n, .scales = world->scales};
	enum ctx_status status = CTX_OK;

	if (!uses_kind(world, kind))
		return CTX_OK;
	for (size_t run = 0; run < world->n && status == CTX_OK; run++)
		status = kind == CTX_RULE_LINE ? add_lines(world, run, &sums, err)
					       : add_threads(world, run, &sums, err);
	if (status == CTX_OK)
		status = judge(world, kind, 0, &sums, err);
	free(sums.values);
	end_table(world, kind);
	return status;
}

/* ---- figures ---- */

/* Shares of states and waits are of the time of all threads, those of the run of its length. */
static void set_scales(const struct ctx_rule_world *world, enum ctx_rule_kind kind,
		       const struct ctx_rule_figures *figures, double *scales)
{
	for (size_t run = 0; run < world->n; run++) {
		double *own = scales + run * CTX_RULE_WEIGHTINGS;
		double wall_ms = (double)ctx_rule_wall_ns(&world->sources[run]->selection) / 1e6;
		double whole = kind == CTX_RULE_RUN ? wall_ms : figures[run].threads_ms;

		own[CTX_RULE_ABSOLUTE] = 1;
		own[CTX_RULE_OF_ALL] = whole > 0 ? 1 / whole : 0;
		own[CTX_RULE_BY_SECOND] = wall_ms > 0 ? 1e3 / wall_ms : 0;
		own[CTX_RULE_BY_COUNT] = world->scales[run * CTX_RULE_WEIGHTINGS + CTX_RULE_BY_COUNT];
	}
}

static enum ctx_status make_figure_row(struct ctx_rule_world *world, enum ctx_rule_kind kind,
				       const struct ctx_rule_figures *figures, struct ctx_err *err)
{
	double *scales CTX_AUTO_FREE = ctx_calloc(world->n * CTX_RULE_WEIGHTINGS, sizeof(*scales));
	struct ctx_buf key CTX_AUTO_BUF = {0};
	enum ctx_status status;
	size_t at;

	if (scales == NULL)
		return ctx_err_nomem(err);
	set_scales(world, kind, figures, scales);
	for (size_t run = 0; run < world->n; run++) {
		if (figures[run].missing[kind - CTX_RULE_STATE] != NULL) {
			world->rows.tables[kind].missing = figures[run].missing[kind - CTX_RULE_STATE];
			return CTX_OK;
		}
	}
	ctx_buf_put(&key, "\0", 2);
	status = find_row(world, kind, &key, &at, err);
	for (size_t measure = 0; measure < ctx_rule_n_measures(kind) && status == CTX_OK; measure++) {
		struct sums sums = {.n_runs = world->n, .scales = scales};

		for (size_t run = 0; run < world->n && status == CTX_OK; run++)
			status = add_sum(&sums, 0, run, figures[run].values[kind - CTX_RULE_STATE][measure],
					 err);
		if (status == CTX_OK)
			status = judge(world, kind, measure, &sums, err);
		free(sums.values);
	}
	end_table(world, kind);
	return status;
}

static enum ctx_status make_figures(struct ctx_rule_world *world, struct ctx_err *err)
{
	struct ctx_rule_figures *figures CTX_AUTO_FREE = ctx_calloc(world->n, sizeof(*figures));
	enum ctx_status status = figures != NULL ? CTX_OK : ctx_err_nomem(err);
	unsigned wanted = 0;

	for (enum ctx_rule_kind kind = CTX_RULE_STATE; kind < CTX_RULE_KINDS; kind++)
		wanted |= uses_kind(world, kind) ? 1u << kind : 0;
	for (size_t run = 0; run < world->n && status == CTX_OK && wanted != 0; run++)
		status = ctx_rule_figures_read(world->sources[run], wanted, &figures[run], err);
	for (enum ctx_rule_kind kind = CTX_RULE_STATE; kind < CTX_RULE_KINDS && status == CTX_OK; kind++) {
		if ((wanted & 1u << kind) != 0)
			status = make_figure_row(world, kind, figures, err);
	}
	return status;
}

/* ---- all ---- */

/* Counts of events have shares, and no times. */
static enum ctx_status check_metrics(struct ctx_rule_world *world, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};

	for (size_t run = 0; run < world->n && world->rows.untimed == NULL; run++) {
		const struct ctx_report_selection *selection = &world->sources[run]->selection;
		const struct ctx_metric_info *metric = &selection->profile->metrics[selection->metrics[0]];

		if (metric->unit == CTX_UNIT_NS)
			continue;
		ctx_buf_printf(&text,
			       "it asks for times, and the metric '%s' of %s is none: shares are known, or "
			       "--metric",
			       metric->name, selection->path);
		ctx_buf_put_u8(&text, '\0');
		world->rows.untimed =
			text.failed ? NULL : ctx_arena_strdup(&world->arena, (const char *)text.bytes);
		if (world->rows.untimed == NULL)
			return ctx_err_nomem(err);
	}
	return CTX_OK;
}

/* Of what is measured by the first metric. */
static enum ctx_status scale(struct ctx_rule_world *world, size_t run, struct ctx_err *err)
{
	struct ctx_report_source *source = world->sources[run];
	double *own = world->scales + run * CTX_RULE_WEIGHTINGS;
	double seconds = (double)ctx_rule_wall_ns(&source->selection) / 1e9, weight = 0;
	struct ctx_report_parts parts;
	enum ctx_status status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);

	for (size_t i = 0; status == CTX_OK && i < parts.n; i++)
		weight += (double)parts.parts[i].histograms[0].weight / 1e6;
	own[CTX_RULE_ABSOLUTE] = 1;
	own[CTX_RULE_OF_ALL] = weight > 0 ? 1 / weight : 0;
	own[CTX_RULE_BY_SECOND] = seconds > 0 ? 1 / seconds : 0;
	if (status == CTX_OK && world->rows.counted)
		status = ctx_weighting_scale(
			world->spec->per_count,
			&(struct ctx_weighted){source, (enum ctx_compare_side)side_of(world, run), 0},
			&own[CTX_RULE_BY_COUNT], err);
	return status;
}

static enum ctx_status gather(struct ctx_rule_world *world, struct ctx_err *err)
{
	enum ctx_status status;
	size_t n = 0;

	world->n = world->n_runs[CTX_COMPARE_A] + world->n_runs[CTX_COMPARE_B];
	world->sources = ctx_calloc(world->n, sizeof(struct ctx_report_source *));
	world->scales = ctx_calloc(world->n * CTX_RULE_WEIGHTINGS, sizeof(*world->scales));
	if (world->sources == NULL || world->scales == NULL)
		return ctx_err_nomem(err);
	for (size_t side = 0; side < CTX_COMPARE_SIDES; side++) {
		for (size_t i = 0; i < world->n_runs[side]; i++)
			world->sources[n++] = world->spec->sides[side].sources[i];
	}
	status = check_metrics(world, err);
	for (size_t run = 0; run < world->n && status == CTX_OK; run++)
		status = scale(world, run, err);
	return status;
}

static enum ctx_status make_all(struct ctx_rule_world *world, struct ctx_err *err)
{
	enum ctx_status status = gather(world, err);

	if (status == CTX_OK)
		status = make_items(world, CTX_RULE_FUNCTION, err);
	if (status == CTX_OK)
		status = make_items(world, CTX_RULE_OBJECT, err);
	if (status == CTX_OK)
		status = make_sums(world, CTX_RULE_LINE, err);
	if (status == CTX_OK)
		status = make_sums(world, CTX_RULE_THREAD, err);
	return status == CTX_OK ? make_figures(world, err) : status;
}

enum ctx_status ctx_rule_world_make(const struct ctx_rule_world_spec *spec, struct ctx_rule_world **ret,
				    struct ctx_err *err)
{
	struct ctx_rule_world *world = ctx_calloc(1, sizeof(*world));
	enum ctx_status status;

	if (world == NULL)
		return ctx_err_nomem(err);
	world->spec = spec;
	world->n_runs[CTX_COMPARE_A] = spec->sides[CTX_COMPARE_A].n;
	world->n_runs[CTX_COMPARE_B] = spec->sides[CTX_COMPARE_B].n;
	world->rows.compared = spec->sides[CTX_COMPARE_A].n != 0;
	world->rows.counted = spec->per_count != NULL;
	status = make_all(world, err);
	world->spec = NULL;
	if (status != CTX_OK) {
		ctx_rule_world_destroy(world);
		return status;
	}
	*ret = world;
	return CTX_OK;
}

void ctx_rule_world_destroy(struct ctx_rule_world *world)
{
	if (world == NULL)
		return;
	for (size_t kind = 0; kind < CTX_RULE_KINDS; kind++) {
		free(world->drafts[kind].rows);
		ctx_strtab_deinit(&world->drafts[kind].keys);
	}
	free(world->sources);
	free(world->scales);
	ctx_arena_deinit(&world->arena);
	free(world);
}

const struct ctx_rule_rows *ctx_rule_world_rows(const struct ctx_rule_world *world)
{
	return &world->rows;
}
