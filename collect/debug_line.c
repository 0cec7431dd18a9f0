/*
 *	.debug_line: program, program, ...     each: header -- directories, files
 *	                                               `----- opcodes --> rows (address, file)
 *
 * A row's file is due if a sampled address lies between it and the next row. Rows of a sequence ascend, and so do the samples: both
 * are walked side by side.
 */
#include "collect/debug_line.h"

#include "base/mem.h"

#include <limits.h>
#include <string.h>

#define PATH_BYTES ((size_t)PATH_MAX)

enum content { CONTENT_PATH = 1, CONTENT_DIRECTORY = 2 };

enum standard {
	EXTENDED = 0,
	COPY = 1,
	ADVANCE_PC = 2,
	ADVANCE_LINE = 3,
	SET_FILE = 4,
	SET_COLUMN = 5,
	NEGATE_STATEMENT = 6,
	SET_BASIC_BLOCK = 7,
	CONST_ADD_PC = 8,
	FIXED_ADVANCE_PC = 9,
	SET_PROLOGUE_END = 10,
	SET_EPILOGUE_BEGIN = 11,
	SET_ISA = 12,
};

enum extended { END_SEQUENCE = 1, SET_ADDRESS = 2, DEFINE_FILE = 3 };

struct file {
	struct ctx_debug_bytes name;
	uint64_t directory;
	bool is_due;
};

struct row_state {
	uint64_t address, file, op_index;
	uint64_t row_address, row_file; /* of the last row */
	bool has_row, is_ignored;	/* of this sequence */
	size_t next;			/* the first sample that is not below row_address */
};

struct run {
	const struct ctx_debug_line_request *request;
	ctx_debug_line_fn *each;
	void *context;
	struct ctx_debug_line_stats *stats;
	/* The program at hand */
	uint64_t offset; /* in the section */
	struct ctx_debug_shape shape;
	uint8_t min_length, max_ops, line_range, opcode_base;
	const uint8_t *lengths; /* of standard opcodes, from 1 */
	struct ctx_debug_bytes *directories;
	size_t n_directories, directories_cap;
	struct file *files;
	size_t n_files, files_cap;
};

/* --- headers --- */

