#include "collect/attach_target.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "collect/permissions.h"
#include "collect/procfs.h"
#include "elf/elf_buildid.h"
#include "elf/elf_file.h"
#include "runtime/program_check.h"
#include "runtime/shared_layout.h"
#include "unwind/unwind.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define LIBC "libc.so.6"
#define RUNTIME "libctxrt.so" /* stands in for the allocator, and is none */
#define LOADER "ld-linux-x86-64.so.2"
#define STACK_PAGES 512u /* that are read of a stack: 2 MiB */
#define PAGE 4096u
#define FRAMES_MAX 1024u
#define IMAGE_MAX (64u << 10) /* of the vdso */

struct ctx_attach_map {
	uint64_t begin, end, file_offset;
	struct ctx_cfi_table *table; /* owned; NULL: none */
	uint64_t bias;
	enum ctx_attach_frame is; /* of all its code; CTX_ATTACH_INNER: the C library, by its symbols */
};

struct ctx_attach_symbol {
	uint64_t begin, end;
	bool is_barred;
};

/* Refusals */

static enum ctx_status refuse(int64_t pid, const char *why, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_ARG, "process %lld cannot be traced: %s", (long long)pid, why);
}

uint64_t ctx_attach_status_number(const char *status, const char *name, int base, uint64_t otherwise)
{
	size_t n = strlen(name);

	for (const char *line = status; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			return strtoull(line + n + 1, NULL, base);
	}
	return otherwise;
}

static bool has_word(const char *status, const char *name, const char *word)
{
	const char *line = strstr(status, name), *end = line != NULL ? strchr(line + 1, '\n') : NULL, *found;

	if (end == NULL)
		return false;
	found = strstr(line, word);
	return found != NULL && found < end;
}

/* Four equal ids in "Uid:\t1000\t1000\t1000\t1000". */
static bool are_equal(const char *status, const char *name)
{
	unsigned long long ids[4];
	const char *line = strstr(status, name);

	return line != NULL &&
	       sscanf(line + strlen(name), "%llu %llu %llu %llu", &ids[0], &ids[1], &ids[2], &ids[3]) == 4 &&
	       ids[0] == ids[1] && ids[0] == ids[2] && ids[0] == ids[3];
}

/* NULL: nothing speaks against it. */
static const char *refusal_of_state(const char *status)
{
	uint64_t ignored = ctx_attach_status_number(status, "SigIgn", 16, 0);

	if (ctx_attach_status_number(status, "TracerPid", 10, 0) != 0)
		return "a debugger or another tracer is attached to it";
	if (has_word(status, "\nState:", "T (stopped"))
		return "it is stopped (SIGCONT makes it go on)";
	if (has_word(status, "\nState:", "Z (zombie"))
		return "it has ended";
	if ((ignored >> (SIGSEGV - 1) & 1) != 0)
		return "it ignores SIGSEGV, by which the recorder knows that a call in it has returned";
	if (has_word(status, "\nx86_Thread_features:", "shstk"))
		return "it has a shadow stack";
	return NULL;
}

static const char *refusal_of_rights(int64_t pid, const char *status)
{
	uint64_t user = ctx_attach_status_number(status, "Uid", 10, UINT64_MAX);
	char path[64];
	struct stat info;

	if (!are_equal(status, "\nUid:") || !are_equal(status, "\nGid:"))
		return "setuid or setgid";
	if (geteuid() != 0 && user != geteuid())
		return "it is another user's";
	snprintf(path, sizeof(path), "/proc/%lld", (long long)pid);
	if (stat(path, &info) == 0 && info.st_uid != user)
		return "it is protected against being looked at (it has privileges, or prctl "
		       "PR_SET_DUMPABLE)";
	return NULL;
}

/* A filter would see calls of the library as the program's own. */
static bool has_filter(int64_t pid, struct ctx_err *err)
{
	struct ctx_ids tids = {0};
	struct ctx_buf status = {0};
	bool found = false;
	char file[64];

	if (ctx_procfs_tids(pid, &tids, err) != CTX_OK)
		tids.n = 0;
	for (size_t i = 0; i < tids.n && !found; i++) {
		snprintf(file, sizeof(file), "task/%lld/status", (long long)tids.items[i]);
		found = ctx_procfs_text(pid, file, &status, NULL) == CTX_OK &&
			ctx_attach_status_number((const char *)status.bytes, "Seccomp", 10, 0) != 0;
	}
	ctx_buf_deinit(&status);
	ctx_ids_deinit(&tids);
	return found;
}

