/*
 * A table is: the executable segments (file offset -> address), the frozen symbol set (address -> entry), and
 * one lazily filled pair of readable names for each entry.
 *
 * Up to three files are open while it is made, because names are borrowed from them until the set is frozen:
 *
 *	archive   segments, .symtab, .dynsym, PLT
 *	debug     .symtab, when the archive has none (the same addresses by construction)
 *	own file  what the archive would give, when there is no archive or no .symtab yet
 */
#include "symbols/symtab.h"

#include "base/arena.h"
#include "base/mem.h"
#include "symbols/demangle.h"
#include "symbols/elfobj.h"
#include "symbols/image.h"
#include "symbols/kallsyms.h"
#include "symbols/symset.h"

#include <stdio.h>
#include <string.h>

#define DEBUG_ROOT "/usr/lib/debug"

struct readable { /* NULL until asked for */
	const char *name;
	const char *aliases;
};

struct ctx_symtab {
	struct ctx_symset set;
	struct readable *readable; /* by entry */
	struct ctx_arena arena;
	struct ctx_elfobj_range *segments;
	size_t segment_n;
	const char *origin;
	char build_id[CTX_BUILD_ID_TEXT_MAX];
	bool kernel;
};

enum { ARCHIVE, DEBUG, OWN, CANDIDATES };

struct opening {
	const struct ctx_symtab_request *request;
	struct ctx_symtab *table;
	struct ctx_elfobj objects[CANDIDATES];
	bool open[CANDIDATES];
	const char *origins[CANDIDATES];
	int symtab_from; /* whose .symtab was taken; CANDIDATES none */
	struct ctx_buf reasons;
};

static void opening_cleanup(struct opening *opening)
{
	for (int i = 0; i < CANDIDATES; i++)
		ctx_elfobj_close(&opening->objects[i]);
	ctx_buf_deinit(&opening->reasons);
}

static void symtab_cleanup(struct ctx_symtab **table)
{
	ctx_symtab_close(*table);
}

static void buf_cleanup(struct ctx_buf *buf)
{
	ctx_buf_deinit(buf);
}

static void add_reason(struct opening *opening, const char *text)
{
	ctx_buf_printf(&opening->reasons, "%s%s", opening->reasons.n != 0 ? "; " : "", text);
}

/*
 * Takes the result of opening one candidate: keeps it when it is the wanted object. A file that is no good is
 * a reason, not a failure; only memory is.
 */
static enum ctx_status keep_candidate(struct opening *opening, int which, const char *origin,
				      enum ctx_status status, const struct ctx_err *opened,
				      struct ctx_err *err)
{
	const char *wanted = opening->request->build_id;
	struct ctx_elfobj *obj = &opening->objects[which];

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK) {
		add_reason(opening, opened->msg);
	} else if (wanted[0] != '\0' && strcmp(wanted, obj->build_id) != 0) {
		ctx_buf_printf(&opening->reasons, "%s%s: build id is %s, wanted %s",
			       opening->reasons.n != 0 ? "; " : "", origin,
			       obj->build_id[0] != '\0' ? obj->build_id : "missing", wanted);
	} else {
		opening->open[which] = true;
		opening->origins[which] = origin;
		return CTX_OK;
	}
	ctx_elfobj_close(obj);
	return CTX_OK;
}

/* `symtab_from` is set when this candidate has a .symtab with functions. */
static enum ctx_status add_full_table(struct opening *opening, int which, struct ctx_err *err)
{
	enum ctx_status status;
	struct ctx_err damage;
	size_t count;

	if (!opening->open[which])
		return CTX_OK;
	status = ctx_elfobj_add_symbols(&opening->objects[which], SHT_SYMTAB, &opening->table->set, &count,
					&damage);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		add_reason(opening, damage.msg);
	else if (count != 0)
		opening->symtab_from = which;
	return CTX_OK;
}

static char *under_symfs(struct opening *opening, const char *path)
{
	const char *symfs = opening->request->symfs;
	size_t bytes = strlen(symfs) + strlen(path) + 1;
	char *full = ctx_arena_alloc(&opening->table->arena, bytes);

	if (full != NULL)
		snprintf(full, bytes, "%s%s", symfs, path);
	return full;
}

static enum ctx_status try_archive(struct opening *opening, struct ctx_err *err)
{
	enum ctx_status status;
	struct ctx_err opened = {0};

	if (opening->request->archive[0] == '\0')
		return CTX_OK;
	status = ctx_elfobj_open_archive(&opening->objects[ARCHIVE], opening->request->archive, &opened);
	status = keep_candidate(opening, ARCHIVE, "archive", status, &opened, err);
	return status == CTX_OK ? add_full_table(opening, ARCHIVE, err) : status;
}

static enum ctx_status try_path(struct opening *opening, int which, const char *path, struct ctx_err *err)
{
	struct ctx_err opened = {0};
	char *full = under_symfs(opening, path);
	enum ctx_status status;

