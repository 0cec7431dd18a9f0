#include "base/mem.h"
#include "symbols/image.h"
#include "symbols/kallsyms.h"
#include "symbols/symtab_table.h"

static void buf_cleanup(struct ctx_buf *buf)
{
	ctx_buf_deinit(buf);
}

/* `text` is followed by a zero byte, and is cut up. */
static enum ctx_status open_kallsyms_text(struct ctx_buf *text, struct ctx_symtab **ret, struct ctx_err *err)
{
	struct ctx_symtab *table __attribute__((cleanup(ctx_symtab_close_cleanup))) =
		ctx_calloc(1, sizeof(*table));
	enum ctx_status status;

	if (table == NULL)
		return ctx_err_nomem(err);
	ctx_buf_put_u8(text, 0);
	status = ctx_buf_check(text, err);
	if (status == CTX_OK)
		status = ctx_kallsyms_add((char *)text->bytes, text->n - 1, &table->set, err);
	if (status == CTX_OK)
		status = ctx_symtab_freeze(table, err);
	if (status != CTX_OK)
		return status;
	table->origin = "kallsyms";
	table->flat = true;
	*ret = table;
	table = NULL;
	return CTX_OK;
}

enum ctx_status ctx_symtab_open_kallsyms(const char *path, struct ctx_symtab **ret, struct ctx_err *err)
{
	struct ctx_buf text __attribute__((cleanup(buf_cleanup))) = {0};
	enum ctx_status status = ctx_image_read(path, CTX_IMAGE_BYTES_MAX, &text, err);

	if (status != CTX_OK)
		return status;
	status = open_kallsyms_text(&text, ret, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", path);
}

enum ctx_status ctx_symtab_open_kallsyms_bytes(const void *bytes, size_t n, struct ctx_symtab **ret,
					       struct ctx_err *err)
{
	struct ctx_buf text __attribute__((cleanup(buf_cleanup))) = {0};
	enum ctx_status status = ctx_image_unpack(bytes, n, CTX_IMAGE_BYTES_MAX, &text, err);

	return status == CTX_OK ? open_kallsyms_text(&text, ret, err) : status;
}
