/*
 * Places in the program's code that compilers have left for hooks: those of chosen functions are made calls of hooks.
 *
 *	__patchable_function_entries	-fpatchable-function-entry=N[,M]: nops, 5 bytes of which are needed
 *	__mcount_loc			-mnop-mcount: a nop of 5 bytes
 *	xray_instr_map			-fxray-instrument: jumps over nops, and returns before nops
 *
 * When the program starts: in what is loaded then, and only as long as there is one thread, since another one might be
 * executing what changes. And in libraries that are opened later (rt_jump.c), before the program knows of them; with several threads
 * only in the library itself, not in those that it needs, and not where its constructors have started the first of them. Sections and symbols
 * are read from the files.
 *
 *	object --its file--> sections of places --> symbol, chosen? --> 5 bytes: a call of a jump near the object --> hook
 */
#include "runtime/rt_calls_patch.h"
#include "runtime/rt_calls.h"
#include "runtime/rt_calls_work.h"
#include "runtime/rt_count.h"
#include "runtime/rt_memory.h"
#include "runtime/rt_once.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/rt_returns.h"
#include "runtime/rt_syscall.h"
#include "runtime/rt_text.h"
#include "runtime/rt_walk.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <regex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__

#define BEFORE_MAX 64u /* nops in front of a function */
#define REGEX_BYTES ((size_t)64 << 20)
#define REGEX_NAMES 2000u /* after so many the memory of regular expressions begins anew */
#define ENDBR 0xfa1e0ff3u
#define SLED_BYTES 11u

enum target { ENTRY, SLED_ENTER, SLED_LEAVE, SLED_TAIL, TARGETS };

struct symbol {
	uint64_t value, size;
	const char *name;
	uint8_t choice; /* 0 not asked, 1 chosen, 2 not */
};

struct object {
	struct ctx_rt_text text;
	const uint8_t *file; /* mapped */
	size_t file_bytes;
	struct symbol *symbols; /* by value; mapped */
	size_t n_symbols;
	uint8_t *jumps; /* near it, one of 16 bytes for each target */
	bool is_open;	/* its code can be written */
	bool is_new;	/* no thread knows of it yet */
};

static struct {
	const char *of;
	char pattern[512];
	regex_t regex;
	bool is_compiled;
	size_t n_names; /* since it was compiled */
	char *room;
	uint64_t done, left; /* functions that were patched, and could not be */
} patching;

/* Names */

/* In memory of its own: the program's allocator may not be ready. */
static bool compile(void)
{
	if (patching.is_compiled && patching.n_names < REGEX_NAMES)
		return true;
	if (patching.room == NULL)
		patching.room = ctx_rt_memory_map(REGEX_BYTES);
	if (patching.room == NULL)
		return false;
	ctx_rt_scratch = (struct ctx_rt_scratch){patching.room, REGEX_BYTES};
	patching.is_compiled = regcomp(&patching.regex, patching.pattern, REG_EXTENDED | REG_NOSUB) == 0;
	patching.n_names = 0;
	return patching.is_compiled;
}

static bool is_chosen(struct symbol *symbol)
{
	if (patching.of == NULL)
		return true;
	if (symbol == NULL)
		return false;
	if (symbol->choice == 0 && compile()) {
		patching.n_names++;
		symbol->choice = regexec(&patching.regex, symbol->name, 0, NULL, 0) == 0 ? 1 : 2;
	}
	return symbol->choice == 1;
}

static void set_pattern(const char *of)
{
	size_t n = 0;

	patching.of = of;
	for (; of != NULL && of[0] >= 'A' && of[0] <= 'P' && of[1] >= 'A' && of[1] <= 'P' &&
	       n + 1 < sizeof(patching.pattern);
	     of += 2)
		patching.pattern[n++] = (char)((of[0] - 'A') << 4 | (of[1] - 'A'));
	patching.pattern[n] = '\0';
}

/* Files */

