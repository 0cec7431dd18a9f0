/*
 * Indicator places: where in a load object an indicator is, as ctxrec-places says
 * (model/place_protocol.h).
 */
#ifndef CTX_COLLECT_INDICATOR_PLACES_H
#define CTX_COLLECT_INDICATOR_PLACES_H

#include "base/arena.h"
#include "collect/indicator_spec.h"

#include <stddef.h>

enum ctx_indicator_at {
	CTX_INDICATOR_AT_ENTRY, /* the first instruction of a function: the return address is on top of the stack */
	CTX_INDICATOR_AT_INLINED, /* that of an inlined call */
	CTX_INDICATOR_INSIDE,	  /* another instruction */
	CTX_INDICATOR_AT_DATA,
};

struct ctx_indicator_place {
	enum ctx_indicator_at at;
	uint64_t offset;       /* in the file; of data 0 */
	uint64_t address;      /* in the object's own address space */
	uint64_t length_bytes; /* of data */
	const char *path;      /* of the load object */
	const char *name;      /* of the function or variable */
	bool has_room;	       /* of an entry: the runtime can count there */
	bool in_memory;	       /* and does; set by the user of the list */
};

struct ctx_indicator_places {		   /* all zero is a valid empty list */
	struct ctx_indicator_place *items; /* owned */
	size_t n, cap;
	struct ctx_arena arena; /* of the names and paths */
};

void ctx_indicator_places_deinit(struct ctx_indicator_places *places);

/*
 * Adds the places that a text of the protocol says. Fails with CTX_E_FORMAT (the message has the line), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_indicator_places_parse(struct ctx_indicator_places *places,
							  const char *path, const char *text,
							  struct ctx_err *err);

/*
 * Runs the helper for the load object at `path` and adds its places. Fails with CTX_E_NOTFOUND (there are none; the
 * message says what there is), CTX_E_ARG (the specification cannot be, as in the middle of an instruction), CTX_E_IO,
 * CTX_E_LIMIT, CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_indicator_places_find(struct ctx_indicator_places *places,
							 const struct ctx_indicator_spec *spec,
							 const char *path, struct ctx_err *err);

/* Adds data whose address the specification has. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_indicator_places_take(struct ctx_indicator_places *places,
							 const struct ctx_indicator_spec *spec,
							 const char *path, struct ctx_err *err);

#endif
