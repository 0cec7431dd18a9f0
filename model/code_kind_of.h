/*
 * The kind of a function's code (model/code_kind.h), which some sources know and names show otherwise.
 */
#ifndef CTX_MODEL_CODE_KIND_OF_H
#define CTX_MODEL_CODE_KIND_OF_H

#include "model/profile.h"

/*
 * The kind of a function: as its source said, else by its name and that of its load object. O(length of
 * both names).
 */
enum ctx_code_kind ctx_code_kind_of(const struct ctx_profile *profile, uint32_t function);

#endif
