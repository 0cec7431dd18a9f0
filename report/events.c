/*
 * Entries and exits of traced calls, and samples, one by one in order of time.
 */
#include "report/call_order.h"
#include "report/function_names.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/traced_page.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

#define BATCH ((size_t)1 << 19)
#define TEXT_ROWS 1000u	  /* unless --limit is given */
#define TABLE_ROWS 10000u /* of text: then its headings come again */
#define INDENT_MAX 24u

enum {
	TIME_NS,
	TID,
	THREAD,
	THREAD_ID,
	EVENT,
	MAJOR,
	MINOR,
	DEPTH,
	DURATION_NS,
	FUNCTION,
	OBJECT,
	/* Of text. */
	TIME_TEXT,
	TID_TEXT,
	EVENT_TEXT,
	MAJOR_TEXT,
	MINOR_TEXT,
	DEPTH_TEXT,
	DURATION_TEXT,
	TEXT,
};

static const struct ctx_column columns[] = {
	[TIME_NS] = {"time_ns", NULL, CTX_STYLE_COUNT},
	[TID] = {"tid", NULL, CTX_STYLE_COUNT},
	[THREAD] = {"thread", NULL, CTX_STYLE_NAME},
	[THREAD_ID] = {"thread_id", NULL, CTX_STYLE_COUNT},
	[EVENT] = {"event", NULL, CTX_STYLE_NAME},
	[MAJOR] = {"major", NULL, CTX_STYLE_COUNT},
	[MINOR] = {"minor", NULL, CTX_STYLE_COUNT},
	[DEPTH] = {"depth", NULL, CTX_STYLE_COUNT},
	[DURATION_NS] = {"duration_ns", NULL, CTX_STYLE_COUNT},
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},
	[TIME_TEXT] = {NULL, "Time ms", CTX_STYLE_COUNT},
	[TID_TEXT] = {NULL, "TID", CTX_STYLE_COUNT},
	[EVENT_TEXT] = {NULL, "Event", CTX_STYLE_NAME},
	[MAJOR_TEXT] = {NULL, "Major", CTX_STYLE_COUNT},
	[MINOR_TEXT] = {NULL, "Minor", CTX_STYLE_COUNT},
	[DEPTH_TEXT] = {NULL, "Depth", CTX_STYLE_COUNT},
	[DURATION_TEXT] = {NULL, "Took", CTX_STYLE_COUNT},
	[TEXT] = {NULL, "Function", CTX_STYLE_NAME},
};

static const struct ctx_traced_report events_report = {.report = &ctx_report_events,
						       .kind = CTX_TRACED_CALL,
						       .topic = "Call events",
						       .unit = CTX_UNIT_NONE,
						       .counted = "events",
						       .text = TEXT,
						       .sort_keys = NULL,
						       .one_by_one = true};

struct events {
	struct ctx_traced_page page;
	struct ctx_call_order order;
	struct ctx_arena texts; /* of the table of text */
	uint64_t n, most;
};

/* Valid up to the end of the table. */
static struct ctx_cell figure(struct events *events, const char *text)
{
	const char *copy = ctx_arena_strdup(&events->texts, text);

	if (copy == NULL)
		ctx_out_fail(&events->page.out, CTX_E_NOMEM);
	return ctx_cell_figure(copy != NULL ? copy : "");
}

static struct ctx_cell code(struct events *events, unsigned number)
{
	char text[16];

	snprintf(text, sizeof(text), "%#x", number);
	return figure(events, text);
}

static void put_texts(struct events *events, const struct ctx_call_event *event, struct ctx_cell *cells)
{
	static const char spaces[2 * INDENT_MAX + 1] = "                                                ";
	bool is_end = event->kind == CTX_CALL_EVENT_EXIT || event->kind == CTX_CALL_EVENT_UNWIND;
	uint32_t level = event->depth > INDENT_MAX ? INDENT_MAX : event->depth;
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, event->time_ns / 1000000,
		 event->time_ns % 1000000);
	cells[TIME_TEXT] = figure(events, text);
	cells[TID_TEXT] = cells[TID];
	cells[EVENT_TEXT] = cells[EVENT];
	cells[MAJOR_TEXT] = code(events, ctx_call_event_major(event));
	cells[MINOR_TEXT] = code(events, ctx_call_event_minor(event));
	cells[DEPTH_TEXT] = cells[DEPTH];
	if (is_end) {
		ctx_time_format(event->duration_ns, text, sizeof(text));
		cells[DURATION_TEXT] = figure(events, text);
	}
	cells[TEXT] = cells[FUNCTION];
	cells[TEXT].drawing = level != 0 ? &spaces[sizeof(spaces) - 1 - 2 * (level - 1)] : NULL;
}

