/*
 * From patterns to bits: the functions of each set, then the result of each test for each stack. A
 * parent's number is smaller than its children's, so one forward sweep propagates results from
 * parent to child.
 */
#include "model/expression_impl.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- matching names ---- */

/* From its first to its last byte: of the leftmost matches regexec finds the longest. */
static bool matches(const regex_t *regex, const char *name, size_t length)
{
	regmatch_t found = {.rm_so = 0, .rm_eo = (regoff_t)length};

	return regexec(regex, name, 1, &found, REG_STARTEND) == 0 && found.rm_so == 0 &&
	       (size_t)found.rm_eo == length;
}

static bool matches_text(const regex_t *regex, const char *name)
{
	return name != NULL && matches(regex, name, strlen(name));
}

static size_t without_end(const char *name, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length >= n && memcmp(name + length - n, end, n) == 0 ? length - n : length;
}

/* The bytes of "solve(int) const (inlined)" before its parameters; all bytes without parameters. */
static size_t plain_length(const char *name)
{
	size_t whole = strlen(name), length = without_end(name, whole, " (inlined)"), depth = 0;

	length = without_end(name, length, " const");
	if (length == 0 || name[length - 1] != ')')
		return length == without_end(name, whole, " (inlined)") ? length : whole;
	for (size_t i = length; i-- > 0;) {
		depth += name[i] == ')';
		depth -= name[i] == '(';
		if (depth == 0)
			return i != 0 ? i : whole;
	}
	return whole;
}

static bool matches_function(const regex_t *regex, const struct ctx_function_info *function)
{
	return matches_text(regex, function->name) || matches_text(regex, function->linkage_name) ||
	       matches(regex, function->name, plain_length(function->name));
}

static bool matches_object(const regex_t *regex, const struct ctx_profile *profile,
			   const struct ctx_function_info *function)
{
	const char *path, *file;

	if (function->object >= profile->n_objects)
		return false;
	path = profile->objects[function->object].path;
	file = strrchr(path, '/');
	return matches_text(regex, path) || (file != NULL && matches_text(regex, file + 1));
}

/* ---- sets ---- */

struct binding {
	struct ctx_expression *expression;
	const struct ctx_profile *profile;
	struct ctx_err *err;
};

static uint64_t *make_bits(size_t n)
{
	return ctx_calloc(n / 64 + 1, sizeof(uint64_t));
}

/* It compiled before, so it can only fail with CTX_E_NOMEM. */
static enum ctx_status compile(const struct binding *binding, const struct expr_node *node, regex_t *ret)
{
	struct expr_lexer lexer = {.text = "", .err = binding->err};

	return ctx_expr_compile(&lexer, node->pattern, 0, ret);
}

/* For reports of patterns without a match. */
static void note_fits(const struct binding *binding, const struct expr_node *node,
		      enum ctx_expression_name of, bool any)
{
	struct expr_node *own = &binding->expression->nodes[node - binding->expression->nodes];

	own->fits_nothing = !any;
	own->of = of;
}

/* Adds the functions of a string or object. */
static enum ctx_status add_pattern(const struct binding *binding, const struct expr_node *node,
				   uint64_t *functions)
{
	const struct ctx_profile *profile = binding->profile;
	bool any = false;
	regex_t regex;
	enum ctx_status status = compile(binding, node, &regex);

	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		const struct ctx_function_info *function = &profile->functions[i];

		if (node->op == EXPR_OBJECT ? matches_object(&regex, profile, function)
					    : matches_function(&regex, function)) {
			expr_set_bit(functions, i);
			any = true;
		}
	}
	regfree(&regex);
	note_fits(binding, node, CTX_EXPRESSION_NAMES_N, any);
	return CTX_OK;
}

static const struct expr_node *node_of(const struct binding *binding, uint32_t node)
{
	return &binding->expression->nodes[node];
}

/* All functions of a set, by function id. */
static enum ctx_status make_set(const struct binding *binding, uint32_t set, uint64_t **ret)
{
	uint64_t *functions = make_bits(binding->profile->n_functions);
	const struct expr_node *node = node_of(binding, set);
	enum ctx_status status = functions != NULL ? CTX_OK : ctx_err_nomem(binding->err);