/* Whether a file is the same one for the process. */
static bool is_visible(int64_t pid, const char *name)
{
	char path[PATH_MAX + 32];
	struct stat here, there;

	snprintf(path, sizeof(path), "/proc/%lld/root%s", (long long)pid, name);
	return stat(name, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

enum ctx_status ctx_attach_target_check(int64_t pid, const char *library, struct ctx_err *err)
{
	struct ctx_buf status = {0};
	enum ctx_status result = ctx_procfs_text(pid, "status", &status, err);
	const char *why = NULL;
	enum ctx_program program;
	char path[64];

	if (result != CTX_OK) {
		ctx_buf_deinit(&status);
		return result == CTX_E_NOTFOUND
			       ? ctx_err_set(err, CTX_E_NOTFOUND, "there is no process %lld", (long long)pid)
			       : result;
	}
	snprintf(path, sizeof(path), "/proc/%lld/exe", (long long)pid);
	why = pid == getpid() ? "it is the recorder" : refusal_of_state((const char *)status.bytes);
	if (why == NULL)
		why = refusal_of_rights(pid, (const char *)status.bytes);
	ctx_buf_deinit(&status);
	if (why == NULL) {
		program = ctx_program_check(path);
		why = program != CTX_PROGRAM_FITS ? ctx_program_reason(program) : NULL;
	}
	if (why == NULL && has_filter(pid, err))
		why = "it has a seccomp filter";
	if (why == NULL && ctx_procfs_namespace(pid, "net") != ctx_procfs_namespace(0, "net") &&
	    !is_visible(pid, CTX_RT_SOCKETS))
		why = "it has another network namespace (a container) and another /tmp: it cannot reach the "
		      "recorder";
	if (why == NULL && !is_visible(pid, library))
		why = "the library is not in its file system (a container, chroot)";
	return why == NULL ? CTX_OK : refuse(pid, why, err);
}

/* Maps and tables */

static size_t read_memory(int64_t pid, uint64_t at, void *out, size_t n)
{
	struct iovec local = {out, n}, remote = {(void *)at, n};
	ssize_t got = process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* Whether the file has the build id that the process has in its memory. */
static bool is_same(int64_t pid, const struct ctx_procfs_map *map, const char *path)
{
	char of_file[CTX_BUILDID_TEXT] = "", of_memory[CTX_BUILDID_TEXT] = "";
	uint8_t image[PAGE];
	struct ctx_elf_file file;
	struct stat info;
	bool is_open = ctx_elf_open_path(&file, path, NULL) == CTX_OK;

	if (is_open)
		memcpy(of_file, file.build_id, sizeof(of_file));
	ctx_elf_close(&file);
	if (!is_open || stat(path, &info) != 0 || info.st_ino != map->inode)
		return false;
	if (read_memory(pid, map->address - map->file_offset, image, sizeof(image)) == sizeof(image) &&
	    ctx_buildid_of_image(image, sizeof(image), of_memory))
		return strcmp(of_file, of_memory) == 0;
	return true;
}

/* False: there is none that is certainly the mapped one. */
static bool find_file(int64_t pid, const struct ctx_procfs_map *map, char path[PATH_MAX + 32])
{
	snprintf(path, PATH_MAX + 32, "/proc/%lld/map_files/%llx-%llx", (long long)pid,
		 (unsigned long long)map->address, (unsigned long long)(map->address + map->size));
	if (access(path, R_OK) == 0)
		return true;
	snprintf(path, PATH_MAX + 32, "/proc/%lld/root%s", (long long)pid, map->path);
	return map->path[0] == '/' && is_same(pid, map, path);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

struct scan { /* of the symbols of one file */
	struct ctx_attach_target *target;
	uint64_t bias;
	bool is_libc;
	bool allocates, finds_objects; /* what was found */
};

static enum ctx_status take_symbol(struct scan *scan, const char *name, const GElf_Sym *symbol,
				   struct ctx_err *err)
{
	static const char *const names[CTX_ATTACH_FUNCTIONS] = {"dlopen", "dlsym",  "dlerror",
								"mmap",	  "munmap", "__errno_location"};
	struct ctx_attach_target *target = scan->target;
	enum ctx_status status;

	scan->allocates = scan->allocates || strcmp(name, "malloc") == 0;
	scan->finds_objects = scan->finds_objects || strcmp(name, "_dl_find_object") == 0;
	if (!scan->is_libc)
		return CTX_OK;
	for (unsigned i = 0; i < CTX_ATTACH_FUNCTIONS; i++) {
		if (strcmp(name, names[i]) == 0)
			target->functions[i] = scan->bias + symbol->st_value;
	}
	status = ctx_grow(&target->symbols, &target->symbols_cap, target->n_symbols + 1, err);
	if (status == CTX_OK)
		target->symbols[target->n_symbols++] =
			(struct ctx_attach_symbol){.begin = scan->bias + symbol->st_value,
						   .end = scan->bias + symbol->st_value + symbol->st_size,
						   .is_barred = ctx_attach_is_barred(name)};
	return status;
}

/* Functions that the file has for others. */
static enum ctx_status scan_symbols(struct scan *scan, const char *path, struct ctx_err *err)
{
	struct ctx_elf_file file;
	enum ctx_status status = ctx_elf_open_path(&file, path, err);
	Elf_Scn *section = status == CTX_OK ? ctx_elf_named_section(&file, ".dynsym") : NULL;
	Elf_Data *data = section != NULL ? ctx_elf_section_data(file.elf, section) : NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (data != NULL && gelf_getshdr(section, &header) != NULL) {
		for (int i = 0; status == CTX_OK && gelf_getsym(data, i, &symbol) != NULL; i++) {
			const char *name = elf_strptr(file.elf, header.sh_link, symbol.st_name);
			unsigned type = GELF_ST_TYPE(symbol.st_info);

			if (name != NULL && symbol.st_shndx != SHN_UNDEF &&
			    (type == STT_FUNC || type == STT_GNU_IFUNC))
				status = take_symbol(scan, name, &symbol, err);
		}
	}
	ctx_elf_close(&file);
	return status;
}

/* The vdso has no file. */
static void read_image(struct ctx_attach_map *map, int64_t pid)
{
	uint8_t *image = ctx_calloc(1, IMAGE_MAX);
	size_t n = map->end - map->begin < IMAGE_MAX ? map->end - map->begin : IMAGE_MAX;

	if (image != NULL && read_memory(pid, map->begin, image, n) == n &&
	    ctx_cfi_table_open_bytes(image, n, &map->table, NULL) != CTX_OK)
		map->table = NULL;
	free(image);
}

static enum ctx_status look_at_file(struct ctx_attach_target *target, const struct ctx_procfs_map *from,
				    struct ctx_attach_map *map, struct ctx_err *err)
{
	struct scan scan = {.target = target, .is_libc = strcmp(base_name(from->path), LIBC) == 0};
	bool is_loader = strcmp(base_name(from->path), LOADER) == 0;
	enum ctx_status status;
	char path[PATH_MAX + 32];
	uint64_t address;

	if (!find_file(target->pid, from, path))
		return CTX_OK;
	if (ctx_cfi_table_open(path, &map->table, NULL) != CTX_OK)
		map->table = NULL;
	if (map->table == NULL || !ctx_cfi_table_address(map->table, from->file_offset, &address))
		return CTX_OK;
	map->bias = from->address - address;
	scan.bias = map->bias;
	if (scan.is_libc && target->n_symbols != 0)
		return refuse(target->pid, "it has more than one C library", err);
	status = scan_symbols(&scan, path, err);
	if (status != CTX_OK)
		return status;
	if (scan.is_libc && !scan.finds_objects)
		return refuse(target->pid, "its C library is older than glibc 2.35", err);
	if (scan.is_libc)
		map->is = CTX_ATTACH_INNER;
	else if (is_loader || (scan.allocates && strcmp(base_name(from->path), RUNTIME) != 0))
		map->is = CTX_ATTACH_BARRED;
	return CTX_OK;
}

static enum ctx_status add_map(struct ctx_attach_target *target, const struct ctx_procfs_map *from,
			       const char *program, struct ctx_err *err)
{
	struct ctx_attach_map map = {
		.begin = from->address, .end = from->address + from->size, .file_offset = from->file_offset};
	enum ctx_status status = ctx_grow(&target->maps, &target->maps_cap, target->n_maps + 1, err);
	uint64_t address;

	if (status != CTX_OK)
		return status;
	if (strcmp(from->path, "[vdso]") == 0) {
		read_image(&map, target->pid);
		if (map.table != NULL && ctx_cfi_table_address(map.table, 0, &address))
			map.bias = map.begin - address;
	} else if (from->inode != 0) {
		status = look_at_file(target, from, &map, err);
	}
	target->maps[target->n_maps++] = map;
	if (status == CTX_OK && map.is == CTX_ATTACH_BARRED && strcmp(from->path, program) == 0)
		return refuse(target->pid,
			      "the allocator (malloc) is a part of the program: no safe place is known", err);
	return status;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct ctx_attach_symbol *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

enum ctx_status ctx_attach_target_open(struct ctx_attach_target *target, int64_t pid, struct ctx_err *err)
{
	struct ctx_buf text = {0};
	struct ctx_procfs_map map;
	char path[64], program[PATH_MAX] = "";
	enum ctx_status status;
	ssize_t n;
	char *rest;

	*target = (struct ctx_attach_target){.pid = pid, .stack = ctx_calloc(STACK_PAGES, PAGE)};
	if (target->stack == NULL)
		return ctx_err_nomem(err);
	snprintf(path, sizeof(path), "/proc/%lld/exe", (long long)pid);
	n = readlink(path, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	status = ctx_procfs_maps(pid, &text, err);
	rest = status == CTX_OK ? (char *)text.bytes : NULL;
	while (status == CTX_OK && ctx_procfs_next_map(&rest, &map))
		status = add_map(target, &map, program, err);
	ctx_buf_deinit(&text);
	for (unsigned i = 0; i < CTX_ATTACH_FUNCTIONS && status == CTX_OK; i++) {
		if (target->functions[i] == 0)
			status = refuse(pid, "its C library cannot be read, or has no dlopen", err);
	}
	if (target->n_symbols != 0)
		qsort(target->symbols, target->n_symbols, sizeof(*target->symbols), compare_symbols);
	return status;
}

void ctx_attach_target_close(struct ctx_attach_target *target)
{
	for (size_t i = 0; i < target->n_maps; i++)
		ctx_cfi_table_close(target->maps[i].table);
	free(target->stack);
	free(target->maps);
	free(target->symbols);
	*target = (struct ctx_attach_target){0};
}

/* Places */

static const struct ctx_attach_map *map_at(const struct ctx_attach_target *target, uint64_t pc)
{
	for (size_t i = 0; i < target->n_maps; i++) {
		if (pc >= target->maps[i].begin && pc < target->maps[i].end)
			return &target->maps[i];
	}
	return NULL;
}

static bool find_object(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	const struct ctx_attach_map *map = map_at(context, pc);

	if (map == NULL)
		return false;
	*ret = (struct ctx_unwind_object){
		.begin = map->begin, .end = map->end, .table = map->table, .bias = map->bias};
	return true;
}

/* Several names may begin at one address, and lengths differ. */
static enum ctx_attach_frame frame_in_libc(const struct ctx_attach_target *target, uint64_t pc)
{
	enum ctx_attach_frame frame = CTX_ATTACH_INNER;
	size_t n = ctx_count_up_to(target->symbols, target->n_symbols, begin, pc);

	for (size_t i = n; i-- > 0 && n - i <= 16;) {
		const struct ctx_attach_symbol *symbol = &target->symbols[i];

		if (pc >= symbol->end)
			continue;
		if (symbol->is_barred)
			return CTX_ATTACH_BARRED;
		frame = CTX_ATTACH_NAMED;
	}
	return frame;
}

/* As much as can be read from the stack pointer on. */
static size_t read_stack(int64_t pid, uint64_t sp, void *out)
{
	struct iovec local = {out, STACK_PAGES * PAGE}, remote[STACK_PAGES];
	uint64_t at = sp;
	ssize_t n;

	for (unsigned i = 0; i < STACK_PAGES; i++) {
		size_t bytes = PAGE - at % PAGE;

		remote[i] = (struct iovec){(void *)at, bytes};
		at += bytes;
	}
	n = process_vm_readv((pid_t)pid, &local, 1, remote, STACK_PAGES, 0);
	return n > 0 ? (size_t)n : 0;
}

bool ctx_attach_target_is_safe(const struct ctx_attach_target *target, const struct ctx_user_regs *regs)
{
	struct ctx_unwind_space space = {.find = find_object, .context = (void *)target};
	struct ctx_unwind_frame frames[FRAMES_MAX];
	enum ctx_attach_frame places[FRAMES_MAX];
	struct ctx_user_state state = {.regs = *regs, .stack = target->stack};
	size_t n = 0;

	state.stack_bytes =
		read_stack(target->pid, regs->value[ctx_machine_sp(regs->machine)], target->stack);
	if (ctx_unwind(&space, &state, frames, FRAMES_MAX, &n) != CTX_TRUNCATED_NOT)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct ctx_attach_map *map = map_at(target, frames[i].address);

		places[i] = map == NULL			  ? CTX_ATTACH_ELSEWHERE
			    : map->is != CTX_ATTACH_INNER ? map->is
							  : frame_in_libc(target, frames[i].address);
	}
	return ctx_attach_is_safe(places, n);
}
