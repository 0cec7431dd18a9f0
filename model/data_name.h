/*
 * Data objects: which variable or member of a structure an access to memory was to, as debug information has it.
 *
 *	{int counter}			a variable of a scalar type, also an element of an array
 *	{structure:foo}			a structure, with its members: {int i}, {double in.d}
 *
 * A structure has its tag's name, one without a tag that of the typedef. Source: requirement E18.
 */
#ifndef CTX_MODEL_DATA_NAME_H
#define CTX_MODEL_DATA_NAME_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_data_question {
	bool has_code; /* the instruction is known: in which load object it is, and its address there */
	bool is_behind; /* `code` is of the instruction that follows: a breakpoint is reported when the access is over */
	bool has_data;	 /* the data is in the load object `data_object`, at this address of it */
	uint32_t object; /* ids of load objects */
	uint32_t data_object;
	uint64_t code, data;
};

/* Texts are borrowed from who answers. */
struct ctx_data_name {
	const char *object; /* "{structure:foo}"; NULL: a scalar */
	const char *member; /* "{int i}"; NULL: no member is there, but padding */
	uint64_t offset;    /* of the member in the object; of a scalar 0 */
	uint64_t size;	    /* of the member; 0 unknown */
};

struct ctx_data_member {
	uint64_t offset, size;
	const char *text; /* "{int i}" */
};

struct ctx_data_layout {
	const char *object;		       /* "{structure:foo}" */
	const struct ctx_data_member *members; /* by offset; those of nested structures each by itself */
	size_t n;
	uint64_t size;
};

/* Where code of a load object is mapped. */
struct ctx_data_map {
	uint32_t object;
	uint64_t address, file_offset;
};

/* Where data names come from. The context is passed to all. */
struct ctx_data_namer {
	/* CTX_E_NOTFOUND: it is not known. */
	enum ctx_status (*name)(void *context, const struct ctx_data_question *question,
				struct ctx_data_name *ret, struct ctx_err *err);
	/* A structure or union by its tag or typedef, of the first load object that has one. CTX_E_NOTFOUND. Borrowed until the next call. */
	enum ctx_status (*layout)(void *context, const char *type, struct ctx_data_layout *ret,
				  struct ctx_err *err);
	/*
	 * The address in a load object of an address in memory, where its code of file offset `map_offset` is mapped at
	 * `map_address`. False: none of its segments is there.
	 */
	bool (*locate)(void *context, const struct ctx_data_map *map, uint64_t address, uint64_t *ret);
	void *context;
};

#endif