	if (status == CTX_OK && node->op != EXPR_LIST)
		status = add_pattern(binding, node, functions);
	while (status == CTX_OK && node->op == EXPR_LIST) {
		status = add_pattern(binding, node_of(binding, node->left), functions);
		if (node->right == EXPR_NO_NODE)
			break;
		node = node_of(binding, node->right);
	}
	if (status != CTX_OK) {
		free(functions);
		return status;
	}
	*ret = functions;
	return CTX_OK;
}

static uint64_t count_bits(const uint64_t *bits, size_t n)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= n / 64; i++)
		count += (uint64_t)__builtin_popcountll(bits[i]);
	return count;
}

/* ---- stacks ---- */

/* LEAF, EVERY, SOME, ONLY_LEAF: from the node and the result of its parent. */
static void sweep(const struct ctx_trie *cct, enum expr_test_kind kind, const uint64_t *functions,
		  uint64_t n_functions, uint64_t *bits)
{
	for (uint32_t node = 1; node < cct->n; node++) {
		bool here = expr_bit(functions, cct->key[node]);
		uint32_t parent = cct->parent[node];
		bool says = here;

		if (kind == EXPR_TEST_EVERY)
			says = here && (parent == CTX_TRIE_ROOT || expr_bit(bits, parent));
		else if (kind == EXPR_TEST_SOME)
			says = here || expr_bit(bits, parent);
		else if (kind == EXPR_TEST_ONLY_LEAF)
			says = here && n_functions == 1;
		if (says)
			expr_set_bit(bits, node);
	}
}

/* Whether the function of the node is on the stack above it. */
static bool is_again(const struct ctx_trie *cct, uint32_t node)
{
	for (uint32_t above = cct->parent[node]; above != CTX_TRIE_ROOT; above = cct->parent[above]) {
		if (cct->key[above] == cct->key[node])
			return true;
	}
	return false;
}

/* How many different functions of the set are on each stack. */
static enum ctx_status sweep_all(const struct binding *binding, const uint64_t *functions,
				 uint64_t n_functions, uint64_t *bits)
{
	const struct ctx_trie *cct = &binding->profile->cct;
	uint32_t *found CTX_AUTO_FREE = ctx_calloc(cct->n, sizeof(*found));

	if (found == NULL)
		return ctx_err_nomem(binding->err);
	for (uint32_t node = 1; node < cct->n; node++) {
		found[node] = found[cct->parent[node]];
		if (expr_bit(functions, cct->key[node]) && !is_again(cct, node))
			found[node]++;
		if (n_functions != 0 && found[node] == n_functions)
			expr_set_bit(bits, node);
	}
	return CTX_OK;
}

/* For each function the items of the list that contain it. */
static enum ctx_status make_items(const struct binding *binding, uint32_t list, uint64_t *items,
				  unsigned *ret_n)
{
	const struct expr_node *node = node_of(binding, list);
	unsigned n = 0;

	for (;;) {
		bool last = node->op != EXPR_LIST || node->right == EXPR_NO_NODE;
		uint64_t *functions CTX_AUTO_FREE = make_bits(binding->profile->n_functions);
		enum ctx_status status;

		if (functions == NULL)
			return ctx_err_nomem(binding->err);
		status = add_pattern(binding, node->op == EXPR_LIST ? node_of(binding, node->left) : node,
				     functions);
		if (status != CTX_OK)
			return status;
		for (uint32_t i = 0; i < binding->profile->n_functions; i++) {
			if (expr_bit(functions, i))
				items[i] |= UINT64_C(1) << n;
		}
		n++;
		if (last)
			break;
		node = node_of(binding, node->right);
	}
	*ret_n = n;
	return CTX_OK;
}

/*
 * Consecutive frames. Bit i of `begun`: the last i + 1 frames are in the first i + 1 items. A list
 * has at most 64 items.
 */
