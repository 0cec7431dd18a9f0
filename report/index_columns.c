#include "report/index_columns.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "model/code.h"
#include "model/data_source.h"
#include "model/phase.h"
#include "model/wait_kind.h"
#include "report/code_rows.h"
#include "report/names.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "<Unknown>"
#define NO_PROCESSOR "<No processor>"

/* What a column has of a key. */
enum what {
	SHOWN,	/* for people */
	KEY,	/* one expression: its value, where it is one */
	ID,	/* the value */
	NAME,	/* its name; NULL: none */
	LABEL,	/* one expression: the same, <Unknown> for -1 */
	NUMBER, /* pid, tid, number of a line */
	OBJECT, /* of a function */
};

/* NULL as the title or key: the key's own name. A column with `shared` is there once. */
static const struct {
	enum ctx_index_entity entity;
	enum what what;
	const char *key, *title;
	enum ctx_style style;
	bool shared;
} pieces[] = {
	{CTX_INDEX_NUMBER, SHOWN, NULL, "", CTX_STYLE_COUNT, false},
	{CTX_INDEX_NUMBER, ID, "", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_TIME, SHOWN, NULL, "Time ms", CTX_STYLE_TIME, false},
	{CTX_INDEX_TIME, ID, "", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_PHASE, SHOWN, NULL, "Phase", CTX_STYLE_KEY, false},
	{CTX_INDEX_PHASE, NAME, "phase", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_CPU, SHOWN, NULL, "CPU", CTX_STYLE_COUNT, false},
	{CTX_INDEX_CPU, ID, "cpu", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_CORE, SHOWN, NULL, "Core", CTX_STYLE_KEY, false},
	{CTX_INDEX_CORE, NAME, "core", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_SOCKET, SHOWN, NULL, "Socket", CTX_STYLE_COUNT, false},
	{CTX_INDEX_SOCKET, ID, "socket", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_NODE, SHOWN, NULL, "Node", CTX_STYLE_COUNT, false},
	{CTX_INDEX_NODE, ID, "node", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_PMU, SHOWN, NULL, "PMU", CTX_STYLE_KEY, false},
	{CTX_INDEX_PMU, NAME, "pmu", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_THREAD, SHOWN, NULL, "Thread", CTX_STYLE_KEY, false},
	{CTX_INDEX_THREAD, NUMBER, "thread", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_THREAD, NAME, "thread_name", NULL, CTX_STYLE_NAME, true},
	{CTX_INDEX_THREAD, ID, "thread_id", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_PROCESS, SHOWN, NULL, "Process", CTX_STYLE_KEY, false},
	{CTX_INDEX_PROCESS, NUMBER, "process", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_PROCESS, NAME, "command_line", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_PROCESS, ID, "process_id", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_METRIC, SHOWN, NULL, "Metric", CTX_STYLE_KEY, false},
	{CTX_INDEX_METRIC, NAME, "metric", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_STATE, SHOWN, NULL, "State", CTX_STYLE_KEY, false},
	{CTX_INDEX_STATE, NAME, "state", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_FILE, SHOWN, NULL, "File", CTX_STYLE_PLACE, false},
	{CTX_INDEX_FILE, NAME, "file", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_HEAP_OPERATION, SHOWN, NULL, "", CTX_STYLE_KEY, false},
	{CTX_INDEX_HEAP_OPERATION, NAME, "", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_MEMORY_OPERATION, SHOWN, NULL, "", CTX_STYLE_KEY, false},
	{CTX_INDEX_MEMORY_OPERATION, NAME, "", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_DATA_LEVEL, SHOWN, NULL, "", CTX_STYLE_KEY, false},
	{CTX_INDEX_DATA_LEVEL, NAME, "", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_ADDRESS, SHOWN, NULL, "", CTX_STYLE_COUNT, false},
	{CTX_INDEX_ADDRESS, ID, "", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_IO_OPERATION, SHOWN, NULL, "", CTX_STYLE_KEY, false},
	{CTX_INDEX_IO_OPERATION, NAME, "", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_FUNCTION, SHOWN, NULL, "Function", CTX_STYLE_KEY, false},
	{CTX_INDEX_FUNCTION, NAME, "function", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_FUNCTION, OBJECT, "object", NULL, CTX_STYLE_NAME, true},
	{CTX_INDEX_OBJECT, SHOWN, NULL, "Object", CTX_STYLE_PLACE, false},
	{CTX_INDEX_OBJECT, NAME, "object", NULL, CTX_STYLE_NAME, true},
	{CTX_INDEX_LINE, SHOWN, NULL, "Line", CTX_STYLE_PLACE, false},
	{CTX_INDEX_LINE, NAME, "file", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_LINE, NUMBER, "line", NULL, CTX_STYLE_COUNT, false},
	{CTX_INDEX_COMMAND, SHOWN, NULL, "Command", CTX_STYLE_KEY, false},
	{CTX_INDEX_COMMAND, NAME, "command", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_THREAD_NAME, SHOWN, NULL, "Thread name", CTX_STYLE_KEY, false},
	{CTX_INDEX_THREAD_NAME, NAME, "thread_name", NULL, CTX_STYLE_NAME, true},
	{CTX_INDEX_THREAD_PATTERN, SHOWN, NULL, "Thread pattern", CTX_STYLE_KEY, false},
	{CTX_INDEX_THREAD_PATTERN, NAME, "thread_pattern", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_CGROUP, SHOWN, NULL, "Cgroup", CTX_STYLE_KEY, false},
	{CTX_INDEX_CGROUP, NAME, "cgroup", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_CONTAINER, SHOWN, NULL, "Container", CTX_STYLE_KEY, false},
	{CTX_INDEX_CONTAINER, NAME, "container", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_OMP_REGION, SHOWN, NULL, "Parallel region", CTX_STYLE_KEY, false},
	{CTX_INDEX_OMP_REGION, NAME, "omp_region", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_OMP_TASK, SHOWN, NULL, "Task", CTX_STYLE_KEY, false},
	{CTX_INDEX_OMP_TASK, NAME, "omp_task", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_LABEL, SHOWN, NULL, "", CTX_STYLE_KEY, false},
	{CTX_INDEX_LABEL, NAME, "", NULL, CTX_STYLE_NAME, false},
	{CTX_INDEX_WAIT, SHOWN, NULL, "Wait", CTX_STYLE_KEY, false},
	{CTX_INDEX_WAIT, NAME, "wait", NULL, CTX_STYLE_NAME, false},
};

