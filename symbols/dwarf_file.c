#include "symbols/dwarf_file.h"

#include "base/mem.h"
#include "symbols/dwarf_bounds.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define DEBUG_ROOT "/usr/lib/debug"
#define DEBUG_BYTES_MAX ((uint64_t)8 << 30)

/*
 * Size after which a new handle is opened. That costs about a microsecond for each unit that is
 * visited again.
 */
#define SPENT_MAX ((uint64_t)64 << 20)

/*
 * libdw's out-of-memory handler gets no argument, must not return, and by default ends the process.
 */
static _Thread_local jmp_buf *out_of_memory;

static void __attribute__((noreturn)) leave(void)
{
	longjmp(*out_of_memory, 1);
}

static enum ctx_status dwarf_error(struct ctx_err *err)
{
	const char *text = dwarf_errmsg(-1);

	return ctx_err_set(err, CTX_E_FORMAT, "%s", text != NULL ? text : "damaged debug information");
}

/* Checks sizes before libdw decompresses anything: a few bytes may claim to be many gigabytes. */
static enum ctx_status measure(Elf *elf, uint64_t *ret_bytes, struct ctx_err *err)
{
	Elf_Scn *section = NULL;
	uint64_t bytes = 0;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name;
		uint64_t size;
		bool is_sane;

		if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
			continue;
		name = ctx_elf_section_name(elf, &header);
		if (strncmp(name, ".debug_", 7) != 0 && strncmp(name, ".zdebug_", 8) != 0)
			continue;
		is_sane = ctx_elf_unpacked_size(section, &header, name, &size);
		if (size > DEBUG_BYTES_MAX || bytes + size > DEBUG_BYTES_MAX)
			return ctx_err_set(err, CTX_E_LIMIT, "%s: more than %d GiB of debug information",
					   name, (int)(DEBUG_BYTES_MAX >> 30));
		if (!is_sane)
			return ctx_err_set(err, CTX_E_FORMAT, "%s: cannot unpack to its size", name);
		bytes += size;
	}
	if (bytes == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no debug information");
	*ret_bytes = bytes;
	return CTX_OK;
}

static bool is_open(const struct ctx_elf_file *object)
{
	return object->elf != NULL;
}

static void end_dwarf(struct ctx_dwarf_file *file)
{
	dwarf_end(file->dwarf);
	dwarf_end(file->alt);
	file->dwarf = file->alt = NULL;
	file->spent = 0;
}

static enum ctx_status begin_dwarf(struct ctx_dwarf_file *file, struct ctx_err *err)
{
	file->dwarf = dwarf_begin_elf(file->object.elf, DWARF_C_READ, NULL);
	if (file->dwarf == NULL)
		return dwarf_error(err);
	dwarf_new_oom_handler(file->dwarf, leave);
	if (!is_open(&file->alt_object))
		return CTX_OK;
	file->alt = dwarf_begin_elf(file->alt_object.elf, DWARF_C_READ, NULL);
	if (file->alt == NULL)
		return dwarf_error(err);
	dwarf_new_oom_handler(file->alt, leave);
	dwarf_setalt(file->dwarf, file->alt);
	return CTX_OK;
}

/*
 * If libdw is not given the alternate file, it searches for one itself and ignores the build id. So
 * if there is no matching file, it gets a substitute with a single byte in each section.
 */
static enum ctx_status open_empty_alt(struct ctx_dwarf_file *file, struct ctx_err *err)
{
	static const char names[] = "\0.shstrtab\0.debug_info\0.debug_str";
	struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[4];
		char names[sizeof(names)];
	} empty = {0};
	struct ctx_buf image = {0};

	memcpy(empty.names, names, sizeof(names));
	memcpy(empty.header.e_ident, ELFMAG, SELFMAG);
	empty.header.e_ident[EI_CLASS] = ELFCLASS64;
	empty.header.e_ident[EI_DATA] = ELFDATA2LSB;
	empty.header.e_ident[EI_VERSION] = EV_CURRENT;
	empty.header.e_type = ET_DYN;
	empty.header.e_version = EV_CURRENT;
	empty.header.e_shoff = sizeof(empty.header);
	empty.header.e_ehsize = sizeof(empty.header);
	empty.header.e_shentsize = sizeof(empty.sections[0]);
	empty.header.e_shnum = 4;
	empty.header.e_shstrndx = 1;
	for (int i = 1; i < 4; i++) {
		static const Elf64_Word at[] = {0, 1, 11, 23};

		empty.sections[i].sh_name = at[i];
		empty.sections[i].sh_type = i == 1 ? SHT_STRTAB : SHT_PROGBITS;
		empty.sections[i].sh_offset = sizeof(empty.header) + sizeof(empty.sections);
		empty.sections[i].sh_size = i == 1 ? sizeof(names) : 1;
		empty.sections[i].sh_addralign = 1;
	}
	ctx_buf_put(&image, &empty, sizeof(empty));
	if (ctx_buf_check(&image, err) != CTX_OK)
		return CTX_E_NOMEM;
	return ctx_elf_open_image(&file->alt_object, &image, err);
}

