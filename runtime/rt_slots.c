#include "runtime/rt_slots.h"

#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/rt_syscall.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__

#define FUNCTIONS_MAX 1024u /* symbols of this library */
#define DLSYM 0u	    /* of no symbol: the number of the function that stands in for dlsym */
#define NONE UINT32_MAX
#define MARKS                                                                                                \
	"ctx_trace_event_v1" /* of ctx_trace.h: weak in the program, so that its slot is NULL without this library */

/* The part of this library's own symbol table that is needed to find a name. */
extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

static struct {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
	uint64_t base;
} own;

/* Calls dlsym as if the caller had: it depends on who that is. */
extern const char ctx_rt_dlsym_entry[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"), used)) void *ctx_rt_dlsym_real;

__asm__(".pushsection .text\n"
	".globl ctx_rt_dlsym_entry\n"
	".hidden ctx_rt_dlsym_entry\n"
	".type ctx_rt_dlsym_entry, @function\n"
	"ctx_rt_dlsym_entry:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	push %rdi\n"
	".cfi_adjust_cfa_offset 8\n"
	"	push %rsi\n"
	".cfi_adjust_cfa_offset 8\n"
	"	sub $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"	call ctx_rt_slots_look\n"
	"	add $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n"
	".cfi_adjust_cfa_offset -8\n"
	"	pop %rdi\n"
	".cfi_adjust_cfa_offset -8\n"
	"	jmp *ctx_rt_dlsym_real(%rip)\n"
	".cfi_endproc\n"
	".size ctx_rt_dlsym_entry, .-ctx_rt_dlsym_entry\n"
	".popsection\n");

/* By the number of their symbol. */
static void *reals[FUNCTIONS_MAX]; /* NULL: there is none */
static bool are_known[FUNCTIONS_MAX];

static uint32_t directed; /* kinds; 0: nothing is directed to this library */
static uint64_t seen;	  /* objects that were loaded and unloaded by then */

/* Names */

static void find_own(void)
{
	Dl_info info;

	if (own.hash != NULL || dladdr(own_dynamic, &info) == 0)
		return;
	own.base = (uint64_t)info.dli_fbase;
	ctx_rt_dlsym_real = (void *)dlsym;
	for (const ElfW(Dyn) *entry = own_dynamic; entry->d_tag != DT_NULL; entry++) {
		uint64_t at = entry->d_un.d_ptr < own.base ? own.base + entry->d_un.d_ptr : entry->d_un.d_ptr;

		if (entry->d_tag == DT_SYMTAB)
			own.symbols = (const ElfW(Sym) *)at;
		else if (entry->d_tag == DT_STRTAB)
			own.names = (const char *)at;
		else if (entry->d_tag == DT_GNU_HASH)
			own.hash = (const uint32_t *)at;
	}
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* The number of this library's function of a name; NONE: it has none. As the loader does it. */
static uint32_t find_function(const char *name)
{
	uint32_t n_buckets = own.hash[0], first = own.hash[1], n_words = own.hash[2], shift = own.hash[3];
	const uint64_t *filter = (const uint64_t *)(own.hash + 4);
	const uint32_t *buckets = (const uint32_t *)(filter + n_words), *chain = buckets + n_buckets;
	uint32_t hash = hash_of(name), i;
	uint64_t word = filter[hash / 64 % n_words];

	if ((word >> hash % 64 & word >> (hash >> shift) % 64 & 1) == 0)
		return NONE;
	i = buckets[hash % n_buckets];
	if (i < first)
		return NONE;
	do {
		if ((chain[i - first] | 1) == (hash | 1) && i < FUNCTIONS_MAX &&
		    strcmp(own.names + own.symbols[i].st_name, name) == 0)
			return i;
	} while ((chain[i++ - first] & 1) == 0);
	return NONE;
}

static bool begins(const char *name, const char *const *with)
{
	for (; *with != NULL; with++) {
		if (strncmp(name, *with, strlen(*with)) == 0)
			return true;
	}
	return false;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (strcmp(name, *names) == 0)
			return true;
	}
	return false;
}

/* The kinds for which a function is directed here. */
static uint32_t kinds_of(const char *name)
{
	static const char *const always[] = {"exec",  "fexecve", "posix_spawn",	  "dl", "mprotect",
					     "prctl", "syscall", "pkey_mprotect", NULL};
	static const char *const sync[] = {"pthread_", "sem_", "mtx_", "cnd_", "thrd_", NULL};
	static const char *const heap[] = {
		"malloc",	 "calloc",   "realloc", "reallocarray", "free", "posix_memalign",
		"aligned_alloc", "memalign", "valloc",	"pvalloc",	"mmap", "mmap64",
		"munmap",	 "mremap",   "brk",	"sbrk",		"fork", NULL};
	static const char *const calls[] = {"__cyg_profile_func_",
					    "mcount",
					    "_mcount",
					    "__fentry__",
					    "longjmp",
					    "_longjmp",
					    "siglongjmp",
					    "__longjmp_chk",
					    "__cxa_begin_catch",
					    NULL};
	static const char *const none[] = {CTX_RT_ATTACH_FUNCTION, CTX_RT_DETACH_FUNCTION, NULL};

	if (is_one_of(name, none))
		return 0;
	if (strcmp(name, MARKS) == 0)
		return CTX_RT_WHAT_MARKS;
	if (begins(name, always))
		return CTX_RT_WHAT_ALL;
	if (begins(name, calls))
		return CTX_RT_WHAT_CALLS;
	return begins(name, sync)      ? CTX_RT_WHAT_SYNC
	       : is_one_of(name, heap) ? CTX_RT_WHAT_HEAP
				       : CTX_RT_WHAT_IO;
}

static void *own_function(uint32_t number)
{
	return number == DLSYM ? (void *)(uintptr_t)ctx_rt_dlsym_entry
			       : (void *)(own.base + own.symbols[number].st_value);
}

static void *real_function(uint32_t number)
{
	if (number == DLSYM)
		return ctx_rt_dlsym_real;
	if (!are_known[number]) {
		reals[number] = ctx_rt_find(own.names + own.symbols[number].st_name, NULL);
		are_known[number] = true;
	}
	return reals[number];
}

/* Slots */

struct object {
	uint64_t base, begin, end;
	const ElfW(Phdr) * segments;
	unsigned n_segments;
	uint64_t protected_begin, protected_end; /* after relocation */
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * relocations[2]; /* of data, of calls */
	size_t n_relocations[2];
	bool is_open; /* the protected part is writable meanwhile */
};

struct pass {
	uint32_t what;
	bool restores;
	size_t n;
};

static const ElfW(Dyn) * look_at_segments(struct object *object)
{
	const ElfW(Dyn) *dynamic = NULL;

	object->begin = UINT64_MAX;
	for (unsigned i = 0; i < object->n_segments; i++) {
		const ElfW(Phdr) *segment = &object->segments[i];
		uint64_t at = object->base + segment->p_vaddr, end = at + segment->p_memsz;

		if (segment->p_type == PT_DYNAMIC) {
			dynamic = (const ElfW(Dyn) *)at;
		} else if (segment->p_type == PT_GNU_RELRO) {
			object->protected_begin = at & ~(uint64_t)(CTX_RT_PAGE - 1);
			object->protected_end = end & ~(uint64_t)(CTX_RT_PAGE - 1);
		} else if (segment->p_type == PT_LOAD) {
			object->begin = at < object->begin ? at : object->begin;
			object->end = end > object->end ? end : object->end;
		}
	}
	return dynamic;
}

/* False: it has no relocations with symbols. */
static bool look_at(struct object *object)
{
	const ElfW(Dyn) *entry = look_at_segments(object);
	bool has_addends = true;

	for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
		uint64_t value = entry->d_un.d_val;
		uint64_t at = value < object->base ? object->base + value : value;

		switch (entry->d_tag) {
		case DT_SYMTAB:
			object->symbols = (const ElfW(Sym) *)at;
			break;
		case DT_STRTAB:
			object->names = (const char *)at;
			break;
		case DT_RELA:
			object->relocations[0] = (const ElfW(Rela) *)at;
			break;
		case DT_RELASZ:
			object->n_relocations[0] = value / sizeof(ElfW(Rela));
			break;
		case DT_JMPREL:
			object->relocations[1] = (const ElfW(Rela) *)at;
			break;
		case DT_PLTRELSZ:
			object->n_relocations[1] = value / sizeof(ElfW(Rela));
			break;
		case DT_PLTREL:
			has_addends = value == DT_RELA;
			break;
		default:
			break;
		}
	}
	return object->symbols != NULL && object->names != NULL && has_addends;
}

