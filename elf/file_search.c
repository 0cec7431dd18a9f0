/*
 * The order of the places, and the inputs of each:
 *
 *	archive, caches, own path     only the request; the build id is checked if it is known
 *	caches again                  build id learned from a file found without one
 *	caches' debug, ROOT           a build id
 *	debug link                    an image that has one: beside the image's path, .debug/ there, ROOT and the path
 *	debuginfod                    a build id, and DEBUGINFOD_URLS
 */
#include "elf/file_search.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "elf/debuginfod.h"
#include "elf/image.h"
#include "elf/reasons.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* Digits of a build id in a reason: enough to distinguish two. */
#define ID_DIGITS_SHOWN 12

void ctx_file_search_deinit(struct ctx_file_search *search)
{
	ctx_buf_deinit(&search->reasons);
	ctx_arena_deinit(&search->paths);
}

static void candidate_cleanup(struct ctx_file_candidate *candidate)
{
	ctx_elf_close(&candidate->obj);
}

/* Old recorders always write 20 bytes: a shorter build id is padded with zeros. */
static bool is_same_id(const char *wanted, const char *found)
{
	size_t n = strlen(found);

	return n != 0 && strncmp(wanted, found, n) == 0 && strspn(wanted + n, "0") == strlen(wanted + n) &&
	       (wanted[n] == '\0' || strlen(wanted) == 40);
}

/* A reason names its file, unless it is the object at its own path. */
static void add_file_reason(struct ctx_file_search *search, const char *reason)
{
	const char *own = search->request->path;
	size_t n = strlen(own);

	if (n != 0 && strncmp(reason, own, n) == 0 && strncmp(reason + n, ": ", 2) == 0)
		reason += n + 2;
	ctx_reasons_add(&search->reasons, "%s", reason);
}

/* A path that lives as long as the search. */
static const char *make_path(struct ctx_file_search *search, const char *fmt, ...) CTX_PRINTF(2, 3);

static const char *make_path(struct ctx_file_search *search, const char *fmt, ...)
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
	path = ctx_arena_strndup(&search->paths, text, (size_t)n);
	free(text);
	return path;
}

/* The first image provides what was unknown: the build id, and the name of its debug file. */
static void learn_from_image(struct ctx_file_search *search, const struct ctx_elf_file *image)
{
	search->have_image = true;
	if (search->build_id[0] == '\0')
		snprintf(search->build_id, sizeof(search->build_id), "%s", image->build_id);
	if (search->link.name[0] == '\0' && !ctx_debuglink_read(image, &search->link))
		search->link.name[0] = '\0';
}

/*
 * Handles the result of opening one candidate: passes it to the visitor if it is the wanted object.
 * An unusable file is recorded as a reason; only lack of memory is a failure.
 */
static enum ctx_status visit_opened(struct ctx_file_search *search, struct ctx_file_candidate *candidate,
				    enum ctx_status status, const struct ctx_err *opened, struct ctx_err *err)
{
	const char *wanted = search->build_id;
	const char *found = candidate->obj.build_id;
	struct ctx_err differs;

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK) {
		add_file_reason(search, opened->msg);
		return CTX_OK;
	}
	if (wanted[0] != '\0' && !is_same_id(wanted, found) && !(candidate->is_linked && found[0] == '\0')) {
		ctx_err_set(&differs, CTX_E_NOTFOUND, "%s: build id is %.*s, wanted %.*s", candidate->origin,
			    ID_DIGITS_SHOWN, found[0] != '\0' ? found : "missing", ID_DIGITS_SHOWN, wanted);
		add_file_reason(search, differs.msg);
		return CTX_OK;
	}
	if (candidate->is_image)
		learn_from_image(search, &candidate->obj);
	return search->visit(search, candidate, err);
}

static enum ctx_status open_archive(struct ctx_elf_file *obj, const char *path, struct ctx_err *err)
{
	struct ctx_buf image CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_image_read(path, CTX_IMAGE_BYTES_MAX, &image, err);

