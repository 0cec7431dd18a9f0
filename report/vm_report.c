/*
 * Virtual machines: what each said of itself, its pauses, and what its samples were for.
 *
 *	marks of its process --by name--> collections, pauses, safepoints, in the selected time
 *	samples of its threads ---------> inside, gc, outside
 *	what it said of its whole life -> heap, classes, compilations; pauses where there are no marks
 */
#include "base/mem.h"
#include "model/mark_spans.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <stdlib.h>

#define NS_PER_S 1e9

enum {
	NUMBER,
	PID,
	BEGIN,
	END,
	INSIDE,
	GC_SAMPLES,
	OUTSIDE,
	GC_COUNT,
	GC_NS,
	SAFEPOINTS,
	SAFEPOINT_NS,
	SYNC_NS,
	HEAP_USED,
	HEAP_MAX,
	CLASSES,
	CLASS_LOAD_NS,
	COMPILATIONS,
	COMPILE_NS,
	ALLOCATED,
	RATE,
	PROCESS_ID,
	NAME,
	VERSION,
	COLLECTOR,
	COMMAND,
	NAME_TEXT,
	N_COLUMNS,
};

static const struct ctx_column columns[N_COLUMNS] = {
	[NUMBER] = {"vm", "No", CTX_STYLE_COUNT},
	[PID] = {"process", "PID", CTX_STYLE_COUNT},
	[BEGIN] = {"begin", "Begin ms", CTX_STYLE_TIME},
	[END] = {"end", "End ms", CTX_STYLE_TIME},
	[INSIDE] = {"inside_samples", "Inside", CTX_STYLE_COUNT},
	[GC_SAMPLES] = {"gc_samples", "GC", CTX_STYLE_COUNT},
	[OUTSIDE] = {"outside_samples", "Outside", CTX_STYLE_COUNT},
	[GC_COUNT] = {"gc_count", "GCs", CTX_STYLE_COUNT},
	[GC_NS] = {"gc_ns", "Pause ms", CTX_STYLE_TIME},
	[SAFEPOINTS] = {"safepoints", NULL, CTX_STYLE_COUNT},
	[SAFEPOINT_NS] = {"safepoint_ns", "Safepoint ms", CTX_STYLE_TIME},
	[SYNC_NS] = {"safepoint_sync_ns", NULL, CTX_STYLE_TIME},
	[HEAP_USED] = {"heap_used_bytes", "Heap MiB", CTX_STYLE_BYTES},
	[HEAP_MAX] = {"heap_max_bytes", "Max MiB", CTX_STYLE_BYTES},
	[CLASSES] = {"classes", "Classes", CTX_STYLE_COUNT},
	[CLASS_LOAD_NS] = {"class_load_ns", NULL, CTX_STYLE_TIME},
	[COMPILATIONS] = {"compilations", "Compiled", CTX_STYLE_COUNT},
	[COMPILE_NS] = {"compile_ns", NULL, CTX_STYLE_TIME},
	[ALLOCATED] = {"allocated_bytes", NULL, CTX_STYLE_BYTES},
	[RATE] = {"allocated_bytes_per_second", "Alloc MiB/s", CTX_STYLE_BYTES},
	[PROCESS_ID] = {"process_id", NULL, CTX_STYLE_COUNT},
	[NAME] = {"name", NULL, CTX_STYLE_NAME},
	[VERSION] = {"version", NULL, CTX_STYLE_NAME},
	[COLLECTOR] = {"collector", NULL, CTX_STYLE_NAME},
	[COMMAND] = {"command", NULL, CTX_STYLE_NAME},
	[NAME_TEXT] = {NULL, "Virtual machine", CTX_STYLE_NAME},
};

static const char *const sort_keys[] = {"inside",      "gc",	   "outside", "gcs",	 "pause",
					"safepoint",   "heap mib", "max mib", "classes", "compiled",
					"alloc mib/s", "begin",	   "end",     "process", "virtual machine",
					"vm",	       NULL};

#define BY_NAME 14u

struct row {
	uint64_t inside, gc, outside;
	uint64_t gc_count, gc_ns, safepoints, safepoint_ns; /* of marks */
	bool has_gc, has_safepoints;			    /* in the whole run */
	uint64_t allocated_bytes;
};

struct page {
	struct ctx_out *out;
	struct ctx_report_source *source;
	const struct ctx_profile *profile;
	struct row *rows;   /* by number of the VM */
	uint32_t *vm_of;    /* by process; CTX_NONE */
	uint32_t allocated; /* metric; CTX_NONE */
	bool has_samples, is_whole;
};

static void page_deinit(struct page *page)
{
	free(page->rows);
	free(page->vm_of);
}