static bool is_protected(const struct object *object, uint64_t at)
{
	return at >= object->protected_begin && at < object->protected_end;
}

static bool protect(const struct object *object, int protection)
{
	return ctx_rt_syscall(SYS_mprotect, object->protected_begin,
			      object->protected_end - object->protected_begin, protection) == 0;
}

/* In a segment that can be written to, once the loader's protection is off. */
static bool make_writable(struct object *object, uint64_t at)
{
	bool is_data = false;

	for (unsigned i = 0; i < object->n_segments && !is_data; i++) {
		const ElfW(Phdr) *segment = &object->segments[i];

		is_data = segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0 &&
			  at - object->base - segment->p_vaddr < segment->p_memsz;
	}
	if (is_data && is_protected(object, at) && !object->is_open)
		object->is_open = protect(object, PROT_READ | PROT_WRITE);
	return is_data && (!is_protected(object, at) || object->is_open);
}

/* The number of the function of a slot; NONE: none of ours. */
static uint32_t function_of(const struct object *object, const ElfW(Rela) * relocation)
{
	uint32_t symbol = (uint32_t)ELF64_R_SYM(relocation->r_info);
	uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
	const char *name;

	if (symbol == 0 || (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
			    (type != R_X86_64_64 || relocation->r_addend != 0)))
		return NONE;
	name = object->names + object->symbols[symbol].st_name;
	return strcmp(name, "dlsym") == 0 ? DLSYM : find_function(name);
}

