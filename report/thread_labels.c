#include "report/thread_labels.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "report/names.h"

#include <inttypes.h>

/* Each thread on the page represents all later ones of the same name. */
static enum ctx_status collect_names(struct ctx_thread_labels *labels, const bool *is_there,
				     struct ctx_strtab *names, struct ctx_err *err)
{
	const struct ctx_profile *profile = labels->profile;
	uint32_t *first_of CTX_AUTO_FREE = ctx_calloc(profile->n_threads, sizeof(*first_of));

	if (first_of == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		size_t before = names->n;
		uint32_t name;
		enum ctx_status status;

		labels->first[i] = i;
		if (!is_there[i])
			continue;
		status = ctx_strtab_add_text(names, profile->threads[i].name, &name, err);
		if (status != CTX_OK)
			return status;
		if (names->n != before)
			first_of[name] = i;
		labels->first[i] = first_of[name];
		labels->n[first_of[name]]++;
	}
	return CTX_OK;
}

enum ctx_status ctx_thread_labels_init(struct ctx_thread_labels *labels, const struct ctx_profile *profile,
				       const bool *is_there, uint32_t few, struct ctx_err *err)
{
	struct ctx_strtab names = {0};
	enum ctx_status status = CTX_OK;

	*labels = (struct ctx_thread_labels){
		.profile = profile,
		.few = few,
		.first = ctx_calloc(profile->n_threads, sizeof(*labels->first)),
		.n = ctx_calloc(profile->n_threads, sizeof(*labels->n)),
	};
	if (labels->first == NULL || labels->n == NULL)
		status = ctx_err_nomem(err);
	if (status == CTX_OK)
		status = collect_names(labels, is_there, &names, err);
	ctx_strtab_deinit(&names);
	if (status != CTX_OK) {
		ctx_thread_labels_deinit(labels);
		return status;
	}
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		if (labels->n[labels->first[i]] <= few)
			labels->first[i] = i;
	}
	return CTX_OK;
}

void ctx_thread_labels_deinit(struct ctx_thread_labels *labels)
{
	free(labels->first);
	free(labels->n);
	*labels = (struct ctx_thread_labels){0};
}

uint32_t ctx_thread_label(const struct ctx_thread_labels *labels, uint32_t thread)
{
	return thread < labels->profile->n_threads ? labels->first[thread] : thread;
}

void ctx_thread_label_put(const struct ctx_thread_labels *labels, uint32_t thread, bool ascii,
			  struct ctx_buf *buf)
{
	uint32_t label = ctx_thread_label(labels, thread);

	if (label >= labels->profile->n_threads) {
		ctx_buf_put_text(buf, "<unknown thread>");
		return;
	}
	ctx_name_put_text(buf, labels->profile->threads[label].name, ascii);
	if (labels->n[label] > labels->few)
		ctx_buf_printf(buf, " (%" PRIu32 " threads)", labels->n[label]);
	else
		ctx_buf_printf(buf, " %" PRId64, labels->profile->threads[label].tid);
}