static enum ctx_status sweep_ordered(const struct binding *binding, uint32_t list, uint64_t *bits)
{
	const struct ctx_trie *cct = &binding->profile->cct;
	uint64_t *items CTX_AUTO_FREE = ctx_calloc((size_t)binding->profile->n_functions + 1, sizeof(*items));
	uint64_t *begun CTX_AUTO_FREE = ctx_calloc(cct->n, sizeof(*begun));
	enum ctx_status status;
	unsigned n = 0;

	if (items == NULL || begun == NULL)
		return ctx_err_nomem(binding->err);
	status = make_items(binding, list, items, &n);
	if (status != CTX_OK)
		return status;
	for (uint32_t node = 1; node < cct->n; node++) {
		uint32_t parent = cct->parent[node];

		begun[node] = (begun[parent] << 1 | 1) & items[cct->key[node]];
		if ((begun[node] >> (n - 1) & 1) != 0 || expr_bit(bits, parent))
			expr_set_bit(bits, node);
	}
	return CTX_OK;
}

static enum ctx_status bind_stacks(const struct binding *binding, struct expr_test *test)
{
	const struct ctx_trie *cct = &binding->profile->cct;
	uint64_t *functions CTX_AUTO_FREE = NULL;
	uint64_t n_functions;
	enum ctx_status status;

	test->n = cct->n;
	test->bits = make_bits(cct->n);
	if (test->bits == NULL)
		return ctx_err_nomem(binding->err);
	if (test->kind == EXPR_TEST_ORDERED)
		return sweep_ordered(binding, test->set, test->bits);
	status = make_set(binding, test->set, &functions);
	if (status != CTX_OK)
		return status;
	n_functions = count_bits(functions, binding->profile->n_functions);
	if (test->kind == EXPR_TEST_ALL)
		return sweep_all(binding, functions, n_functions, test->bits);
	sweep(cct, test->kind, functions, n_functions, test->bits);
	return CTX_OK;
}

/* ---- names of ids ---- */

/* gprofng's names; ours are aliases. */
static const char *const heap_names[] = {"malloc",    "free",	"realloc",     "mmap",	"munmap",
					 "mmap file", "mremap", "mremap file", "leave", "brk"};
#define N_IO_NAMES (2 * (CTX_IO_OTHER + 1))

/* gprofng's numbers: failed operations after successful ones. */
static bool matches_io(const regex_t *regex, size_t i)
{
	static const char *const errors[] = {"read error", "write error", "open error", "close error",
					     "other error"};

	return i <= CTX_IO_OTHER ? matches_text(regex, ctx_traced_operation_name(CTX_TRACED_IO, (unsigned)i))
				 : matches_text(regex, errors[i - CTX_IO_OTHER - 1]);
}

static size_t count_values(const struct ctx_profile *profile, enum ctx_expression_name name)
{
	switch (name) {
	case CTX_NAME_THRID:
		return profile->n_threads;
	case CTX_NAME_PROCID:
		return profile->n_processes;
	case CTX_NAME_METRIC:
		return profile->n_metrics;
	case CTX_NAME_IOFNAME:
		return profile->n_files;
	case CTX_NAME_HTYPE:
		return CTX_COUNT_OF(heap_names);
	case CTX_NAME_IOTYPE:
		return N_IO_NAMES;
	default:
		return CTX_STATE_N;
	}
}

static bool matches_value(const regex_t *regex, const struct ctx_profile *profile,
			  enum ctx_expression_name name, size_t i)
{
	switch (name) {
	case CTX_NAME_THRID:
		return matches_text(regex, profile->threads[i].name);
	case CTX_NAME_PROCID:
		return matches_text(regex, profile->processes[i].command);
	case CTX_NAME_METRIC:
		return matches_text(regex, profile->metrics[i].name) ||
		       matches_text(regex, profile->metrics[i].word);
	case CTX_NAME_IOFNAME:
		return matches_text(regex, profile->files[i]);
	case CTX_NAME_HTYPE:
		return matches_text(regex, heap_names[i]) ||
		       matches_text(regex, ctx_traced_operation_name(CTX_TRACED_HEAP, (unsigned)i));
	case CTX_NAME_IOTYPE:
		return matches_io(regex, i);
	default:
		return matches_text(regex, ctx_state_name((enum ctx_thread_state)i)) ||
		       matches_text(regex, ctx_state_text((enum ctx_thread_state)i));
	}
}

