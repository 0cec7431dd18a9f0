/*
 * Traced input and output: by file, by descriptor, by function, by call stack, by size and by duration.
 */
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/traced_page.h"

#include "base/mem.h"
#include "model/io_call.h"

#include <inttypes.h>

enum {
	SECTION,
	PROCESS,
	FILE_NAME,
	DESCRIPTOR,
	FROM,
	TO,
	FROM_NS,
	TO_NS,
	OPERATIONS,
	READS,
	WRITES,
	OPENS,
	CLOSES,
	OTHERS,
	ERRORS,
	READ_BYTES,
	WRITE_BYTES,
	TIME_NS,
	READ_NS,
	WRITE_NS,
	OTHER_NS,
	ERROR_NS,
	LONGEST_NS,
	CALL,
	STACK,
	REST,
	TEXT,
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[PROCESS] = {"process", NULL, CTX_STYLE_COUNT},
	[FILE_NAME] = {"file", NULL, CTX_STYLE_NAME},
	[DESCRIPTOR] = {"descriptor", NULL, CTX_STYLE_COUNT},
	[FROM] = {"from", NULL, CTX_STYLE_COUNT},
	[TO] = {"to", NULL, CTX_STYLE_COUNT},
	[FROM_NS] = {"from_ns", NULL, CTX_STYLE_COUNT},
	[TO_NS] = {"to_ns", NULL, CTX_STYLE_COUNT},
	[OPERATIONS] = {"operations", NULL, CTX_STYLE_COUNT},
	[READS] = {"reads", NULL, CTX_STYLE_COUNT},
	[WRITES] = {"writes", NULL, CTX_STYLE_COUNT},
	[OPENS] = {"opens", NULL, CTX_STYLE_COUNT},
	[CLOSES] = {"closes", NULL, CTX_STYLE_COUNT},
	[OTHERS] = {"others", NULL, CTX_STYLE_COUNT},
	[ERRORS] = {"errors", NULL, CTX_STYLE_COUNT},
	[READ_BYTES] = {"read_bytes", NULL, CTX_STYLE_COUNT},
	[WRITE_BYTES] = {"write_bytes", NULL, CTX_STYLE_COUNT},
	[TIME_NS] = {"time_ns", NULL, CTX_STYLE_TIME},
	[READ_NS] = {"read_ns", NULL, CTX_STYLE_TIME},
	[WRITE_NS] = {"write_ns", NULL, CTX_STYLE_TIME},
	[OTHER_NS] = {"other_ns", NULL, CTX_STYLE_TIME},
	[ERROR_NS] = {"error_ns", NULL, CTX_STYLE_TIME},
	[LONGEST_NS] = {"longest_ns", NULL, CTX_STYLE_TIME},
	[CALL] = {"call", NULL, CTX_STYLE_NAME},
	[STACK] = {"stack", NULL, CTX_STYLE_NAME},
	[REST] = {NULL, NULL, CTX_STYLE_COUNT}, /* opens, closes, others */
	[TEXT] = {NULL, NULL, CTX_STYLE_NAME},
};

#define GROUP_COLUMNS(title)                                                                                 \
	{                                                                                                    \
		{READS, "Reads"}, {READ_BYTES, "Bytes"}, {WRITES, "Writes"}, {WRITE_BYTES, "Bytes"},         \
			{REST, "Others"}, {ERRORS, "Errors"}, {TIME_NS, "Time ms"}, {LONGEST_NS, "Longest"}, \
		{                                                                                            \
			TEXT, title                                                                          \
		}                                                                                            \
	}

static const struct ctx_section_column file_columns[] = GROUP_COLUMNS("File");
static const struct ctx_section_column descriptor_columns[] = GROUP_COLUMNS("Descriptor");
static const struct ctx_section_column call_columns[] = GROUP_COLUMNS("Function");
static const struct ctx_section_column stack_columns[] = GROUP_COLUMNS("Call stack");
static const struct ctx_section_column size_columns[] = {{FROM, "From"},       {TO, "To"},
							 {READS, "Reads"},     {READ_BYTES, "Bytes"},
							 {WRITES, "Writes"},   {WRITE_BYTES, "Bytes"},
							 {TIME_NS, "Time ms"}, {TEXT, ""}};
