/* Fuzz target: an expression from the command line, bound to a small profile and evaluated. */
#include "model/expression.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctx_function_info functions[] = {
	{.name = "main", .linkage_name = "main"},
	{.name = "work_a(int) const", .linkage_name = "_Z6work_ai"},
	{.name = ")(", .linkage_name = "", .object = CTX_NONE},
};
static struct ctx_object_info objects[] = {{"/usr/bin/app", "", ""}};
static struct ctx_process_info processes[] = {{.pid = 70, .command = "./app"}};
static struct ctx_thread_info threads[] = {{.tid = 70, .name = "app"}};
static struct ctx_metric_info metrics[] = {{.name = "cpu-clock"}};

/* main; main work_a; main work_a )(; main main */
static bool make_profile(struct ctx_profile *profile)
{
	static const uint32_t parents[] = {0, 0, 1, 2, 1}, keys[] = {CTX_TRIE_ROOT_KEY, 0, 1, 2, 0};
	uint32_t *parent = malloc(sizeof(parents)), *key = malloc(sizeof(keys));

	*profile = (struct ctx_profile){.functions = functions,
					.n_functions = 3,
					.objects = objects,
					.n_objects = 1,
					.processes = processes,
					.n_processes = 1,
					.threads = threads,
					.n_threads = 1,
					.metrics = metrics,
					.n_metrics = 1};
	if (parent == NULL || key == NULL)
		return false;
	memcpy(parent, parents, sizeof(parents));
	memcpy(key, keys, sizeof(keys));
	return ctx_trie_take(&profile->cct, parent, key, 5, NULL) == CTX_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_expression *expression;
	struct ctx_profile profile;
	char text[TEXT_MAX];
	size_t column = 0;

	if (size >= sizeof(text))
		return 0;
	if (size != 0)
		memcpy(text, data, size);
	text[size] = '\0';
	if (ctx_expression_parse(text, &expression, &column, NULL) != CTX_OK) {
		if (column == 0 || column > strlen(text) + 1)
			abort();
		return 0;
	}
	if (!make_profile(&profile) || ctx_expression_bind(expression, &profile, NULL) != CTX_OK)
		abort();
	for (uint32_t stack = 0; stack < profile.cct.n; stack++) {
		struct ctx_sample sample = {
			.time_ns = stack * UINT64_C(900000000), .weight = 7, .stack = stack};
		struct ctx_expression_subject subject;

		ctx_expression_subject_of(&profile, &sample, &subject);
		if (ctx_expression_is_true(expression, &subject) &&
		    ctx_expression_evaluate(expression, &subject).kind == CTX_VALUE_NONE)
			abort();
		(void)ctx_expression_key(expression, &subject);
	}
	ctx_expression_destroy(expression);
	ctx_trie_deinit(&profile.cct);
	return 0;
}
