/*
 * Raw symbols, sorted by (start, name), become one entry per start address; entries overlap or nest
 * as in the file:
 *
 *	entries   |---- outer (sized) ---------|      |- unsized ->|- next -|
 *	                 |-- inner --|
 *	ranges    [outer)[inner      )[outer   )[none)[unsized     )[next   )[none
 *
 * Extents (functions according to unwind tables) fill gaps without a symbol, as entries without a
 * name:
 *
 *	symbols   |-- sized --|    |- unsized ->                     |- unsized ->
 *	extents   |-----------|    |----------|       |---------|
 *	entries   |-- sized --|    |- unsized-|       | no name |    |- unsized (to the end of the section)
 *
 * The ranges are disjoint and sorted, so that a lookup is one binary search. One sweep builds them,
 * with a stack of the open entries: the top has the largest start.
 */
#include "symbols/symset.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <string.h>

#define NO_ENTRY UINT32_MAX

void ctx_symset_deinit(struct ctx_symset *set)
{
	free(set->raw);
	free(set->extents);
	free(set->entries);
	free(set->range_starts);
	free(set->range_entries);
	free(set->text);
	free(set->file_names);
	free(set->files);
	ctx_arena_deinit(&set->names);
	*set = (struct ctx_symset){0};
}

enum ctx_status ctx_symset_add_file(struct ctx_symset *set, const char *name, size_t n, uint32_t *ret,
				    struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&set->file_names, &set->file_names_cap, set->n_files + 1, err);

	if (status != CTX_OK)
		return status;
	if (set->n_files >= UINT32_MAX - 1)
		return ctx_err_set(err, CTX_E_LIMIT, "symbols: more than 4 G source files");
	set->file_names[set->n_files] = ctx_arena_strndup(&set->names, name, n);
	if (set->file_names[set->n_files] == NULL)
		return ctx_err_nomem(err);
	*ret = (uint32_t)++set->n_files;
	return CTX_OK;
}

const char *ctx_symset_file(const struct ctx_symset *set, uint32_t file)
{
	return file != 0 && file <= set->n_files && set->files != NULL ? set->text + set->files[file] : "";
}

enum ctx_status ctx_symset_add(struct ctx_symset *set, const struct ctx_symset_raw *raw, struct ctx_err *err)
{
	enum ctx_status status;

	if (raw->name[0] == '\0' || raw->start >= raw->limit)
		return CTX_OK;
	status = ctx_grow(&set->raw, &set->raw_cap, set->raw_n + 1, err);
	if (status != CTX_OK)
		return status;
	set->raw[set->raw_n] = *raw;
	if (raw->size > raw->limit - raw->start)
		set->raw[set->raw_n].size = raw->limit - raw->start;
	set->raw_n++;
	return CTX_OK;
}

enum ctx_status ctx_symset_add_extent(struct ctx_symset *set, uint64_t start, uint64_t size,
				      struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&set->extents, &set->extents_cap, set->extent_n + 1, err);

	if (status != CTX_OK)
		return status;
	set->extents[set->extent_n++] = (struct ctx_symset_extent){.start = start, .end = start + size};
	return CTX_OK;
}

static int compare_extents(const void *left, const void *right)
{
	const struct ctx_symset_extent *a = left;
	const struct ctx_symset_extent *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Sorts by start and drops extents that begin in another. Mostly they are already sorted. */
static void sort_extents(struct ctx_symset *set)
{
	size_t kept = 0;
	size_t i = 1;

	while (i < set->extent_n && compare_extents(&set->extents[i - 1], &set->extents[i]) < 0)
		i++;
	if (i < set->extent_n)
		qsort(set->extents, set->extent_n, sizeof(*set->extents), compare_extents);
	for (i = 0; i < set->extent_n; i++) {
		if (kept == 0 || set->extents[i].start >= set->extents[kept - 1].end)
			set->extents[kept++] = set->extents[i];
	}
	set->extent_n = kept;
}

static int compare_raw(const void *left, const void *right)
{
	const struct ctx_symset_raw *a = left;
	const struct ctx_symset_raw *b = right;
	int order;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	order = strcmp(a->name, b->name);
	if (order != 0)
		return order;
	return a->size < b->size ? -1 : a->size > b->size;
}

static enum ctx_status put_text(struct ctx_symset *set, const char *text, uint32_t *ret_offset,
				struct ctx_err *err)
{
	size_t bytes = strlen(text) + 1;
	enum ctx_status status;

	if (bytes > UINT32_MAX - set->text_n)
		return ctx_err_set(err, CTX_E_LIMIT, "symbols: more than 4 GiB of names");
	status = ctx_grow(&set->text, &set->text_cap, set->text_n + bytes, err);
	if (status != CTX_OK)
		return status;
	memcpy(set->text + set->text_n, text, bytes);
	*ret_offset = (uint32_t)set->text_n;
	set->text_n += bytes;
	return CTX_OK;
}

/* The alias to show: the last by name (E11), preferring symbols with a size. */
static size_t shown_alias(const struct ctx_symset_raw *raw, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		if (raw[i].size != 0)
			return i;
	}
	return n - 1;
}