/* ---- names ---- */

static const char *io_name_of(int64_t key)
{
	static const char *const failed[] = {"read error", "write error", "open error", "close error",
					     "other error"};

	if (key >= 0 && key <= CTX_IO_OTHER)
		return ctx_traced_operation_name(CTX_TRACED_IO, (unsigned)key);
	return key > CTX_IO_OTHER && key <= 2 * CTX_IO_OTHER + 1 ? failed[key - CTX_IO_OTHER - 1] : NULL;
}

static const char *wait_name_of(int64_t key)
{
	if (key == CTX_INDEX_ON_CPU)
		return "<On a CPU>";
	if (key == CTX_INDEX_WAIT_CPU)
		return "<Waiting for a CPU>";
	return key >= 0 && key < CTX_WAIT_KIND_N ? ctx_wait_kind_text((enum ctx_wait_kind)key) : NULL;
}

/* NULL: it has no name. */
static const char *name_of(const struct ctx_index_columns *columns, enum ctx_index_entity entity, int64_t key)
{
	const struct ctx_profile *profile = columns->profile;

	switch (entity) {
	case CTX_INDEX_THREAD:
		return key >= 0 && key < profile->n_threads ? profile->threads[key].name : NULL;
	case CTX_INDEX_PROCESS:
		return key >= 0 && key < profile->n_processes ? profile->processes[key].command : NULL;
	case CTX_INDEX_METRIC:
		return key >= 0 && key < profile->n_metrics ? profile->metrics[key].name : NULL;
	case CTX_INDEX_STATE:
		return key >= 0 && key < CTX_STATE_N ? ctx_state_name((enum ctx_thread_state)key) : NULL;
	case CTX_INDEX_FILE:
		return key >= 0 && key < profile->n_files ? profile->files[key] : NULL;
	case CTX_INDEX_HEAP_OPERATION:
		return key >= 0 && key < CTX_HEAP_N
			       ? ctx_traced_operation_name(CTX_TRACED_HEAP, (unsigned)key)
			       : NULL;
	case CTX_INDEX_IO_OPERATION:
		return io_name_of(key);
	case CTX_INDEX_PHASE:
		return key >= 0 && key < CTX_PHASE_LETTERS ? ctx_phase_letter((uint32_t)key) : NULL;
	case CTX_INDEX_CPU:
	case CTX_INDEX_SOCKET:
	case CTX_INDEX_NODE:
		return key == CTX_NO_CPU ? NO_PROCESSOR : NULL;
	case CTX_INDEX_FUNCTION:
		return key >= 0 && key < profile->n_functions ? profile->functions[key].name : NULL;
	case CTX_INDEX_OBJECT:
		return key >= 0 && key < profile->n_objects ? profile->objects[key].path : NULL;
	case CTX_INDEX_LINE:
		return key != -1 ? columns->index->files[CTX_INDEX_FILE_OF(key)].path : NULL;
	case CTX_INDEX_COMMAND:
	case CTX_INDEX_THREAD_NAME:
	case CTX_INDEX_THREAD_PATTERN:
	case CTX_INDEX_CGROUP:
	case CTX_INDEX_CONTAINER:
	case CTX_INDEX_OMP_REGION:
	case CTX_INDEX_OMP_TASK:
	case CTX_INDEX_LABEL:
		return key != -1 ? columns->index->names[key] : NULL;
	case CTX_INDEX_CORE:
	case CTX_INDEX_PMU:
		return key == CTX_NO_CPU ? NO_PROCESSOR : key != -1 ? columns->index->names[key] : NULL;
	case CTX_INDEX_WAIT:
		return wait_name_of(key);
	case CTX_INDEX_MEMORY_OPERATION:
		return key >= 0 && key < CTX_MEMORY_OPERATION_N
			       ? ctx_traced_operation_name(CTX_TRACED_MEMORY, (unsigned)key)
			       : NULL;
	case CTX_INDEX_DATA_LEVEL:
		return key >= 0 && key < CTX_DATA_LEVEL_N ? ctx_data_level_name((enum ctx_data_level)key)
							  : NULL;
	case CTX_INDEX_NUMBER:
	case CTX_INDEX_TIME:
	case CTX_INDEX_ADDRESS:
		break;
	}
	return NULL;
}

