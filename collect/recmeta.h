/*
 * Metadata of a recording for the header of reports: machine, command, settings.
 */
#ifndef CTX_COLLECT_RECMETA_H
#define CTX_COLLECT_RECMETA_H

#include "base/arena.h"
#include "collect/priority.h"
#include "collect/recargs.h"
#include "collect/session.h"
#include "model/profile.h"

#define CTX_RECMETA_MAX (44 + CTX_REC_LABELS_MAX)

struct ctx_recmeta {
	struct ctx_arena arena; /* owns the strings */
	struct ctx_property properties[CTX_RECMETA_MAX];
	size_t n;
	const char *command; /* quoted for a shell; "" none */
	const char *stem;    /* of the experiment's default name */
	bool is_short_of_memory;
};

/* Deinit is required after a failure (CTX_E_NOMEM) too. */
CTX_MUST_CHECK enum ctx_status ctx_recmeta_init(struct ctx_recmeta *meta,
						const struct ctx_rec_options *options,
						const struct ctx_session *session,
						const struct ctx_priority_attr *priority,
						struct ctx_err *err);
void ctx_recmeta_deinit(struct ctx_recmeta *meta);

/* One more property; without memory it is left out. `key` is borrowed. */
void ctx_recmeta_add(struct ctx_recmeta *meta, const char *key, const char *value);

/* sysctl kernel.perf_event_max_stack. */
uint32_t ctx_max_stack(void);

/* Sum of the sizes of the files below a directory. */
uint64_t ctx_tree_bytes(const char *path);

#endif
