/*
 *	.eh_frame_hdr: begin, FDE | begin, FDE | ...  --1-->  listed functions --3--> index, places of parts
 *	sections --2--> FDEs, sort by begin, drop overlaps --^
 *
 * The base is one byte before the first function, so that the first row is always NONE (no
 * information).
 */
#include "unwind/cfi_build.h"

#include "base/map64.h"
#include "base/mem.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#define MAX_CIES ((size_t)1 << 16)
#define HEADER_BYTES 12u /* what all linkers write: 4 bytes of encodings, where .eh_frame is, the number */

struct cie {
	struct ctx_cfi_cie cie;
	bool usable;
};

struct fde {
	uint64_t begin, end;
	uint32_t at; /* as in struct ctx_cfi_listed */
};

struct builder {
	const struct ctx_cfi_source *source;
	struct ctx_cfi_table *table;
	struct cie *cies; /* owned; [0] is none */
	size_t n_cies, cies_cap;
	struct ctx_map64 cie_of; /* offset * 2 + section -> index */
	struct fde *fdes;	 /* owned */
	size_t n_fdes, fdes_cap;
};

static void builder_deinit(struct builder *builder)
{
	free(builder->cies);
	free(builder->fdes);
	ctx_map64_deinit(&builder->cie_of);
}

/* --- 1: from the header --- */

static enum ctx_status make_room(struct ctx_cfi_table *table, size_t n, struct ctx_err *err)
{
	table->listed = ctx_calloc(n, sizeof(*table->listed));
	return table->listed != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* Whether the header is of the usual kind, whole, and about the section; `entries` is then at the first one of `n`. */
static bool open_header(const struct ctx_cfi_source *source, struct ctx_cursor *entries, size_t *ret_n)
{
	static const uint8_t kind[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
				       DW_EH_PE_datarel | DW_EH_PE_sdata4};
	const struct ctx_cfi_section *header = &source->header;
	uint64_t frames;

	if (source->sections.n != 1 || !source->sections.items[0].is_eh || header->big_endian ||
	    header->n < HEADER_BYTES || memcmp(header->bytes, kind, sizeof(kind)) != 0)
		return false;
	*entries = ctx_cursor_make(header->bytes + sizeof(kind), header->n - sizeof(kind));
	frames = header->address + sizeof(kind) + (uint64_t)(int64_t)(int32_t)ctx_cursor_get_u32(entries);
	*ret_n = ctx_cursor_get_u32(entries);
	return frames == source->sections.items[0].address && *ret_n != 0 &&
	       *ret_n <= ctx_cursor_left(entries) / 8;
}

/* False: it is not sound, and nothing is listed. CTX_E_NOMEM. */
static enum ctx_status list_by_header(struct builder *builder, bool *ret, struct ctx_err *err)
{
	const struct ctx_cfi_source *source = builder->source;
	const struct ctx_cfi_section *section = &source->sections.items[0];
	struct ctx_cfi_table *table = builder->table;
	struct ctx_cursor entries;
	enum ctx_status status;
	size_t n;

	*ret = false;
	if (!open_header(source, &entries, &n))
		return CTX_OK;
	status = make_room(table, n, err);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		uint64_t pc =
			source->header.address + (uint64_t)(int64_t)(int32_t)ctx_cursor_get_u32(&entries);
		uint64_t at = source->header.address +
			      (uint64_t)(int64_t)(int32_t)ctx_cursor_get_u32(&entries) - section->address;

		if (i == 0)
			table->base = pc - 1;
		if (at >= section->n || at >= CTX_CFI_SECOND || pc - table->base >= UINT32_MAX ||
		    (i != 0 && pc - table->base <= table->listed[i - 1].begin))
			return CTX_OK;
		table->listed[i] = (struct ctx_cfi_listed){(uint32_t)(pc - table->base), (uint32_t)at};
	}
	*ret = status == CTX_OK;
	table->n_listed = *ret ? n : 0;
	return status;
}

/* --- 2: from the descriptions --- */

/* Damage of one entry is counted; only lack of memory is a failure. */
static enum ctx_status settle(struct builder *builder, enum ctx_status status)
{
	if (status == CTX_OK || status == CTX_E_NOMEM)
		return status;
	builder->table->damaged++;
	return CTX_OK;
}

static enum ctx_status read_cie(struct builder *builder, uint32_t section, size_t offset, struct cie *ret)
{
	const struct ctx_cfi_section *from = &builder->source->sections.items[section];
	struct ctx_cfi_entry entry;
	size_t at = offset;

	if (ctx_cfi_entry_next(from, &at, &entry) != CTX_OK || entry.offset != offset ||
	    entry.kind != CTX_CFI_ENTRY_CIE || !ctx_cfi_cie_read(from, &entry, &ret->cie))
		return settle(builder, CTX_E_FORMAT);
	ret->usable = true;
	return CTX_OK;
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
			status = read_cie(builder, section, offset, &cie);
		if (status != CTX_OK)
			return status;
		builder->cies[builder->n_cies++] = cie;
	}
	*ret = *place;
	return CTX_OK;
}

