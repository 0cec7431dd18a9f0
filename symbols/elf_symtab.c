/*
 * From a load object's files to its table. Up to five files are open while it is made, because names are borrowed
 * from them until the set is frozen:
 *
 *	archive        segments, .symtab, .dynsym, PLT
 *	cached copy    what the archive would give, when there is no archive or no .symtab yet
 *	cached debug   .symtab, when there is none so far (the same addresses by construction)
 *	debug          the same, from the system's debug files
 *	own file       what a copy would give, when there is no copy or no .symtab yet
 */
#include "base/mem.h"
#include "symbols/symtab_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* Of a build id in a reason: enough to tell two apart. */
#define ID_DIGITS_SHOWN 12

enum { ARCHIVE, CACHED, CACHED_DEBUG, DEBUG, OWN, CANDIDATES };

struct opening {
	const struct ctx_symtab_request *request;
	struct ctx_symtab *table;
	struct ctx_elfobj objects[CANDIDATES];
	bool open[CANDIDATES];
	const char *origins[CANDIDATES];
	int symtab_from; /* whose .symtab was taken; CANDIDATES none */
	char build_id
		[CTX_BUILD_ID_TEXT_MAX]; /* wanted: the request's, or of the file that was found without it */
	struct ctx_buf reasons;
};

static void opening_cleanup(struct opening *opening)
{
	for (int i = 0; i < CANDIDATES; i++)
		ctx_elfobj_close(&opening->objects[i]);
	ctx_buf_deinit(&opening->reasons);
}

/* Old recorders write 20 bytes whatever the length: a shorter build id has zeros behind it then. */
static bool is_same_id(const char *wanted, const char *found)
{
	size_t n = strlen(found);

	return n != 0 && strncmp(wanted, found, n) == 0 && strspn(wanted + n, "0") == strlen(wanted + n) &&
	       (wanted[n] == '\0' || strlen(wanted) == 40);
}

/* A reason names its file; that of the object at its own place everybody knows. */
static void add_file_reason(struct opening *opening, const char *reason)
{
	const char *own = opening->request->path;
	size_t n = strlen(own);

	if (n != 0 && strncmp(reason, own, n) == 0 && strncmp(reason + n, ": ", 2) == 0)
		reason += n + 2;
	ctx_symtab_add_reason(&opening->reasons, "%s", reason);
}

/*
 * Takes the result of opening one candidate: keeps it when it is the wanted object. A file that is no good is
 * a reason, not a failure; only memory is.
 */
static enum ctx_status keep_candidate(struct opening *opening, int which, const char *origin,
				      enum ctx_status status, const struct ctx_err *opened,
				      struct ctx_err *err)
{
	const char *wanted = opening->build_id;
	struct ctx_elfobj *obj = &opening->objects[which];

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK) {
		add_file_reason(opening, opened->msg);
	} else if (wanted[0] != '\0' && !is_same_id(wanted, obj->build_id)) {
		struct ctx_err differs;

		ctx_err_set(&differs, CTX_E_NOTFOUND, "%s: build id is %.*s, wanted %.*s", origin,
			    ID_DIGITS_SHOWN, obj->build_id[0] != '\0' ? obj->build_id : "missing",
			    ID_DIGITS_SHOWN, wanted);
		add_file_reason(opening, differs.msg);
	} else {
		opening->open[which] = true;
		opening->origins[which] = origin;
		return CTX_OK;
	}
	ctx_elfobj_close(obj);
	return CTX_OK;
}

/* `symtab_from` is set when this candidate is the first that has a .symtab with functions. */
static enum ctx_status add_full_table(struct opening *opening, int which, struct ctx_err *err)
{
	enum ctx_status status;
	struct ctx_err damage;
	size_t count;

	if (!opening->open[which] || opening->symtab_from != CANDIDATES)
		return CTX_OK;
	status = ctx_elfobj_add_symbols(&opening->objects[which], SHT_SYMTAB, &opening->table->set, &count,
					&damage);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		ctx_symtab_add_reason(&opening->reasons, "%s", damage.msg);
	else if (count != 0)
		opening->symtab_from = which;
	return CTX_OK;
}

/* A path in the table's arena. */
static char *make_path(struct opening *opening, const char *fmt, ...) CTX_PRINTF(2, 3);

static char *make_path(struct opening *opening, const char *fmt, ...)
{
	char *path = NULL;
	char *text;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return NULL;
	path = ctx_arena_strndup(&opening->table->arena, text, (size_t)n);
	free(text);
	return path;
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
	enum ctx_status status;

	if (path == NULL)
		return ctx_err_nomem(err);
	status = ctx_elfobj_open_path(&opening->objects[which], path, &opened);
	status = keep_candidate(opening, which, path, status, &opened, err);
	return status == CTX_OK ? add_full_table(opening, which, err) : status;
}

/*
 * One file of a cache. The first copy stays open for its headers, so later files with the build id can only bring a
 * .symtab; one that brought none gives its place up.
 */
static enum ctx_status try_cached(struct opening *opening, const char *path, bool is_debug,
				  struct ctx_err *err)
{
	int which = is_debug || opening->open[CACHED] ? CACHED_DEBUG : CACHED;
	struct stat info;

	if (path == NULL)
		return ctx_err_nomem(err);
	/* A cache without the file is the ordinary case, and no reason of its own. */
	if (opening->symtab_from != CANDIDATES || stat(path, &info) != 0 || S_ISDIR(info.st_mode))
		return CTX_OK;
	if (opening->open[which]) {
		ctx_elfobj_close(&opening->objects[which]);
		opening->open[which] = false;
	}
	return try_path(opening, which, path, err);
}