static const struct ctx_section_column latency_columns[] = {
	{FROM_NS, "From ns"}, {TO_NS, "To ns"},	  {READS, "Reads"},	{WRITES, "Writes"},
	{REST, "Others"},     {ERRORS, "Errors"}, {TIME_NS, "Time ms"}, {TEXT, ""}};
static const struct ctx_section file_section = {"file", NULL, file_columns, CTX_COUNT_OF(file_columns)};
static const struct ctx_section descriptor_section = {"descriptor", "By descriptor", descriptor_columns,
						      CTX_COUNT_OF(descriptor_columns)};
static const struct ctx_section call_section = {"call", "By function", call_columns,
						CTX_COUNT_OF(call_columns)};
static const struct ctx_section stack_section = {"stack", "By call stack", stack_columns,
						 CTX_COUNT_OF(stack_columns)};
static const struct ctx_section size_section = {"size", "Bytes that a call read or wrote", size_columns,
						CTX_COUNT_OF(size_columns)};
static const struct ctx_section latency_section = {"latency", "How long the calls took", latency_columns,
						   CTX_COUNT_OF(latency_columns)};

static const char *const sort_keys[] = {"time_ns",     "operations", "reads",	   "writes", "read_bytes",
					"write_bytes", "errors",     "longest_ns", "others", NULL};

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	const uint64_t values[] = {sums->time_ns,
				   sums->count,
				   sums->calls[CTX_IO_READ],
				   sums->calls[CTX_IO_WRITE],
				   sums->call_bytes[CTX_IO_READ],
				   sums->call_bytes[CTX_IO_WRITE],
				   sums->calls[CTX_TRACED_ERROR],
				   sums->longest_ns,
				   sums->calls[CTX_IO_OPEN] + sums->calls[CTX_IO_CLOSE] +
					   sums->calls[CTX_IO_OTHER]};

	return values[key];
}

static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	const uint64_t *calls = sums->calls, *ns = sums->call_ns;

	cells[OPERATIONS] = ctx_cell_number(sums->count);
	cells[READS] = ctx_cell_number(calls[CTX_IO_READ]);
	cells[WRITES] = ctx_cell_number(calls[CTX_IO_WRITE]);
	cells[OPENS] = ctx_cell_number(calls[CTX_IO_OPEN]);
	cells[CLOSES] = ctx_cell_number(calls[CTX_IO_CLOSE]);
	cells[OTHERS] = ctx_cell_number(calls[CTX_IO_OTHER]);
	cells[REST] = ctx_cell_number(calls[CTX_IO_OPEN] + calls[CTX_IO_CLOSE] + calls[CTX_IO_OTHER]);
	cells[ERRORS] = ctx_cell_number(calls[CTX_TRACED_ERROR]);
	cells[READ_BYTES] = ctx_cell_number(sums->call_bytes[CTX_IO_READ]);
	cells[WRITE_BYTES] = ctx_cell_number(sums->call_bytes[CTX_IO_WRITE]);
	cells[TIME_NS] = ctx_cell_number(sums->time_ns);
	cells[READ_NS] = ctx_cell_number(ns[CTX_IO_READ]);
	cells[WRITE_NS] = ctx_cell_number(ns[CTX_IO_WRITE]);
	cells[OTHER_NS] = ctx_cell_number(ns[CTX_IO_OPEN] + ns[CTX_IO_CLOSE] + ns[CTX_IO_OTHER]);
	cells[ERROR_NS] = ctx_cell_number(ns[CTX_TRACED_ERROR]);
	cells[LONGEST_NS] = ctx_cell_number(sums->longest_ns);
}

