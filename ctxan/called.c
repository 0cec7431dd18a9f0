#include "ctxan/called.h"

#include "base/buf.h"
#include "base/mem.h"
#include "report/function_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char before[] = "call:";

/* A name of a function and the number of a call; 0: all. */
struct asked {
	char *name; /* owned */
	uint64_t number;
};

struct finding {
	const struct ctx_profile *profile;
	struct asked asked;
	bool *functions; /* by id: calls of these are counted */
	uint64_t n;	 /* so far */
	struct ctx_called_words *words;
	bool *threads; /* by id: of the calls that were found */
};

void ctx_called_deinit(struct ctx_called_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free((char *)(uintptr_t)words->intervals[i]);
	free(words->intervals);
	free(words->threads);
	*words = (struct ctx_called_words){0};
}

void ctx_called_restore(struct ctx_called_words *words, struct ctx_selection_spec *spec)
{
	if (words->intervals != NULL) {
		spec->intervals = words->given;
		spec->n_intervals = words->n_given;
		spec->threads = words->given_threads;
	}
	ctx_called_deinit(words);
}

static bool is_call(const char *text)
{
	return strncmp(text, before, sizeof(before) - 1) == 0;
}

static enum ctx_status read_asked(const char *text, struct asked *ret, struct ctx_err *err)
{
	const char *name = text + sizeof(before) - 1, *mark = strrchr(name, '#');
	size_t n = strlen(name);

	ret->number = 1;
	if (mark != NULL && strcmp(mark, "#*") == 0) {
		ret->number = 0;
		n = (size_t)(mark - name);
	} else if (mark != NULL && mark[1] != '\0' && strspn(mark + 1, "0123456789") == strlen(mark + 1)) {
		ret->number = strtoull(mark + 1, NULL, 10);
		n = (size_t)(mark - name);
		if (ret->number == 0)
			return ctx_err_set(err, CTX_E_ARG, "interval '%s': calls are numbered from 1", text);
	}
	ret->name = ctx_memdup0(name, n);
	return ret->name != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* The functions of this very name, else those that are called so for short, if they have one name. */
static enum ctx_status find_functions(struct finding *finding, struct ctx_err *err)
{
	const struct ctx_profile *profile = finding->profile;
	const char *wanted = finding->asked.name, *found = NULL;
	enum ctx_status status = ctx_function_check(profile, wanted, err);

	for (uint32_t i = 0; i < profile->n_functions && status == CTX_OK; i++) {
		if (strcmp(profile->functions[i].name, wanted) == 0)
			found = profile->functions[i].name;
	}
	for (uint32_t i = 0; i < profile->n_functions && status == CTX_OK; i++) {
		const char *name = profile->functions[i].name;

		if (!ctx_function_matches(profile, i, wanted))
			continue;
		if (found == NULL)
			found = name;
		finding->functions[i] = strcmp(name, found) == 0;
		if (!finding->functions[i] && strcmp(found, wanted) != 0)
			status = ctx_err_set(
				err, CTX_E_ARG,
				"interval 'call:%s': several functions are called so: %.80s, %.80s", wanted,
				found, name);
	}
	return status;
}

static enum ctx_status add_text(struct ctx_called_words *words, char *text, struct ctx_err *err)
{
	enum ctx_status status = text != NULL ? ctx_grow(&words->intervals, &words->cap, words->n + 1, err)
					      : ctx_err_nomem(err);

	if (status == CTX_OK)
		words->intervals[words->n++] = text;
	else
		free(text);
	return status;
}

static enum ctx_status take(void *context, const struct ctx_traced *call, struct ctx_err *err)
{
	struct finding *finding = context;
	const struct ctx_trie *cct = &finding->profile->cct;
	uint64_t begin_ns = call->time_ns - call->duration_ns;
	char *text;