	if (status != CTX_OK)
		return status;
	status = ctx_elf_open_image(obj, &image, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", path);
}

static enum ctx_status try_archive(struct ctx_file_search *search, struct ctx_err *err)
{
	struct ctx_file_candidate candidate CTX_CLEANUP(candidate_cleanup) = {
		.obj = {.fd = -1}, .origin = "archive", .is_image = true};
	struct ctx_err opened = {0};
	enum ctx_status status;

	if (search->request->archive[0] == '\0')
		return CTX_OK;
	status = open_archive(&candidate.obj, search->request->archive, &opened);
	return visit_opened(search, &candidate, status, &opened, err);
}

static enum ctx_status try_path(struct ctx_file_search *search, const char *path, bool is_image,
				struct ctx_err *err)
{
	struct ctx_file_candidate candidate CTX_CLEANUP(candidate_cleanup) = {
		.obj = {.fd = -1}, .origin = path, .is_image = is_image};
	struct ctx_err opened = {0};
	enum ctx_status status;

	if (path == NULL)
		return ctx_err_nomem(err);
	status = ctx_elf_open_path(&candidate.obj, path, &opened);
	return visit_opened(search, &candidate, status, &opened, err);
}

/* A place where most objects have no file: a missing one is not recorded as a reason. */
static enum ctx_status try_possible(struct ctx_file_search *search, const char *path, bool is_image,
				    struct ctx_err *err)
{
	struct stat info;

	if (path == NULL)
		return ctx_err_nomem(err);
	if (stat(path, &info) != 0 || S_ISDIR(info.st_mode))
		return CTX_OK;
	return try_path(search, path, is_image, err);
}

static enum ctx_status try_caches(struct ctx_file_search *search, bool images, struct ctx_err *err)
{
	static const struct {
		const char *name;
		bool is_image;
	} files[] = {{"/elf", true}, {"/vdso", true}, {"", true}, {"/debug", false}};
	const char *const *caches = search->request->caches;
	const char *id = search->build_id;
	enum ctx_status status = CTX_OK;

	if (caches == NULL || !ctx_buildid_is_plain(id))
		return CTX_OK;
	for (; *caches != NULL; caches++) {
		for (size_t i = 0; i < CTX_COUNT_OF(files) && status == CTX_OK && search->wanted != 0; i++) {
			if (files[i].is_image == images)
				status = try_possible(search,
						      make_path(search, "%s/.build-id/%.2s/%s%s", *caches, id,
								id + 2, files[i].name),
						      images, err);
		}
	}
	return status;
}

/* "[vdso]", "//anon" and the like are not files. */
static bool has_own_path(const struct ctx_file_search *search)
{
	const char *path = search->request->path;

	return path[0] != '\0' && path[0] != '[' && strncmp(path, "//", 2) != 0;
}

static enum ctx_status search_images(struct ctx_file_search *search, struct ctx_err *err)
{
	bool was_known = search->build_id[0] != '\0';
	enum ctx_status status = try_archive(search, err);

	if (status == CTX_OK && search->wanted != 0)
		status = try_caches(search, true, err);
	/* Without a build id an archive and the file at the path may be different objects. */
	if (status != CTX_OK || search->wanted == 0 || !has_own_path(search) ||
	    (search->have_image && !was_known))
		return status;
	status = try_path(search, make_path(search, "%s%s", search->request->symfs, search->request->path),
			  true, err);
	if (status == CTX_OK && search->wanted != 0 && !was_known)
		status = try_caches(search, true, err);
	return status;
}

static const char *debug_root(const struct ctx_file_search *search)
{
	const char *root = search->request->debug_root;

	return root[0] != '\0' ? root : DEBUG_ROOT;
}

static enum ctx_status try_debug_root(struct ctx_file_search *search, struct ctx_err *err)
{
	const char *id = search->build_id;

	if (!ctx_buildid_is_plain(id))
		return CTX_OK;
	return try_possible(search,
			    make_path(search, "%s%s/.build-id/%.2s/%s.debug", search->request->symfs,
				      debug_root(search), id, id + 2),
			    false, err);
}

/* One place of the debug link's file. The checksum comes last: it reads the whole file. */
static enum ctx_status try_linked(struct ctx_file_search *search, const char *path, struct ctx_err *err)
{
	struct ctx_file_candidate candidate CTX_CLEANUP(candidate_cleanup) = {
		.obj = {.fd = -1}, .origin = path, .is_linked = true};
	struct ctx_err opened = {0};
	enum ctx_status status;
	struct stat info;
	uint32_t crc;