static const struct ctx_traced_report io_report = {.report = &ctx_report_io,
						   .kind = CTX_TRACED_IO,
						   .topic = "Input and output",
						   .unit = CTX_UNIT_NS,
						   .counted = "operations",
						   .stack = STACK,
						   .text = TEXT,
						   .number_width = 66,
						   .sort_keys = sort_keys,
						   .value = value,
						   .fill = fill};

struct io {
	struct ctx_traced_page page;
	struct ctx_map64 numbers; /* of descriptors in processes */
	struct ctx_traced_groups files, descriptors, calls, stacks;
	struct ctx_traced_sums sizes[CTX_TRACED_BUCKETS], latencies[CTX_TRACED_BUCKETS];
};

/* A descriptor belongs to one process, and to one file at a time. */
static struct ctx_traced_group *descriptor_of(struct io *io, const struct ctx_traced *operation)
{
	uint32_t process = ctx_profile_process_of(io->page.profile, operation->thread);
	uint32_t number =
		ctx_traced_number(&io->numbers, (uint64_t)process << 32 | (uint32_t)operation->descriptor);
	struct ctx_traced_group *group = NULL;

	if (number != CTX_MAP64_NONE)
		group = ctx_traced_group_at(&io->descriptors, (uint64_t)number << 32 | operation->file);
	if (group != NULL) {
		group->process = process;
		group->file = operation->file;
		group->descriptor = operation->descriptor;
	}
	return group;
}

static enum ctx_status add(struct io *io, const struct ctx_traced *operation)
{
	struct ctx_traced_group *file = ctx_traced_group_at(&io->files, operation->file);
	struct ctx_traced_group *stack = ctx_traced_stack_group(&io->stacks, operation->stack);
	struct ctx_traced_group *descriptor = descriptor_of(io, operation);
	struct ctx_traced_group *call =
		operation->call != CTX_CALL_NONE ? ctx_traced_group_at(&io->calls, operation->call) : NULL;
	bool moves = operation->operation == CTX_IO_READ || operation->operation == CTX_IO_WRITE;

	if (file == NULL || stack == NULL || descriptor == NULL ||
	    (call == NULL && operation->call != CTX_CALL_NONE))
		return CTX_E_NOMEM;
	if (call != NULL)
		ctx_traced_add(&call->sums, operation);
	file->file = operation->file;
	ctx_traced_add(&file->sums, operation);
	ctx_traced_add(&stack->sums, operation);
	ctx_traced_add(&descriptor->sums, operation);
	ctx_traced_add(&io->page.total, operation);
	ctx_traced_add(&io->latencies[ctx_traced_bucket(operation->duration_ns)], operation);
	if (moves && !operation->failed)
		ctx_traced_add(&io->sizes[ctx_traced_bucket(operation->size)], operation);
	return CTX_OK;
}

static enum ctx_status collect(struct io *io)
{
	struct ctx_report_traced traced = io->page.traced;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < traced.n && status == CTX_OK; i++) {
		if (ctx_traced_passes(&io->page, &traced.items[i]))
			status = add(io, &traced.items[i]);
	}
	return status;
}

static const char *file_name(const struct ctx_traced_page *page, uint32_t file)
{
	const struct ctx_profile *profile = page->profile;

	return file < profile->n_files ? profile->files[file] : NULL;
}

static void name_file(struct ctx_traced_page *page, const struct ctx_traced_group *group,
		      struct ctx_cell *cells)
{
	const char *name = file_name(page, group->file);

	cells[FILE_NAME] = ctx_cell_name(name);
	cells[TEXT] = ctx_cell_name(name != NULL ? name : "<no file name>");
}

static void name_descriptor(struct ctx_traced_page *page, const struct ctx_traced_group *group,
			    struct ctx_cell *cells)
{
	const struct ctx_profile *profile = page->profile;
	const char *name = file_name(page, group->file);
	bool known = group->process < profile->n_processes;
	struct ctx_buf *buf = &page->buf;