static enum ctx_status bind_values(const struct binding *binding, struct expr_test *test)
{
	bool any = false;
	regex_t regex;
	enum ctx_status status;

	test->n = count_values(binding->profile, test->name);
	test->bits = make_bits(test->n);
	if (test->bits == NULL)
		return ctx_err_nomem(binding->err);
	status = compile(binding, node_of(binding, test->set), &regex);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < test->n; i++) {
		if (matches_value(&regex, binding->profile, test->name, i)) {
			expr_set_bit(test->bits, i);
			any = true;
		}
	}
	regfree(&regex);
	note_fits(binding, node_of(binding, test->set), test->name, any);
	return CTX_OK;
}

static void add_usage(struct ctx_expression *expression, const struct ctx_profile *profile,
		      const struct ctx_usage_info *usage)
{
	struct expr_range *range = &expression->usage_of[usage->process];

	if (range->begin == range->end && !ctx_usage_is_start(profile, usage))
		expression->usage_ns[range->end++] = profile->processes[usage->process].life.begin_ns;
	expression->usage_ns[range->end++] = usage->time_ns;
}

/*
 * The times of the usage records by process, for SAMPLE. They are in order of time; one additional
 * place is the begin of the first sample.
 */
static enum ctx_status bind_usage(struct ctx_expression *expression, const struct ctx_profile *profile,
				  struct ctx_err *err)
{
	uint32_t n = profile->n_processes;
	size_t at = 0;

	free(expression->usage_ns);
	free(expression->usage_of);
	expression->usage_processes = 0;
	expression->usage_ns = ctx_calloc(profile->n_usage + n, sizeof(*expression->usage_ns));
	expression->usage_of = ctx_calloc(n, sizeof(*expression->usage_of));
	if (expression->usage_ns == NULL || expression->usage_of == NULL)
		return ctx_err_nomem(err);
	expression->usage_processes = n;
	for (size_t i = 0; i < profile->n_usage; i++) {
		if (profile->usage[i].process < n)
			expression->usage_of[profile->usage[i].process].end++;
	}
	for (uint32_t i = 0; i < n; i++) {
		size_t records = expression->usage_of[i].end;

		expression->usage_of[i] = (struct expr_range){at, at};
		at += records + 1;
	}
	for (size_t i = 0; i < profile->n_usage; i++) {
		if (profile->usage[i].process < n)
			add_usage(expression, profile, &profile->usage[i]);
	}
	return CTX_OK;
}

enum ctx_status ctx_expression_bind(struct ctx_expression *expression, const struct ctx_profile *profile,
				    struct ctx_err *err)
{
	const struct binding binding = {expression, profile, err};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < expression->n_tests && status == CTX_OK; i++) {
		struct expr_test *test = &expression->tests[i];

		free(test->bits);
		test->bits = NULL;
		status = test->kind == EXPR_TEST_NAME_VALUE ? bind_values(&binding, test)
							    : bind_stacks(&binding, test);
	}
	if (status == CTX_OK && ctx_expression_uses(expression, CTX_NAME_SAMPLE))
		status = bind_usage(expression, profile, err);
	return status;
}

/* The names that a pattern is matched against. */
static const char *entity_of(const struct expr_node *node)
{
	switch (node->of) {
	case CTX_NAME_THRID:
		return "thread";
	case CTX_NAME_PROCID:
		return "process";
	case CTX_NAME_METRIC:
		return "metric";
	case CTX_NAME_STATE:
		return "state";
	case CTX_NAME_IOFNAME:
		return "file";
	case CTX_EXPRESSION_NAMES_N:
		return node->op == EXPR_OBJECT ? "load object" : "function";
	default:
		return "operation";
	}
}

bool ctx_expression_next_unfit(const struct ctx_expression *expression, size_t *at,
			       struct ctx_expression_unfit *ret)
{
	while (*at < expression->n) {
		const struct expr_node *node = &expression->nodes[(*at)++];

		if (!node->fits_nothing)
			continue;
		*ret = (struct ctx_expression_unfit){.pattern = node->pattern, .entity = entity_of(node)};
		return true;
	}
	return false;
}
