/*
 * Data objects: accesses to memory by the variable or the member of a structure that they were to, and the layout of a
 * structure with its accesses. Source: requirement E18.
 */
#include "report/data_sums.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	SECTION,
	ACCESSES,
	SHARE,
	LATENCY,
	AVERAGE,
	LONGEST,
	OBJECT,
	MEMBER,
	OFFSET,
	SIZE,
	STACK, /* unused: pages have one */
	TEXT,
	N_COLUMNS
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME}, [ACCESSES] = {"accesses", NULL, CTX_STYLE_COUNT},
	[SHARE] = {NULL, NULL, CTX_STYLE_COUNT},       [LATENCY] = {"latency", NULL, CTX_STYLE_COUNT},
	[AVERAGE] = {NULL, NULL, CTX_STYLE_COUNT},     [LONGEST] = {"longest", NULL, CTX_STYLE_COUNT},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},   [MEMBER] = {"member", NULL, CTX_STYLE_NAME},
	[OFFSET] = {"offset", NULL, CTX_STYLE_COUNT},  [SIZE] = {"size", NULL, CTX_STYLE_COUNT},
	[STACK] = {NULL, NULL, CTX_STYLE_NAME},	       [TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column object_columns[] = {{ACCESSES, "Accesses"}, {SHARE, "%"},
							   {LATENCY, "Latency"},   {AVERAGE, "Average"},
							   {LONGEST, "Longest"},   {TEXT, "Data object"}};
static const struct ctx_section_column member_columns[] = {
	{ACCESSES, "Accesses"}, {SHARE, "%"},	 {LATENCY, "Latency"}, {AVERAGE, "Average"},
	{OFFSET, "Offset"},	{SIZE, "Bytes"}, {TEXT, "Member"}};
static const struct ctx_section object_section = {"object", NULL, object_columns,
						  CTX_COUNT_OF(object_columns)};
static const struct ctx_section member_section = {"member", NULL, member_columns,
						  CTX_COUNT_OF(member_columns)};

static const char *const sort_keys[] = {"accesses", "latency", "longest", NULL};

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	return key == 0 ? sums->count : key == 1 ? sums->bytes : sums->largest;
}

static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	cells[ACCESSES] = ctx_cell_number(sums->count);
	if (sums->bytes == 0)
		return;
	cells[LATENCY] = ctx_cell_number(sums->bytes);
	cells[LONGEST] = ctx_cell_number(sums->largest);
}

static const struct ctx_traced_report objects_report = {.report = &ctx_report_data_objects,
							.kind = CTX_TRACED_MEMORY,
							.topic = "Memory accesses",
							.unit = CTX_UNIT_EVENTS,
							.counted = "accesses",
							.stack = STACK,
							.text = TEXT,
							.number_width = 60,
							.sort_keys = sort_keys,
							.value = value,
							.fill = fill};
static const struct ctx_traced_report layout_report = {.report = &ctx_report_data_layout,
						       .kind = CTX_TRACED_MEMORY,
						       .topic = "Memory accesses",
						       .unit = CTX_UNIT_EVENTS,
						       .counted = "accesses",
						       .stack = STACK,
						       .text = TEXT,
						       .number_width = 60,
						       .sort_keys = sort_keys,
						       .value = value,
						       .fill = fill};

struct listing {
	struct ctx_traced_page page;
	struct ctx_data_sums sums;
	const struct ctx_data_row *rows; /* that are ordered */
	const char *object;		 /* whose members they are; NULL: objects */
};

static void put_row(struct listing *listing, const struct ctx_data_row *row, bool has_place)
{
	struct ctx_traced_page *page = &listing->page;
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&page->sections, cells);
	fill(&row->sums, cells);
	if (page->total.count != 0)
		cells[SHARE] = ctx_cell_figure(ctx_traced_text(
			page, "%.2f", 100 * (double)row->sums.count / (double)page->total.count));
	if (row->sums.bytes != 0)
		cells[AVERAGE] = ctx_cell_figure(
			ctx_traced_text(page, "%.1f", (double)row->sums.bytes / (double)row->sums.count));
	cells[OBJECT] = ctx_cell_name(row->object);
	cells[MEMBER] = ctx_cell_name(row->member);
	if (has_place) {
		cells[OFFSET] = ctx_cell_number(row->offset);
		cells[SIZE] = ctx_cell_number(row->size);
	}
	cells[TEXT] = ctx_cell_name(row->member != NULL ? row->member : row->object);
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_sections_row_end(&page->sections);
}

