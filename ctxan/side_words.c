#include "ctxan/side_words.h"

#include "base/mem.h"

#include <stdlib.h>

enum ctx_compare_side ctx_side_of(const char *word, const char **ret_text)
{
	bool named = (word[0] == 'A' || word[0] == 'B') && word[1] == ':' && word[2] != '\0';

	*ret_text = named ? word + 2 : word;
	if (!named)
		return CTX_COMPARE_SIDES;
	return word[0] == 'A' ? CTX_COMPARE_A : CTX_COMPARE_B;
}

/* Those of a list that select on a side; NULL: no memory. */
static const char **choose(const char *const *words, size_t n, enum ctx_compare_side side, size_t *ret_n)
{
	const char **chosen = ctx_calloc(n + 1, sizeof(*chosen));

	*ret_n = 0;
	for (size_t i = 0; chosen != NULL && i < n; i++) {
		const char *text;
		enum ctx_compare_side of = ctx_side_of(words[i], &text);

		if (of == CTX_COMPARE_SIDES || of == side)
			chosen[(*ret_n)++] = text;
	}
	return chosen;
}

enum ctx_status ctx_side_words_make(const struct ctx_selection_spec *both, const struct ctx_side_lists *alone,
				    enum ctx_compare_side side, struct ctx_selection_spec *ret,
				    struct ctx_err *err)
{
	*ret = *both;
	ret->intervals = choose(both->intervals, both->n_intervals, side, &ret->n_intervals);
	ret->filters = choose(both->filters, both->n_filters, side, &ret->n_filters);
	if (ret->intervals == NULL || ret->filters == NULL) {
		ctx_side_words_deinit(ret);
		return ctx_err_nomem(err);
	}
	if (alone->threads != NULL)
		ret->threads = alone->threads;
	if (alone->processes != NULL)
		ret->processes = alone->processes;
	if (alone->cpus != NULL)
		ret->cpus = alone->cpus;
	return CTX_OK;
}

void ctx_side_words_deinit(struct ctx_selection_spec *words)
{
	free(words->intervals);
	free(words->filters);
	*words = (struct ctx_selection_spec){0};
}
