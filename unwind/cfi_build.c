/*
 *	sections --1--> FDEs --sort by begin, drop overlaps--> --2--> rows, rules --3--> index
 *
 *	rows       0: NONE | 1 = f: rule | f+4: rule | ... | end of f: NONE | g: rule ...
 *
 * The base is one byte before the first function, so that the first row is always NONE (no
 * information).
 */
#include "unwind/cfi_build.h"

#include "base/map64.h"
#include "base/mem.h"
#include "unwind/cfi_program.h"

#include <stdio.h>
#include <string.h>

#define MAX_CIES ((size_t)1 << 16)

struct cie {
	struct ctx_cfi_cie cie;
	struct ctx_cfi_state initial;
	bool usable;
};

struct fde {
	struct ctx_cfi_fde fde;
	uint32_t cie; /* index */
	uint32_t section;
};

struct builder {
	const struct ctx_cfi_source *source;
	struct ctx_cfi_table *table;
	struct cie *cies; /* owned; [0] is none */
	size_t n_cies, cies_cap;
	struct ctx_map64 cie_of; /* offset * 2 + section -> index */
	struct fde *fdes;	 /* owned */
	size_t n_fdes, fdes_cap;
	size_t functions_cap;
	struct ctx_cfi_machine *machine; /* owned */
	struct ctx_cfi_sink sink;
};

static void builder_deinit(struct builder *builder)
{
	free(builder->cies);
	free(builder->fdes);
	free(builder->machine);
	ctx_map64_deinit(&builder->cie_of);
}

static enum ctx_status add_row(void *context, const struct ctx_cfi_state *state, uint64_t begin, uint64_t end,
			       struct ctx_err *err)
{
	struct ctx_cfi_table *table = ((struct builder *)context)->table;
	uint32_t rule;
	enum ctx_status status = ctx_cfi_rules_add(&table->rules, state, &rule, err);

	(void)end;
	return status == CTX_OK ? ctx_cfi_rows_add(&table->rows, begin, rule, err) : status;
}

static enum ctx_status add_expression(void *context, const uint8_t *bytes, size_t n, int64_t *ret,
				      struct ctx_err *err)
{
	return ctx_cfi_rules_add_expression(&((struct builder *)context)->table->rules, bytes, n, ret, err);
}

/* Damage of one entry is counted; only lack of memory is a failure. */
static enum ctx_status settle(struct builder *builder, enum ctx_status status)
{
	if (status == CTX_OK || status == CTX_E_NOMEM)
		return status;
	builder->table->damaged++;
	return CTX_OK;
}

static enum ctx_status read_cie(struct builder *builder, uint32_t section, size_t offset, struct cie *ret,
				struct ctx_err *err)
{
	const struct ctx_cfi_section *from = &builder->source->sections[section];
	struct ctx_cfi_entry entry;
	enum ctx_status status;
	size_t at = offset;

	if (ctx_cfi_entry_next(from, &at, &entry) != CTX_OK || entry.offset != offset ||
	    entry.kind != CTX_CFI_ENTRY_CIE || !ctx_cfi_cie_read(from, &entry, &ret->cie))
		return settle(builder, CTX_E_FORMAT);
	builder->machine->section = from;
	status = ctx_cfi_run_cie(builder->machine, &ret->cie, err);
	ret->usable = status == CTX_OK;
	ret->initial = builder->machine->state;
	return settle(builder, status);
}

/* The CIE at an offset; each is read once. */
static enum ctx_status find_cie(struct builder *builder, uint32_t section, size_t offset, uint32_t *ret,
				struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&builder->cie_of, (uint64_t)offset * 2 + section);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		struct cie cie = {0};

		*place = builder->n_cies < MAX_CIES ? (uint32_t)builder->n_cies : 0;
		if (*place == 0)
			return settle(builder, CTX_E_LIMIT);
		status = ctx_grow(&builder->cies, &builder->cies_cap, builder->n_cies + 1, err);
		if (status == CTX_OK)
			status = read_cie(builder, section, offset, &cie, err);
		if (status != CTX_OK)
			return status;
		builder->cies[builder->n_cies++] = cie;
	}
	*ret = *place;
	return CTX_OK;
}