static enum ctx_status try_caches(struct opening *opening, struct ctx_err *err)
{
	static const struct {
		const char *name;
		bool is_debug;
	} files[] = {{"/elf", false}, {"/vdso", false}, {"", false}, {"/debug", true}};
	const char *const *caches = opening->request->caches;
	const char *id = opening->build_id;
	enum ctx_status status = CTX_OK;

	if (caches == NULL || !ctx_symtab_is_build_id(id))
		return CTX_OK;
	for (; *caches != NULL; caches++) {
		for (size_t i = 0; i < CTX_COUNT_OF(files) && status == CTX_OK; i++)
			status = try_cached(opening,
					    make_path(opening, "%s/.build-id/%.2s/%s%s", *caches, id, id + 2,
						      files[i].name),
					    files[i].is_debug, err);
	}
	return status;
}

static enum ctx_status try_debug(struct opening *opening, struct ctx_err *err)
{
	const char *id = opening->build_id;
	const char *root = opening->request->debug_root;
	struct stat info;
	char *path;

	if (!ctx_symtab_is_build_id(id))
		return CTX_OK;
	path = make_path(opening, "%s%s/.build-id/%.2s/%s.debug", opening->request->symfs,
			 root[0] != '\0' ? root : DEBUG_ROOT, id, id + 2);
	if (path == NULL)
		return ctx_err_nomem(err);
	/* Most objects have none: no reason of its own. */
	return stat(path, &info) == 0 ? try_path(opening, DEBUG, path, err) : CTX_OK;
}

/* "[vdso]", "//anon" and the like are no files. */
static enum ctx_status try_own(struct opening *opening, struct ctx_err *err)
{
	const char *path = opening->request->path;

	if (path[0] == '\0' || path[0] == '[' || strncmp(path, "//", 2) == 0)
		return CTX_OK;
	return try_path(opening, OWN, make_path(opening, "%s%s", opening->request->symfs, path), err);
}

static enum ctx_status open_candidates(struct opening *opening, struct ctx_err *err)
{
	enum ctx_status status = try_archive(opening, err);
	bool have_copy;

	if (status == CTX_OK && opening->symtab_from == CANDIDATES)
		status = try_caches(opening, err);
	if (status == CTX_OK && opening->symtab_from == CANDIDATES)
		status = try_debug(opening, err);
	have_copy = opening->open[ARCHIVE] || opening->open[CACHED];
	if (status != CTX_OK || (have_copy && opening->symtab_from != CANDIDATES))
		return status;
	/* Without a build id nothing tells that an archive and the file at the path are the same object. */
	if (have_copy && opening->request->build_id[0] == '\0')
		return CTX_OK;
	status = try_own(opening, err);
	if (status != CTX_OK || opening->symtab_from != CANDIDATES || !opening->open[OWN] ||
	    opening->build_id[0] != '\0')
		return status;
	/* Nobody said which file it was; this one says which debug file belongs to it. */
	snprintf(opening->build_id, sizeof(opening->build_id), "%s", opening->objects[OWN].build_id);
	status = try_caches(opening, err);
	return status == CTX_OK && opening->symtab_from == CANDIDATES ? try_debug(opening, err) : status;
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
		ctx_symtab_add_reason(&opening->reasons, "%s", damage.msg);
	return CTX_OK;
}

static enum ctx_status set_origin(struct opening *opening, int base, struct ctx_err *err)
{
	struct ctx_symtab *table = opening->table;

	if (table->set.n == 0) {
		if (base != CANDIDATES)
			ctx_symtab_add_reason(&opening->reasons, "no symbols");
		else if (opening->reasons.n == 0)
			ctx_symtab_add_reason(&opening->reasons, "no file");
		return ctx_symtab_set_reasons(table, &opening->reasons, err);
	}
	/* Symbols come from somewhere: there is a base then. */
	if (opening->symtab_from != CANDIDATES)
		base = opening->symtab_from;
	table->origin = ctx_arena_strdup(&table->arena, opening->origins[base]);
	return table->origin != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* The base is the file whose headers, .dynsym and PLT are used: a copy of the original before a debug file,
 * whose sections are empty. */
static enum ctx_status finish(struct opening *opening, struct ctx_err *err)
{
	static const int order[] = {ARCHIVE, CACHED, OWN, CACHED_DEBUG, DEBUG};
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
		status = ctx_symtab_freeze(table, err);
	return status == CTX_OK ? set_origin(opening, base, err) : status;
}

static struct opening start_opening(const struct ctx_symtab_request *request)
{
	struct opening opening = {.request = request, .symtab_from = CANDIDATES};

	for (int i = 0; i < CANDIDATES; i++)
		opening.objects[i].fd = -1;
	snprintf(opening.build_id, sizeof(opening.build_id), "%s", request->build_id);
	opening.table = ctx_calloc(1, sizeof(*opening.table));
	return opening;
}

enum ctx_status ctx_symtab_open(const struct ctx_symtab_request *request, struct ctx_symtab **ret,
				struct ctx_err *err)
{
	struct opening opening __attribute__((cleanup(opening_cleanup))) = start_opening(request);
	struct ctx_symtab *table __attribute__((cleanup(ctx_symtab_close_cleanup))) = opening.table;
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
	struct ctx_symtab *table __attribute__((cleanup(ctx_symtab_close_cleanup))) = opening.table;
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