	if (call->stack >= cct->n || cct->key[call->stack] >= finding->profile->n_functions ||
	    !finding->functions[cct->key[call->stack]])
		return CTX_OK;
	finding->n++;
	if (finding->asked.number != 0 && finding->n != finding->asked.number)
		return CTX_OK;
	if (finding->n == CTX_CALLED_MAX && finding->asked.number == 0)
		return ctx_err_set(err, CTX_E_ARG, "interval 'call:%s#*': more than %u calls",
				   finding->asked.name, CTX_CALLED_MAX);
	if (asprintf(&text, "%" PRIu64 "ns:%" PRIu64 "ns", begin_ns,
		     call->duration_ns != 0 ? call->time_ns : begin_ns + 1) < 0)
		text = NULL;
	finding->threads[call->thread] = true;
	return add_text(finding->words, text, err);
}

static enum ctx_status find_calls(struct ctx_store *store, struct finding *finding, const char *text,
				  struct ctx_err *err)
{
	enum ctx_status status = read_asked(text, &finding->asked, err);

	memset(finding->functions, 0, finding->profile->n_functions * sizeof(*finding->functions));
	finding->n = 0;
	if (status == CTX_OK)
		status = find_functions(finding, err);
	if (status == CTX_OK)
		status = ctx_store_scan_traced(
			store,
			&(struct ctx_store_traced_scan){CTX_TRACED_CALL, CTX_INTERVAL_ALL, take, finding},
			err);
	if (status == CTX_OK && finding->n < (finding->asked.number != 0 ? finding->asked.number : 1))
		status = ctx_err_set(err, CTX_E_ARG, "interval '%s': it was called %" PRIu64 " times", text,
				     finding->n);
	free(finding->asked.name);
	finding->asked.name = NULL;
	return status;
}

static enum ctx_status put_threads(const struct finding *finding, struct ctx_err *err)
{
	struct ctx_buf text = {0};

	for (uint32_t i = 0; i < finding->profile->n_threads; i++) {
		if (finding->threads[i])
			ctx_buf_printf(&text, "%s%u", text.n != 0 ? "," : "", i);
	}
	if (ctx_buf_check(&text, NULL) == CTX_OK)
		finding->words->threads = ctx_memdup0(text.bytes, text.n);
	ctx_buf_deinit(&text);
	return finding->words->threads != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status replace(struct ctx_store *store, const struct ctx_selection_spec *spec,
			       struct finding *finding, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	finding->functions = ctx_calloc(finding->profile->n_functions, sizeof(*finding->functions));
	finding->threads = ctx_calloc(finding->profile->n_threads, sizeof(*finding->threads));
	if (finding->functions == NULL || finding->threads == NULL)
		return ctx_err_nomem(err);
	if (finding->profile->traced[CTX_TRACED_CALL] == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "-i call: no calls were traced");
	if (finding->profile->losses.call_log)
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "-i call: there is no event log: calls were summed in the program (ctxrec "
				   "--calls=summary)");
	for (size_t i = 0; i < spec->n_intervals && status == CTX_OK; i++)
		status = is_call(spec->intervals[i])
				 ? find_calls(store, finding, spec->intervals[i], err)
				 : add_text(finding->words, strdup(spec->intervals[i]), err);
	return status == CTX_OK ? put_threads(finding, err) : status;
}

enum ctx_status ctx_called_replace(struct ctx_store *store, struct ctx_selection_spec *spec,
				   struct ctx_called_words *ret, struct ctx_err *err)
{
	struct finding finding = {.profile = ctx_store_profile(store), .words = ret};
	enum ctx_status status;
	bool asks = false;

	*ret = (struct ctx_called_words){
		.given = spec->intervals, .n_given = spec->n_intervals, .given_threads = spec->threads};
	for (size_t i = 0; i < spec->n_intervals; i++)
		asks |= is_call(spec->intervals[i]);
	if (!asks)
		return CTX_OK;
	status = replace(store, spec, &finding, err);
	free(finding.functions);
	free(finding.threads);
	if (status != CTX_OK) {
		ctx_called_deinit(ret);
		return status;
	}
	spec->intervals = ret->intervals;
	spec->n_intervals = ret->n;
	if (spec->threads == NULL && spec->processes == NULL)
		spec->threads = ret->threads;
	return CTX_OK;
}
