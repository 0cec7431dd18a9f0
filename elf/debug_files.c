#include "elf/debug_files.h"

#include "base/mem.h"
#include "elf/file_search.h"

#include <string.h>

struct finding {
	struct ctx_file_search search;
	struct ctx_elf_file obj; /* the file found; fd -1 and no elf: none */
	const char *origin;	 /* lives as long as the search */
};

static void finding_cleanup(struct finding *finding)
{
	ctx_elf_close(&finding->obj);
	ctx_file_search_deinit(&finding->search);
}

void ctx_found_file_deinit(struct ctx_found_file *file)
{
	free(file->path);
	ctx_buf_deinit(&file->bytes);
	*file = (struct ctx_found_file){0};
}

static enum ctx_status take(struct ctx_file_search *search, struct ctx_file_candidate *candidate)
{
	struct finding *finding = search->context;

	finding->obj = candidate->obj;
	finding->origin = candidate->origin;
	candidate->obj = (struct ctx_elf_file){.fd = -1};
	search->wanted = 0;
	return CTX_OK;
}

static enum ctx_status visit_image(struct ctx_file_search *search, struct ctx_file_candidate *candidate,
				   struct ctx_err *err)
{
	(void)err;
	return take(search, candidate);
}

/* .zdebug_info: compressed section of linkers older than SHF_COMPRESSED. */
static enum ctx_status visit_dwarf(struct ctx_file_search *search, struct ctx_file_candidate *candidate,
				   struct ctx_err *err)
{
	(void)err;
	if (ctx_elf_named_section(&candidate->obj, ".debug_info") == NULL &&
	    ctx_elf_named_section(&candidate->obj, ".zdebug_info") == NULL)
		return CTX_OK;
	return take(search, candidate);
}

/*
 * `finding` must be cleaned up whatever the result. CTX_E_NOTFOUND: nothing found, `what` is
 * missing.
 */
static enum ctx_status find(struct finding *finding, const struct ctx_file_request *request, unsigned wanted,
			    const char *what, struct ctx_err *err)
{
	enum ctx_status status;

	*finding = (struct finding){.search = {.request = request,
					       .wanted = wanted,
					       .visit = wanted == CTX_WANT_IMAGE ? visit_image : visit_dwarf},
				    .obj = {.fd = -1}};
	finding->search.context = finding;
	status = ctx_file_search_run(&finding->search, err);
	if (status != CTX_OK || finding->obj.elf != NULL)
		return status;
	ctx_buf_put_u8(&finding->search.reasons, 0);
	status = ctx_buf_check(&finding->search.reasons, err);
	if (status != CTX_OK)
		return status;
	if (finding->search.reasons.n > 1)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s", (const char *)finding->search.reasons.bytes);
	return ctx_err_set(err, CTX_E_NOTFOUND, "%s", finding->search.have_image ? what : "no file");
}

static enum ctx_status find_file(const struct ctx_file_request *request, unsigned wanted, const char *what,
				 struct ctx_found_file *ret, struct ctx_err *err)
{
	struct finding finding CTX_CLEANUP(finding_cleanup);
	enum ctx_status status = find(&finding, request, wanted, what, err);
	struct ctx_found_file file = {0};

	if (status != CTX_OK)
		return status;
	if (finding.obj.fd < 0) {
		/* libelf reads the bytes as long as it is open. */
		elf_end(finding.obj.elf);
		finding.obj.elf = NULL;
		file.bytes = finding.obj.image;
		finding.obj.image = (struct ctx_buf){0};
		file.origin = "archive";
	} else {
		file.path = strdup(finding.origin);
		if (file.path == NULL)
			return ctx_err_nomem(err);
		file.origin = file.path;
	}
	*ret = file;
	return CTX_OK;
}

enum ctx_status ctx_debug_files_image(const struct ctx_file_request *request, struct ctx_found_file *ret,
				      struct ctx_err *err)
{
	return find_file(request, CTX_WANT_IMAGE, "no file", ret, err);
}

enum ctx_status ctx_debug_files_dwarf(const struct ctx_file_request *request, struct ctx_found_file *ret,
				      struct ctx_err *err)
{
	return find_file(request, CTX_WANT_DEBUG, "no debug information", ret, err);
}

enum ctx_status ctx_debug_files_open_image(const struct ctx_file_request *request, struct ctx_elf_file *ret,
					   struct ctx_err *err)
{
	struct finding finding CTX_CLEANUP(finding_cleanup);
	enum ctx_status status = find(&finding, request, CTX_WANT_IMAGE, "no file", err);

	if (status != CTX_OK)
		return status;
	*ret = finding.obj;
	finding.obj = (struct ctx_elf_file){.fd = -1};
	return CTX_OK;
}
