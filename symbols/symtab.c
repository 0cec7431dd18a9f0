#include "symbols/symtab.h"

#include "base/mem.h"
#include "symbols/demangle.h"
#include "symbols/symtab_table.h"

#include <stdio.h>
#include <string.h>

void ctx_symtab_close(struct ctx_symtab *table)
{
	ctx_symtab_free(table);
}

const char *ctx_symtab_origin(const struct ctx_symtab *table)
{
	return table->origin;
}

const char *ctx_symtab_build_id(const struct ctx_symtab *table)
{
	return table->build_id;
}

bool ctx_symtab_address(const struct ctx_symtab *table, uint64_t file_offset, uint64_t *ret_address)
{
	if (table->flat) {
		*ret_address = file_offset + table->to_address;
		return true;
	}
	return ctx_elf_address(table->segments, table->n_segments, file_offset, ret_address);
}

enum ctx_status ctx_symtab_open_recorded(const struct ctx_source_symbols *symbols, struct ctx_symtab **ret,
					 struct ctx_err *err)
{
	struct ctx_symtab *table CTX_CLEANUP(ctx_symtab_free_cleanup) = ctx_calloc(1, sizeof(*table));
	enum ctx_status status = CTX_OK;

	if (table == NULL)
		return ctx_err_nomem(err);
	table->flat = true;
	table->to_address = symbols->to_address;
	table->origin = "recording";
	for (size_t i = 0; i < symbols->n && status == CTX_OK; i++)
		status = ctx_symset_add(&table->set,
					&(struct ctx_symset_raw){.start = symbols->items[i].address,
								 .size = symbols->items[i].size,
								 .limit = UINT64_MAX,
								 .name = symbols->items[i].name,
								 .module = ""},
					err);
	if (status == CTX_OK)
		status = ctx_symtab_freeze(table, err);
	if (status != CTX_OK)
		return status;
	*ret = table;
	table = NULL;
	return CTX_OK;
}

bool ctx_symtab_find(const struct ctx_symtab *table, uint64_t address, uint32_t *ret_index)
{
	return ctx_symset_find(&table->set, address, ret_index);
}

uint32_t ctx_symtab_count(const struct ctx_symtab *table)
{
	return table->set.n;
}

/* A readable form equal to the linkage name is not copied. */
static const char *readable_name(struct ctx_symtab *table, const char *linkage_name)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};

	if (!ctx_clones_readable(linkage_name, &text) && !ctx_demangle(linkage_name, &text))
		return text.failed ? NULL : linkage_name;
	return text.failed ? NULL : ctx_arena_strndup(&table->arena, (const char *)text.bytes, text.n);
}

/* The name of a function without a symbol: built on demand, since most are never needed. */
static const char *static_name(struct ctx_symtab *table, uint64_t start)
{
	char text[sizeof("<static>@0x") + 16];
	int n = snprintf(text, sizeof(text), "<static>@0x%llx", (unsigned long long)start);

	return ctx_arena_strndup(&table->arena, text, (size_t)n);
}

static const char *readable_aliases(struct ctx_symtab *table, const struct ctx_symset_entry *entry)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	const char *alias = table->set.text + entry->aliases;

	if (entry->alias_count == 0)
		return "";
	for (uint32_t i = 0; i < entry->alias_count; i++, alias += strlen(alias) + 1) {
		if (i > 0)
			ctx_buf_put_u8(&text, ' ');
		if (!ctx_demangle(alias, &text))
			ctx_buf_put_text(&text, alias);
	}
	return text.failed ? NULL : ctx_arena_strndup(&table->arena, (const char *)text.bytes, text.n);
}

enum ctx_status ctx_symtab_get(struct ctx_symtab *table, uint32_t index, struct ctx_symbol *ret,
			       struct ctx_err *err)
{
	const struct ctx_symset_entry *entry;
	struct ctx_symtab_readable *readable;
	enum ctx_status status;
	uint32_t whole;

	if (index >= table->set.n)
		return ctx_err_set(err, CTX_E_ARG, "symbol %u of %u", index, table->set.n);
	entry = &table->set.entries[index];
	readable = &table->readable[index];
	if (readable->name == NULL && entry->name == 0)
		readable->name = static_name(table, entry->start);
	else if (readable->name == NULL)
		readable->name = readable_name(table, table->set.text + entry->name);
	if (readable->aliases == NULL)
		readable->aliases = readable_aliases(table, entry);
	if (readable->name == NULL || readable->aliases == NULL)
		return ctx_err_nomem(err);
	status = ctx_clones_find(&table->clones, &table->set, index, &whole, err);
	if (status != CTX_OK)
		return status;
	*ret = (struct ctx_symbol){
		.name = readable->name,
		.linkage_name = entry->name != 0 ? table->set.text + entry->name : readable->name,
		.aliases = readable->aliases,
		.start = entry->start,
		.size = entry->size,
		.source = ctx_symset_file(&table->set, entry->file),
		.module = table->set.text + entry->module,
		.whole = whole,
	};
	return CTX_OK;
}