/* ---- data-objects ---- */

static bool order_row(const void *context, size_t row, struct ctx_order_item *item)
{
	const struct listing *listing = context;
	const struct ctx_data_row *data = &listing->rows[row];

	item->number = value(&data->sums, listing->page.key);
	item->second = data->sums.count;
	return listing->object == NULL || data->object == listing->object;
}

static void put_ordered(void *context, size_t row)
{
	struct listing *listing = context;

	put_row(listing, &listing->rows[row],
		listing->object != NULL && strcmp(listing->object, CTX_DATA_SCALARS) != 0);
}

static void put_members(struct listing *listing, const struct ctx_data_row *object)
{
	struct ctx_traced_page *page = &listing->page;
	struct ctx_traced_rows rows = {.what = "member",
				       .n = listing->sums.n_members,
				       .order = order_row,
				       .put = put_ordered,
				       .context = listing};

	if (strcmp(object->object, CTX_DATA_UNKNOWN_OBJECT) == 0)
		return;
	listing->rows = listing->sums.members;
	listing->object = object->object;
	ctx_sections_begin(&page->sections, &member_section, object->object);
	ctx_traced_put_rows(page, &rows);
}

static int by_accesses(const void *a, const void *b)
{
	const struct ctx_data_row *left = a, *right = b;

	return left->sums.count != right->sums.count ? (left->sums.count < right->sums.count ? 1 : -1)
						     : strcmp(left->object, right->object);
}

static void put_objects(struct listing *listing)
{
	struct ctx_traced_page *page = &listing->page;
	struct ctx_traced_rows rows = {.what = "data object",
				       .n = listing->sums.n_objects,
				       .order = order_row,
				       .put = put_ordered,
				       .context = listing};

	page->topic.totals.weight = page->total.count;
	if (listing->sums.no_debug != 0 && page->topic.note == NULL)
		page->topic.note = ctx_traced_text(
			page,
			"of %" PRIu64 " accesses debug information does not say what they were to: <Unknown>",
			listing->sums.no_debug);
	ctx_traced_page_begin(page);
	ctx_sections_begin(&page->sections, &object_section, NULL);
	ctx_traced_put_total(page, NULL, NULL);
	if (listing->sums.n_objects == 0)
		return;
	qsort(listing->sums.objects, listing->sums.n_objects, sizeof(*listing->sums.objects), by_accesses);
	listing->rows = listing->sums.objects;
	listing->object = NULL;
	ctx_traced_put_rows(page, &rows);
	for (size_t i = 0; i < listing->sums.n_objects && i < page->most; i++)
		put_members(listing, &listing->sums.objects[i]);
}

static enum ctx_status begin(struct listing *listing, const struct ctx_traced_report *report,
			     struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	enum ctx_status status = ctx_traced_page_init(&listing->page, report, source, options, err);

	return status == CTX_OK ? ctx_data_sums_collect(&listing->sums, source, &listing->page, err) : status;
}

static void end(struct listing *listing)
{
	ctx_data_sums_deinit(&listing->sums);
	ctx_traced_page_deinit(&listing->page);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct listing listing = {0};
	enum ctx_status status = begin(&listing, &objects_report, source, options, err);

	if (status == CTX_OK) {
		put_objects(&listing);
		status = ctx_traced_page_end(&listing.page, err);
	}
	end(&listing);
	return status;
}

/* ---- data-layout ---- */