/* Descriptions of code that the linker discarded stay in .debug_frame, at address 0. */
static bool is_code(const struct ctx_cfi_source *source, const struct ctx_cfi_fde *fde)
{
	for (size_t i = 0; i < source->n_segments; i++) {
		const struct ctx_elf_segment *segment = &source->segments[i];

		if (fde->begin >= segment->address && fde->end - segment->address <= segment->memory_size)
			return true;
	}
	return source->n_segments == 0;
}

static enum ctx_status read_fde(struct builder *builder, uint32_t section, const struct ctx_cfi_entry *entry,
				struct ctx_err *err)
{
	struct fde fde = {.section = section};
	enum ctx_status status;

	if (entry->cie_offset >= builder->source->sections[section].n)
		return settle(builder, CTX_E_FORMAT);
	status = find_cie(builder, section, entry->cie_offset, &fde.cie, err);
	if (status != CTX_OK)
		return status;
	if (!builder->cies[fde.cie].usable || !ctx_cfi_fde_read(&builder->source->sections[section], entry,
								&builder->cies[fde.cie].cie, &fde.fde))
		return settle(builder, CTX_E_FORMAT);
	if (fde.fde.begin == fde.fde.end || !is_code(builder->source, &fde.fde))
		return CTX_OK;
	status = ctx_grow(&builder->fdes, &builder->fdes_cap, builder->n_fdes + 1, err);
	if (status == CTX_OK)
		builder->fdes[builder->n_fdes++] = fde;
	return status;
}

static enum ctx_status read_section(struct builder *builder, uint32_t section, struct ctx_err *err)
{
	struct ctx_cfi_entry entry;
	enum ctx_status status;
	size_t at = 0;

	for (;;) {
		status = ctx_cfi_entry_next(&builder->source->sections[section], &at, &entry);
		if (status != CTX_OK)
			break;
		if (entry.kind == CTX_CFI_ENTRY_CIE)
			continue; /* read on demand */
		status = read_fde(builder, section, &entry, err);
		if (status != CTX_OK)
			return status;
	}
	return status == CTX_END ? CTX_OK : settle(builder, status);
}

/* .eh_frame before .debug_frame, ties in file order: the first one wins. */
static int compare_fdes(const void *left, const void *right)
{
	const struct fde *a = left;
	const struct fde *b = right;

	if (a->fde.begin != b->fde.begin)
		return a->fde.begin < b->fde.begin ? -1 : 1;
	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return a->fde.program.at < b->fde.program.at ? -1 : a->fde.program.at > b->fde.program.at;
}

/* Removes the rows of a damaged function: it has no information. */
static enum ctx_status forget_rows(struct ctx_cfi_rows *rows, size_t n, uint64_t begin, struct ctx_err *err)
{
	rows->n = n;
	return ctx_cfi_rows_add(rows, begin, CTX_CFI_RULE_NONE, err);
}

static enum ctx_status add_rows(struct builder *builder, const struct fde *fde, struct ctx_err *err)
{
	const struct cie *cie = &builder->cies[fde->cie];
	struct ctx_cfi_table *table = builder->table;
	struct ctx_cfi_rows *rows = &table->rows;
	size_t n = rows->n;
	enum ctx_status status;

	/*
	 * The row that ends the previous function is about to be replaced, and may have to be
	 * restored.
	 */
	if (rows->items[n - 1].pc == fde->fde.begin - rows->base && n > 1)
		n--;
	builder->machine->section = &builder->source->sections[fde->section];
	status = ctx_cfi_run_fde(builder->machine, &cie->cie, &cie->initial, &fde->fde, err);
	if (status == CTX_OK)
		return ctx_cfi_rows_add(rows, fde->fde.end, CTX_CFI_RULE_NONE, err);
	status = settle(builder, status);
	return status == CTX_OK ? forget_rows(rows, n, fde->fde.begin, err) : status;
}

static enum ctx_status add_function(struct builder *builder, const struct fde *fde, struct ctx_err *err)
{
	struct ctx_cfi_table *table = builder->table;
	uint64_t base = table->rows.base;
	enum ctx_status status;

	if (fde->fde.end - base >= UINT32_MAX)
		return settle(builder, CTX_E_LIMIT);
	status = ctx_grow(&table->functions, &builder->functions_cap, table->n_functions + 1, err);
	if (status == CTX_OK)
		status = add_rows(builder, fde, err);
	if (status != CTX_OK)
		return status;
	table->functions[table->n_functions++] =
		(struct ctx_cfi_function){(uint32_t)(fde->fde.begin - base), (uint32_t)(fde->fde.end - base)};
	return CTX_OK;
}