static bool map_file(struct object *object, const char *name)
{
	int fd = (int)ctx_rt_syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	struct stat info;
	long at = -1;

	if (fd < 0)
		return false;
	if (ctx_rt_syscall(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH) == 0 && S_ISREG(info.st_mode) &&
	    info.st_size >= (off_t)sizeof(ElfW(Ehdr))) {
		object->file_bytes = (size_t)info.st_size;
		at = ctx_rt_syscall(CTX_RT_SYS_MMAP, NULL, object->file_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	ctx_rt_close(fd);
	object->file = at != -1 ? (const uint8_t *)at : NULL;
	return object->file != NULL;
}

/* Bytes of the file; NULL: it has not so many. */
static const void *at_offset(const struct object *object, uint64_t offset, uint64_t n)
{
	return offset <= object->file_bytes && n <= object->file_bytes - offset ? object->file + offset
										: NULL;
}

static const ElfW(Shdr) * section_at(const struct object *object, unsigned i)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->file;

	if (header->e_shentsize != sizeof(ElfW(Shdr)) || i >= header->e_shnum)
		return NULL;
	return at_offset(object, header->e_shoff + (uint64_t)i * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)));
}

/* A string of a table, which ends within it. */
static const char *string_at(const struct object *object, const ElfW(Shdr) * table, uint64_t at)
{
	const char *bytes = table != NULL ? at_offset(object, table->sh_offset, table->sh_size) : NULL;

	return bytes != NULL && at < table->sh_size && memchr(bytes + at, '\0', table->sh_size - at) != NULL
		       ? bytes + at
		       : NULL;
}

static const char *name_of(const struct object *object, const ElfW(Shdr) * section)
{
	return string_at(object, section_at(object, ((const ElfW(Ehdr) *)object->file)->e_shstrndx),
			 section->sh_name);
}

/* The next section of a name behind number `*i`, where it is loaded; NULL: none. */
static const ElfW(Shdr) * find_section(const struct object *object, const char *name, unsigned *i)
{
	const ElfW(Shdr) * section;

	while ((section = section_at(object, (*i)++)) != NULL) {
		const char *its = name_of(object, section);
		uint64_t at = object->text.base + section->sh_addr;

		if (its != NULL && strcmp(its, name) == 0 && (section->sh_flags & SHF_ALLOC) != 0 &&
		    at >= object->text.begin && section->sh_size <= object->text.end - at &&
		    at < object->text.end)
			return section;
	}
	return NULL;
}

static void sort(struct symbol *symbols, size_t n)
{
	for (size_t gap = n / 2; gap != 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
		for (size_t i = gap; i < n; i++) {
			struct symbol symbol = symbols[i];
			size_t at = i;

			for (; at >= gap && symbols[at - gap].value > symbol.value; at -= gap)
				symbols[at] = symbols[at - gap];
			symbols[at] = symbol;
		}
	}
}

/* Of the table of a kind; false: there is none. */
static bool read_symbols(struct object *object, uint32_t type)
{
	const ElfW(Shdr) *section = NULL, *names;
	const ElfW(Sym) *from = NULL;
	size_t n = 0;

	for (unsigned i = 0; (section = section_at(object, i)) != NULL && section->sh_type != type;)
		i++;
	if (section == NULL)
		return false;
	names = section_at(object, section->sh_link);
	n = section->sh_size / sizeof(*from);
	from = at_offset(object, section->sh_offset, section->sh_size);
	if (n == 0 || from == NULL || names == NULL)
		return false;
	object->symbols = ctx_rt_memory_map(n * sizeof(*object->symbols));
	for (size_t i = 0; i < n && object->symbols != NULL; i++) {
		const char *name = ELF64_ST_TYPE(from[i].st_info) == STT_FUNC && from[i].st_shndx != SHN_UNDEF
					   ? string_at(object, names, from[i].st_name)
					   : NULL;

		if (name != NULL)
			object->symbols[object->n_symbols++] = (struct symbol){
				object->text.base + from[i].st_value, from[i].st_size, name, 0};
	}
	sort(object->symbols, object->n_symbols);
	return object->symbols != NULL;
}