static enum ctx_status read_fde(struct builder *builder, uint32_t section, const struct ctx_cfi_entry *entry,
				struct ctx_err *err)
{
	const struct ctx_cfi_source *source = builder->source;
	const struct ctx_cfi_section *from = &source->sections.items[section];
	struct ctx_cfi_fde fde;
	enum ctx_status status;
	uint32_t cie = 0;

	if (entry->cie_offset >= from->n || entry->offset >= CTX_CFI_SECOND)
		return settle(builder, CTX_E_FORMAT);
	status = find_cie(builder, section, entry->cie_offset, &cie, err);
	if (status != CTX_OK)
		return status;
	if (!builder->cies[cie].usable || !ctx_cfi_fde_read(from, entry, &builder->cies[cie].cie, &fde))
		return settle(builder, CTX_E_FORMAT);
	if (fde.begin == fde.end || !ctx_cfi_is_code(source->segments, source->n_segments, &fde))
		return CTX_OK;
	status = ctx_grow(&builder->fdes, &builder->fdes_cap, builder->n_fdes + 1, err);
	if (status == CTX_OK)
		builder->fdes[builder->n_fdes++] = (struct fde){
			fde.begin, fde.end, (uint32_t)entry->offset | (section != 0 ? CTX_CFI_SECOND : 0)};
	return status;
}

static enum ctx_status read_section(struct builder *builder, uint32_t section, struct ctx_err *err)
{
	struct ctx_cfi_entry entry;
	enum ctx_status status;
	size_t at = 0;

	for (;;) {
		status = ctx_cfi_entry_next(&builder->source->sections.items[section], &at, &entry);
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

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static enum ctx_status list_fdes(struct builder *builder, struct ctx_err *err)
{
	struct ctx_cfi_table *table = builder->table;
	enum ctx_status status = make_room(table, builder->n_fdes, err);
	uint64_t last = 0;

	if (status != CTX_OK)
		return status;
	qsort(builder->fdes, builder->n_fdes, sizeof(*builder->fdes), compare_fdes);
	table->base = builder->fdes[0].begin - 1;
	for (size_t i = 0; i < builder->n_fdes && status == CTX_OK; i++) {
		const struct fde *fde = &builder->fdes[i];

		if (i != 0 && fde->begin < last)
			continue; /* described by the previous entry: the same function in the other section */
		last = fde->end;
		if (fde->end - table->base >= UINT32_MAX)
			status = settle(builder, CTX_E_LIMIT);
		else
			table->listed[table->n_listed++] =
				(struct ctx_cfi_listed){(uint32_t)(fde->begin - table->base), fde->at};
	}
	return status;
}

static enum ctx_status list_by_descriptions(struct builder *builder, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&builder->cies, &builder->cies_cap, 1, err);

	if (status == CTX_OK)
		builder->cies[builder->n_cies++] = (struct cie){0};
	for (uint32_t i = 0; i < builder->source->sections.n && status == CTX_OK; i++)
		status = read_section(builder, i, err);
	if (status == CTX_OK && builder->n_fdes != 0)
		status = list_fdes(builder, err);
	return status;
}

/* --- 3: the table --- */

static enum ctx_status make_index(struct ctx_cfi_table *table, struct ctx_err *err)
{
	size_t n = (table->listed[table->n_listed - 1].begin >> CTX_CFI_INDEX_SHIFT) + 2;
	uint32_t at = 0;

	if (table->n_listed > UINT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "too much frame information");
	table->index = ctx_calloc(n, sizeof(*table->index));
	table->parts = ctx_calloc((table->n_listed - 1) / CTX_CFI_PART + 1, sizeof(struct ctx_cfi_part *));
	if (table->index == NULL || table->parts == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		while (at + 1 < table->n_listed &&
		       table->listed[at + 1].begin <= (uint64_t)i << CTX_CFI_INDEX_SHIFT)
			at++;
		table->index[i] = at;
	}
	table->n_index = n;
	return CTX_OK;
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

static enum ctx_status list(struct builder *builder, struct ctx_err *err)
{
	bool is_listed;
	enum ctx_status status = list_by_header(builder, &is_listed, err);

	if (status == CTX_OK && !is_listed) {
		free(builder->table->listed);
		builder->table->listed = NULL;
		status = list_by_descriptions(builder, err);
	}
	if (status == CTX_OK && builder->table->n_listed == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no frame information");
	return status;
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
	status = list(&builder, err);
	builder_deinit(&builder);
	if (status == CTX_OK)
		status = make_index(table, err);
	if (status == CTX_OK)
		status = copy_segments(table, source, err);
	if (status == CTX_OK)
		status = ctx_cfi_part_none(table, &table->none, err);
	if (status == CTX_OK)
		status = ctx_cfi_reader_create(&source->sections, source->file, &table->reader, err);
	if (status != CTX_OK) {
		ctx_cfi_build_free(table);
		return status;
	}
	*ret = table;
	return CTX_OK;
}

void ctx_cfi_build_free(struct ctx_cfi_table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; table->parts != NULL && i < (table->n_listed + CTX_CFI_PART - 1) / CTX_CFI_PART;
	     i++)
		ctx_cfi_part_destroy(table->parts[i]);
	ctx_cfi_part_destroy(table->none);
	ctx_cfi_reader_destroy(table->reader);
	free(table->parts);
	free(table->segments);
	free(table->index);
	free(table->listed);
	free(table);
}
