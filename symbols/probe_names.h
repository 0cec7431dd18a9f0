/*
 * Names of probe places: does a symbol have the name that a user wrote, which variable has it, and which functions are
 * chosen only when the program is loaded.
 */
#ifndef CTX_SYMBOLS_PROBE_NAMES_H
#define CTX_SYMBOLS_PROBE_NAMES_H

#include "base/map64.h"
#include "elf/elf_file.h"
#include "elf/file_request.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether `wanted` is the linkage name, the demangled name, or that without parameters; each also without what compilers
 * append to clones (".constprop.0"). With * ? [ in it, it may also be a pattern for one of these (fnmatch). O(names).
 */
bool ctx_probe_name_matches(const char *wanted, const char *linkage_name, const char *name);

/* Whether it is one of several names separated by spaces. */
bool ctx_probe_name_is_alias(const char *wanted, const char *aliases);

/* Whether a linkage name is that of an outlined part: foo.cold, foo.part.0. */
bool ctx_probe_name_is_part(const char *linkage_name);

/*
 * Adds the addresses of symbols of type GNU_IFUNC, as keys: their code chooses a function when the program is loaded, and
 * is not that function. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_probe_list_choosers(const struct ctx_elf_file *image,
						       struct ctx_map64 *choosers, struct ctx_err *err);

/* The same of symbols that are functions, and nothing else. */
CTX_MUST_CHECK enum ctx_status ctx_probe_list_functions(const struct ctx_elf_file *image,
							struct ctx_map64 *functions, struct ctx_err *err);

struct ctx_probe_variable {
	uint64_t address, size; /* bytes; not 0 */
};

/*
 * The variable of a name, in the image or its separate debug file. A global one counts before local ones. Fails with
 * CTX_E_NOTFOUND, CTX_E_ARG (several local ones have the name; it is thread-local; it has no size), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_probe_find_variable(const struct ctx_file_request *files,
						       const struct ctx_elf_file *image, const char *name,
						       struct ctx_probe_variable *ret, struct ctx_err *err);

#endif
