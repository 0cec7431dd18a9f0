/*
 * Data objects of one load object: the variable or member that an access was to.
 *
 *	address of data in the object --> variables with a fixed address
 *	instruction --> operand (capstone): a fixed address, a place in the frame, or what a register points to
 *	                place in the frame --> variable of the scopes around it (location lists, libdw)
 *	                register --> variable that is in it there, else what instructions before it have loaded
 *
 * Where two places come into question, or none, the answer is that it is not known. x86-64; of other machines only variables
 * with a fixed address. Source: requirement E18.
 */
#ifndef CTX_SYMBOLS_DATA_OBJECTS_H
#define CTX_SYMBOLS_DATA_OBJECTS_H

#include "elf/file_request.h"
#include "model/data_name.h"

struct ctx_data_objects;

/*
 * Opens the debug information and the code of a load object. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT (there is none), CTX_E_IO,
 * CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_data_objects_open(const struct ctx_file_request *request,
						     struct ctx_data_objects **ret, struct ctx_err *err);
/* The same of the bytes of a file with code and debug information, which are borrowed until it is closed. */
CTX_MUST_CHECK enum ctx_status ctx_data_objects_open_bytes(const void *bytes, size_t n,
							   struct ctx_data_objects **ret,
							   struct ctx_err *err);
void ctx_data_objects_close(struct ctx_data_objects *objects); /* NULL does nothing */

/* As `locate` of struct ctx_data_namer. */
bool ctx_data_objects_locate(const struct ctx_data_objects *objects, const struct ctx_data_map *map,
			     uint64_t address, uint64_t *ret);

/*
 * What is at an address of data; what the instruction at `code` (or before it, `is_behind`) accesses. CTX_E_NOTFOUND: it is
 * not known. Texts live as long as `objects`. The first call of the first one reads all units; the second costs a pass over
 * the function. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_data_objects_at(struct ctx_data_objects *objects, uint64_t address,
						   struct ctx_data_name *ret, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_data_objects_accessed(struct ctx_data_objects *objects, uint64_t code,
							 bool is_behind, struct ctx_data_name *ret,
							 struct ctx_err *err);

/* As `layout` of struct ctx_data_namer. Reads all units. */
CTX_MUST_CHECK enum ctx_status ctx_data_objects_layout(struct ctx_data_objects *objects, const char *type,
						       struct ctx_data_layout *ret, struct ctx_err *err);

#endif