/* Marks the objects that are not told apart by their file names. */
static enum ctx_status find_common(struct ctx_index_columns *columns, struct ctx_err *err)
{
	const struct ctx_profile *profile = columns->profile;
	struct ctx_strtab names = {0};
	uint32_t *first CTX_AUTO_FREE = ctx_calloc(profile->n_objects, sizeof(*first));
	enum ctx_status status = CTX_OK;

	columns->is_common = ctx_calloc(profile->n_objects, sizeof(*columns->is_common));
	if (columns->is_common == NULL || first == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_objects && status == CTX_OK; i++) {
		size_t before = names.n;
		uint32_t name;

		status = ctx_strtab_add_text(&names, ctx_name_of_path(profile->objects[i].path), &name, err);
		if (status != CTX_OK)
			break;
		if (names.n != before)
			first[name] = i;
		else
			columns->is_common[i] = columns->is_common[first[name]] = true;
	}
	ctx_strtab_deinit(&names);
	return status;
}

/* ---- columns ---- */

bool ctx_index_is_plain(const struct ctx_report_index *index)
{
	return index->n_by == 1 && ctx_index_is_expression(index->by[0].entity);
}

static void add_column(struct ctx_index_columns *columns, size_t key, enum what what,
		       struct ctx_column column)
{
	columns->columns[columns->n] = column;
	columns->parts[columns->n++] = (struct ctx_index_part){(uint8_t)key, (uint8_t)what};
}

static bool has_column(const struct ctx_index_columns *columns, const char *key)
{
	if (strcmp(key, "samples") == 0 || strcmp(key, "weight") == 0 || strcmp(key, "metrics") == 0)
		return true;
	for (size_t i = 0; i < columns->n; i++) {
		if (columns->columns[i].key != NULL && strcmp(columns->columns[i].key, key) == 0)
			return true;
	}
	return false;
}

/* Safe text of a key's name, with so many words "by." before it that no other column has it. */
static const char *own_name(struct ctx_index_columns *columns, const char *name, bool ascii, bool unique)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	const char *copy;

	ctx_name_put_text(&text, name, ascii);
	ctx_buf_put_u8(&text, '\0');
	copy = text.failed ? NULL : ctx_arena_strdup(&columns->arena, (const char *)text.bytes);
	if (copy == NULL || !unique || !has_column(columns, copy))
		return copy;
	ctx_buf_clear(&text);
	ctx_buf_printf(&text, "by.%s", name);
	ctx_buf_put_u8(&text, '\0');
	return text.failed ? NULL : own_name(columns, (const char *)text.bytes, ascii, true);
}