static void change(struct pass *pass, struct object *object, const ElfW(Rela) * relocation)
{
	uint32_t number = function_of(object, relocation);
	uint64_t at = object->base + relocation->r_offset, value;
	bool is_unbound;
	void *real;

	if (number == NONE || at % sizeof(uint64_t) != 0 ||
	    (!pass->restores && number != DLSYM &&
	     (kinds_of(own.names + own.symbols[number].st_name) & pass->what) == 0))
		return;
	real = real_function(number);
	if (real == NULL && strcmp(own.names + own.symbols[number].st_name, MARKS) != 0)
		return;
	value = __atomic_load_n((uint64_t *)at, __ATOMIC_RELAXED);
	/* The loader's first value of it leads to a stub beside it. */
	is_unbound = ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT && value >= object->begin &&
		     value < object->end;
	if (pass->restores ? value != (uint64_t)own_function(number) : value != (uint64_t)real && !is_unbound)
		return;
	if (!make_writable(object, at))
		return;
	__atomic_store_n((uint64_t *)at, (uint64_t)(pass->restores ? real : own_function(number)),
			 __ATOMIC_RELEASE);
	pass->n++;
}

static int change_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct pass *pass = context;
	struct object object = {
		.base = info->dlpi_addr, .segments = info->dlpi_phdr, .n_segments = info->dlpi_phnum};

	(void)size;
	seen = info->dlpi_adds + info->dlpi_subs;
	if (object.base == own.base || !look_at(&object))
		return 0;
	for (unsigned kind = 0; kind < 2; kind++) {
		for (size_t i = 0; object.relocations[kind] != NULL && i < object.n_relocations[kind]; i++)
			change(pass, &object, &object.relocations[kind][i]);
	}
	if (object.is_open)
		(void)protect(&object, PROT_READ);
	return 0;
}

static size_t change_all(struct pass pass)
{
	find_own();
	if (own.hash == NULL || own.symbols == NULL || own.names == NULL)
		return 0;
	(void)dl_iterate_phdr(change_object, &pass);
	return pass.n;
}

size_t ctx_rt_slots_redirect(uint32_t what)
{
	__atomic_store_n(&directed, what, __ATOMIC_RELAXED);
	return change_all((struct pass){.what = what});
}

size_t ctx_rt_slots_restore(void)
{
	__atomic_store_n(&directed, 0, __ATOMIC_RELAXED);
	return change_all((struct pass){.restores = true});
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

void ctx_rt_slots_look(void)
{
	uint32_t what = __atomic_load_n(&directed, __ATOMIC_RELAXED);
	uint64_t now = 0;
	int error = errno;

	if (what == 0)
		return;
	(void)dl_iterate_phdr(count_objects, &now);
	if (now != __atomic_load_n(&seen, __ATOMIC_RELAXED))
		(void)change_all((struct pass){.what = what});
	errno = error;
}

#else

/* The recorder attaches to no process of 32 bits. */
size_t ctx_rt_slots_redirect(uint32_t what)
{
	(void)what;
	return 0;
}

size_t ctx_rt_slots_restore(void)
{
	return 0;
}

void ctx_rt_slots_look(void)
{
}

#endif