static enum ctx_status page_init(struct page *page, struct ctx_err *err)
{
	const struct ctx_profile *profile = page->profile;

	page->rows = ctx_calloc((size_t)profile->vms.n + 1, sizeof(*page->rows));
	page->vm_of = ctx_calloc((size_t)profile->n_processes + 1, sizeof(*page->vm_of));
	if (page->rows == NULL || page->vm_of == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_processes; i++)
		page->vm_of[i] = CTX_NONE;
	for (uint32_t i = 0; i < profile->vms.n; i++)
		page->vm_of[profile->vms.items[i].process] = i;
	return CTX_OK;
}

static struct row *row_of_thread(const struct page *page, uint32_t thread)
{
	uint32_t process = ctx_profile_process_of(page->profile, thread);
	uint32_t vm = process < page->profile->n_processes ? page->vm_of[process] : CTX_NONE;

	return vm != CTX_NONE ? &page->rows[vm] : NULL;
}

static enum ctx_status add_samples(struct page *page, struct ctx_err *err)
{
	struct ctx_report_vm_samples samples;
	enum ctx_status status = page->source->vm_samples(page->source, &samples, err);

	if (status != CTX_OK || samples.inside == NULL)
		return status;
	page->has_samples = true;
	for (uint32_t i = 0; i < page->profile->n_threads; i++) {
		struct row *row = row_of_thread(page, i);

		if (row == NULL)
			continue;
		row->inside += samples.inside[i];
		row->gc += samples.gc[i];
		row->outside += samples.outside[i];
	}
	return CTX_OK;
}

/* The part of an interval that is selected; the end of the interval belongs to it. */
static uint64_t selected_ns(const struct ctx_report_selection *selection, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < selection->n_intervals; i++) {
		const struct ctx_interval *interval = &selection->intervals[i];
		uint64_t from = begin_ns > interval->begin_ns ? begin_ns : interval->begin_ns;
		uint64_t to = end_ns < interval->end_ns ? end_ns : interval->end_ns;

		sum += to > from ? to - from : 0;
	}
	return sum;
}

/* Whether it begins in what is selected: where it is counted. */
static bool begins_in(const struct ctx_report_selection *selection, uint64_t begin_ns)
{
	for (size_t i = 0; i < selection->n_intervals; i++) {
		if (begin_ns >= selection->intervals[i].begin_ns && begin_ns < selection->intervals[i].end_ns)
			return true;
	}
	return false;
}

static void add_span(struct page *page, struct row *row, unsigned spans, const struct ctx_mark_span *span)
{
	const struct ctx_report_selection *selection = &page->source->selection;
	uint64_t ns = selected_ns(selection, span->begin_ns, span->end_ns);
	bool counts = begins_in(selection, span->begin_ns);

	row->gc_count += counts && (spans & CTX_VM_SPAN_GC) != 0;
	row->gc_ns += (spans & CTX_VM_SPAN_GC_PAUSE) != 0 ? ns : 0;
	row->safepoints += counts && (spans & (CTX_VM_SPAN_SAFEPOINT | CTX_VM_SPAN_SAFEPOINT_BEGIN)) != 0;
	row->safepoint_ns += (spans & CTX_VM_SPAN_SAFEPOINT) != 0 ? ns : 0;
	row->has_gc |= (spans & (CTX_VM_SPAN_GC | CTX_VM_SPAN_GC_PAUSE)) != 0;
	row->has_safepoints |= (spans & (CTX_VM_SPAN_SAFEPOINT | CTX_VM_SPAN_SAFEPOINT_BEGIN)) != 0;
}

/* JFR has an event for the begin of a safepoint and one for its end: it lasts from one to the other. */
static void add_parts(struct page *page, const struct ctx_mark_spans *spans, size_t at)
{
	const struct ctx_mark_span *begin = &spans->items[at];
	struct row *row = row_of_thread(page, begin->thread);

	for (size_t i = at + 1; i < spans->n; i++) {
		const struct ctx_mark_span *span = &spans->items[i];
		unsigned is = span->thread == begin->thread && span->name < page->profile->n_files
				      ? ctx_vm_span_of(page->profile->files[span->name])
				      : CTX_VM_SPAN_NONE;

		if ((is & CTX_VM_SPAN_SAFEPOINT_BEGIN) != 0)
			return; /* its end was not recorded */
		if ((is & CTX_VM_SPAN_SAFEPOINT_END) == 0)
			continue;
		row->safepoint_ns += selected_ns(&page->source->selection, begin->begin_ns, span->end_ns);
		return;
	}
}

static enum ctx_status add_marks(struct page *page, struct ctx_err *err)
{
	const struct ctx_profile *profile = page->profile;
	struct ctx_mark_spans spans CTX_CLEANUP(ctx_mark_spans_deinit) = {0};
	struct ctx_report_traced marks;
	enum ctx_status status = CTX_OK;

