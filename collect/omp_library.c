#include "collect/omp_library.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "collect/child.h"
#include "collect/load_objects.h"
#include "collect/trace_library.h"
#include "elf/elf_file.h"
#include "runtime/program_check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *ctx_omp_library_of(const char *path)
{
	static const char *const names[] = {"libgomp.so", "libomp.so", "libiomp5.so"};

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		if (ctx_load_object_is(path, names[i]))
			return names[i];
	}
	return NULL;
}

/* Libraries of compilers and of the C library, which need none but each other. */
static bool is_plain(const char *name)
{
	static const char *const names[] = {
		"libc.so",  "libm.so",	     "libgcc_s.so",   "libstdc++.so",	    "libdl.so",
		"librt.so", "libpthread.so", "libselinux.so", "ld-linux-x86-64.so", "libtinfo.so"};

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		if (ctx_load_object_is(name, names[i]))
			return true;
	}
	return false;
}

/* Whether a section of a program's file names a library that may need others. */
static bool section_needs(const struct ctx_elf_file *file, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Dyn entry;

	if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNAMIC)
		return false;
	data = elf_getdata(section, NULL);
	for (int i = 0; data != NULL && gelf_getdyn(data, i, &entry) != NULL && entry.d_tag != DT_NULL; i++) {
		const char *name = entry.d_tag == DT_NEEDED
					   ? elf_strptr(file->elf, header.sh_link, entry.d_un.d_val)
					   : NULL;

		if (name != NULL && !is_plain(name))
			return true;
	}
	return false;
}

/* What is no program, such as a script, may need anything. */
static bool may_need_others(const char *path)
{
	struct ctx_elf_file file;
	bool may = ctx_elf_open_path(&file, path, NULL) != CTX_OK;
	Elf_Scn *section = NULL;

	while (!may && (section = elf_nextscn(file.elf, section)) != NULL)
		may = section_needs(&file, section);
	ctx_elf_close(&file);
	return may;
}

/* Whether a section of a program's file has the function that runtimes look for where a tool is. */
static bool section_has_tool(const struct ctx_elf_file *file, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Sym symbol;

	if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNSYM)
		return false;
	data = elf_getdata(section, NULL);
	for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
		const char *name = symbol.st_shndx != SHN_UNDEF
					   ? elf_strptr(file->elf, header.sh_link, symbol.st_name)
					   : NULL;

		if (name != NULL && strcmp(name, "ompt_start_tool") == 0)
			return true;
	}
	return false;
}

static bool has_tool(const char *path)
{
	struct ctx_elf_file file;
	Elf_Scn *section = NULL;
	bool has = false;

	if (ctx_elf_open_path(&file, path, NULL) != CTX_OK)
		return false;
	while (!has && (section = elf_nextscn(file.elf, section)) != NULL)
		has = section_has_tool(&file, section);
	ctx_elf_close(&file);
	return has;
}

static const char *find(const char *command, const char *path)
{
	struct ctx_load_objects objects CTX_CLEANUP(ctx_load_objects_deinit) = {0};
	const char *found = NULL;

	if (!may_need_others(path) || ctx_load_objects_of_command(&objects, command, NULL) != CTX_OK)
		return NULL;
	for (size_t i = 1; i < objects.n && found == NULL; i++)
		found = ctx_omp_library_of(objects.paths[i]);
	return found;
}

/* Whether the command can have the runtime, or that is not known. */
static enum ctx_status check(const char *path, struct ctx_err *err)
{
	struct ctx_trace_library library;
	enum ctx_program program = ctx_program_check(path);
	enum ctx_status status = ctx_trace_library_find(&library, err);

	if (status != CTX_OK || program == CTX_PROGRAM_FITS || program == CTX_PROGRAM_UNKNOWN ||
	    (program == CTX_PROGRAM_FITS_32 && library.has_32))
		return status;
	return ctx_err_set(err, CTX_E_ARG, "%s", ctx_program_reason(program));
}

/* Whether anything else asks for the runtime in the command. */
static bool needs_runtime(const struct ctx_rec_trace *trace)
{
	return trace->heap || trace->sync || trace->io || trace->marks || trace->calls;
}

void ctx_omp_library_decide(struct ctx_rec_options *options, struct ctx_err *why)
{
	struct ctx_rec_trace *trace = &options->trace;
	char path[PATH_MAX];

	*why = (struct ctx_err){0};
	if (options->command == NULL || trace->omp_mode == CTX_REC_OMP_OFF ||
	    ctx_command_find(options->command[0], path, NULL) != CTX_OK)
		return;
	if (trace->omp_mode == CTX_REC_OMP_AUTO) {
		trace->omp_library = find(options->command[0], path);
		trace->omp = trace->omp_library != NULL;
	}
	trace->omp_has_tool = trace->omp && has_tool(path);
	if (!trace->omp || needs_runtime(trace) || check(path, why) == CTX_OK)
		return;
	trace->omp = false;
	(void)ctx_err_prefix(why, CTX_E_ARG, "OpenMP of %s is not recorded", ctx_path_base(path));
}
