/*
 * From addresses to functions: maps of sessions (sid-SID.map) and the symbols of their files (NAME.sym).
 *
 *	561cee77e000-561cee783000 r-xp 00000000 00:00 0  /bin/app build-id:af3e...	a file, from its begin on
 *	0000000000001040 P printf							a symbol from that address of it on
 *	00000000000011d9 41 T fib							with its size, since version 0.18
 *
 * Symbols of a file apply to all sessions that map it. Names are as recorded, mangled ones as well. A symbol reaches
 * up to the next one, or to the lines __sym_end, __dynsym_end and __func_end.
 */
#ifndef CTX_FORMATS_UFTRACE_UF_SYMBOLS_H
#define CTX_FORMATS_UFTRACE_UF_SYMBOLS_H

#include "base/map64.h"
#include "formats/uftrace/uf_tasks.h"

struct ctx_uf_symbol {
	uint64_t begin, end; /* in the file */
	const char *name;
	uint32_t function; /* its number as a function by name; CTX_NONE: it has none yet */
	char type;
};

struct ctx_uf_table {
	const char *path; /* of the object */
	const char *build_id;
	struct ctx_uf_symbol *items; /* owned; by address */
	size_t n, cap;
	bool is_read;
};

struct ctx_uf_map {
	uint64_t begin, end;
	uint32_t table;
};

struct ctx_uf_space {		 /* of a session */
	struct ctx_uf_map *maps; /* owned; by address */
	size_t n, cap;
	struct ctx_map64 known; /* by address: function, or CTX_UF_NAMELESS */
	size_t n_libraries;	/* that are open, of the recording's: those of other sessions count, too */
};

#define CTX_UF_NAMELESS (UINT32_MAX - 1)

struct ctx_uf_symbols {
	const char *directory;
	const struct ctx_uf_tasks *tasks;
	struct ctx_uf_space *spaces; /* owned; by session */
	size_t n_spaces;
	struct ctx_uf_table *tables; /* owned */
	size_t n_tables, tables_cap;
	struct ctx_map64 table_of; /* by hash of path and build id */
	struct ctx_arena arena;
	uint32_t n_functions;
};

void ctx_uf_symbols_deinit(struct ctx_uf_symbols *symbols);

/* Reads the maps of all sessions; `tasks` and `directory` are kept. CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uf_symbols_read(struct ctx_uf_symbols *symbols, const char *directory,
						   const struct ctx_uf_tasks *tasks,
						   struct ctx_source_notes *notes, struct ctx_err *err);

/* From now on the library is open in its session. */
void ctx_uf_symbols_open_library(struct ctx_uf_symbols *symbols, uint32_t library);

struct ctx_uf_place {
	uint32_t function;		    /* CTX_UF_NAMELESS: the address has no symbol */
	const struct ctx_uf_symbol *is_new; /* a function that was not returned before; NULL */
	const char *module;		    /* of a new one */
};

/* The function at an address, now. Cached: O(1). CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uf_symbols_find(struct ctx_uf_symbols *symbols, uint32_t session,
						   uint64_t address, struct ctx_uf_place *ret,
						   struct ctx_err *err);

#endif