	if (profile->traced[CTX_TRACED_MARK] == 0)
		return CTX_OK;
	status = page->source->traced(page->source, CTX_TRACED_MARK, &marks, err);
	if (status == CTX_OK)
		status = ctx_mark_spans_make(marks.items, marks.n, profile->run.end_ns, &spans, err);
	for (size_t i = 0; i < spans.n && status == CTX_OK; i++) {
		const struct ctx_mark_span *span = &spans.items[i];
		struct row *row = row_of_thread(page, span->thread);
		unsigned is = row != NULL && span->name < profile->n_files
				      ? ctx_vm_span_of(profile->files[span->name])
				      : CTX_VM_SPAN_NONE;

		if (is == CTX_VM_SPAN_NONE)
			continue;
		add_span(page, row, is, span);
		if ((is & CTX_VM_SPAN_SAFEPOINT_BEGIN) != 0)
			add_parts(page, &spans, i);
	}
	return status;
}

static enum ctx_status add_allocation(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct row *row = row_of_thread(context, sample->thread);

	(void)err;
	if (row != NULL)
		row->allocated_bytes += sample->weight;
	return CTX_OK;
}

/* Bytes allocated, where that was recorded. */
static enum ctx_status add_allocations(struct page *page, struct ctx_err *err)
{
	struct ctx_samples_query query = {.thread = CTX_NONE, .has_metric = true};

	query.metric = page->allocated = ctx_profile_find_metric(page->profile, CTX_VM_METRIC_ALLOCATED);
	return page->allocated != CTX_NONE
		       ? page->source->samples(page->source, &query, add_allocation, page, err)
		       : CTX_OK;
}

static struct ctx_cell figure_cell(const struct ctx_vm_info *vm, enum ctx_vm_figure figure)
{
	return vm->figures[figure] != CTX_VM_UNKNOWN ? ctx_cell_number(vm->figures[figure])
						     : ctx_cell_name(NULL);
}

/* Of marks, else, for the whole run, what the virtual machine said. */
static struct ctx_cell pause_cell(const struct page *page, bool has_marks, uint64_t of_marks,
				  const struct ctx_vm_info *vm, enum ctx_vm_figure figure)
{
	if (has_marks)
		return ctx_cell_number(of_marks);
	return page->is_whole ? figure_cell(vm, figure) : ctx_cell_name(NULL);
}

static void put_row(const struct page *page, uint32_t i)
{
	const struct ctx_vm_info *vm = &page->profile->vms.items[i];
	const struct row *row = &page->rows[i];
	const uint64_t counts[] = {row->inside, row->gc, row->outside};
	uint64_t life_ns = selected_ns(&page->source->selection, vm->life.begin_ns, vm->life.end_ns);
	struct ctx_cell cells[N_COLUMNS] = {0};

	for (unsigned j = 0; j < 3 && page->has_samples; j++)
		cells[INSIDE + j] = ctx_cell_number(counts[j]);
	cells[NUMBER] = ctx_cell_number(i);
	cells[PID] = ctx_pid_cell(page->profile, vm->process);
	cells[PROCESS_ID] = ctx_cell_number(vm->process);
	cells[BEGIN] = ctx_cell_number(vm->life.begin_ns);
	cells[END] = ctx_cell_number(vm->life.end_ns);
	cells[GC_COUNT] = pause_cell(page, row->has_gc, row->gc_count, vm, CTX_VM_GC_COUNT);
	cells[GC_NS] = pause_cell(page, row->has_gc, row->gc_ns, vm, CTX_VM_GC_NS);
	/* Of several short ones the recorder may have seen one interval, and none before its first reading. */
	if (page->is_whole && vm->figures[CTX_VM_SAFEPOINTS] != CTX_VM_UNKNOWN)
		cells[SAFEPOINTS] = figure_cell(vm, CTX_VM_SAFEPOINTS);
	else
		cells[SAFEPOINTS] =
			pause_cell(page, row->has_safepoints, row->safepoints, vm, CTX_VM_SAFEPOINTS);
	if (page->is_whole && vm->figures[CTX_VM_SAFEPOINT_NS] != CTX_VM_UNKNOWN)
		cells[SAFEPOINT_NS] = figure_cell(vm, CTX_VM_SAFEPOINT_NS);
	else
		cells[SAFEPOINT_NS] =
			pause_cell(page, row->has_safepoints, row->safepoint_ns, vm, CTX_VM_SAFEPOINT_NS);
	cells[SYNC_NS] = pause_cell(page, false, 0, vm, CTX_VM_SAFEPOINT_SYNC_NS);
	cells[HEAP_USED] = figure_cell(vm, CTX_VM_HEAP_USED);
	cells[HEAP_MAX] = figure_cell(vm, CTX_VM_HEAP_MAX);
	cells[CLASSES] = figure_cell(vm, CTX_VM_CLASSES);
	cells[CLASS_LOAD_NS] = figure_cell(vm, CTX_VM_CLASS_LOAD_NS);
	cells[COMPILATIONS] = figure_cell(vm, CTX_VM_COMPILATIONS);
	cells[COMPILE_NS] = figure_cell(vm, CTX_VM_COMPILE_NS);
	if (page->allocated != CTX_NONE) {
		cells[ALLOCATED] = ctx_cell_number(row->allocated_bytes);
		if (life_ns != 0)
			cells[RATE] = ctx_cell_number(
				(uint64_t)((double)row->allocated_bytes * NS_PER_S / (double)life_ns));
	}
	cells[NAME] = ctx_cell_name(vm->name);
	cells[VERSION] = ctx_cell_name(vm->version);
	cells[COLLECTOR] = ctx_cell_name(vm->collector[0] != '\0' ? vm->collector : NULL);
	cells[COMMAND] = ctx_cell_name(vm->command);
	cells[NAME_TEXT] = ctx_cell_name(ctx_out_format(page->out, "%s%s%s: %s", vm->name,
							vm->collector[0] != '\0' ? ", " : "", vm->collector,
							vm->command));
	ctx_out_row(page->out, cells);
}

