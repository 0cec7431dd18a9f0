#include "symbols/probe_inlines.h"

#include "base/buf.h"
#include "elf/debug_files.h"
#include "symbols/demangle.h"
#include "symbols/dwarf_file.h"
#include "symbols/dwarf_walk.h"
#include "symbols/probe_names.h"

#include <dwarf.h>

struct looking {
	struct ctx_dwarf_file file;
	const char *wanted;
	ctx_probe_inline_fn each;
	void *context;
};

static const char *name_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;

	return dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
}

static enum ctx_status look_at(struct looking *looking, Dwarf_Die *die, struct ctx_err *err)
{
	struct ctx_buf readable CTX_AUTO_BUF = {0};
	const char *plain = name_of(die, DW_AT_name), *linkage = name_of(die, DW_AT_linkage_name), *shown;
	Dwarf_Addr address;

	if (linkage == NULL)
		linkage = plain;
	if (linkage == NULL)
		return CTX_OK;
	shown = plain != NULL ? plain : linkage;
	if (ctx_demangle(linkage, &readable)) {
		ctx_buf_put_u8(&readable, 0);
		if (readable.failed)
			return ctx_err_nomem(err);
		shown = (const char *)readable.bytes;
	}
	if (!ctx_probe_name_matches(looking->wanted, linkage, shown) || dwarf_entrypc(die, &address) != 0 ||
	    ctx_dwarf_file_code(&looking->file, address) == NULL)
		return CTX_OK;
	return looking->each(looking->context, address, shown, err);
}

static enum ctx_status look_at_unit(struct looking *looking, Dwarf_Die *unit, struct ctx_err *err)
{
	struct ctx_dwarf_walk walk;
	bool more = ctx_dwarf_walk_begin(&walk, unit);
	enum ctx_status status = CTX_OK;

	for (; more && status == CTX_OK; more = ctx_dwarf_walk_next(&walk, true)) {
		if (dwarf_tag(&walk.die) == DW_TAG_inlined_subroutine)
			status = look_at(looking, &walk.die, err);
	}
	return status;
}

static enum ctx_status look(void *context, struct ctx_err *err)
{
	struct looking *looking = context;
	enum ctx_status status = CTX_OK;
	Dwarf_Off at = 0, next;
	size_t header;

	while (status == CTX_OK &&
	       dwarf_nextcu(looking->file.dwarf, at, &next, &header, NULL, NULL, NULL) == 0 && next > at) {
		Dwarf_Die unit;

		if (dwarf_offdie(looking->file.dwarf, at + header, &unit) != NULL)
			status = look_at_unit(looking, &unit, err);
		at = next;
	}
	return status;
}

enum ctx_status ctx_probe_inlines(const struct ctx_file_request *files, const char *wanted,
				  ctx_probe_inline_fn each, void *context, struct ctx_err *err)
{
	struct looking looking = {.file = {.object = {.fd = -1}, .alt_object = {.fd = -1}},
				  .wanted = wanted,
				  .each = each,
				  .context = context};
	struct ctx_found_file found CTX_CLEANUP(ctx_found_file_deinit) = {0};
	enum ctx_status status = ctx_debug_files_dwarf(files, &found, NULL);

	if (status == CTX_OK && found.path == NULL)
		status = CTX_E_NOTFOUND; /* only copies in archives, of which there is none here */
	if (status == CTX_OK)
		status = ctx_dwarf_file_open_path(&looking.file, found.path, files, NULL);
	if (status == CTX_OK)
		status = ctx_dwarf_file_run(&looking.file, look, &looking, err);
	else
		status = status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
	ctx_dwarf_file_close(&looking.file);
	return status;
}