static void put_event(struct events *events, const struct ctx_call_event *event)
{
	static const char *const names[] = {[CTX_CALL_EVENT_ENTRY] = "entry",
					    [CTX_CALL_EVENT_EXIT] = "exit",
					    [CTX_CALL_EVENT_UNWIND] = "unwind",
					    [CTX_CALL_EVENT_SAMPLE] = "sample"};
	struct ctx_traced_page *page = &events->page;
	const struct ctx_profile *profile = page->profile;
	const struct ctx_thread_info *thread = ctx_profile_thread(profile, event->thread);
	uint32_t function = event->depth != 0 ? profile->cct.key[event->stack] : CTX_NONE;
	struct ctx_cell cells[CTX_COUNT_OF(columns)];

	for (size_t i = 0; i < CTX_COUNT_OF(columns); i++)
		cells[i] = (struct ctx_cell){.kind = CTX_CELL_NULL};
	cells[TIME_NS] = ctx_cell_number(event->time_ns);
	cells[TID] = ctx_cell_signed(ctx_head_tid(profile, event->thread));
	cells[THREAD] = ctx_cell_name(thread != NULL ? thread->name : NULL);
	cells[THREAD_ID] = ctx_cell_number(event->thread);
	cells[EVENT] = ctx_cell_name(names[event->kind]);
	cells[MAJOR] = ctx_cell_number(ctx_call_event_major(event));
	cells[MINOR] = ctx_cell_number(ctx_call_event_minor(event));
	cells[DEPTH] = ctx_cell_number(event->depth);
	if (event->kind != CTX_CALL_EVENT_SAMPLE)
		cells[DURATION_NS] = ctx_cell_number(event->duration_ns);
	if (function < profile->n_functions) {
		cells[FUNCTION] = ctx_function_cell(profile, function);
		cells[OBJECT] = ctx_object_cell(profile, function);
	}
	if (ctx_out_is_text(&page->out))
		put_texts(events, event, cells);
	ctx_out_row(&page->out, cells);
	if (++events->n % TABLE_ROWS != 0 || !ctx_out_is_text(&page->out))
		return;
	ctx_out_section(&page->out, NULL);
	ctx_arena_deinit(&events->texts);
}

static uint64_t most_rows(const struct ctx_report_options *options)
{
	if (options->limit != 0)
		return options->limit;
	if (options->whole || options->format == CTX_REPORT_JSON || options->format == CTX_REPORT_CSV)
		return UINT64_MAX;
	return TEXT_ROWS;
}

static enum ctx_status put_all(struct events *events, const struct ctx_call_event *batch, size_t n,
			       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (n != 0 && status == CTX_OK) {
		for (size_t i = 0; i < n && events->n < events->most; i++)
			put_event(events, &batch[i]);
		if (events->n == events->most || events->page.out.status != CTX_OK)
			return CTX_OK;
		status = ctx_call_order_next(&events->order, &batch, &n, err);
	}
	return status;
}

/* The message of what needs single calls. */
static enum ctx_status check_log(const struct ctx_profile *profile, struct ctx_err *err)
{
	return !profile->losses.call_log ? CTX_OK
					 : ctx_err_set(err, CTX_E_NOTFOUND,
						       "there is no event log: calls were summed in the "
						       "program (ctxrec --calls=summary)");
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct events events = {.most = most_rows(options)};
	const struct ctx_call_event *batch = NULL;
	size_t n = 0;
	enum ctx_status status = ctx_traced_page_init(&events.page, &events_report, source, options, err),
			ended;

	if (status == CTX_OK)
		status = check_log(events.page.profile, err);
	if (status == CTX_OK) {
		events.order = (struct ctx_call_order){
			.source = source, .passes = events.page.passes, .most = BATCH};
		status = ctx_call_order_next(&events.order, &batch, &n, err);
	}
	if (status == CTX_OK) {
		events.page.total.count = events.page.topic.totals.weight = events.order.total;
		ctx_traced_page_begin(&events.page);
		status = put_all(&events, batch, n, err);
		ctx_out_section(&events.page.out, NULL);
		ctx_out_more(&events.page.out, events.order.total - events.n, "event");
		ended = ctx_traced_page_end(&events.page, status == CTX_OK ? err : NULL);
		status = status == CTX_OK ? ended : status;
	}
	ctx_arena_deinit(&events.texts);
	ctx_call_order_deinit(&events.order);
	ctx_traced_page_deinit(&events.page);
	return status;
}

const struct ctx_report_kind ctx_report_events = {
	.name = "events",
	.metrics = CTX_REPORT_NO_METRIC,
	.is_dump = true,
	.order = ": it is in order of time",
	.traced = 1u << CTX_TRACED_CALL,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