	if (full == NULL)
		return ctx_err_nomem(err);
	status = ctx_elfobj_open_path(&opening->objects[which], full, &opened);
	status = keep_candidate(opening, which, full, status, &opened, err);
	return status == CTX_OK && opening->symtab_from == CANDIDATES ? add_full_table(opening, which, err)
								      : status;
}

static enum ctx_status try_debug(struct opening *opening, struct ctx_err *err)
{
	const char *id = opening->request->build_id;
	const char *root = opening->request->debug_root;
	struct ctx_buf path __attribute__((cleanup(buf_cleanup))) = {0};
	enum ctx_status status;

	/* The id becomes part of a path: digits only. */
	if (strlen(id) < 3 || strspn(id, "0123456789abcdef") != strlen(id))
		return CTX_OK;
	ctx_buf_printf(&path, "%s/.build-id/%.2s/%s.debug", root[0] != '\0' ? root : DEBUG_ROOT, id, id + 2);
	ctx_buf_put_u8(&path, 0);
	status = ctx_buf_check(&path, err);
	return status == CTX_OK ? try_path(opening, DEBUG, (const char *)path.bytes, err) : status;
}

/* "[vdso]", "//anon" and the like are no files. */
static enum ctx_status try_own(struct opening *opening, struct ctx_err *err)
{
	const char *path = opening->request->path;

	if (path[0] == '\0' || path[0] == '[' || strncmp(path, "//", 2) == 0)
		return CTX_OK;
	return try_path(opening, OWN, path, err);
}

static enum ctx_status open_candidates(struct opening *opening, struct ctx_err *err)
{
	enum ctx_status status = try_archive(opening, err);

	if (status == CTX_OK && opening->symtab_from == CANDIDATES)
		status = try_debug(opening, err);
	if (status != CTX_OK || (opening->open[ARCHIVE] && opening->symtab_from != CANDIDATES))
		return status;
	/* Without a build id nothing tells that an archive and the file at the path are the same object. */
	if (opening->open[ARCHIVE] && opening->request->build_id[0] == '\0')
		return CTX_OK;
	return try_own(opening, err);
}

static enum ctx_status add_dynamic(struct opening *opening, int which, struct ctx_err *err)
{
	struct ctx_symset *set = &opening->table->set;
	struct ctx_err damage;
	enum ctx_status status;
	size_t count;

	status = ctx_elfobj_add_symbols(&opening->objects[which], SHT_DYNSYM, set, &count, &damage);
	if (status == CTX_OK)
		status = ctx_elfobj_add_plt(&opening->objects[which], set, &damage);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		add_reason(opening, damage.msg);
	return CTX_OK;
}

static enum ctx_status set_origin(struct opening *opening, int base, struct ctx_err *err)
{
	struct ctx_symtab *table = opening->table;