/*
 * Symbols of one module are mostly adjacent, so comparing with the previous entry's module avoids
 * nearly all copies.
 */
static enum ctx_status put_module(struct ctx_symset *set, const char *module, uint32_t *ret_offset,
				  struct ctx_err *err)
{
	if (module[0] == '\0') {
		*ret_offset = 0;
		return CTX_OK;
	}
	if (set->n > 0 && strcmp(set->text + set->entries[set->n - 1].module, module) == 0) {
		*ret_offset = set->entries[set->n - 1].module;
		return CTX_OK;
	}
	return put_text(set, module, ret_offset, err);
}

/*
 * Names of the `n` raw symbols of one start address. Equal names (of .symtab and .dynsym) are one.
 */
static enum ctx_status put_names(struct ctx_symset *set, const struct ctx_symset_raw *raw, size_t n,
				 struct ctx_symset_entry *entry, struct ctx_err *err)
{
	const char *shown = raw[shown_alias(raw, n)].name;
	enum ctx_status status = put_text(set, shown, &entry->name, err);
	uint32_t ignored;

	entry->aliases = (uint32_t)set->text_n;
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		if (strcmp(raw[i].name, shown) == 0 || (i > 0 && strcmp(raw[i].name, raw[i - 1].name) == 0))
			continue;
		status = put_text(set, raw[i].name, &ignored, err);
		entry->alias_count++;
	}
	return status;
}

/* The source file of all symbols that have one; 0 none, or several. */
static uint32_t common_file(const struct ctx_symset_raw *raw, size_t n)
{
	uint32_t file = 0;

	for (size_t i = 0; i < n; i++) {
		if (raw[i].file == 0)
			continue;
		if (file != 0 && raw[i].file != file)
			return 0;
		file = raw[i].file;
	}
	return file;
}

/*
 * State while building entries: raw symbols and extents are consumed in the order of their starts.
 */
struct making {
	struct ctx_symset *set;
	uint64_t sized_end; /* largest end of the symbols with a size so far */
	size_t extent;	    /* the first that is not consumed yet */
};

/* The end of an unsized symbol at `start` according to the extents. */
static uint64_t extent_limit(const struct making *making, uint64_t start)
{
	const struct ctx_symset *set = making->set;

	if (making->extent > 0 && set->extents[making->extent - 1].end > start)
		return set->extents[making->extent - 1].end;
	return making->extent < set->extent_n ? set->extents[making->extent].start : UINT64_MAX;
}

/*
 * Adds the entry for the `n` raw symbols of one start address; `next` is the following start
 * address. An unsized symbol inside a sized one is a label of that function, and is dropped.
 */
static enum ctx_status add_entry(struct making *making, const struct ctx_symset_raw *raw, size_t n,
				 uint64_t next, struct ctx_err *err)
{
	struct ctx_symset *set = making->set;
	struct ctx_symset_entry *entry = &set->entries[set->n];
	uint64_t reach = extent_limit(making, raw->start);
	uint64_t limit = 0;
	enum ctx_status status;

	*entry = (struct ctx_symset_entry){.start = raw->start, .file = common_file(raw, n)};
	for (size_t i = 0; i < n; i++) {
		entry->size = raw[i].size > entry->size ? raw[i].size : entry->size;
		limit = raw[i].limit > limit ? raw[i].limit : limit;
	}
	if (entry->size == 0 && entry->start < making->sized_end)
		return CTX_OK;
	limit = next < limit ? next : limit;
	if (entry->size == 0)
		entry->size = (reach < limit ? reach : limit) - entry->start;
	else if (entry->start + entry->size > making->sized_end)
		making->sized_end = entry->start + entry->size;
	status = put_module(set, raw->module, &entry->module, err);
	if (status == CTX_OK)
		status = put_names(set, raw, n, entry, err);
	if (status == CTX_OK)
		set->n++;
	return status;
}

/*
 * Consumes the extents that begin up to `until`, where the next symbol is; those that begin before
 * it become entries without a name. The extent of a signal trampoline begins one byte early, so
 * that a lookup of the return address - 1 finds it: that byte is not a function.
 */
static void take_extents(struct making *making, uint64_t until)
{
	struct ctx_symset *set = making->set;

	for (; making->extent < set->extent_n; making->extent++) {
		const struct ctx_symset_extent *extent = &set->extents[making->extent];

		if (extent->start > until)
			return;
		if (extent->start < making->sized_end || extent->start == until || extent->start + 1 == until)
			continue;
		set->entries[set->n++] = (struct ctx_symset_entry){.start = extent->start,
								   .size = extent->end - extent->start};
	}
}

