#include "symbols/dwarf_lines.h"

#include "base/mem.h"

/*
 * Rows come sorted, the end of a sequence before the beginning of the next at the same address; of
 * several at one address the last one counts. Sequences of functions that the linker discarded
 * begin at 0 or -1, where there is no code.
 */
static enum ctx_status add_row(struct ctx_dwarf_unit *unit, const struct ctx_dwarf_row *row,
			       struct ctx_err *err)
{
	enum ctx_status status;

	if (unit->row_n > 0 && unit->rows[unit->row_n - 1].address == row->address)
		unit->row_n--;
	if (unit->row_n > 0 && unit->rows[unit->row_n - 1].file == row->file &&
	    unit->rows[unit->row_n - 1].line == row->line)
		return CTX_OK;
	status = ctx_grow(&unit->rows, &unit->rows_cap, unit->row_n + 1, err);
	if (status == CTX_OK)
		unit->rows[unit->row_n++] = *row;
	return status;
}

static enum ctx_status read_row(struct ctx_dwarf_unit *unit, struct ctx_dwarf_reader *reader,
				Dwarf_Line *line, struct ctx_err *err)
{
	struct ctx_dwarf_row row = {.file = CTX_DWARF_NONE};
	enum ctx_status status;
	bool ends = false;
	int number = 0;

	if (dwarf_lineaddr(line, &row.address) != 0 || dwarf_lineendsequence(line, &ends) != 0)
		return CTX_OK;
	if (ends)
		/* The end may be the end of the section. */
		return unit->row_n > 0 ? add_row(unit, &row, err) : CTX_OK;
	if (ctx_dwarf_file_code(reader->file, row.address) == NULL)
		return CTX_OK;
	status = ctx_dwarf_reader_path(reader, dwarf_linesrc(line, NULL, NULL), &row.file, err);
	if (status != CTX_OK)
		return status;
	if (row.file != CTX_DWARF_NONE && dwarf_lineno(line, &number) == 0 && number > 0)
		row.line = (uint32_t)number;
	return add_row(unit, &row, err);
}

enum ctx_status ctx_dwarf_unit_read_lines(struct ctx_dwarf_unit *unit, struct ctx_dwarf_reader *reader,
					  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	Dwarf_Lines *lines;
	size_t n;

	if (!reader->has_lines || dwarf_getsrclines(&reader->skeleton, &lines, &n) != 0)
		return CTX_OK;
	for (size_t i = 0; i < n && status == CTX_OK; i++)
		status = read_row(unit, reader, dwarf_onesrcline(lines, i), err);
	return status;
}