/* "foo" of "{structure:foo}": of the structure with the most accesses. NULL: none. */
static const char *heaviest(struct listing *listing)
{
	const struct ctx_data_row *found = NULL;
	const char *colon;

	for (size_t i = 0; i < listing->sums.n_objects; i++) {
		const struct ctx_data_row *row = &listing->sums.objects[i];

		if (row->object[0] == '{' && (found == NULL || by_accesses(row, found) < 0))
			found = row;
	}
	colon = found != NULL ? strchr(found->object, ':') : NULL;
	return colon != NULL ? ctx_traced_text(&listing->page, "%.*s", (int)strlen(colon + 1) - 1, colon + 1)
			     : NULL;
}

/* The sums of a member, or of what is between two (`member` NULL). */
static struct ctx_traced_sums sums_of(const struct listing *listing, const char *object,
				      const struct ctx_data_row *wanted)
{
	struct ctx_traced_sums sums = {0};

	for (size_t i = 0; i < listing->sums.n_members; i++) {
		const struct ctx_data_row *row = &listing->sums.members[i];
		bool is_padding = strcmp(wanted->member, CTX_DATA_PADDING) == 0;

		if (row->member == NULL || strcmp(row->object, object) != 0 ||
		    strcmp(row->member, wanted->member) != 0 ||
		    (is_padding ? row->offset < wanted->offset || row->offset - wanted->offset >= wanted->size
				: row->offset != wanted->offset))
			continue;
		sums.count += row->sums.count;
		sums.bytes += row->sums.bytes;
		sums.largest = row->sums.largest > sums.largest ? row->sums.largest : sums.largest;
	}
	return sums;
}

static void put_place(struct listing *listing, const char *object, const char *member, uint64_t offset,
		      uint64_t size)
{
	struct ctx_data_row row = {.object = object, .member = member, .offset = offset, .size = size};

	row.sums = sums_of(listing, object, &row);
	put_row(listing, &row, true);
}

static void put_layout(struct listing *listing, const struct ctx_data_layout *layout)
{
	struct ctx_traced_page *page = &listing->page;
	uint64_t end = 0;

	page->topic.totals.weight = page->total.count;
	ctx_traced_page_begin(page);
	ctx_sections_begin(&page->sections, &member_section,
			   ctx_traced_text(page, "%s, %" PRIu64 " bytes", layout->object, layout->size));
	for (size_t i = 0; i < layout->n; i++) {
		const struct ctx_data_member *member = &layout->members[i];

		if (member->offset > end)
			put_place(listing, layout->object, CTX_DATA_PADDING, end, member->offset - end);
		put_place(listing, layout->object, member->text, member->offset, member->size);
		end = member->offset + member->size > end ? member->offset + member->size : end;
	}
	if (layout->size > end)
		put_place(listing, layout->object, CTX_DATA_PADDING, end, layout->size - end);
}

static enum ctx_status print_layout(struct ctx_report_source *source,
				    const struct ctx_report_options *options, struct ctx_err *err)
{
	struct listing listing = {0};
	struct ctx_data_layout layout;
	enum ctx_status status = begin(&listing, &layout_report, source, options, err);
	const char *type = options->subject;

	if (status == CTX_OK && type == NULL)
		type = heaviest(&listing);
	if (status == CTX_OK && type == NULL)
		status = ctx_err_set(err, CTX_E_NOTFOUND,
				     "no access to a structure is known: --report data-layout=NAME");
	if (status == CTX_OK)
		status = source->data_namer->layout(source->data_namer->context, type, &layout, err);
	if (status == CTX_OK) {
		put_layout(&listing, &layout);
		status = ctx_traced_page_end(&listing.page, err);
	}
	end(&listing);
	return status;
}

const struct ctx_report_kind ctx_report_data_objects = {
	.name = "data-objects",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_MEMORY,
	.columns = columns,
	.n_columns = N_COLUMNS,
	.print = print,
};

const struct ctx_report_kind ctx_report_data_layout = {
	.name = "data-layout",
	.metrics = CTX_REPORT_NO_METRIC,
	.takes_subject = true,
	.traced = 1u << CTX_TRACED_MEMORY,
	.order = ": it is in the order of offsets",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.print = print_layout,
};