static uint64_t known(const struct ctx_vm_info *vm, enum ctx_vm_figure figure)
{
	return vm->figures[figure] != CTX_VM_UNKNOWN ? vm->figures[figure] : 0;
}

static struct ctx_order_item sort_item(const struct page *page, uint32_t i, size_t key)
{
	const struct ctx_vm_info *vm = &page->profile->vms.items[i];
	const struct row *row = &page->rows[i];
	const uint64_t numbers[] = {
		row->inside,
		row->gc,
		row->outside,
		row->gc_count,
		row->gc_ns,
		row->safepoint_ns,
		known(vm, CTX_VM_HEAP_USED),
		known(vm, CTX_VM_HEAP_MAX),
		known(vm, CTX_VM_CLASSES),
		known(vm, CTX_VM_COMPILATIONS),
		row->allocated_bytes,
		ctx_order_ascending(vm->life.begin_ns),
		ctx_order_ascending(vm->life.end_ns),
		ctx_order_ascending((uint64_t)page->profile->processes[vm->process].pid),
		0,
		ctx_order_ascending(i),
	};

	return (struct ctx_order_item){
		.index = i, .number = numbers[key], .text = key == BY_NAME ? vm->name : NULL};
}

static enum ctx_status put_page(struct page *page, const struct ctx_out_spec *spec, size_t key,
				struct ctx_err *err)
{
	uint32_t n = page->profile->vms.n, limit = spec->options->limit;
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc((size_t)n + 1, sizeof(*items));
	struct ctx_out out;

	if (items == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		items[i] = sort_item(page, i, key);
	ctx_order_sort(items, n);
	page->out = &out;
	ctx_out_begin(&out, spec);
	for (uint32_t i = 0; i < n && (limit == 0 || i < limit); i++)
		put_row(page, items[i].index);
	ctx_out_section(&out, NULL);
	if (limit != 0 && n > limit)
		ctx_out_more(&out, n - limit, "virtual machine");
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct page page CTX_CLEANUP(page_deinit) = {.source = source,
						     .profile = source->selection.profile,
						     .is_whole = ctx_head_is_whole_run(&source->selection)};
	struct ctx_out_spec spec = {
		.kind = &ctx_report_vms, .selection = &source->selection, .options = options};
	struct ctx_report_thread_sums sums;
	size_t key;
	enum ctx_status status = ctx_order_find("vms", options->sort, sort_keys, &key, err);

	if (status == CTX_OK && page.profile->vms.n == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no virtual machine was recorded (ctxrec --vm, JFR)");
	if (status == CTX_OK)
		status = page_init(&page, err);
	if (status == CTX_OK)
		status = source->thread_sums(source, &sums, err);
	if (status == CTX_OK)
		status = add_samples(&page, err);
	if (status == CTX_OK)
		status = add_marks(&page, err);
	if (status == CTX_OK)
		status = add_allocations(&page, err);
	if (status != CTX_OK)
		return status;
	spec.totals = ctx_totals_of_threads(spec.selection, &sums);
	spec.omitted = sums.omitted;
	return put_page(&page, &spec, key, err);
}

const struct ctx_report_kind ctx_report_vms = {
	.name = "vms",
	.no_function = true,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