static enum ctx_status add_functions(struct builder *builder, struct ctx_err *err)
{
	struct ctx_cfi_rows *rows = &builder->table->rows;
	enum ctx_status status;
	uint64_t last = 0;

	qsort(builder->fdes, builder->n_fdes, sizeof(*builder->fdes), compare_fdes);
	rows->base = builder->fdes[0].fde.begin - 1;
	status = ctx_cfi_rows_add(rows, rows->base, CTX_CFI_RULE_NONE, err);
	for (size_t i = 0; i < builder->n_fdes && status == CTX_OK; i++) {
		const struct fde *fde = &builder->fdes[i];

		if (i != 0 && fde->fde.begin < last)
			continue; /* described by the previous entry: the same function in the other section */
		last = fde->fde.end;
		status = add_function(builder, fde, err);
	}
	return status;
}

static enum ctx_status make_index(struct ctx_cfi_table *table, struct ctx_err *err)
{
	const struct ctx_cfi_rows *rows = &table->rows;
	size_t n = (rows->items[rows->n - 1].pc >> CTX_CFI_INDEX_SHIFT) + 2;
	uint32_t row = 0;

	if (rows->n > UINT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "too much frame information");
	table->index = ctx_calloc(n, sizeof(*table->index));
	if (table->index == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		while (row + 1 < rows->n && rows->items[row + 1].pc <= (uint64_t)i << CTX_CFI_INDEX_SHIFT)
			row++;
		table->index[i] = row;
	}
	table->n_index = n;
	return CTX_OK;
}

static enum ctx_status build(struct builder *builder, struct ctx_err *err)
{
	enum ctx_status status = ctx_cfi_rules_init(&builder->table->rules, builder->source->machine, err);

	builder->machine = ctx_calloc(1, sizeof(*builder->machine));
	if (builder->machine == NULL)
		return ctx_err_nomem(err);
	builder->sink = (struct ctx_cfi_sink){builder, add_row, add_expression};
	builder->machine->sink = &builder->sink;
	if (status == CTX_OK)
		status = ctx_grow(&builder->cies, &builder->cies_cap, 1, err);
	if (status == CTX_OK)
		builder->cies[builder->n_cies++] = (struct cie){0};
	for (uint32_t i = 0; i < builder->source->n_sections && status == CTX_OK; i++)
		status = read_section(builder, i, err);
	if (status == CTX_OK && builder->n_fdes == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no frame information");
	if (status == CTX_OK)
		status = add_functions(builder, err);
	if (status == CTX_OK)
		status = make_index(builder->table, err);
	return status;
}

static enum ctx_status copy_segments(struct ctx_cfi_table *table, const struct ctx_cfi_source *source,
				     struct ctx_err *err)
{
	if (source->n_segments == 0)
		return CTX_OK;
	table->segments = ctx_calloc(source->n_segments, sizeof(*table->segments));
	if (table->segments == NULL)
		return ctx_err_nomem(err);
	memcpy(table->segments, source->segments, source->n_segments * sizeof(*table->segments));
	table->n_segments = source->n_segments;
	return CTX_OK;
}

enum ctx_status ctx_cfi_build(const struct ctx_cfi_source *source, struct ctx_cfi_table **ret,
			      struct ctx_err *err)
{
	struct ctx_cfi_table *table = ctx_calloc(1, sizeof(*table));
	struct builder builder = {.source = source, .table = table};
	enum ctx_status status;

	if (table == NULL)
		return ctx_err_nomem(err);
	table->machine = source->machine;
	if (source->build_id != NULL)
		snprintf(table->build_id, sizeof(table->build_id), "%s", source->build_id);
	status = build(&builder, err);
	builder_deinit(&builder);
	if (status == CTX_OK)
		status = copy_segments(table, source, err);
	if (status != CTX_OK) {
		ctx_cfi_build_free(table);
		return status;
	}
	ctx_cfi_rules_freeze(&table->rules);
	*ret = table;
	return CTX_OK;
}

void ctx_cfi_build_free(struct ctx_cfi_table *table)
{
	if (table == NULL)
		return;
	ctx_cfi_rules_deinit(&table->rules);
	free(table->segments);
	free(table->rows.items);
	free(table->index);
	free(table->functions);
	free(table);
}
