#include "symbols/dwarf_reader.h"

#include "base/mem.h"

#include <string.h>

void ctx_dwarf_reader_deinit(struct ctx_dwarf_reader *reader)
{
	ctx_strtab_deinit(&reader->strings);
	ctx_map64_deinit(&reader->seen);
	free(reader->scopes);
	*reader = (struct ctx_dwarf_reader){0};
}

/* Appends a path without "//" and "./"; ".." stays, since its meaning depends on symbolic links. */
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