static enum ctx_status add_directory(struct run *run, struct ctx_debug_bytes name, struct ctx_err *err)
{
	if (ctx_grow(&run->directories, &run->directories_cap, run->n_directories + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	run->directories[run->n_directories++] = name;
	return CTX_OK;
}

static enum ctx_status add_file(struct run *run, struct ctx_debug_bytes name, uint64_t directory,
				struct ctx_err *err)
{
	if (ctx_grow(&run->files, &run->files_cap, run->n_files + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	run->files[run->n_files++] = (struct file){.name = name, .directory = directory};
	return CTX_OK;
}

/* Before version 5: strings up to an empty one. */
static enum ctx_status read_old_tables(struct run *run, struct ctx_cursor *cursor, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK) {
		struct ctx_debug_bytes name = ctx_debug_get_string(cursor);

		if (name.n <= 1)
			break;
		status = add_directory(run, name, err);
	}
	while (status == CTX_OK && !cursor->failed) {
		struct ctx_debug_bytes name = ctx_debug_get_string(cursor);
		uint64_t directory;

		if (name.n <= 1)
			break;
		directory = ctx_cursor_get_varint(cursor);
		ctx_debug_skip_leb(cursor); /* time */
		ctx_debug_skip_leb(cursor); /* length */
		status = add_file(run, name, directory, err);
	}
	return status;
}

/* Version 5: a description of entries, their number, the entries. Of directories or of files. */
static enum ctx_status read_table(struct run *run, struct ctx_cursor *cursor, bool is_files,
				  struct ctx_err *err)
{
	struct {
		uint64_t content, form;
	} columns[UINT8_MAX];
	size_t n_columns = ctx_cursor_get_u8(cursor);
	uint64_t n;

	for (size_t i = 0; i < n_columns; i++) {
		columns[i].content = ctx_cursor_get_varint(cursor);
		columns[i].form = ctx_cursor_get_varint(cursor);
	}
	n = ctx_cursor_get_varint(cursor);
	for (uint64_t i = 0; i < n && !cursor->failed; i++) {
		const uint8_t *begin = cursor->at;
		struct file file = {0};
		enum ctx_status status;

		for (size_t k = 0; k < n_columns; k++) {
			struct ctx_debug_value value = ctx_debug_get_value(
				cursor, columns[k].form, &run->shape, run->request->sections);

			if (columns[k].content == CONTENT_PATH)
				file.name = value.text;
			else if (columns[k].content == CONTENT_DIRECTORY)
				file.directory = value.number;
		}
		/* Entries of no bytes could be any number. */
		if (cursor->at == begin)
			cursor->failed = true;
		if (cursor->failed)
			break;
		status = is_files ? add_file(run, file.name, file.directory, err)
				  : add_directory(run, file.name, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

/* Reads a program's header and leaves the cursor, which ends with the program, at its opcodes; it has failed where they cannot be run. */
static enum ctx_status read_header(struct run *run, struct ctx_cursor *cursor, struct ctx_err *err)
{
	struct ctx_cursor tables;
	enum ctx_status status;
	uint64_t length;

	run->n_directories = run->n_files = 0;
	run->shape.version = ctx_cursor_get_u16(cursor);
	if (run->shape.version < 2 || run->shape.version > 5)
		cursor->failed = true;
	run->shape.address_bytes = 8;
	if (run->shape.version == 5) {
		run->shape.address_bytes = ctx_cursor_get_u8(cursor);
		(void)ctx_cursor_get_u8(cursor); /* segments: none of our machines has them */
	}
	length = ctx_debug_get_offset(cursor, &run->shape);
	if (cursor->failed || length > ctx_cursor_left(cursor)) {
		cursor->failed = true;
		return CTX_OK;
	}
	tables = ctx_cursor_make(cursor->at, (size_t)length);
	cursor->at += length;
	run->min_length = ctx_cursor_get_u8(&tables);
	run->max_ops = run->shape.version >= 4 ? ctx_cursor_get_u8(&tables) : 1;
	(void)ctx_cursor_get_u8(&tables); /* default_is_stmt */
	(void)ctx_cursor_get_u8(&tables); /* line_base */
	run->line_range = ctx_cursor_get_u8(&tables);
	run->opcode_base = ctx_cursor_get_u8(&tables);
	if (run->line_range == 0 || run->opcode_base == 0) {
		cursor->failed = true;
		return CTX_OK;
	}
	run->lengths = ctx_cursor_get_bytes(&tables, run->opcode_base - 1u);
	if (run->shape.version == 5) {
		status = read_table(run, &tables, false, err);
		if (status == CTX_OK)
			status = read_table(run, &tables, true, err);
	} else {
		status = read_old_tables(run, &tables, err);
	}
	cursor->failed = tables.failed;
	return status;
}

/* --- paths --- */

/* Appends one part of a path, behind a '/'. False: too long. */
static bool append_part(char path[PATH_BYTES], size_t *n, const char *part, size_t length)
{
	if (*n + length + 2 > PATH_BYTES)
		return false;
	path[(*n)++] = '/';
	memcpy(path + *n, part, length);
	*n += length;
	path[*n] = '\0';
	return true;
}

/* Appends a name without "//" and "/./"; ".." stays, since what it leads to depends on links. False: too long, or there is no name. */
static bool append(char path[PATH_BYTES], size_t *n, struct ctx_debug_bytes name)
{
	size_t limit = name.n < PATH_BYTES ? name.n : PATH_BYTES;
	size_t length = name.at != NULL ? strnlen((const char *)name.at, limit) : limit;
	const char *at = (const char *)name.at;

	/* The zero must be there too. */
	if (length == limit || length == 0)
		return false;
	while (*at != '\0') {
		size_t part = strcspn(at, "/");

		if (part != 0 && (part != 1 || at[0] != '.') && !append_part(path, n, at, part))
			return false;
		at += part;
		at += strspn(at, "/");
	}
	return true;
}

static bool is_absolute(struct ctx_debug_bytes name)
{
	return name.n > 0 && name.at[0] == '/';
}

static struct ctx_debug_bytes unit_directory(const struct run *run)
{
	if (run->shape.version == 5 && run->n_directories != 0 && is_absolute(run->directories[0]))
		return run->directories[0];
	if (run->request->units == NULL)
		return (struct ctx_debug_bytes){0};
	return ctx_debug_units_find(run->request->units, run->offset);
}

static bool make_path(const struct run *run, const struct file *file, char path[PATH_BYTES])
{
	bool is_new = run->shape.version == 5;
	struct ctx_debug_bytes directory = {0};
	bool in_unit = file->directory == 0; /* the file lies in the unit's own directory */
	size_t n = 0;

	path[0] = '\0';
	if (is_absolute(file->name))
		return append(path, &n, file->name) && n != 0;
	if (!in_unit) {
		uint64_t i = file->directory - (is_new ? 0 : 1);

		if (i >= run->n_directories)
			return false;
		directory = run->directories[i];
	}
	if (!is_absolute(directory)) {
		struct ctx_debug_bytes unit = unit_directory(run);

		/* Relative to what, nobody can tell. */
		if (!is_absolute(unit) || !append(path, &n, unit))
			return false;
	}
	if (!in_unit && !append(path, &n, directory))
		return false;
	return append(path, &n, file->name) && n != 0;
}

static enum ctx_status tell_files(struct run *run, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < run->n_files && status == CTX_OK; i++) {
		char path[PATH_BYTES];

		if (!run->files[i].is_due)
			continue;
		if (make_path(run, &run->files[i], path))
			status = run->each(run->context, path, err);
		else
			run->stats->homeless++;
	}
	return status;
}

/* --- rows --- */

/* The first sample at or behind `address`, from `low` on. */
static size_t first_sample(const struct ctx_debug_line_request *request, uint64_t address, size_t low)
{
	size_t high = request->n_addresses;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (request->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_code(const struct ctx_debug_line_request *request, uint64_t address)
{
	for (size_t i = 0; i < request->n_code; i++) {
		if (address >= request->code[i].begin && address < request->code[i].end)
			return true;
	}
	return false;
}

/* The last row ends at `state->address`. */
static void end_row(struct run *run, struct row_state *state)
{
	const struct ctx_debug_line_request *request = run->request;
	uint64_t i = state->row_file - (run->shape.version == 5 ? 0 : 1);

	if (!state->has_row || state->is_ignored || state->address <= state->row_address ||
	    i >= run->n_files || run->files[i].is_due)
		return;
	if (state->next < request->n_addresses && request->addresses[state->next] < state->row_address)
		state->next = first_sample(request, state->row_address, state->next);
	run->files[i].is_due = request->all || (state->next < request->n_addresses &&
						request->addresses[state->next] < state->address);
}

static void put_row(struct run *run, struct row_state *state)
{
	end_row(run, state);
	run->stats->rows++;
	if (!state->has_row)
		state->is_ignored = !is_code(run->request, state->address);
	/* A sequence should ascend; one that does not costs another search. */
	if (!state->is_ignored && (!state->has_row || state->address < state->row_address))
		state->next = first_sample(run->request, state->address, 0);
	state->has_row = true;
	state->row_address = state->address;
	state->row_file = state->file;
}

static void begin_sequence(struct row_state *state)
{
	*state = (struct row_state){.file = 1};
}

static void advance(const struct run *run, struct row_state *state, uint64_t operations)
{
	if (run->max_ops <= 1) {
		state->address += run->min_length * operations;
		return;
	}
	operations += state->op_index;
	state->address += run->min_length * (operations / run->max_ops);
	state->op_index = operations % run->max_ops;
}

static enum ctx_status run_extended(struct run *run, struct row_state *state, struct ctx_cursor *cursor,
				    struct ctx_err *err)
{
	uint64_t length = ctx_cursor_get_varint(cursor);
	struct ctx_debug_bytes name;
	struct ctx_cursor own;
	uint64_t directory;

	if (length == 0 || length > ctx_cursor_left(cursor)) {
		cursor->failed = cursor->failed || length != 0;
		return CTX_OK;
	}
	own = ctx_cursor_make(cursor->at, (size_t)length);
	cursor->at += length;
	switch (ctx_cursor_get_u8(&own)) {
	case END_SEQUENCE:
		end_row(run, state);
		begin_sequence(state);
		return CTX_OK;
	case SET_ADDRESS:
		if (ctx_cursor_left(&own) >= 8)
			state->address = ctx_cursor_get_u64(&own);
		else
			state->address = ctx_cursor_get_u32(&own);
		state->op_index = 0;
		cursor->failed = own.failed;
		return CTX_OK;
	case DEFINE_FILE:
		name = ctx_debug_get_string(&own);
		directory = ctx_cursor_get_varint(&own);
		cursor->failed = own.failed;
		return own.failed ? CTX_OK : add_file(run, name, directory, err);
	default:
		return CTX_OK;
	}
}

static enum ctx_status run_standard(struct run *run, struct row_state *state, uint8_t opcode,
				    struct ctx_cursor *cursor, struct ctx_err *err)
{
	switch ((enum standard)opcode) {
	case EXTENDED:
		return run_extended(run, state, cursor, err);
	case COPY:
		put_row(run, state);
		return CTX_OK;
	case ADVANCE_PC:
		advance(run, state, ctx_cursor_get_varint(cursor));
		return CTX_OK;
	case SET_FILE:
		state->file = ctx_cursor_get_varint(cursor);
		return CTX_OK;
	case CONST_ADD_PC:
		advance(run, state, (uint64_t)(UINT8_MAX - run->opcode_base) / run->line_range);
		return CTX_OK;
	case FIXED_ADVANCE_PC:
		state->address += ctx_cursor_get_u16(cursor);
		state->op_index = 0;
		return CTX_OK;
	case ADVANCE_LINE:
	case SET_COLUMN:
	case SET_ISA:
		ctx_debug_skip_leb(cursor);
		return CTX_OK;
	case NEGATE_STATEMENT:
	case SET_BASIC_BLOCK:
	case SET_PROLOGUE_END:
	case SET_EPILOGUE_BEGIN:
		return CTX_OK;
	}
	/* Newer than we are: the header says how many numbers follow. */
	for (uint8_t i = 0; i < run->lengths[opcode - 1]; i++)
		ctx_debug_skip_leb(cursor);
	return CTX_OK;
}

static enum ctx_status run_program(struct run *run, struct ctx_cursor *cursor, struct ctx_err *err)
{
	enum ctx_status status = read_header(run, cursor, err);
	struct row_state state;

	run->stats->programs++;
	begin_sequence(&state);
	while (status == CTX_OK && !cursor->failed && cursor->at < cursor->end) {
		uint8_t opcode = *cursor->at++;

		if (opcode < run->opcode_base) {
			status = run_standard(run, &state, opcode, cursor, err);
			continue;
		}
		advance(run, &state, (uint64_t)(opcode - run->opcode_base) / run->line_range);
		put_row(run, &state);
	}
	run->stats->damaged += cursor->failed;
	return status == CTX_OK ? tell_files(run, err) : status;
}

enum ctx_status ctx_debug_line_files(const struct ctx_debug_line_request *request, ctx_debug_line_fn *each,
				     void *context, struct ctx_debug_line_stats *ret_stats,
				     struct ctx_err *err)
{
	const struct ctx_debug_bytes *section = &request->sections->line;
	struct ctx_cursor all = ctx_cursor_make(section->at, section->n);
	struct run run = {.request = request, .each = each, .context = context, .stats = ret_stats};
	enum ctx_status status = CTX_OK;

	*ret_stats = (struct ctx_debug_line_stats){0};
	while (status == CTX_OK && ctx_cursor_left(&all) != 0) {
		struct ctx_cursor one;
		uint64_t length;

		run.offset = (uint64_t)(all.at - section->at);
		length = ctx_debug_get_length(&all, &run.shape);
		if (all.failed || length > ctx_cursor_left(&all)) {
			ret_stats->damaged++;
			break;
		}
		one = ctx_cursor_make(all.at, (size_t)length);
		all.at += length;
		status = run_program(&run, &one, err);
	}
	free(run.directories);
	free(run.files);
	return status;
}
