/*
 * The chosen recordings of a fleet: by host, by version, or one by one.
 */
#include "base/mem.h"
#include "base/utc.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"

#include <stdlib.h>

/* Everything that is known of a group, as columns. */
enum fact {
	WEIGHT_TEXT,
	PERCENT,
	SAMPLES_TEXT,
	RECORDINGS,
	HOSTS,
	RECORDED,
	LOST,
	DAMAGED,
	UNCLOSED,
	BEGIN_TEXT,
	END_TEXT,
	HOST,
	SERVICE,
	VERSION,
	NAME,
	KEY,
	BEGIN,
	END,
	SAMPLES,
	WEIGHT,
	FACTS,
};

static const struct ctx_column facts[FACTS] = {
	[WEIGHT_TEXT] = {NULL, "Weight", CTX_STYLE_WEIGHT},
	[PERCENT] = {NULL, "%", CTX_STYLE_PERCENT},
	[SAMPLES_TEXT] = {NULL, "Samples", CTX_STYLE_COUNT},
	[RECORDINGS] = {"recordings", "Recordings", CTX_STYLE_COUNT},
	[HOSTS] = {"hosts", "Hosts", CTX_STYLE_COUNT},
	[RECORDED] = {"recorded_ns", "Recorded ms", CTX_STYLE_TIME},
	[LOST] = {"lost", "Lost", CTX_STYLE_COUNT},
	[DAMAGED] = {"damaged", NULL, CTX_STYLE_COUNT},
	[UNCLOSED] = {"unclosed", NULL, CTX_STYLE_COUNT},
	[BEGIN_TEXT] = {NULL, "Begin (UTC)", CTX_STYLE_NAME},
	[END_TEXT] = {NULL, "End (UTC)", CTX_STYLE_NAME},
	[HOST] = {"host", "Host", CTX_STYLE_NAME},
	[SERVICE] = {"service", "Service", CTX_STYLE_NAME},
	[VERSION] = {"version", "Version", CTX_STYLE_NAME},
	[NAME] = {"name", "Name", CTX_STYLE_NAME},
	[KEY] = {NULL, NULL, CTX_STYLE_NAME},
	[BEGIN] = {"begin_ns", NULL, CTX_STYLE_COUNT},
	[END] = {"end_ns", NULL, CTX_STYLE_COUNT},
	[SAMPLES] = {"samples", NULL, CTX_STYLE_COUNT},
	[WEIGHT] = {"weight", NULL, CTX_STYLE_WEIGHT},
};

/* Which of them a report has. */
struct shown {
	const struct ctx_report_kind *kind;
	const char *key, *title; /* of recordings, and of their column */
	enum fact facts[FACTS];
	size_t n;
};

static const struct shown hosts = {&ctx_report_hosts,
				   "host",
				   "Host",
				   {WEIGHT_TEXT, PERCENT, SAMPLES_TEXT, RECORDINGS, RECORDED, LOST, DAMAGED,
				    UNCLOSED, BEGIN_TEXT, END_TEXT, SERVICE, VERSION, KEY, BEGIN, END,
				    SAMPLES, WEIGHT},
				   17};
static const struct shown versions = {&ctx_report_versions,
				      "version",
				      "Version",
				      {WEIGHT_TEXT, PERCENT, SAMPLES_TEXT, RECORDINGS, HOSTS, RECORDED, LOST,
				       DAMAGED, UNCLOSED, BEGIN_TEXT, END_TEXT, SERVICE, KEY, BEGIN, END,
				       SAMPLES, WEIGHT},
				      17};
static const struct shown recordings = {&ctx_report_recordings,
					"recording",
					"Recording",
					{WEIGHT_TEXT, PERCENT, SAMPLES_TEXT, RECORDED, LOST, DAMAGED,
					 UNCLOSED, BEGIN_TEXT, HOST, SERVICE, VERSION, NAME, KEY, BEGIN, END,
					 SAMPLES, WEIGHT},
					17};

/* ---- rows ---- */

/* "2026-11-21 10:00:30" */
static struct ctx_cell time_cell(struct ctx_out *out, uint64_t time_ns)
{
	char text[CTX_UTC_MAX];

	(void)ctx_utc_text((int64_t)(time_ns / 1000000000), text);
	return ctx_cell_name(ctx_out_format(out, "%s", text));
}

/* Where recordings differ: null in JSON, a word for people. */
static struct ctx_cell common_cell(const struct ctx_out *out, const char *value)
{
	return ctx_cell_name(value == NULL && ctx_out_is_text(out) ? "several" : value);
}

