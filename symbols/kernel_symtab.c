/*
 * The kernel's table, from a given kallsyms, or from the first match of:
 *
 *	CACHE/[kernel.kallsyms]/BUILD-ID/kallsyms   perhaps of another boot: moved to the recorded address
 *	/proc/kallsyms                              /sys/kernel/notes has the build id: moved, too
 *	                                            else uname's release, and the kernel lies where it lay
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "elf/elf_buildid.h"
#include "elf/image.h"
#include "elf/reasons.h"
#include "symbols/kallsyms.h"
#include "symbols/symtab.h"
#include "symbols/symtab_table.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define NOTES_BYTES_MAX ((size_t)1 << 20)

struct search {
	const struct ctx_symtab_kernel *kernel;
	struct ctx_symtab *table; /* its origin is set when one matches */
	struct ctx_buf reasons;
};

/* `text` is followed by a zero byte, and is modified. */
static enum ctx_status open_kallsyms_text(struct ctx_buf *text, struct ctx_symtab **ret, struct ctx_err *err)
{
	struct ctx_symtab *table CTX_CLEANUP(ctx_symtab_free_cleanup) = ctx_calloc(1, sizeof(*table));
	enum ctx_status status;

	if (table == NULL)
		return ctx_err_nomem(err);
	ctx_buf_put_u8(text, 0);
	status = ctx_buf_check(text, err);
	if (status == CTX_OK)
		status = ctx_kallsyms_add((char *)text->bytes, text->n - 1, NULL, &table->set, err);
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
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_image_read(path, CTX_IMAGE_BYTES_MAX, &text, err);

	if (status != CTX_OK)
		return status;
	status = open_kallsyms_text(&text, ret, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", path);
}

enum ctx_status ctx_symtab_open_kallsyms_bytes(const void *bytes, size_t n, struct ctx_symtab **ret,
					       struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_image_unpack(bytes, n, CTX_IMAGE_BYTES_MAX, &text, err);

	return status == CTX_OK ? open_kallsyms_text(&text, ret, err) : status;
}

static void search_cleanup(struct search *search)
{
	ctx_symtab_free(search->table);
	ctx_buf_deinit(&search->reasons);
}

/* Fills the table if this kallsyms matches; otherwise adds a reason. */
static enum ctx_status try_kallsyms(struct search *search, const char *path, const char *origin, bool exact,
				    struct ctx_err *err)
{
	const struct ctx_kallsyms_reference reference = {search->kernel->symbol, search->kernel->address,
							 exact};
	struct ctx_buf text CTX_AUTO_BUF = {0};
	struct ctx_symtab *table = search->table;
	struct ctx_err reason = {0};
	enum ctx_status status = ctx_image_read(path, CTX_IMAGE_BYTES_MAX, &text, &reason);

	if (status == CTX_OK) {
		ctx_buf_put_u8(&text, 0);
		status = ctx_buf_check(&text, &reason);
	}
	if (status == CTX_OK) {
		status = ctx_kallsyms_add((char *)text.bytes, text.n - 1, &reference, &table->set, &reason);
		if (status != CTX_OK)
			ctx_err_prefix(&reason, status, "%s", path);
	}
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK) {
		ctx_reasons_add(&search->reasons, "%s", reason.msg);
		return CTX_OK;
	}
	table->origin = ctx_arena_strdup(&table->arena, origin);
	return table->origin != NULL ? ctx_symtab_freeze(table, err) : ctx_err_nomem(err);
}

static enum ctx_status try_caches(struct search *search, struct ctx_err *err)
{
	const char *const *caches = search->kernel->caches;
	const char *id = search->kernel->build_id;
	enum ctx_status status = CTX_OK;

	if (caches == NULL || !ctx_buildid_is_plain(id))
		return CTX_OK;
	for (; *caches != NULL && status == CTX_OK && search->table->origin == NULL; caches++) {
		char *path CTX_AUTO_FREE = NULL;
		struct stat info;

		if (asprintf(&path, "%s/[kernel.kallsyms]/%s/kallsyms", *caches, id) < 0) {
			path = NULL;
			return ctx_err_nomem(err);
		}
		/* A cache without the kernel is common and is not recorded as a reason. */
		if (stat(path, &info) == 0)
			status = try_kallsyms(search, path, path, false, err);
	}
	return status;
}

/* "" if the running kernel does not expose it. */
static enum ctx_status running_build_id(const struct search *search, char id[CTX_BUILDID_TEXT],
					struct ctx_err *err)
{
	const char *path = search->kernel->notes;
	struct ctx_buf notes CTX_AUTO_BUF = {0};
	enum ctx_status status =
		ctx_file_read(path[0] != '\0' ? path : "/sys/kernel/notes", NOTES_BYTES_MAX, &notes, NULL);

	id[0] = '\0';
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status == CTX_OK)
		ctx_buildid_of_notes(notes.bytes, notes.n, id);
	return CTX_OK;
}

static enum ctx_status try_running(struct search *search, struct ctx_err *err)
{
	const struct ctx_symtab_kernel *kernel = search->kernel;
	const char *path = kernel->proc[0] != '\0' ? kernel->proc : "/proc/kallsyms";
	char id[CTX_BUILDID_TEXT];
	enum ctx_status status = running_build_id(search, id, err);
	struct utsname names = {0};

	if (status != CTX_OK)
		return status;
	if (kernel->build_id[0] != '\0' && id[0] != '\0') {
		if (strcmp(kernel->build_id, id) == 0)
			return try_kallsyms(search, path, "kallsyms", false, err);
		ctx_reasons_add(&search->reasons, "the running kernel's build id is %s, wanted %s", id,
				kernel->build_id);
		return CTX_OK;
	}
	if (kernel->release[0] == '\0') {
		ctx_reasons_add(&search->reasons, "nothing tells which kernel it was");
		return CTX_OK;
	}
	if (uname(&names) == 0 && strcmp(names.release, kernel->release) == 0)
		return try_kallsyms(search, path, "kallsyms", true, err);
	ctx_reasons_add(&search->reasons, "the running kernel is %s, wanted %s", names.release,
			kernel->release);
	return CTX_OK;
}

enum ctx_status ctx_symtab_open_kernel(const struct ctx_symtab_kernel *kernel, struct ctx_symtab **ret,
				       struct ctx_err *err)
{
	struct search search CTX_CLEANUP(search_cleanup) = {.kernel = kernel};
	enum ctx_status status = CTX_OK;

	search.table = ctx_calloc(1, sizeof(*search.table));
	if (search.table == NULL)
		return ctx_err_nomem(err);
	search.table->flat = true;
	/* The recorded address is needed even if the build id matches: it differs between boots. */
	if (kernel->symbol[0] == '\0')
		ctx_reasons_add(&search.reasons, "nothing tells where the kernel lay");
	else
		status = try_caches(&search, err);
	if (status == CTX_OK && kernel->symbol[0] != '\0' && search.table->origin == NULL)
		status = try_running(&search, err);
	if (status == CTX_OK && search.table->origin == NULL) {
		status = ctx_symtab_freeze(search.table, err);
		if (status == CTX_OK)
			status = ctx_symtab_set_reasons(search.table, &search.reasons, err);
	}
	if (status != CTX_OK)
		return status;
	*ret = search.table;
	search.table = NULL;
	return CTX_OK;
}