static char *make_path(const char *fmt, ...) CTX_PRINTF(1, 2);

static char *make_path(const char *fmt, ...)
{
	char *path = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&path, fmt, args) < 0)
		path = NULL;
	va_end(args);
	return path;
}

/* Keeps the alternate file at a path if it is the wanted one; takes ownership of the path. */
static enum ctx_status try_alt(struct ctx_dwarf_file *file, char *path, const char *id, struct ctx_err *err)
{
	enum ctx_status status;
	uint64_t bytes;

	if (path == NULL)
		return ctx_err_nomem(err);
	status = is_open(&file->alt_object) ? CTX_OK : ctx_elf_open_path(&file->alt_object, path, NULL);
	free(path);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status == CTX_OK && strcmp(file->alt_object.build_id, id) == 0 &&
	    measure(file->alt_object.elf, &bytes, NULL) == CTX_OK)
		return CTX_OK;
	ctx_elf_close(&file->alt_object);
	return CTX_OK;
}

static enum ctx_status find_alt(struct ctx_dwarf_file *file, const char *name, const char *id,
				const struct ctx_file_request *request, struct ctx_err *err)
{
	const char *symfs = request != NULL ? request->symfs : "";
	const char *root =
		request != NULL && request->debug_root[0] != '\0' ? request->debug_root : DEBUG_ROOT;
	enum ctx_status status = CTX_OK;

	if (name[0] == '/')
		status = try_alt(file, make_path("%s%s", symfs, name), id, err);
	else if (file->folder != NULL)
		status = try_alt(file, make_path("%s/%s", file->folder, name), id, err);
	if (status == CTX_OK)
		status = try_alt(file, make_path("%s%s/.build-id/%.2s/%s.debug", symfs, root, id, id + 2), id,
				 err);
	/* Debian's dwz files: /usr/lib/debug/.dwz/TRIPLET/PACKAGE.debug. */
	if (status == CTX_OK && strncmp(name, DEBUG_ROOT "/", sizeof(DEBUG_ROOT)) == 0)
		status = try_alt(file, make_path("%s%s%s", symfs, root, name + sizeof(DEBUG_ROOT) - 1), id,
				 err);
	return status;
}

static enum ctx_status open_alt(struct ctx_dwarf_file *file, const struct ctx_file_request *request,
				struct ctx_err *err)
{
	char id[CTX_BUILDID_TEXT];
	const void *raw_id;
	const char *name;
	enum ctx_status status;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &raw_id);

	if (n == 0)
		return CTX_OK;
	if (n > 2) {
		ctx_buildid_format(raw_id, (size_t)n, id);
		status = find_alt(file, name, id, request, err);
		if (status != CTX_OK)
			return status;
	}
	if (!is_open(&file->alt_object)) {
		status = open_empty_alt(file, err);
		if (status != CTX_OK)
			return status;
	}
	end_dwarf(file);
	return begin_dwarf(file, err);
}

struct opening {
	struct ctx_dwarf_file *file;
	const struct ctx_file_request *request;
};

static enum ctx_status open_dwarf(void *context, struct ctx_err *err)
{
	struct opening *opening = context;
	struct ctx_dwarf_file *file = opening->file;
	enum ctx_status status = begin_dwarf(file, err);

	if (status == CTX_OK)
		status = open_alt(file, opening->request, err);
	if (status == CTX_OK)
		status = ctx_dwarf_bounds_check(file->dwarf, file->debug_bytes, err);
	if (status == CTX_OK && file->alt != NULL)
		status = ctx_dwarf_bounds_check(file->alt, file->debug_bytes, err);
	return status;
}

static enum ctx_status run_guarded(ctx_dwarf_file_fn call, void *context, bool *ret_left, struct ctx_err *err)
{
	jmp_buf *outer = out_of_memory;
	jmp_buf here;
	enum ctx_status status;

