/*
 * Kinds of --export: formats of other tools (formats/export/) and pages (report/), in one list.
 */
#ifndef CTX_CTXAN_EXPORT_KINDS_H
#define CTX_CTXAN_EXPORT_KINDS_H

#include "model/export.h"

#include <stddef.h>

/* The kind of this name; NULL: no such format. */
const struct ctx_export_kind *ctx_export_kind_find(const char *name);

/* Kind number `number`, from 0, in the order of --help; NULL after the last. */
const struct ctx_export_kind *ctx_export_kind_at(size_t number);

#endif
