/*
 * The forms of profiles in JSON, each as a function that fills a model from a parsed file. All fail with
 * CTX_E_NOMEM, CTX_E_LIMIT, and CTX_E_FORMAT if nothing can be read; single samples that refer to
 * nothing are counted as damaged.
 */
#ifndef CTX_FORMATS_JSONPROFILE_JP_FORMS_H
#define CTX_FORMATS_JSONPROFILE_JP_FORMS_H

#include "formats/jsonprofile/jp_json.h"
#include "formats/jsonprofile/jp_model.h"

/*
 * speedscope's file-format-schema.json: sampled profiles, whose weights follow each other in time, and
 * evented ones, whose opens and closes become the time between them at the open frames. Each profile is a
 * thread.
 */
CTX_MUST_CHECK enum ctx_status ctx_jp_speedscope(yajl_val root, struct ctx_jp_model *model,
						 struct ctx_err *err);

/* V8's .cpuprofile (Chrome, Node): nodes, samples and timeDeltas; also the older form with a head. */
CTX_MUST_CHECK enum ctx_status ctx_jp_cpuprofile(yajl_val root, struct ctx_jp_model *model,
						 struct ctx_err *err);

/* Traces of Chrome's DevTools with CPU profiles in pieces (Profile, ProfileChunk). */
CTX_MUST_CHECK enum ctx_status ctx_jp_devtools(yajl_val root, struct ctx_jp_model *model,
					       struct ctx_err *err);

/* The Firefox Profiler's processed profiles (samply, perf converted), with tables by thread or shared. */
CTX_MUST_CHECK enum ctx_status ctx_jp_firefox(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err);

/* What Firefox itself and perf's gecko script write: the same tables as rows with schemas, by which the first thread is recognised. */
bool ctx_jp_is_gecko(yajl_val root);
CTX_MUST_CHECK enum ctx_status ctx_jp_gecko(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err);

#endif