static enum ctx_status make_entries(struct ctx_symset *set, struct ctx_err *err)
{
	struct making making = {.set = set};
	uint32_t empty;
	enum ctx_status status = put_text(set, "", &empty, err);
	size_t end;

	for (size_t begin = 0; begin < set->raw_n && status == CTX_OK; begin = end) {
		const struct ctx_symset_raw *raw = &set->raw[begin];

		for (end = begin + 1; end < set->raw_n && set->raw[end].start == raw->start;)
			end++;
		take_extents(&making, raw->start);
		status = add_entry(&making, raw, end - begin,
				   end < set->raw_n ? set->raw[end].start : UINT64_MAX, err);
	}
	take_extents(&making, UINT64_MAX);
	return status;
}

static enum ctx_status put_files(struct ctx_symset *set, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	set->files = ctx_calloc(set->n_files + 1, sizeof(*set->files));
	if (set->files == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < set->n_files && status == CTX_OK; i++)
		status = put_text(set, set->file_names[i], &set->files[i + 1], err);
	return status;
}

static uint64_t entry_end(const struct ctx_symset_entry *entry)
{
	return entry->start + entry->size;
}

/*
 * Assigns the addresses from `start` on to `owner`; overwrites a range that turns out to be empty.
 */
static void put_range(struct ctx_symset *set, uint64_t start, uint32_t owner)
{
	if (set->range_n > 0 && set->range_starts[set->range_n - 1] == start)
		set->range_n--;
	set->range_starts[set->range_n] = start;
	set->range_entries[set->range_n++] = owner;
}

/*
 * Closes the entries that end at or before `until`; the range after each belongs to the one below
 * it on the stack, or to none.
 */
static size_t close_entries(struct ctx_symset *set, const uint32_t *open, size_t depth, uint64_t until)
{
	while (depth > 0) {
		uint64_t end = entry_end(&set->entries[open[depth - 1]]);

		if (end > until)
			break;
		do
			depth--;
		while (depth > 0 && entry_end(&set->entries[open[depth - 1]]) <= end);
		put_range(set, end, depth > 0 ? open[depth - 1] : NO_ENTRY);
	}
	return depth;
}

static enum ctx_status make_ranges(struct ctx_symset *set, struct ctx_err *err)
{
	uint32_t *open CTX_AUTO_FREE = ctx_calloc((size_t)set->n + 1, sizeof(*open));
	size_t depth = 0;

	/* Every entry opens one range and closes at most one. */
	set->range_starts = ctx_calloc((size_t)set->n * 2 + 1, sizeof(*set->range_starts));
	set->range_entries = ctx_calloc((size_t)set->n * 2 + 1, sizeof(*set->range_entries));
	if (open == NULL || set->range_starts == NULL || set->range_entries == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < set->n; i++) {
		depth = close_entries(set, open, depth, set->entries[i].start);
		put_range(set, set->entries[i].start, i);
		open[depth++] = i;
	}
	close_entries(set, open, depth, UINT64_MAX);
	return CTX_OK;
}

enum ctx_status ctx_symset_freeze(struct ctx_symset *set, struct ctx_err *err)
{
	enum ctx_status status;

	if (set->raw_n >= UINT32_MAX / 4 || set->extent_n >= UINT32_MAX / 4)
		return ctx_err_set(err, CTX_E_LIMIT, "symbols: more than 1 G symbols");
	if (set->raw_n != 0)
		qsort(set->raw, set->raw_n, sizeof(*set->raw), compare_raw);
	sort_extents(set);
	set->entries = ctx_calloc(set->raw_n + set->extent_n + 1, sizeof(*set->entries));
	if (set->entries == NULL)
		return ctx_err_nomem(err);
	status = make_entries(set, err);
	if (status == CTX_OK)
		status = put_files(set, err);
	if (status == CTX_OK)
		status = make_ranges(set, err);
	free(set->file_names);
	set->file_names = NULL;
	set->file_names_cap = 0;
	free(set->raw);
	set->raw = NULL;
	set->raw_n = set->raw_cap = 0;
	free(set->extents);
	set->extents = NULL;
	set->extent_n = set->extents_cap = 0;
	ctx_arena_deinit(&set->names);
	return status;
}

bool ctx_symset_find(const struct ctx_symset *set, uint64_t address, uint32_t *ret_index)
{
	size_t n = ctx_count_up_to_u64(set->range_starts, set->range_n, address);

	if (n == 0 || set->range_entries[n - 1] == NO_ENTRY)
		return false;
	*ret_index = set->range_entries[n - 1];
	return true;
}
