/*
 * Code: maps the addresses of stacks to objects, functions and source files; loaded when a report
 * needs lines or instructions.
 *
 *	raw stack --key--> location (object, address) --site--> site (function, file, line)
 *	                                                          `--caller--> site that it is inlined into --> ...
 *
 * A *location* is one address in a load object. A *site* is a place in the source: for an address
 * in inlined code it has a caller, the place of the inlined call, and so on up to the function that
 * contains the address. The functions of a location, the real one first, are its nodes of the CCT.
 */
#ifndef CTX_MODEL_CODE_H
#define CTX_MODEL_CODE_H

#include "model/profile.h"
#include "model/trie.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_source_file {
	const char *path;   /* from the debug information, made absolute where it has the directory */
	const char *origin; /* where its text was found: "archive", a path; "" not found */
};

struct ctx_site {
	uint32_t function;
	uint32_t file; /* index of a source file; CTX_NONE: unknown */
	uint32_t line; /* 0: not known */
	/*
	 * site of the inlined call, always a smaller index; CTX_NONE: `function` is not inlined
	 * here
	 */
	uint32_t caller;
};

/* One address in a load object. Ids are positions. */
struct ctx_location {
	uint32_t object;   /* object id, CTX_NONE: no object */
	uint32_t function; /* the innermost: of the inlined function, if any */
	uint64_t address;  /* virtual address in the object; absolute without an object */
	uint32_t site;	   /* innermost site; CTX_NONE: only the function is known */
	bool joins; /* not code: marks where a stack was completed from an earlier one (no function, no CCT node) */
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

/* The line of the instructions from `address` to the next row's. */
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

/* Reads code on demand; texts and bytes are compressed in the database. */
struct ctx_code_reader {
	/* The text of a source file, zero-terminated, `*ret_n` bytes before the zero.
	 * CTX_E_NOTFOUND: none. Borrowed until the next call. */
	enum ctx_status (*text)(void *context, uint32_t file, const char **ret, size_t *ret_n,
				struct ctx_err *err);
	/* The parts of a function, by address; none: `*ret_n` is 0. Borrowed until the next
	 * call. */
	enum ctx_status (*code)(void *context, uint32_t function, const struct ctx_function_code **ret,
				size_t *ret_n, struct ctx_err *err);
	void *context;
};

#endif
