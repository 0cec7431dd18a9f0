#include "symbols/symtab_table.h"

#include "base/mem.h"

#include <stdio.h>

enum ctx_status ctx_symtab_freeze(struct ctx_symtab *table, struct ctx_err *err)
{
	enum ctx_status status = ctx_symset_freeze(&table->set, err);

	if (status != CTX_OK)
		return status;
	table->readable = ctx_calloc((size_t)table->set.n + 1, sizeof(*table->readable));
	return table->readable != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_symtab_set_reasons(struct ctx_symtab *table, struct ctx_buf *reasons, struct ctx_err *err)
{
	size_t bytes = sizeof("none: ") + reasons->n;
	char *text;

	ctx_buf_put_u8(reasons, 0);
	if (ctx_buf_check(reasons, err) != CTX_OK)
		return CTX_E_NOMEM;
	text = ctx_arena_alloc(&table->arena, bytes);
	if (text == NULL)
		return ctx_err_nomem(err);
	snprintf(text, bytes, "none: %s", (const char *)reasons->bytes);
	table->origin = text;
	return CTX_OK;
}

void ctx_symtab_free(struct ctx_symtab *table)
{
	if (table == NULL)
		return;
	ctx_symset_deinit(&table->set);
	ctx_clones_deinit(&table->clones);
	ctx_arena_deinit(&table->arena);
	free(table->readable);
	free(table->segments);
	free(table);
}

void ctx_symtab_free_cleanup(struct ctx_symtab **table)
{
	ctx_symtab_free(*table);
}
