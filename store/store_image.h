/*
 * Databases as bytes in memory. Private to store/.
 */
#ifndef CTX_STORE_STORE_IMAGE_H
#define CTX_STORE_STORE_IMAGE_H

#include "base/buf.h"
#include "store/store.h"

/* Opens a database that is bytes, as ctx_store_open does a file; the bytes are copied. */
CTX_MUST_CHECK enum ctx_status ctx_store_open_image(const char *name, struct ctx_bytes image,
						    struct ctx_store **ret, struct ctx_err *err);

#endif