static void put(struct ctx_out *out, const struct shown *shown, const struct ctx_report_fleet_group *group)
{
	const struct ctx_cell known[FACTS] = {
		[WEIGHT_TEXT] = ctx_cell_number(group->sum.weight),
		[PERCENT] = ctx_cell_number(group->sum.weight),
		[SAMPLES_TEXT] = ctx_cell_number(group->sum.samples),
		[RECORDINGS] = ctx_cell_number(group->recordings),
		[HOSTS] = ctx_cell_number(group->hosts),
		[RECORDED] = ctx_cell_number(group->recorded_ns),
		[LOST] = ctx_cell_number(group->lost),
		[DAMAGED] = ctx_cell_number(group->damaged),
		[UNCLOSED] = ctx_cell_number(group->unclosed),
		[BEGIN_TEXT] = time_cell(out, group->begin_ns),
		[END_TEXT] = time_cell(out, group->end_ns),
		[HOST] = common_cell(out, group->host),
		[SERVICE] = common_cell(out, group->service),
		[VERSION] = common_cell(out, group->version),
		[NAME] = common_cell(out, group->name),
		[KEY] = ctx_cell_name(group->value),
		[BEGIN] = ctx_cell_number(group->begin_ns),
		[END] = ctx_cell_number(group->end_ns),
		[SAMPLES] = ctx_cell_number(group->sum.samples),
		[WEIGHT] = ctx_cell_number(group->sum.weight),
	};
	struct ctx_cell cells[FACTS];

	for (size_t i = 0; i < shown->n; i++)
		cells[i] = known[shown->facts[i]];
	ctx_out_row(out, cells);
}

/* ---- order ---- */

static const char *const sort_keys[] = {"weight", "samples",  "recordings", "recorded_ns",
					"lost",	  "begin_ns", NULL};

static struct ctx_order_item item_of(const struct ctx_report_fleet_group *group, uint32_t row, size_t key)
{
	const uint64_t values[] = {group->sum.weight, group->sum.samples,
				   group->recordings, group->recorded_ns,
				   group->lost,	      ctx_order_ascending(group->begin_ns)};

	return (struct ctx_order_item){.number = values[key], .second = group->sum.weight, .index = row};
}

static enum ctx_status put_rows(const struct shown *shown, struct ctx_report_source *source,
				const struct ctx_report_options *options, struct ctx_out_spec *spec,
				struct ctx_err *err)
{
	const struct ctx_report_fleet_group *groups;
	struct ctx_order_item *items CTX_AUTO_FREE = NULL;
	struct ctx_out out;
	size_t n, n_shown, key = 0;
	enum ctx_status status = ctx_order_find(shown->kind->name, options->sort, sort_keys, &key, err);

	if (status == CTX_OK)
		status = source->fleet_groups(source, shown->key, &groups, &n, err);
	if (status != CTX_OK)
		return status;
	items = ctx_calloc(n, sizeof(*items));
	if (items == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		spec->totals.samples += groups[i].sum.samples;
		spec->totals.weight += groups[i].sum.weight;
		items[i] = item_of(&groups[i], i, key);
	}
	ctx_order_sort(items, n);
	n_shown = options->limit != 0 && options->limit < n ? options->limit : n;
	ctx_out_begin(&out, spec);
	for (size_t i = 0; i < n_shown; i++)
		put(&out, shown, &groups[items[i].index]);
	ctx_out_section(&out, NULL);
	ctx_out_more(&out, n - n_shown, shown->key);
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(const struct shown *shown, struct ctx_report_source *source,
			     const struct ctx_report_options *options, struct ctx_err *err)
{
	struct ctx_column columns[FACTS];
	struct ctx_out_spec spec = {.kind = shown->kind,
				    .selection = &source->selection,
				    .options = options,
				    .columns = columns,
				    .n_columns = shown->n};

	if (source->fleet_groups == NULL)
		return ctx_err_set(err, CTX_E_ARG, "the report '%s' is one of ctxan fleet",
				   shown->kind->name);
	for (size_t i = 0; i < shown->n; i++) {
		columns[i] = facts[shown->facts[i]];
		if (shown->facts[i] == KEY)
			columns[i] = (struct ctx_column){shown->key, shown->title, CTX_STYLE_NAME};
	}
	return put_rows(shown, source, options, &spec, err);
}

static enum ctx_status print_hosts(struct ctx_report_source *source, const struct ctx_report_options *options,
				   struct ctx_err *err)
{
	return print(&hosts, source, options, err);
}

static enum ctx_status print_versions(struct ctx_report_source *source,
				      const struct ctx_report_options *options, struct ctx_err *err)
{
	return print(&versions, source, options, err);
}

static enum ctx_status print_recordings(struct ctx_report_source *source,
					const struct ctx_report_options *options, struct ctx_err *err)
{
	return print(&recordings, source, options, err);
}

const struct ctx_report_kind ctx_report_hosts = {.name = "hosts", .no_function = true, .print = print_hosts};
const struct ctx_report_kind ctx_report_versions = {
	.name = "versions", .no_function = true, .print = print_versions};
const struct ctx_report_kind ctx_report_recordings = {
	.name = "recordings", .no_function = true, .print = print_recordings};
