/*
 * Probe places: the instructions and data of one load object that an indicator means
 * (model/place_protocol.h).
 *
 * Functions are found by symbol (also in separate debug files) under their linkage name, their
 * demangled name, or that without parameters; clones that are whole functions (foo.constprop.0) are the
 * function, outlined parts (foo.cold) are not. Inlined calls and lines come from DWARF. A line has one
 * place for each function, and each inlined call, that has code of it: the lowest address.
 *
 * Everything in the file is untrusted, as in symbols/symtab.h and symbols/source_map.h.
 */
#ifndef CTX_SYMBOLS_PROBE_PLACES_H
#define CTX_SYMBOLS_PROBE_PLACES_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum ctx_probe_what {
	CTX_PROBE_FUNCTION, /* entries of functions called `name`, a pattern with * ? [; or the instruction at `offset` */
	CTX_PROBE_RETURN, /* entries of functions, inlined calls left out */
	CTX_PROBE_LINE,	  /* `line` of the file `name`: its path or the end of it */
	CTX_PROBE_RANGE,  /* entries of all functions from `name` to `last`, by address */
	CTX_PROBE_OBJECT, /* entries of all functions */
	CTX_PROBE_DATA,	  /* the variable `name` */
	CTX_PROBE_AT,	  /* the instruction at the address `offset` */
	CTX_PROBE_ONCE,	  /* sites of coverage in the functions called `name` (symbols/probe_once.h) */
};

struct ctx_probe_request {
	enum ctx_probe_what what;
	const char *path; /* of the load object */
	const char *name, *last;
	uint32_t line;
	uint64_t offset;       /* from the begin of the function or variable, bytes */
	uint64_t length_bytes; /* of data; 0: up to the end of the variable */
};

enum ctx_probe_kind {
	CTX_PROBE_AT_ENTRY,
	CTX_PROBE_AT_INLINED,
	CTX_PROBE_INSIDE,
	CTX_PROBE_AT_DATA,
	CTX_PROBE_KIND_N,
};

struct ctx_probe_place {
	enum ctx_probe_kind kind;
	uint64_t offset;       /* in the file; of data 0 */
	uint64_t address;      /* in the object's own address space */
	uint64_t length_bytes; /* of data; 0: of code */
	bool has_room;	       /* of an entry: a jump can be written over it (symbols/probe_room.h) */
	const char *name;      /* of the function or variable; valid during the call */
};

typedef enum ctx_status (*ctx_probe_place_fn)(void *context, const struct ctx_probe_place *place,
					      struct ctx_err *err);

/*
 * Calls `each` for every place, ascending by address, each address once. Fails with CTX_E_NOTFOUND (no such
 * function, line or variable; the message says what is there instead), CTX_E_ARG (an offset that is in the middle of an
 * instruction or outside of the function; a name that several variables have), CTX_E_LIMIT (more than 100,000, or two million sites),
 * CTX_E_FORMAT, CTX_E_NOMEM, and what `each` fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_probe_places(const struct ctx_probe_request *request,
						ctx_probe_place_fn each, void *context, struct ctx_err *err);

#endif