/* The first symbol at an address or behind it. */
static size_t find_symbol(const struct object *object, uint64_t address)
{
	size_t low = 0, high = object->n_symbols;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (object->symbols[middle].value < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The function that an address is in; of several names one that is chosen. NULL: none. */
static struct symbol *symbol_of(struct object *object, uint64_t address)
{
	size_t i = find_symbol(object, address + 1);
	struct symbol *found = NULL;

	while (i-- > 0 && (found == NULL || object->symbols[i].value == found->value)) {
		if (address - object->symbols[i].value >= object->symbols[i].size && found == NULL &&
		    address != object->symbols[i].value)
			return NULL;
		found = &object->symbols[i];
		if (is_chosen(found))
			return found;
	}
	return found;
}

/* Code */

/* Jumps to the hooks, in a page that calls of 32 bits reach from all of the object. */
static bool make_jumps(struct object *object)
{
	static const char *const targets[TARGETS] = {[ENTRY] = ctx_rt_calls_patched_entry,
						     [SLED_ENTER] = ctx_rt_calls_sled_enter,
						     [SLED_LEAVE] = ctx_rt_calls_sled_leave,
						     [SLED_TAIL] = ctx_rt_calls_sled_tail};
	uint8_t *page = object->jumps;

	if (page != NULL)
		return true;
	page = ctx_rt_text_near(&object->text, CTX_RT_PAGE);
	if (page == NULL)
		return false;
	object->jumps = page;
	for (unsigned i = 0; i < TARGETS; i++) {
		static const uint8_t jump[8] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x90, 0x90};
		uint64_t target = (uint64_t)(uintptr_t)targets[i];

		memcpy(object->jumps + 16 * i, jump, sizeof(jump));
		memcpy(object->jumps + 16 * i + sizeof(jump), &target, sizeof(target));
	}
	return ctx_rt_syscall(SYS_mprotect, page, CTX_RT_PAGE, PROT_READ | PROT_EXEC) == 0;
}

static void count(bool is_done)
{
	patching.done += is_done;
	patching.left += !is_done;
}

/* Writes a call or jump (`code`) there, and a nop over the rest of `n` bytes. */
static bool write_call(struct object *object, uint64_t at, uint8_t code, enum target target, size_t n)
{
	uint8_t bytes[SLED_BYTES] = {code};
	int32_t distance;

	if ((__libc_single_threaded == 0 && !object->is_new) || !make_jumps(object))
		return false;
	object->is_open = object->is_open || ctx_rt_text_open(&object->text, true);
	if (!object->is_open)
		return false;
	distance = (int32_t)((uint64_t)(uintptr_t)(object->jumps + 16 * target) - (at + CTX_RT_JUMP_BYTES));
	memcpy(bytes + 1, &distance, sizeof(distance));
	if (n == SLED_BYTES)
		memcpy(bytes + CTX_RT_JUMP_BYTES, (const uint8_t[]){0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}, 6);
	else
		memset(bytes + CTX_RT_JUMP_BYTES, 0x90, n - CTX_RT_JUMP_BYTES);
	memcpy((void *)(uintptr_t)at, bytes, n);
	return true;
}

/* Nops at a function's begin, or in front of it as well. */
static void patch_entry(struct object *object, uint64_t at)
{
	struct symbol *symbol;
	size_t next, room;

	if (!ctx_rt_text_has(&object->text, at, CTX_RT_LOOK_BYTES))
		return;
	symbol = symbol_of(object, at);
	next = find_symbol(object, at + 1);
	if (symbol == NULL && next < object->n_symbols && object->symbols[next].value - at <= BEFORE_MAX) {
		uint32_t first;

		at = object->symbols[next].value;
		if (!ctx_rt_text_has(&object->text, at, CTX_RT_LOOK_BYTES))
			return;
		symbol = symbol_of(object, at);
		memcpy(&first, (const void *)(uintptr_t)at, sizeof(first));
		at += first == ENDBR ? sizeof(first) : 0;
	}
	if (!is_chosen(symbol))
		return;
	room = ctx_rt_text_room(&object->text, at);
	count(room != 0 && write_call(object, at, 0xe8, ENTRY, room));
}

static void patch_entries(struct object *object, const char *name, bool only_nops)
{
	const ElfW(Shdr) * section;
	unsigned i = 0;

	while ((section = find_section(object, name, &i)) != NULL) {
		const uint64_t *places = (const uint64_t *)(uintptr_t)(object->text.base + section->sh_addr);

		for (size_t k = 0; k < section->sh_size / sizeof(*places); k++) {
			if (!only_nops || ctx_rt_text_room(&object->text, places[k]) != 0)
				patch_entry(object, places[k]);
		}
	}
}

/* As LLVM writes it. */
struct sled {
	uint64_t address, function; /* from version 2 on differences to their own places */
	uint8_t kind, always, version;
	uint8_t unused[13];
};

static void patch_sled(struct object *object, const struct sled *sled)
{
	static const uint8_t skip[2] = {0xeb, 0x09};
	static const enum target targets[] = {SLED_ENTER, SLED_LEAVE, SLED_TAIL, SLED_ENTER};
	bool is_relative = sled->version >= 2;
	uint64_t at = sled->address + (is_relative ? (uint64_t)(uintptr_t)&sled->address : 0);
	uint64_t function = sled->function + (is_relative ? (uint64_t)(uintptr_t)&sled->function : 0);
	const uint8_t *code = (const uint8_t *)(uintptr_t)at;
	bool leaves = sled->kind == 1, is_fine;

	if (sled->kind > 3 || !ctx_rt_text_has(&object->text, at, SLED_BYTES) ||
	    !is_chosen(symbol_of(object, function)))
		return;
	is_fine = leaves ? code[0] == 0xc3 : memcmp(code, skip, sizeof(skip)) == 0;
	is_fine = is_fine && write_call(object, at, leaves ? 0xe9 : 0xe8, targets[sled->kind], SLED_BYTES);
	if (targets[sled->kind] == SLED_ENTER)
		count(is_fine);
}

static void patch_sleds(struct object *object)
{
	const ElfW(Shdr) * section;
	unsigned i = 0;

	while ((section = find_section(object, "xray_instr_map", &i)) != NULL) {
		const struct sled *sleds =
			(const struct sled *)(uintptr_t)(object->text.base + section->sh_addr);

		for (size_t k = 0; k < section->sh_size / sizeof(*sleds); k++)
			patch_sled(object, &sleds[k]);
	}
}

static bool has_places(const struct object *object)
{
	static const char *const names[] = {"__patchable_function_entries", "__mcount_loc", "xray_instr_map"};
	bool has = false;

	for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]) && !has; k++) {
		unsigned i = 0;

		has = find_section(object, names[k], &i) != NULL;
	}
	return has;
}