	if (table->set.n == 0) {
		if (base != CANDIDATES)
			add_reason(opening, "no symbols");
		else if (opening->reasons.n == 0)
			add_reason(opening, "no file");
		ctx_buf_put_u8(&opening->reasons, 0);
		if (ctx_buf_check(&opening->reasons, err) != CTX_OK)
			return CTX_E_NOMEM;
		base = CANDIDATES;
	} else if (opening->symtab_from != CANDIDATES) {
		base = opening->symtab_from;
	}
	if (base == CANDIDATES) {
		size_t bytes = sizeof("none: ") + opening->reasons.n;
		char *text = ctx_arena_alloc(&table->arena, bytes);

		if (text != NULL)
			snprintf(text, bytes, "none: %s", (const char *)opening->reasons.bytes);
		table->origin = text;
	} else {
		table->origin = ctx_arena_strdup(&table->arena, opening->origins[base]);
	}
	return table->origin != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status freeze(struct ctx_symtab *table, struct ctx_err *err)
{
	enum ctx_status status = ctx_symset_freeze(&table->set, err);

	if (status != CTX_OK)
		return status;
	table->readable = ctx_calloc((size_t)table->set.n + 1, sizeof(*table->readable));
	return table->readable != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* The base is the file whose headers, .dynsym and PLT are used: a copy of the original before a debug file,
 * whose sections are empty. */
static enum ctx_status finish(struct opening *opening, struct ctx_err *err)
{
	static const int order[] = {ARCHIVE, OWN, DEBUG};
	struct ctx_symtab *table = opening->table;
	enum ctx_status status = CTX_OK;
	int base = CANDIDATES;

	for (size_t i = CTX_COUNT_OF(order); i-- > 0;) {
		if (opening->open[order[i]])
			base = order[i];
	}
	if (base != CANDIDATES) {
		struct ctx_elfobj *obj = &opening->objects[base];

		status = add_dynamic(opening, base, err);
		memcpy(table->build_id, obj->build_id, sizeof(table->build_id));
		table->segments = obj->segments;
		table->segment_n = obj->segment_n;
		obj->segments = NULL;
		obj->segment_n = 0;
	}
	if (status == CTX_OK)
		status = freeze(table, err);
	return status == CTX_OK ? set_origin(opening, base, err) : status;
}

static struct opening start_opening(const struct ctx_symtab_request *request)
{
	struct opening opening = {.request = request, .symtab_from = CANDIDATES};

	for (int i = 0; i < CANDIDATES; i++)
		opening.objects[i].fd = -1;
	opening.table = ctx_calloc(1, sizeof(*opening.table));
	return opening;
}

enum ctx_status ctx_symtab_open(const struct ctx_symtab_request *request, struct ctx_symtab **ret,
				struct ctx_err *err)
{
	struct opening opening __attribute__((cleanup(opening_cleanup))) = start_opening(request);
	struct ctx_symtab *table __attribute__((cleanup(symtab_cleanup))) = opening.table;
	enum ctx_status status;

	if (table == NULL)
		return ctx_err_nomem(err);
	status = open_candidates(&opening, err);
	if (status == CTX_OK)
		status = finish(&opening, err);
	if (status != CTX_OK)
		return status;
	*ret = table;
	table = NULL;
	return CTX_OK;
}

enum ctx_status ctx_symtab_open_bytes(const void *bytes, size_t n, struct ctx_symtab **ret,
				      struct ctx_err *err)
{
	static const struct ctx_symtab_request request = {"", "", "", "", "", NULL};
	struct opening opening __attribute__((cleanup(opening_cleanup))) = start_opening(&request);
	struct ctx_symtab *table __attribute__((cleanup(symtab_cleanup))) = opening.table;
	struct ctx_err opened = {0};
	enum ctx_status status;

	if (table == NULL)
		return ctx_err_nomem(err);
	status = ctx_elfobj_open_bytes(&opening.objects[ARCHIVE], bytes, n, &opened);
	status = keep_candidate(&opening, ARCHIVE, "memory", status, &opened, err);
	if (status == CTX_OK)
		status = add_full_table(&opening, ARCHIVE, err);
	if (status == CTX_OK)
		status = finish(&opening, err);
	if (status != CTX_OK)
		return status;
	*ret = table;
	table = NULL;
	return CTX_OK;
}

/* `text` is followed by a zero byte, and is cut up. */
static enum ctx_status open_kallsyms_text(struct ctx_buf *text, struct ctx_symtab **ret, struct ctx_err *err)
{
	struct ctx_symtab *table __attribute__((cleanup(symtab_cleanup))) = ctx_calloc(1, sizeof(*table));
	enum ctx_status status;

	if (table == NULL)
		return ctx_err_nomem(err);
	ctx_buf_put_u8(text, 0);
	status = ctx_buf_check(text, err);
	if (status == CTX_OK)
		status = ctx_kallsyms_add((char *)text->bytes, text->n - 1, &table->set, err);
	if (status == CTX_OK)
		status = freeze(table, err);
	if (status != CTX_OK)
		return status;
	table->origin = "kallsyms";
	table->kernel = true;
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

void ctx_symtab_close(struct ctx_symtab *table)
{
	if (table == NULL)
		return;
	ctx_symset_deinit(&table->set);
	ctx_arena_deinit(&table->arena);
	free(table->readable);
	free(table->segments);
	free(table);
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
	if (table->kernel) {
		*ret_address = file_offset;
		return true;
	}
	for (size_t i = 0; i < table->segment_n; i++) {
		const struct ctx_elfobj_range *segment = &table->segments[i];

		if (file_offset >= segment->offset && file_offset - segment->offset < segment->size) {
			*ret_address = file_offset - segment->offset + segment->address;
			return true;
		}
	}
	return false;
}

bool ctx_symtab_find(const struct ctx_symtab *table, uint64_t address, uint32_t *ret_index)
{
	return ctx_symset_find(&table->set, address, ret_index);
}

uint32_t ctx_symtab_count(const struct ctx_symtab *table)
{
	return table->set.n;
}

/* A readable form that is the same as the linkage name costs no copy. */
static const char *readable_name(struct ctx_symtab *table, const char *linkage_name)
{
	struct ctx_buf text __attribute__((cleanup(buf_cleanup))) = {0};

	if (!ctx_demangle(linkage_name, &text))
		return text.failed ? NULL : linkage_name;
	return ctx_arena_strndup(&table->arena, (const char *)text.bytes, text.n);
}

static const char *readable_aliases(struct ctx_symtab *table, const struct ctx_symset_entry *entry)
{
	struct ctx_buf text __attribute__((cleanup(buf_cleanup))) = {0};
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
	struct readable *readable;

	if (index >= table->set.n)
		return ctx_err_set(err, CTX_E_ARG, "symbol %u of %u", index, table->set.n);
	entry = &table->set.entries[index];
	readable = &table->readable[index];
	if (readable->name == NULL)
		readable->name = readable_name(table, table->set.text + entry->name);
	if (readable->aliases == NULL)
		readable->aliases = readable_aliases(table, entry);
	if (readable->name == NULL || readable->aliases == NULL)
		return ctx_err_nomem(err);
	*ret = (struct ctx_symbol){
		.name = readable->name,
		.linkage_name = table->set.text + entry->name,
		.aliases = readable->aliases,
		.start = entry->start,
		.size = entry->size,
		.module = table->set.text + entry->module,
	};
	return CTX_OK;
}
