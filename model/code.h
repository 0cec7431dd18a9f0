/*
 * Code: where the addresses of stacks lie in objects, functions and source files; loaded when a
 * report asks for lines or instructions.
 *
 *	raw stack --key--> location (object, address) --site--> site (function, file, line)
 *	                                                          `--caller--> site that it is inlined into --> ...
 *
 * A *location* is one address in a load object. A *site* is a place in the source at which control
 * can be: for an address in inlined code it has a caller, the place of the inlined call, and so on
 * up to the function that the address really belongs to. The functions of a location, the real one
 * first, are its nodes of the CCT.
 */
#ifndef CTX_MODEL_CODE_H
#define CTX_MODEL_CODE_H

#include "model/profile.h"
#include "model/trie.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_source_file {
	const char *path; /* as the debug information says, made absolute where it says in which directory */
	const char *origin; /* where its text was found: "archive", a path; "" not found */
};

struct ctx_site {
	uint32_t function;
	uint32_t file; /* index of a source file; CTX_NONE: not known */
	uint32_t line; /* 0: not known */
	uint32_t
		caller; /* site of the inlined call, always a smaller index; CTX_NONE: `function` is not inlined here */
};

/* One address in a load object. Ids are positions. */
struct ctx_location {
	uint32_t object;   /* object id, CTX_NONE: no object */
	uint32_t function; /* the innermost: of an inlined function where there is one */
	uint64_t address;  /* virtual address in the object; absolute where there is no object */
	uint32_t site;	   /* innermost site; CTX_NONE: nothing but the function is known */
	bool joins; /* no code: marks where a stack was continued with an earlier one (no function, no node of the CCT) */
};

struct ctx_code {
	const struct ctx_trie *raw_stacks;    /* key = location id */
	const uint32_t *raw_to_stack;	      /* by raw stack: its CCT node */
	const struct ctx_location *locations; /* by location id */
	size_t n_locations;
	const struct ctx_site *sites;
	size_t n_sites;
	const struct ctx_source_file *files;
	size_t n_files;
};

/* Which line an instruction belongs to: from `address` to the next row's. */
struct ctx_line_row {
	uint64_t address;
	uint32_t file; /* CTX_NONE: no line (then `line` is 0) */
	uint32_t line;
};

/* The instructions of a function that is not inlined: one part, or several that lie apart (cold
 * code). */
struct ctx_function_code {
	uint32_t function;
	uint64_t address; /* of the first byte, in the object's own address space */
	const uint8_t *bytes;
	size_t n_bytes;
	const struct ctx_line_row *lines; /* by address */
	size_t n_lines;
	uint16_t machine; /* ELF's e_machine */
};

struct ctx_mapping_info { /* where an object was mapped, for the record (SQL, exports) */
	uint32_t process, object;
	uint64_t address, size, file_offset;
	struct ctx_interval life;
};

/* What a report asks for when it needs it; texts and bytes are kept in the database, compressed. */
struct ctx_code_reader {
	/* The text of a source file, zero-terminated, `*ret_n` bytes before the zero.
	 * CTX_E_NOTFOUND: there is none. Borrowed until the next call. */
	enum ctx_status (*text)(void *context, uint32_t file, const char **ret, size_t *ret_n,
				struct ctx_err *err);
	/* The parts of a function, by address; none: `*ret_n` is 0. Borrowed until the next
	 * call. */
	enum ctx_status (*code)(void *context, uint32_t function, const struct ctx_function_code **ret,
				size_t *ret_n, struct ctx_err *err);
	void *context;
};

#endif