	name_file(page, group, cells);
	cells[DESCRIPTOR] = group->descriptor >= 0 ? ctx_cell_signed(group->descriptor) : ctx_cell_name(NULL);
	cells[PROCESS] = ctx_pid_cell(profile, group->process);
	ctx_buf_clear(buf);
	if (known && profile->n_processes > 1)
		ctx_buf_printf(buf, "%" PRId64 ":", profile->processes[group->process].pid);
	if (group->descriptor >= 0)
		ctx_buf_printf(buf, "%d", (int)group->descriptor);
	else
		ctx_buf_put_text(buf, "-");
	ctx_buf_put_u8(buf, ' ');
	ctx_buf_put_text(buf, name != NULL ? name : "");
	ctx_buf_put_u8(buf, '\0');
	cells[TEXT] = ctx_cell_name(ctx_traced_text(page, "%s", buf->failed ? "" : (const char *)buf->bytes));
	if (buf->failed)
		ctx_out_fail(&page->out, CTX_E_NOMEM);
}

static void name_call(struct ctx_traced_page *page, const struct ctx_traced_group *group,
		      struct ctx_cell *cells)
{
	const char *name = ctx_io_call_name(group->key < CTX_CALL_N ? (unsigned)group->key : CTX_CALL_NONE);

	(void)page;
	cells[CALL] = ctx_cell_name(name);
	cells[TEXT] = ctx_cell_name(name);
}

static void put_tables(struct io *io)
{
	static const struct ctx_traced_table files = {.what = "file", .name = name_file};
	static const struct ctx_traced_table descriptors = {.what = "descriptor", .name = name_descriptor};
	static const struct ctx_traced_table calls = {.what = "function", .name = name_call};
	static const struct ctx_traced_table stacks = {.what = "stack", .lists = true};
	struct ctx_traced_page *page = &io->page;

	ctx_traced_page_begin(page);
	ctx_traced_merge_stacks(page, &io->stacks);
	ctx_sections_begin(&page->sections, &file_section, NULL);
	ctx_traced_put_total(page, NULL, NULL);
	ctx_traced_put_groups(page, &io->files, &files);
	if (page->total.count == 0)
		return;
	ctx_sections_begin(&page->sections, &descriptor_section, NULL);
	ctx_traced_put_groups(page, &io->descriptors, &descriptors);
	if (io->calls.n != 0) {
		ctx_sections_begin(&page->sections, &call_section, NULL);
		ctx_traced_put_groups(page, &io->calls, &calls);
	}
	ctx_sections_begin(&page->sections, &stack_section, NULL);
	ctx_traced_put_groups(page, &io->stacks, &stacks);
	ctx_sections_begin(&page->sections, &size_section, NULL);
	ctx_traced_put_histogram(page,
				 &(struct ctx_traced_histogram){.from = FROM, .to = TO, .sums = io->sizes});
	ctx_sections_begin(&page->sections, &latency_section, NULL);
	ctx_traced_put_histogram(
		page, &(struct ctx_traced_histogram){.from = FROM_NS, .to = TO_NS, .sums = io->latencies});
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct io *io CTX_AUTO_FREE = ctx_calloc(1, sizeof(*io));
	enum ctx_status status;

	if (io == NULL)
		return ctx_err_nomem(err);
	status = ctx_traced_page_init(&io->page, &io_report, source, options, err);
	if (status == CTX_OK && collect(io) != CTX_OK)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		io->page.topic.totals.weight = io->page.total.time_ns;
		put_tables(io);
		status = ctx_traced_page_end(&io->page, err);
	}
	ctx_map64_deinit(&io->numbers);
	ctx_traced_groups_deinit(&io->files);
	ctx_traced_groups_deinit(&io->descriptors);
	ctx_traced_groups_deinit(&io->calls);
	ctx_traced_groups_deinit(&io->stacks);
	ctx_traced_page_deinit(&io->page);
	return status;
}

static const struct ctx_report_alias aliases[] = {
	{"iostat", false}, {"ioactivity", false}, {"iodetail", false}, {"iocallstack", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_io = {
	.name = "io",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_IO,
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