	if (setjmp(here) != 0) {
		out_of_memory = outer;
		*ret_left = true;
		return ctx_err_nomem(err);
	}
	out_of_memory = &here;
	status = call(context, err);
	out_of_memory = outer;
	return status;
}

enum ctx_status ctx_dwarf_file_run(struct ctx_dwarf_file *file, ctx_dwarf_file_fn call, void *context,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	bool left = false;

	if (file->dwarf == NULL || file->spent > SPENT_MAX) {
		end_dwarf(file);
		status = begin_dwarf(file, err);
	}
	if (status == CTX_OK)
		status = run_guarded(call, context, &left, err);
	if (left) /* The interrupted operation is incomplete. */
		end_dwarf(file);
	return status;
}

static enum ctx_status open_object(struct ctx_dwarf_file *file, const struct ctx_file_request *request,
				   struct ctx_err *err)
{
	struct opening opening = {file, request};
	enum ctx_status status = measure(file->object.elf, &file->debug_bytes, err);
	bool left = false;

	return status == CTX_OK ? run_guarded(open_dwarf, &opening, &left, err) : status;
}

enum ctx_status ctx_dwarf_file_open_path(struct ctx_dwarf_file *file, const char *path,
					 const struct ctx_file_request *request, struct ctx_err *err)
{
	enum ctx_status status;
	char *slash;

	*file = (struct ctx_dwarf_file){.object = {.fd = -1}, .alt_object = {.fd = -1}};
	status = ctx_elf_open_path(&file->object, path, err);
	if (status != CTX_OK)
		return status;
	/*
	 * Debug files are often symbolic links; files that they refer to are next to the link's
	 * target.
	 */
	file->folder = realpath(path, NULL);
	if (file->folder == NULL)
		return ctx_err_errno(err, errno == ENOMEM ? CTX_E_NOMEM : CTX_E_IO, "%s", path);
	slash = strrchr(file->folder, '/');
	if (slash != NULL)
		*slash = '\0';
	status = open_object(file, request, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", path);
}

enum ctx_status ctx_dwarf_file_open_image(struct ctx_dwarf_file *file, struct ctx_buf *image,
					  const struct ctx_file_request *request, struct ctx_err *err)
{
	enum ctx_status status;

	*file = (struct ctx_dwarf_file){.object = {.fd = -1}, .alt_object = {.fd = -1}};
	status = ctx_elf_open_image(&file->object, image, err);
	return status == CTX_OK ? open_object(file, request, err) : status;
}

void ctx_dwarf_file_close(struct ctx_dwarf_file *file)
{
	end_dwarf(file);
	ctx_elf_close(&file->object);
	ctx_elf_close(&file->alt_object);
	free(file->folder);
	*file = (struct ctx_dwarf_file){.object = {.fd = -1}, .alt_object = {.fd = -1}};
}

const struct ctx_elf_section *ctx_dwarf_file_code(const struct ctx_dwarf_file *file, uint64_t address)
{
	return ctx_elf_section_at(&file->object, address);
}

static const char *text_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

/* A missing file is fine: libdw finds nothing then. */
static bool is_sane_dwo(char *path)
{
	struct ctx_elf_file object = {.fd = -1};
	struct stat info;
	uint64_t bytes;
	bool sane = false;

	if (path != NULL && stat(path, &info) != 0)
		sane = true;
	else if (path != NULL) /* opens regular files only, and does not block on a pipe */
		sane = ctx_elf_open_path(&object, path, NULL) == CTX_OK &&
		       measure(object.elf, &bytes, NULL) == CTX_OK;
	ctx_elf_close(&object);
	free(path);
	return sane;
}

/* The two places where libdw searches: next to the file, and in the compilation directory. */
bool ctx_dwarf_file_may_split(const struct ctx_dwarf_file *file, Dwarf_Die *skeleton)
{
	const char *name = text_attribute(skeleton, DW_AT_dwo_name);
	const char *folder = text_attribute(skeleton, DW_AT_comp_dir);
	const char *beside = file->folder;

	if (name == NULL)
		name = text_attribute(skeleton, DW_AT_GNU_dwo_name);
	if (name == NULL)
		return false;
	if (name[0] == '/')
		return is_sane_dwo(make_path("%s", name));
	if (beside != NULL && !is_sane_dwo(make_path("%s/%s", beside, name)))
		return false;
	if (folder == NULL)
		return true;
	if (folder[0] == '/')
		return is_sane_dwo(make_path("%s/%s", folder, name));
	return beside == NULL || is_sane_dwo(make_path("%s/%s/%s", beside, folder, name));
}