	if (stat(path, &info) != 0 || S_ISDIR(info.st_mode))
		return CTX_OK;
	status = ctx_elf_open_path(&candidate.obj, path, &opened);
	if (status == CTX_OK)
		status = ctx_debuglink_checksum(candidate.obj.fd, path, &crc, &opened);
	if (status == CTX_OK && crc != search->link.crc)
		status = ctx_err_set(&opened, CTX_E_NOTFOUND, "%s: checksum is %08x, wanted %08x", path, crc,
				     search->link.crc);
	return visit_opened(search, &candidate, status, &opened, err);
}

static enum ctx_status try_debug_link(struct ctx_file_search *search, struct ctx_err *err)
{
	const char *symfs = search->request->symfs;
	const char *name = search->link.name;
	const char *path = search->request->path;
	int dir = (int)(ctx_path_base(path) - path); /* letters up to the last '/' */
	const char *paths[3];
	enum ctx_status status = CTX_OK;

	if (name[0] == '\0' || !has_own_path(search))
		return CTX_OK;
	paths[0] = make_path(search, "%s%.*s%s", symfs, dir, path, name);
	paths[1] = make_path(search, "%s%.*s.debug/%s", symfs, dir, path, name);
	paths[2] = make_path(search, "%s%s%.*s%s", symfs, debug_root(search), dir, path, name);
	if (paths[0] == NULL || paths[1] == NULL || paths[2] == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < CTX_COUNT_OF(paths); i++) {
		if (status == CTX_OK && search->wanted & CTX_WANT_DEBUG)
			status = try_linked(search, paths[i], err);
	}
	return status;
}

static enum ctx_status search_debug(struct ctx_file_search *search, struct ctx_err *err)
{
	enum ctx_status status = try_caches(search, false, err);

	if (status == CTX_OK && search->wanted & CTX_WANT_DEBUG)
		status = try_debug_root(search, err);
	if (status == CTX_OK && search->wanted & CTX_WANT_DEBUG)
		status = try_debug_link(search, err);
	return status;
}

static enum ctx_status try_debuginfod(struct ctx_file_search *search, bool is_image, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = NULL;
	struct ctx_err reason = {0};
	enum ctx_status status = ctx_debuginfod_find(search->build_id, !is_image, &path, &reason);

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status == CTX_OK)
		return try_path(search, make_path(search, "%s", path), is_image, err);
	ctx_reasons_add(&search->reasons, "%s", reason.msg);
	return CTX_OK;
}

static enum ctx_status search_servers(struct ctx_file_search *search, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (!ctx_buildid_is_plain(search->build_id) || !ctx_debuginfod_is_wanted())
		return CTX_OK;
	if (search->wanted & CTX_WANT_IMAGE && !search->have_image)
		status = try_debuginfod(search, true, err);
	if (status == CTX_OK && search->wanted & CTX_WANT_DEBUG)
		status = try_debuginfod(search, false, err);
	return status;
}

enum ctx_status ctx_file_search_run(struct ctx_file_search *search, struct ctx_err *err)
{
	enum ctx_status status;

	snprintf(search->build_id, sizeof(search->build_id), "%s", search->request->build_id);
	status = search_images(search, err);
	if (status == CTX_OK && search->wanted & CTX_WANT_DEBUG)
		status = search_debug(search, err);
	if (status == CTX_OK && search->wanted != 0)
		status = search_servers(search, err);
	return status;
}

enum ctx_status ctx_file_search_run_bytes(struct ctx_file_search *search, const void *bytes, size_t n,
					  struct ctx_err *err)
{
	struct ctx_file_candidate candidate CTX_CLEANUP(candidate_cleanup) = {
		.obj = {.fd = -1}, .origin = "memory", .is_image = true};
	struct ctx_err opened = {0};
	enum ctx_status status = ctx_elf_open_bytes(&candidate.obj, bytes, n, &opened);

	return visit_opened(search, &candidate, status, &opened, err);
}
