/*
 * Source map: inlined calls, files and lines of the addresses of one load object, from DWARF.
 *
 * The debug information is searched in the same places as symbols (elf/debug_files.h): in the
 * object itself and in its separate debug file, including dwz files (.gnu_debugaltlink) and split
 * DWARF (.dwo); versions 2 to 5, also compressed. Compilation units are found by address. A unit is
 * parsed once, at the first look-up in it, into sorted ranges: after that a look-up is a binary
 * search. elfutils reads the DWARF.
 *
 * Everything in the file is untrusted: depth, number of ranges and lines are limited; damage
 * affects one unit.
 */
#ifndef CTX_SYMBOLS_SOURCE_MAP_H
#define CTX_SYMBOLS_SOURCE_MAP_H

#include "symbols/symtab.h"

struct ctx_source_map;

/* A place in the source. Strings live as long as the map. */
struct ctx_source_frame {
	/*
	 * Of an inlined function, demangled; NULL for the outermost frame: its name is in the
	 * symbol table.
	 */
	const char *function;
	const char *linkage_name; /* equal to `function` if not mangled; NULL if `function` is */
	const char *file;	  /* absolute if the unit has its directory; NULL: unknown */
	uint32_t line;		  /* 0: unknown */
};

#define CTX_SOURCE_FRAMES_MAX 64 /* deeper inlining is cut: the innermost calls are dropped */

/*
 * Always returns a map unless memory runs out: an object without debug information gives an empty
 * one. A debug file of another build is not used. Cost: finding the files, and reading each unit's
 * header.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_map_open(const struct ctx_file_request *request,
						   struct ctx_source_map **ret, struct ctx_err *err);

/*
 * The map of one ELF file in memory (copied). No other files are searched, except those it names
 * itself: dwz files, .dwo.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_map_open_bytes(const void *bytes, size_t n,
							 struct ctx_source_map **ret, struct ctx_err *err);

void ctx_source_map_close(struct ctx_source_map *map);

/* Where the debug information came from: a path, "archive", or "none: <reason>". Borrowed. */
const char *ctx_source_map_origin(const struct ctx_source_map *map);

/*
 * The frames of a virtual address of the object, innermost first; the last one is the function that
 * contains the address. `*ret_n` 0: no debug information there. O(log), except for the first
 * address of a unit. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_map_find(struct ctx_source_map *map, uint64_t address,
						   struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX],
						   size_t *ret_n, struct ctx_err *err);

struct ctx_source_line { /* from `address` to that of the next row */
	uint64_t address;
	const char *file; /* NULL: no line */
	uint32_t line;
};

struct ctx_source_range { /* of addresses */
	uint64_t begin, end;
};

/*
 * Calls `each` for the line rows of a range, by address; the first one begins at the begin of the
 * range.
 */
typedef enum ctx_status (*ctx_source_line_fn)(void *context, const struct ctx_source_line *line,
					      struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_source_map_lines(struct ctx_source_map *map, struct ctx_source_range range,
						    ctx_source_line_fn each, void *context,
						    struct ctx_err *err);

#endif