/* `context`: NULL, or the object has just been opened, and no thread knows of it. */
static int patch_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct object object = {.text = ctx_rt_text_of(info), .is_new = context != NULL};
	const char *name = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";

	(void)size;
	if (object.text.begin >= object.text.end || !map_file(&object, name))
		return 0;
	if (memcmp(object.file, ELFMAG, SELFMAG) == 0 && object.file[EI_CLASS] == ELFCLASS64 &&
	    has_places(&object)) {
		(void)(read_symbols(&object, SHT_SYMTAB) || read_symbols(&object, SHT_DYNSYM));
		patch_entries(&object, "__patchable_function_entries", false);
		patch_entries(&object, "__mcount_loc", true);
		patch_sleds(&object);
	}
	if (object.is_open)
		(void)ctx_rt_text_open(&object.text, false);
	if (object.symbols != NULL)
		ctx_rt_memory_unmap(object.symbols, object.n_symbols * sizeof(*object.symbols));
	ctx_rt_memory_unmap((void *)(uintptr_t)object.file, object.file_bytes);
	return 0;
}

static uint64_t find_return(uint64_t cfa)
{
	const uint64_t *at = ctx_rt_returns_at(cfa);

	return at != NULL ? *at : 0;
}

/* The regular expression's memory is for as long as one walk. */
static void walk(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context)
{
	ctx_rt_mute();
	(void)dl_iterate_phdr(visit, context);
	ctx_rt_scratch = (struct ctx_rt_scratch){0};
	if (patching.room != NULL)
		ctx_rt_memory_unmap(patching.room, REGEX_BYTES);
	patching.room = NULL;
	patching.is_compiled = false;
	ctx_rt_unmute();
}

static void patch_all(const char *of)
{
	ctx_rt_walk_stand_in((uint64_t)(uintptr_t)ctx_rt_calls_return, find_return);
	set_pattern(of);
	walk(patch_object, NULL);
}

/* Libraries that are opened later */

struct seeing {
	struct ctx_rt_loaded *loaded;
	uint64_t caller;
	bool is_found; /* the caller's object */
};