static enum ctx_status add_key(struct ctx_index_columns *columns, size_t key, bool ascii, struct ctx_err *err)
{
	const struct ctx_report_index_key *by = &columns->index->by[key];

	for (size_t i = 0; i < CTX_COUNT_OF(pieces); i++) {
		struct ctx_column column = {pieces[i].key, pieces[i].title, pieces[i].style};
		bool is_json = column.key != NULL;

		if (pieces[i].entity != by->entity ||
		    (is_json && pieces[i].shared && has_column(columns, column.key)))
			continue;
		if (is_json)
			column.key =
				own_name(columns, *column.key != '\0' ? column.key : by->name, ascii, true);
		else if (*column.title == '\0')
			column.title = own_name(columns, by->name, ascii, false);
		if (is_json ? column.key == NULL : column.title == NULL)
			return ctx_err_nomem(err);
		add_column(columns, key, pieces[i].what, column);
	}
	return CTX_OK;
}

enum ctx_status ctx_index_columns_init(struct ctx_index_columns *columns, const struct ctx_profile *profile,
				       const struct ctx_report_index *index, bool ascii, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*columns = (struct ctx_index_columns){.profile = profile, .index = index};
	if (ctx_index_is_plain(index)) {
		const char *title = index->by[0].is_word ? index->by[0].name : "Key";

		add_column(columns, 0, KEY, (struct ctx_column){NULL, title, CTX_STYLE_COUNT});
		add_column(columns, 0, ID, (struct ctx_column){"index", NULL, CTX_STYLE_COUNT});
		add_column(columns, 0, LABEL, (struct ctx_column){"name", "Name", CTX_STYLE_NAME});
		return CTX_OK;
	}
	for (size_t i = 0; i < index->n_by && status == CTX_OK; i++) {
		if (index->by[i].entity == CTX_INDEX_OBJECT && !columns->has_object)
			status = find_common(columns, err);
		columns->has_object |= index->by[i].entity == CTX_INDEX_OBJECT;
	}
	for (size_t i = 0; i < index->n_by && status == CTX_OK; i++)
		status = add_key(columns, i, ascii, err);
	return status;
}

void ctx_index_columns_deinit(struct ctx_index_columns *columns)
{
	free(columns->is_common);
	ctx_arena_deinit(&columns->arena);
}

/* ---- cells ---- */

/* The pid of a process, the tid of a thread, the number of a line. */
static struct ctx_cell number_cell(const struct ctx_index_columns *columns, enum ctx_index_entity entity,
				   int64_t key)
{
	if (entity == CTX_INDEX_LINE)
		return key != -1 ? ctx_cell_number(CTX_INDEX_LINE_OF(key)) : ctx_cell_name(NULL);
	if (entity == CTX_INDEX_THREAD)
		return ctx_thread_cell(columns->profile, key >= 0 ? (uint32_t)key : CTX_NONE);
	return ctx_pid_cell(columns->profile, key >= 0 ? (uint32_t)key : CTX_NONE);
}

/* "worker 1234"; with the life of a thread whose tid another one had, too. */
static struct ctx_cell numbered_cell(const struct ctx_index_columns *columns, struct ctx_out *out,
				     enum ctx_index_entity entity, int64_t key)
{
	struct ctx_cell cell = ctx_cell_name(name_of(columns, entity, key));
	struct ctx_cell number = number_cell(columns, entity, key);

	if (cell.name == NULL)
		return ctx_cell_name(UNKNOWN);
	if (number.kind == CTX_CELL_NULL)
		return cell;
	cell.index = ctx_out_format(out, " %" PRId64 "%s", (int64_t)number.number,
				    entity == CTX_INDEX_THREAD ? ctx_thread_life(out, (uint32_t)key) : "");
	return cell;
}

static struct ctx_cell address_cell(struct ctx_out *out, int64_t key)
{
	return ctx_cell_name(key != -1 ? ctx_out_format(out, "0x%" PRIx64, (uint64_t)key) : UNKNOWN);
}

static struct ctx_cell shown_cell(const struct ctx_index_columns *columns, struct ctx_out *out,
				  enum ctx_index_entity entity, int64_t key)
{
	const char *name = name_of(columns, entity, key);
	struct ctx_cell cell;

