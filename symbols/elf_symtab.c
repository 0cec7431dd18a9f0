/*
 * Builds the symbol table of a load object from its files. Up to two files stay open meanwhile,
 * because names are borrowed from them until the set is frozen:
 *
 *	image   segments, .dynsym, PLT, FDEs      the first that is found
 *	full    .symtab                           the first that has one with functions: an image, or a debug file
 *	                                          (the same addresses by construction)
 */
#include "base/mem.h"
#include "elf/file_search.h"
#include "elf/reasons.h"
#include "symbols/elf_functions.h"
#include "symbols/fde_ranges.h"
#include "symbols/symtab.h"
#include "symbols/symtab_table.h"

#include <string.h>

struct opening {
	struct ctx_symtab *table;
	struct ctx_file_search search;
	struct ctx_elf_file image, full; /* no elf: none */
	const char *image_origin;	 /* NULL none; lives as long as the search */
	const char *full_origin;	 /* as above; set as well when the image has the .symtab */
};

static void opening_cleanup(struct opening *opening)
{
	ctx_elf_close(&opening->image);
	ctx_elf_close(&opening->full);
	ctx_file_search_deinit(&opening->search);
}

static struct ctx_elf_file move_out(struct ctx_file_candidate *candidate)
{
	struct ctx_elf_file obj = candidate->obj;

	candidate->obj = (struct ctx_elf_file){.fd = -1};
	return obj;
}

/* Takes the first image, and the first file with a .symtab of functions. */
static enum ctx_status visit(struct ctx_file_search *search, struct ctx_file_candidate *candidate,
			     struct ctx_err *err)
{
	struct opening *opening = search->context;
	bool is_full = false;

	if (opening->full_origin == NULL) {
		struct ctx_err damage;
		size_t count = 0;
		enum ctx_status status = ctx_elf_functions_add(&candidate->obj, SHT_SYMTAB,
							       &opening->table->set, &count, &damage);

		if (status == CTX_E_NOMEM)
			return ctx_err_nomem(err);
		if (status != CTX_OK)
			ctx_reasons_add(&search->reasons, "%s", damage.msg);
		is_full = status == CTX_OK && count != 0;
	}
	if (is_full) {
		opening->full_origin = candidate->origin;
		search->wanted &= ~(unsigned)CTX_WANT_DEBUG;
	}
	if (candidate->is_image && opening->image_origin == NULL) {
		opening->image_origin = candidate->origin;
		opening->image = move_out(candidate);
		search->wanted &= ~(unsigned)CTX_WANT_IMAGE;
	} else if (is_full) {
		opening->full = move_out(candidate);
	}
	return CTX_OK;
}

static enum ctx_status add_dynamic(struct opening *opening, struct ctx_elf_file *obj, struct ctx_err *err)
{
	struct ctx_symset *set = &opening->table->set;
	struct ctx_err damage;
	enum ctx_status status;
	size_t count;

	status = ctx_elf_functions_add(obj, SHT_DYNSYM, set, &count, &damage);
	if (status == CTX_OK)
		status = ctx_elf_functions_add_plt(obj, set, &damage);
	if (status == CTX_OK)
		status = ctx_fde_ranges_add(obj, set, &damage);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		ctx_reasons_add(&opening->search.reasons, "%s", damage.msg);
	return CTX_OK;
}

static enum ctx_status set_origin(struct opening *opening, struct ctx_err *err)
{
	struct ctx_symtab *table = opening->table;
	struct ctx_buf *reasons = &opening->search.reasons;

	if (table->set.n == 0) {
		if (opening->image_origin != NULL)
			ctx_reasons_add(reasons, "no symbols");
		else if (reasons->n == 0)
			ctx_reasons_add(reasons, "no file");
		return ctx_symtab_set_reasons(table, reasons, err);
	}
	table->origin = ctx_arena_strdup(&table->arena, opening->full_origin != NULL ? opening->full_origin
										     : opening->image_origin);
	return table->origin != NULL ? CTX_OK : ctx_err_nomem(err);
}

/*
 * Headers, .dynsym and PLT come from the image: a debug file has empty sections, and its own
 * offsets. It is used only if there is no image.
 */
static enum ctx_status finish(struct opening *opening, struct ctx_err *err)
{
	struct ctx_elf_file *base = opening->image_origin != NULL ? &opening->image : &opening->full;
	struct ctx_symtab *table = opening->table;
	enum ctx_status status = CTX_OK;

	if (base->elf != NULL) {
		status = add_dynamic(opening, base, err);
		memcpy(table->build_id, base->build_id, sizeof(table->build_id));
		table->segments = base->segments;
		table->n_segments = base->n_segments;
		base->segments = NULL;
		base->n_segments = 0;
	}
	if (status == CTX_OK)
		status = ctx_symtab_freeze(table, err);
	return status == CTX_OK ? set_origin(opening, err) : status;
}

/* Searches only `bytes` if they are given, otherwise all places. */
static enum ctx_status open_table(const struct ctx_file_request *request, const void *bytes, size_t n,
				  struct ctx_symtab **ret, struct ctx_err *err)
{
	struct ctx_symtab *table CTX_CLEANUP(ctx_symtab_free_cleanup) = ctx_calloc(1, sizeof(*table));
	struct opening opening CTX_CLEANUP(opening_cleanup) = {
		.table = table,
		.search = {.request = request, .wanted = CTX_WANT_IMAGE | CTX_WANT_DEBUG, .visit = visit},
		.image = {.fd = -1},
		.full = {.fd = -1}};
	enum ctx_status status;

	if (table == NULL)
		return ctx_err_nomem(err);
	opening.search.context = &opening;
	status = bytes != NULL ? ctx_file_search_run_bytes(&opening.search, bytes, n, err)
			       : ctx_file_search_run(&opening.search, err);
	if (status == CTX_OK)
		status = finish(&opening, err);
	if (status != CTX_OK)
		return status;
	*ret = table;
	table = NULL;
	return CTX_OK;
}

enum ctx_status ctx_symtab_open(const struct ctx_file_request *request, struct ctx_symtab **ret,
				struct ctx_err *err)
{
	return open_table(request, NULL, 0, ret, err);
}

enum ctx_status ctx_symtab_open_bytes(const void *bytes, size_t n, struct ctx_symtab **ret,
				      struct ctx_err *err)
{
	static const struct ctx_file_request request = {"", "", "", "", "", NULL};

	return open_table(&request, bytes != NULL ? bytes : "", n, ret, err);
}