static bool has_address(const struct dl_phdr_info *info, uint64_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
			return true;
	}
	return false;
}

/* Where the loader searches. The program's DT_RPATH is the same for all. */
static void see_search(struct seeing *seeing, const ElfW(Dyn) * entry, bool is_caller)
{
	struct ctx_rt_loaded *loaded = seeing->loaded;

	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_RPATH && loaded->n != 0)
			loaded->is_inherited_search = true;
		else if (is_caller &&
			 (entry->d_tag == DT_RUNPATH ||
			  (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODEFLIB) != 0)))
			loaded->is_own_search = true;
	}
}

static int see_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct seeing *seeing = context;
	struct ctx_rt_loaded *loaded = seeing->loaded;
	bool is_caller = has_address(info, seeing->caller);

	(void)size;
	seeing->is_found = seeing->is_found || is_caller;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			see_search(
				seeing,
				(const ElfW(Dyn) *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				is_caller);
	}
	if (loaded->n < CTX_RT_LOADED_MAX)
		loaded->objects[loaded->n] = info->dlpi_addr;
	loaded->n++;
	return 0;
}

static bool are_recorded(void)
{
	return atomic_load(&ctx_rt_calls_mode) != CTX_RT_CALLS_OFF;
}

void ctx_rt_calls_see_loaded(struct ctx_rt_loaded *ret, const void *caller)
{
	struct seeing seeing = {ret, (uintptr_t)caller, false};

	ret->n = 0;
	ret->is_own_search = ret->is_inherited_search = false;
	ret->is_alone = __libc_single_threaded != 0;
	ret->has_hooks = are_recorded();
	ret->is_wanted = (ret->has_hooks || ctx_rt_once_is_on() || ctx_rt_count_is_on()) &&
			 !ctx_rt_is_restricted() && !ctx_rt_is_late() && environ != NULL;
	if (ret->is_wanted)
		(void)dl_iterate_phdr(see_object, &seeing);
	/* For code that is in no object the loader takes the program. */
	ret->is_own_search = ret->is_own_search || !seeing.is_found;
}

struct opened {
	const struct ctx_rt_loaded *before;
	uint64_t base; /* of the library itself */
};

static int patch_opened(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct opened *opened = context;

	if (ctx_rt_loaded_has(opened->before, info->dlpi_addr))
		return 0;
	if (__libc_single_threaded == 0 && info->dlpi_addr != opened->base)
		return 0;
	return patch_object(info, size,
			    opened->before->is_alone && __libc_single_threaded == 0 ? NULL : context);
}

void ctx_rt_calls_patch_opened(const struct ctx_rt_loaded *before, const void *handle)
{
	static _Atomic uint32_t is_busy;
	const struct link_map *map = handle; /* as the C library has it */
	struct opened opened = {before, map->l_addr};
	uint64_t done, left;
	int error = errno;

	if (!before->is_wanted || !before->has_hooks || before->n > CTX_RT_LOADED_MAX)
		return;
	while (atomic_exchange(&is_busy, 1) != 0)
		(void)sched_yield();
	done = patching.done;
	left = patching.left;
	walk(patch_opened, &opened);
	if (patching.done != done || patching.left != left)
		ctx_rt_process_note_calls(patching.done - done, patching.left - left);
	atomic_store(&is_busy, 0);
	errno = error;
}

#else

static struct {
	uint64_t done, left;
} patching;

static void patch_all(const char *of)
{
	(void)of;
}

void ctx_rt_calls_see_loaded(struct ctx_rt_loaded *ret, const void *caller)
{
	(void)caller;
	*ret = (struct ctx_rt_loaded){0};
}

void ctx_rt_calls_patch_opened(const struct ctx_rt_loaded *before, const void *handle)
{
	(void)before;
	(void)handle;
}

#endif

/* Before the program's own functions. The recorder knows of the process from here on, also if it has no hooks. */
__attribute__((constructor)) static void start(void)
{
	int error = errno;

	if (ctx_rt_calls_begin() && !ctx_rt_is_restricted() && !ctx_rt_is_late()) {
		patch_all(ctx_rt_calls_settings.of);
		ctx_rt_process_note_calls(patching.done, patching.left);
	}
	errno = error;
}