	switch (entity) {
	case CTX_INDEX_THREAD:
	case CTX_INDEX_PROCESS:
		return numbered_cell(columns, out, entity, key);
	case CTX_INDEX_FUNCTION:
		if (name == NULL)
			return ctx_cell_name(UNKNOWN);
		cell = ctx_function_cell(columns->profile, (uint32_t)key);
		if (columns->has_object)
			cell.object = NULL;
		return cell;
	case CTX_INDEX_OBJECT:
		return ctx_cell_name(name == NULL	       ? UNKNOWN
				     : columns->is_common[key] ? name
							       : ctx_name_of_path(name));
	case CTX_INDEX_LINE:
		if (name == NULL)
			return ctx_cell_name(CTX_NO_LINE);
		return ctx_cell_name(ctx_out_format(out, "%s:%" PRIu32, name, CTX_INDEX_LINE_OF(key)));
	case CTX_INDEX_NUMBER:
		return key != -1 ? ctx_cell_signed(key) : ctx_cell_name(UNKNOWN);
	case CTX_INDEX_ADDRESS:
		return address_cell(out, key);
	case CTX_INDEX_TIME:
		return key >= 0 ? ctx_cell_number((uint64_t)key) : ctx_cell_name(UNKNOWN);
	case CTX_INDEX_CPU:
	case CTX_INDEX_SOCKET:
	case CTX_INDEX_NODE:
		return name == NULL && key != -1 ? ctx_cell_signed(key)
						 : ctx_cell_name(name != NULL ? name : UNKNOWN);
	default:
		return ctx_cell_name(name != NULL ? name : UNKNOWN);
	}
}

/* One expression: text shows the name alone where the key is none. */
static bool has_number(enum ctx_index_entity entity, int64_t key)
{
	return key != -1 && (entity != CTX_INDEX_CPU || key != CTX_NO_CPU);
}

static struct ctx_cell cell_of(const struct ctx_index_columns *columns, struct ctx_out *out,
			       struct ctx_index_part part, int64_t key)
{
	enum ctx_index_entity entity = columns->index->by[part.key].entity;

	switch ((enum what)part.what) {
	case KEY:
		if (entity == CTX_INDEX_ADDRESS)
			return address_cell(out, key);
		return has_number(entity, key) ? ctx_cell_signed(key) : ctx_cell_name(NULL);
	case ID:
		return entity == CTX_INDEX_ADDRESS && key != -1 ? ctx_cell_number((uint64_t)key)
								: ctx_cell_signed(key);
	case NAME:
		return ctx_cell_name(name_of(columns, entity, key));
	case LABEL:
		return ctx_cell_name(key == -1 ? UNKNOWN : name_of(columns, entity, key));
	case NUMBER:
		return number_cell(columns, entity, key);
	case OBJECT:
		return key != -1 ? ctx_object_cell(columns->profile, (uint32_t)key) : ctx_cell_name(NULL);
	case SHOWN:
		break;
	}
	return ctx_out_is_text(out) ? shown_cell(columns, out, entity, key) : ctx_cell_name(NULL);
}

void ctx_index_columns_fill(const struct ctx_index_columns *columns, struct ctx_out *out, size_t row,
			    struct ctx_cell *cells)
{
	const int64_t *keys = &columns->index->keys[row * columns->index->n_by];

	for (size_t i = 0; i < columns->n; i++)
		cells[i] = cell_of(columns, out, columns->parts[i], keys[columns->parts[i].key]);
}

void ctx_index_columns_order(const struct ctx_index_columns *columns, size_t row, size_t key,
			     struct ctx_order_item *item)
{
	const struct ctx_report_index *index = columns->index;
	enum ctx_index_entity entity = index->by[key].entity;
	int64_t value = index->keys[row * index->n_by + key];

	item->number = ctx_order_ascending(ctx_order_signed(value));
	if (entity == CTX_INDEX_ADDRESS)
		item->number = ctx_order_ascending((uint64_t)value);
	if (entity == CTX_INDEX_NUMBER || entity == CTX_INDEX_TIME || entity == CTX_INDEX_CPU ||
	    entity == CTX_INDEX_ADDRESS || entity == CTX_INDEX_SOCKET || entity == CTX_INDEX_NODE ||
	    entity == CTX_INDEX_CORE)
		return;
	item->text = name_of(columns, entity, value);
	if (item->text == NULL)
		item->text = UNKNOWN;
	else if (entity == CTX_INDEX_OBJECT)
		item->text = ctx_name_of_path(item->text);
}
