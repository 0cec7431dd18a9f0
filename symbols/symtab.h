/*
 * Symbols of one load object: file offset -> function.
 *
 * A symbol table is built from the object's files, searched in the order of elf/file_search.h: the
 * archived copy, the build-id caches, the file at its own path, separate debug files, debuginfod. A
 * file whose build id differs from the wanted one is never used: a missing name is better than a
 * wrong one. `.symtab` is preferred, `.dynsym` is merged in. Names are demangled (C++, Rust, D).
 * Aliases at one address share one name: the last in alphabetical order (E11); symbols without a
 * size reach to the next symbol of their section, or as far as their unwind table entry does. A
 * function with an unwind table entry but without a symbol is named `<static>@0xSTART`. PLT slots
 * are named SYMBOL@plt if a relocation names the symbol, otherwise @plt. docs/symbols.md says why.
 *
 * Everything in the file is untrusted: sizes and offsets are checked; damage gives a table without
 * symbols and a reason, never a crash.
 */
#ifndef CTX_SYMBOLS_SYMTAB_H
#define CTX_SYMBOLS_SYMTAB_H

#include "base/err.h"
#include "elf/file_request.h"
#include "model/event_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_symbol {
	const char *name;	  /* demangled */
	const char *linkage_name; /* as in the file; may be the same pointer as name */
	const char *aliases; /* other (demangled) names of the same address, separated by spaces; "" none */
	uint64_t start;	     /* virtual address in the object (kernel: absolute address) */
	uint64_t size;	     /* bytes up to which addresses belong to it */
	const char *source;  /* name of the source file of a local symbol; "" unknown */
	const char *module;  /* kernel symbols: "[ext4]" for a module's, "" for the kernel's own; ELF: "" */
	/*
	 * Index of the symbol that this one is a clone or an outlined part of (foo.cold,
	 * foo.isra.0, foo.part.0, foo.constprop.0 of foo); its own index if it is neither.
	 */
	uint32_t whole;
};

/* Which kernel: see struct ctx_source_kernel. */
struct ctx_symtab_kernel {
	const char *build_id, *release; /* "" unknown */
	const char *symbol;		/* "" none */
	uint64_t address;
	const char *const *caches; /* as above: CACHE/[kernel.kallsyms]/<build id>/kallsyms */
	const char *proc;	   /* "" for /proc/kallsyms; tests point elsewhere */
	const char *notes;	   /* "" for /sys/kernel/notes, where the running kernel's build id is */
};

struct ctx_symtab;

/*
 * Always returns a table unless memory runs out: if nothing usable is found, the table has no
 * symbols, and ctx_symtab_origin says "none: <reason>". Owned by the caller. O(symbols log
 * symbols); names are demangled on demand, when a symbol is looked up.
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_open(const struct ctx_file_request *request,
					       struct ctx_symtab **ret, struct ctx_err *err);

/*
 * The table of one ELF file in memory (copied; no other files are searched). As ctx_symtab_open;
 * its origin is "memory".
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_open_bytes(const void *bytes, size_t n, struct ctx_symtab **ret,
						     struct ctx_err *err);

/* The kernel's and its modules' symbols from a (zstd compressed or plain) copy of /proc/kallsyms.
 * CTX_E_NOTFOUND, CTX_E_FORMAT (no usable line: all addresses zero). */
CTX_MUST_CHECK enum ctx_status ctx_symtab_open_kallsyms(const char *path, struct ctx_symtab **ret,
							struct ctx_err *err);

/* The same for a copy in memory. */
CTX_MUST_CHECK enum ctx_status ctx_symtab_open_kallsyms_bytes(const void *bytes, size_t n,
							      struct ctx_symtab **ret, struct ctx_err *err);

/*
 * The kernel's symbols from the first match of: kallsyms of a build-id cache (by build id);
 * /proc/kallsyms if the running kernel has the build id or, without a build id, if its release and
 * the address of `symbol` are those recorded. If the kernel is at another address now (KASLR), its
 * addresses are moved by the displacement of `symbol`, and modules, which move independently, are
 * dropped. Without a match: a table without symbols whose origin says why. Fails with CTX_E_NOMEM
 * only.
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_open_kernel(const struct ctx_symtab_kernel *kernel,
						      struct ctx_symtab **ret, struct ctx_err *err);

/*
 * Symbols reported by a just-in-time compiler (/tmp/perf-PID.map): lines "START SIZE NAME",
 * hexadecimal; file offsets are addresses. Of functions at one address the last line counts.
 * `symfs` is a prefix of the path. The file must be a regular file owned by the user or by root:
 * anybody may write to /tmp. If it is unusable: a table without symbols whose origin says why.
 * Fails with CTX_E_NOMEM only.
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_open_perf_map(const char *path, const char *symfs,
							struct ctx_symtab **ret, struct ctx_err *err);

/*
 * The same from the copy in a recording, compressed or not, with any owner; its origin is
 * "archive".
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_open_perf_map_copy(const char *path, struct ctx_symtab **ret,
							     struct ctx_err *err);

/*
 * The symbols that a recording has itself, with the origin "recording". Nothing is borrowed. Fails
 * with CTX_E_NOMEM, CTX_E_LIMIT.
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_open_recorded(const struct ctx_source_symbols *symbols,
							struct ctx_symtab **ret, struct ctx_err *err);

void ctx_symtab_close(struct ctx_symtab *table);

/* Where the symbols came from: "archive", "recording", a path, "kallsyms", or "none: <reason>". Borrowed. */
const char *ctx_symtab_origin(const struct ctx_symtab *table);

/* The build id found in the file, lower-case hex; "" none. Borrowed. */
const char *ctx_symtab_build_id(const struct ctx_symtab *table);

/*
 * Converts a file offset to the object's virtual address (program headers); the kernel's table
 * returns it unchanged. False if no executable segment has it.
 */
bool ctx_symtab_address(const struct ctx_symtab *table, uint64_t file_offset, uint64_t *ret_address);

/*
 * The symbol that covers a virtual address. `*ret_index` is dense (0 .. count-1), for caches of the
 * caller. False: none. O(log n).
 */
bool ctx_symtab_find(const struct ctx_symtab *table, uint64_t address, uint32_t *ret_index);

/* Symbols that ctx_symtab_find can return. */
uint32_t ctx_symtab_count(const struct ctx_symtab *table);

/*
 * The symbol of an index; strings live as long as the table. Demangles at the first call for it.
 * Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_get(struct ctx_symtab *table, uint32_t index,
					      struct ctx_symbol *ret, struct ctx_err *err);

#endif
