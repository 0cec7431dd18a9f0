/*
 * Missing binaries: load objects with samples whose file was found neither in the recording nor on
 * this machine, or only with another build id. Their functions have no names.
 *
 * An object whose file was found without symbols is not missing, nor is one that never was a file
 * ("[vdso]", "//anon", the kernel).
 */
#ifndef CTX_REPORT_MISSING_OBJECTS_H
#define CTX_REPORT_MISSING_OBJECTS_H

#include "base/buf.h"
#include "model/report_source.h"

struct ctx_missing_object {
	uint32_t object;    /* object id */
	const char *reason; /* "No such file or directory"; borrowed from the profile */
	uint64_t samples;   /* those with the leaf in the object; at least 1 */
	uint64_t weight;    /* of the first metric */
};

struct ctx_missing_objects {
	struct ctx_missing_object *items; /* owned; most samples first, then by object id */
	size_t n;
	uint64_t samples, weight;	  /* sums of the items */
	uint64_t all_samples, all_weight; /* of the parts, with what they omit */
};

/* Why the file of an object is missing. NULL: it is not missing. Borrowed from the profile. */
const char *ctx_missing_object_reason(const struct ctx_profile *profile, uint32_t object);

/*
 * The missing binaries of a selection, from its histograms of the first metric. O(entries +
 * objects). Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_missing_objects_find(const struct ctx_profile *profile,
							const struct ctx_report_parts *parts,
							struct ctx_missing_objects *ret, struct ctx_err *err);

/*
 * Appends "missing binaries: libfoo.so.1 (31.2 % of the samples), app (2.0 %)"; nothing if none is
 * missing. Any bytes.
 */
void ctx_missing_objects_put(const struct ctx_missing_objects *missing, const struct ctx_profile *profile,
			     struct ctx_buf *out);

void ctx_missing_objects_deinit(struct ctx_missing_objects *missing);

#endif
