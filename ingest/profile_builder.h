/*
 * Collects the entities of an experiment from a source's events: processes, threads, usage,
 * warnings, counts.
 */
#ifndef CTX_INGEST_PROFILE_BUILDER_H
#define CTX_INGEST_PROFILE_BUILDER_H

#include "model/event_source.h"
#include "model/profile.h"

struct ctx_profile_builder {
	struct ctx_profile profile; /* functions, objects and cct are filled by the ingest */
	size_t processes_cap, threads_cap, usage_cap, warnings_cap, losses_cap, vms_cap;
	bool *thread_known; /* by thread: announced */
	size_t thread_known_cap;
	uint64_t damage_shown;
};

CTX_MUST_CHECK enum ctx_status ctx_profile_builder_init(struct ctx_profile_builder *builder,
							const struct ctx_source_info *info,
							struct ctx_err *err);
void ctx_profile_builder_deinit(struct ctx_profile_builder *builder);

/* Handles all events but maps, stacks and samples. CTX_E_FORMAT: invalid numbers. */
/* A loss that was found by what its events say. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_profile_builder_lost(struct ctx_profile_builder *builder,
							const struct ctx_loss *loss, struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_profile_builder_event(struct ctx_profile_builder *builder,
							 const struct ctx_event *event, struct ctx_err *err);

/* CTX_E_FORMAT unless the thread was announced. */
CTX_MUST_CHECK enum ctx_status ctx_profile_builder_check_thread(const struct ctx_profile_builder *builder,
								uint32_t thread, struct ctx_err *err);

/* Counts a sample of an announced thread and metric. */
void ctx_profile_builder_count(struct ctx_profile_builder *builder, uint32_t thread, uint32_t metric,
			       uint64_t weight);

/* A line for the header of reports. */
CTX_MUST_CHECK enum ctx_status ctx_profile_builder_warn(struct ctx_profile_builder *builder,
							struct ctx_err *err, const char *fmt, ...)
	CTX_PRINTF(3, 4);

/* Counts damage; the first few are shown as warnings. */
CTX_MUST_CHECK enum ctx_status ctx_profile_builder_damage(struct ctx_profile_builder *builder,
							  const char *text, struct ctx_err *err);

/* Finishes: processes' samples, open lives, a line for damage that was not shown. */
CTX_MUST_CHECK enum ctx_status ctx_profile_builder_finish(struct ctx_profile_builder *builder,
							  struct ctx_err *err);

#endif
