#include "query/span_parts.h"

#include "model/span_clip.h"

static void begin(const struct ctx_profile *profile, const struct ctx_sample *span,
		  struct ctx_span_parts *ret)
{
	ret->profile = profile;
	ret->selection = NULL;
	ret->keys = NULL;
	ret->span = *span;
	ret->next_ns = ctx_sample_begin(span);
	ret->n = 0;
	ret->has_calls = true;
	if (profile != NULL)
		ctx_expression_subject_of(profile, span, &ret->subject);
}

void ctx_span_parts_kept(const struct ctx_selection *selection, const struct ctx_sample *span,
			 struct ctx_span_parts *ret)
{
	begin(selection->n_filters != 0 ? selection->profile : NULL, span, ret);
	ret->selection = selection;
}

void ctx_span_parts_by(const struct ctx_index_values *keys, const struct ctx_sample *span,
		       struct ctx_span_parts *ret)
{
	begin(keys->profile, span, ret);
	ret->keys = keys;
}

/* The part of the span from begin up to where the next one begins. */
static void cut(struct ctx_span_parts *parts, uint64_t begin_ns, struct ctx_sample *ret)
{
	*ret = parts->span;
	ret->time_ns = parts->next_ns - 1;
	ret->weight = parts->next_ns - begin_ns;
	if (!parts->has_calls || (begin_ns != ctx_sample_begin(&parts->span) &&
				  ctx_span_has_exact_calls(parts->profile, &parts->span)))
		ctx_span_drop_calls(parts->profile, ret);
	parts->has_calls = false;
}

static enum ctx_status count(struct ctx_span_parts *parts, struct ctx_err *err)
{
	return ++parts->n <= CTX_SPAN_PARTS_MAX
		       ? CTX_OK
		       : ctx_err_set(err, CTX_E_LIMIT,
				     "%s: the expression divides a span of %.3f s into more than %u parts",
				     parts->keys != NULL ? "--by" : "--filter",
				     (double)parts->span.weight / 1e9, CTX_SPAN_PARTS_MAX);
}

static enum ctx_status next_kept(struct ctx_span_parts *parts, struct ctx_sample *ret, struct ctx_err *err)
{
	uint64_t begin_ns = 0, last_ns = parts->span.time_ns;
	enum ctx_status status = CTX_OK;
	bool has_part = false;

	while (parts->next_ns <= last_ns && status == CTX_OK) {
		uint64_t until_ns = last_ns;
		bool passes;

		ctx_expression_subject_at(parts->next_ns, &parts->subject);
		passes = ctx_selection_passes_until(parts->selection, &parts->subject, &until_ns);
		if (!passes && has_part)
			break;
		if (passes && !has_part)
			begin_ns = parts->next_ns;
		has_part = passes;
		parts->next_ns = until_ns + 1;
		status = count(parts, err);
	}
	if (status != CTX_OK || !has_part)
		return status != CTX_OK ? status : CTX_END;
	cut(parts, begin_ns, ret);
	return CTX_OK;
}

/* Whether the keys are those of the part so far; the first time all are. They become its keys. */
static bool continues(struct ctx_span_parts *parts, bool first)
{
	const struct ctx_index_values *keys = parts->keys;
	int64_t values[CTX_INDEX_KEYS_MAX];
	bool same = true;

	for (size_t i = 0; i < keys->n_expressions; i++) {
		values[i] = ctx_expression_key(keys->expressions[i], &parts->subject);
		same &= first || values[i] == parts->values[i];
	}
	for (size_t i = 0; same && i < keys->n_expressions; i++)
		parts->values[i] = values[i];
	return same;
}

static enum ctx_status next_by_keys(struct ctx_span_parts *parts, struct ctx_sample *ret, struct ctx_err *err)
{
	const struct ctx_index_values *keys = parts->keys;
	uint64_t begin_ns = parts->next_ns, last_ns = parts->span.time_ns;
	enum ctx_status status = CTX_OK;

	while (parts->next_ns <= last_ns && status == CTX_OK) {
		uint64_t until_ns = last_ns;

		ctx_expression_subject_at(parts->next_ns, &parts->subject);
		if (!continues(parts, parts->next_ns == begin_ns))
			break;
		for (size_t i = 0; i < keys->n_expressions; i++)
			until_ns = ctx_expression_key_until(keys->expressions[i], &parts->subject, until_ns);
		parts->next_ns = until_ns + 1;
		status = count(parts, err);
	}
	if (status == CTX_OK)
		cut(parts, begin_ns, ret);
	return status;
}

enum ctx_status ctx_span_parts_next(struct ctx_span_parts *parts, struct ctx_sample *ret, struct ctx_err *err)
{
	if (parts->next_ns > parts->span.time_ns)
		return CTX_END;
	if (parts->keys != NULL)
		return next_by_keys(parts, ret, err);
	if (parts->selection->n_filters != 0)
		return next_kept(parts, ret, err);
	*ret = parts->span;
	parts->next_ns = ret->time_ns + 1;
	return CTX_OK;
}
