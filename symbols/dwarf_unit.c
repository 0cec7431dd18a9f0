#include "symbols/dwarf_unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "symbols/dwarf_scope.h"

#include <dwarf.h>
#include <string.h>

void ctx_dwarf_reader_deinit(struct ctx_dwarf_reader *reader)
{
	ctx_strtab_deinit(&reader->strings);
	ctx_map64_deinit(&reader->seen);
	free(reader->scopes);
	*reader = (struct ctx_dwarf_reader){0};
}

void ctx_dwarf_unit_deinit(struct ctx_dwarf_unit *unit)
{
	free(unit->nodes);
	free(unit->rows);
	ctx_rangemap_deinit(&unit->places);
	*unit = (struct ctx_dwarf_unit){0};
}

size_t ctx_dwarf_unit_rows_until(const struct ctx_dwarf_unit *unit, uint64_t address)
{
	size_t low = 0;
	size_t high = unit->row_n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Appends a path without "//" and "./"; ".." stays, since what it leads to depends on links. */
static void put_normal(struct ctx_buf *out, const char *path)
{
	while (*path != '\0') {
		size_t n = strcspn(path, "/");

		if (n != 1 || path[0] != '.')
			ctx_buf_put(out, path, n);
		else if (path[1] == '\0')
			break;
		path += n;
		if (*path != '/')
			break;
		if (n != 1 || path[-1] != '.')
			ctx_buf_put_u8(out, '/');
		path += strspn(path, "/");
	}
}

enum ctx_status ctx_dwarf_reader_text(struct ctx_dwarf_reader *reader, const char *text, size_t n,
				      uint32_t *ret_id, struct ctx_err *err)
{
	size_t before = reader->strings.n;
	enum ctx_status status = CTX_OK;

	*ret_id = CTX_DWARF_NONE;
	if (n <= reader->text_left)
		status = ctx_strtab_add(&reader->strings, text, n, ret_id, err);
	else
		reader->text_left = 0;
	if (reader->strings.n != before)
		reader->text_left -= n;
	return status;
}

static enum ctx_status add_path(struct ctx_dwarf_reader *reader, const char *name, uint32_t *ret_id,
				struct ctx_err *err)
{
	struct ctx_buf path CTX_AUTO_BUF = {0};
	enum ctx_status status;

	if (reader->text_left == 0)
		return ctx_strtab_add_text(&reader->strings, "<too many names>", ret_id, err);
	if (name[0] != '/' && reader->folder != NULL && reader->folder[0] == '/') {
		put_normal(&path, reader->folder);
		if (path.n != 0 && path.bytes[path.n - 1] != '/')
			ctx_buf_put_u8(&path, '/');
	}
	put_normal(&path, name);
	if (ctx_buf_check(&path, err) != CTX_OK)
		return CTX_E_NOMEM;
	status = ctx_dwarf_reader_text(reader, path.n != 0 ? (const char *)path.bytes : "", path.n, ret_id,
				       err);
	if (status == CTX_OK && *ret_id == CTX_DWARF_NONE)
		status = ctx_strtab_add_text(&reader->strings, "<too many names>", ret_id, err);
	return status;
}

enum ctx_status ctx_dwarf_reader_path(struct ctx_dwarf_reader *reader, const char *name, uint32_t *ret_id,
				      struct ctx_err *err)
{
	uint32_t *seen;
	enum ctx_status status;

	if (name == NULL || name[0] == '\0') {
		*ret_id = CTX_DWARF_NONE;
		return CTX_OK;
	}
	seen = ctx_map64_place(&reader->seen, (uintptr_t)name);
	if (seen == NULL)
		return ctx_err_nomem(err);
	if (*seen == CTX_MAP64_NONE) {
		status = add_path(reader, name, seen, err);
		if (status != CTX_OK)
			return status;
	}
	*ret_id = *seen;
	return CTX_OK;
}

/* Finds the DIEs of the unit, and goes from a skeleton to its split unit where that is found. */
static bool find_unit(struct ctx_dwarf_reader *reader, Dwarf_Off offset)
{
	Dwarf_Attribute attribute;
	uint8_t type = 0;
	Dwarf_Die split;

	if (dwarf_offdie(reader->file->dwarf, offset, &reader->skeleton) == NULL)
		return false;
	reader->unit = reader->skeleton;
	reader->folder = dwarf_formstring(dwarf_attr(&reader->skeleton, DW_AT_comp_dir, &attribute));
	if (dwarf_cu_info(reader->skeleton.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0)
		return false;
	if (type == DW_UT_skeleton && ctx_dwarf_file_may_split(reader->file, &reader->skeleton) &&
	    dwarf_cu_info(reader->skeleton.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
	    split.addr != NULL && ctx_dwarf_bounds_check(dwarf_cu_getdwarf(split.cu), 0, NULL) == CTX_OK) {
		reader->unit = split;
		/* libdw keeps the .dwo file in memory. */
		reader->file->spent += (uint64_t)4 << 20;
	}
	return true;
}

static bool may_read_lines(struct ctx_dwarf_reader *reader)
{
	uint64_t bytes, split_bytes = 0;

	if (!ctx_dwarf_bounds_take_lines(&reader->bounds, &reader->skeleton, &bytes))
		return false;
	if (reader->unit.cu != reader->skeleton.cu) {
		reader->bounds.lines = (struct ctx_dwarf_section){0};
		if (!ctx_dwarf_bounds_take_lines(&reader->bounds, &reader->unit, &split_bytes))
			return false;
	}
	reader->file->spent += bytes + split_bytes;
	return true;
}

enum ctx_status ctx_dwarf_unit_read(struct ctx_dwarf_unit *unit, struct ctx_dwarf_reader *reader,
				    Dwarf_Off offset, struct ctx_err *err)
{
	enum ctx_status status;

	/* Pointers of another unit may be given out again by now. */
	ctx_map64_clear(&reader->seen);
	reader->scopes_of = NULL;
	ctx_dwarf_bounds_forget(&reader->bounds);
	if (!find_unit(reader, offset))
		return CTX_OK;
	reader->has_lines = may_read_lines(reader);
	status = ctx_dwarf_unit_read_inlines(unit, reader, err);
	if (status == CTX_OK)
		status = ctx_dwarf_unit_read_lines(unit, reader, err);
	return status;
}
