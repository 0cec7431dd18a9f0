#include "base/bisect.h"
#include "model/data_source.h"
#include "model/expression_impl.h"

#include <math.h>

#define NS_PER_S INT64_C(1000000000)

static int64_t clamp(uint64_t value)
{
	return value <= INT64_MAX ? (int64_t)value : INT64_MAX;
}

void ctx_expression_subject_at(uint64_t time_ns, struct ctx_expression_subject *subject)
{
	subject->values[CTX_NAME_TSTAMP] = clamp(time_ns);
	subject->values[CTX_NAME_SECOND] = subject->values[CTX_NAME_TSTAMP] / NS_PER_S;
}

void ctx_expression_subject_of(const struct ctx_profile *profile, const struct ctx_sample *sample,
			       struct ctx_expression_subject *ret)
{
	int64_t *values = ret->values;

	ret->stack = sample->stack;
	for (size_t i = 0; i < CTX_NAME_EVT_TIME; i++)
		values[i] = -1;
	for (size_t i = CTX_NAME_EVT_TIME; i < CTX_EXPRESSION_NAMES_N; i++)
		values[i] = CTX_EXPRESSION_NO_VALUE;
	if (sample->thread < profile->n_threads) {
		const struct ctx_thread_info *thread = &profile->threads[sample->thread];

		values[CTX_NAME_THRID] = sample->thread;
		values[CTX_NAME_LWPID] = thread->tid;
		if (thread->process < profile->n_processes) {
			values[CTX_NAME_PROCID] = thread->process;
			values[CTX_NAME_PID] = profile->processes[thread->process].pid;
		}
	}
	values[CTX_NAME_CPUID] = sample->cpu;
	ctx_expression_subject_at(sample->time_ns, ret);
	values[CTX_NAME_WEIGHT] = clamp(sample->weight);
	values[CTX_NAME_METRIC] = sample->metric;
	if (profile->has_states && sample->metric >= profile->states &&
	    sample->metric - profile->states < CTX_STATE_N) {
		values[CTX_NAME_STATE] = sample->metric - profile->states;
		if ((CTX_STATES_ON_CPU & CTX_STATE_BIT(sample->metric - profile->states)) == 0)
			values[CTX_NAME_CPUID] = CTX_NO_CPU;
	}
	if (sample->stack < profile->cct.n)
		values[CTX_NAME_DEPTH] = profile->cct.depth[sample->stack];
}

static int64_t begin_of(const struct ctx_traced *operation)
{
	return clamp(operation->time_ns - (operation->duration_ns < operation->time_ns
						   ? operation->duration_ns
						   : operation->time_ns));
}

/* Addresses are unsigned 64-bit numbers. */
static int64_t address(uint64_t value)
{
	int64_t bits = (int64_t)value;

	return bits != CTX_EXPRESSION_NO_VALUE ? bits : CTX_EXPRESSION_NO_VALUE + 1;
}

/* What only stands for an address is no value. */
static int64_t heap_address(uint64_t value)
{
	return value == 0 || value >= CTX_TRACED_NUMBERS_END ? address(value) : CTX_EXPRESSION_NO_VALUE;
}

/* The return value of a failed read or write. */
static bool moved_nothing(const struct ctx_traced *operation)
{
	return operation->kind == CTX_TRACED_IO && operation->failed &&
	       (operation->operation == CTX_IO_READ || operation->operation == CTX_IO_WRITE);
}

static void add_access(const struct ctx_traced *operation, int64_t *values)
{
	values[CTX_NAME_ADDRESS] = values[CTX_NAME_VADDR] = address(operation->address);
	values[CTX_NAME_PADDR] = address(operation->physical);
	values[CTX_NAME_LATENCY] = clamp(operation->latency);
	values[CTX_NAME_MTYPE] = operation->operation;
	values[CTX_NAME_MLEVEL] = (int64_t)ctx_data_level_of(operation->detail);
	values[CTX_NAME_MOBJECT] = operation->file != CTX_NONE ? (int64_t)operation->file : -1;
}

void ctx_expression_subject_add(const struct ctx_traced *operation, struct ctx_expression_subject *subject)
{
	int64_t *values = subject->values;

	if (operation->kind == CTX_TRACED_MARK || operation->kind == CTX_TRACED_OMP) {
		values[CTX_NAME_EVT_TIME] = clamp(operation->duration_ns);
		return;
	}
	if (operation->kind == CTX_TRACED_MEMORY) {
		add_access(operation, values);
		return;
	}
	if (operation->kind == CTX_TRACED_BRANCH)
		return;
	if (operation->kind != CTX_TRACED_HEAP)
		values[CTX_NAME_EVT_TIME] = clamp(operation->duration_ns);
	if (operation->kind != CTX_TRACED_SYNC)
		values[CTX_NAME_SIZE] = moved_nothing(operation) ? -1 : clamp(operation->size);
	if (operation->kind == CTX_TRACED_SYNC)
		values[CTX_NAME_ADDRESS] = address(operation->address);
	switch (operation->kind) {
	case CTX_TRACED_HEAP:
		values[CTX_NAME_HTYPE] = operation->operation;
		values[CTX_NAME_HSIZE] = clamp(operation->size);
		values[CTX_NAME_ADDRESS] = values[CTX_NAME_HVADDR] = heap_address(operation->address);
		values[CTX_NAME_HOVADDR] = heap_address(operation->old_address);
		values[CTX_NAME_HLEAKED] = clamp(operation->leaked_size);
		break;
	case CTX_TRACED_SYNC:
		values[CTX_NAME_SRQST] = begin_of(operation);
		values[CTX_NAME_SOBJ] = address(operation->address);
		break;
	default:
		values[CTX_NAME_IOTYPE] = operation->operation + (operation->failed ? CTX_IO_OTHER + 1 : 0);
		values[CTX_NAME_IOFD] = operation->descriptor;
		values[CTX_NAME_IONBYTE] = values[CTX_NAME_SIZE];
		values[CTX_NAME_IORQST] = begin_of(operation);
		values[CTX_NAME_IOFNAME] = operation->file != CTX_NONE ? (int64_t)operation->file : -1;
		break;
	}
}

struct ctx_value ctx_expr_integer(int64_t value)
{
	return (struct ctx_value){.kind = CTX_VALUE_INTEGER, .integer = value};
}

struct ctx_value ctx_expr_real(double value)
{
	return (struct ctx_value){.kind = isfinite(value) ? CTX_VALUE_REAL : CTX_VALUE_NONE, .real = value};
}

static double as_real(struct ctx_value value)
{
	return value.kind == CTX_VALUE_REAL ? value.real : (double)value.integer;
}

bool ctx_expr_is_nonzero(struct ctx_value value)
{
	return value.kind == CTX_VALUE_REAL ? value.real < 0 || value.real > 0 : value.integer != 0;
}

static struct ctx_value shifted(enum expr_op op, int64_t value, int64_t by)
{
	if (by < 0 || by > 63)
		return (struct ctx_value){0};
	return ctx_expr_integer(op == EXPR_SHIFT_LEFT ? (int64_t)((uint64_t)value << by) : value >> by);
}

static struct ctx_value divided(enum expr_op op, int64_t left, int64_t right)
{
	if (right == 0 || (left == INT64_MIN && right == -1))
		return (struct ctx_value){0};
	return ctx_expr_integer(op == EXPR_DIVIDE ? left / right : left % right);
}

static struct ctx_value of_integers(enum expr_op op, int64_t left, int64_t right)
{
	int64_t result = 0;
	bool overflows = false;

	switch (op) {
	case EXPR_OR:
		return ctx_expr_integer(left | right);
	case EXPR_XOR:
		return ctx_expr_integer(left ^ right);
	case EXPR_AND:
		return ctx_expr_integer(left & right);
	case EXPR_EQUAL:
		return ctx_expr_integer(left == right);
	case EXPR_UNEQUAL:
		return ctx_expr_integer(left != right);
	case EXPR_LESS:
		return ctx_expr_integer(left < right);
	case EXPR_LESS_EQUAL:
		return ctx_expr_integer(left <= right);
	case EXPR_GREATER:
		return ctx_expr_integer(left > right);
	case EXPR_GREATER_EQUAL:
		return ctx_expr_integer(left >= right);
	case EXPR_SHIFT_LEFT:
	case EXPR_SHIFT_RIGHT:
		return shifted(op, left, right);
	case EXPR_DIVIDE:
	case EXPR_REMAINDER:
		return divided(op, left, right);
	case EXPR_ADD:
		overflows = __builtin_add_overflow(left, right, &result);
		break;
	case EXPR_SUBTRACT:
		overflows = __builtin_sub_overflow(left, right, &result);
		break;
	default: /* EXPR_MULTIPLY */
		overflows = __builtin_mul_overflow(left, right, &result);
		break;
	}
	return overflows ? (struct ctx_value){0} : ctx_expr_integer(result);
}

static struct ctx_value of_reals(enum expr_op op, double left, double right)
{
	switch (op) {
	case EXPR_EQUAL:
		return ctx_expr_integer(!(left < right) && !(left > right));
	case EXPR_UNEQUAL:
		return ctx_expr_integer(left < right || left > right);
	case EXPR_LESS:
		return ctx_expr_integer(left < right);
	case EXPR_LESS_EQUAL:
		return ctx_expr_integer(left <= right);
	case EXPR_GREATER:
		return ctx_expr_integer(left > right);
	case EXPR_GREATER_EQUAL:
		return ctx_expr_integer(left >= right);
	case EXPR_ADD:
		return ctx_expr_real(left + right);
	case EXPR_SUBTRACT:
		return ctx_expr_real(left - right);
	case EXPR_MULTIPLY:
		return ctx_expr_real(left * right);
	default: /* EXPR_DIVIDE; not finite for zero */
		return ctx_expr_real(left / right);
	}
}

static struct ctx_value of_sign(enum expr_op op, struct ctx_value value)
{
	switch (op) {
	case EXPR_NOT:
		return ctx_expr_integer(!ctx_expr_is_nonzero(value));
	case EXPR_COMPLEMENT:
		return ctx_expr_integer(~value.integer);
	case EXPR_NEGATE:
		if (value.kind == CTX_VALUE_REAL)
			return ctx_expr_real(-value.real);
		return value.integer == INT64_MIN ? (struct ctx_value){0} : ctx_expr_integer(-value.integer);
	default: /* EXPR_PLUS */
		return value;
	}
}

struct ctx_value ctx_expr_operate(enum expr_op op, struct ctx_value left, struct ctx_value right)
{
	if (ctx_expr_is_sign(op))
		return of_sign(op, left);
	if (left.kind == CTX_VALUE_REAL || right.kind == CTX_VALUE_REAL)
		return of_reals(op, as_real(left), as_real(right));
	return of_integers(op, left.integer, right.integer);
}

struct evaluation {
	const struct ctx_expression *expression;
	const struct ctx_expression_subject *subject;
};

static struct ctx_value evaluate(const struct evaluation *evaluation, uint32_t number);

/* Sample k of a process is the time after its record k - 1, up to record k. */
int64_t ctx_expr_sample_number(const struct ctx_expression *expression, int64_t process, uint64_t time_ns,
			       size_t *ret_before)
{
	struct expr_range range;
	size_t before;

	*ret_before = 0;
	if (process < 0 || (uint64_t)process >= expression->usage_processes)
		return -1;
	range = expression->usage_of[process];
	if (range.begin == range.end)
		return -1;
	before = ctx_count_below_u64(expression->usage_ns + range.begin, range.end - range.begin, time_ns);
	*ret_before = before;
	return before > 0 && before < range.end - range.begin ? (int64_t)before : -1;
}

static struct ctx_value of_name(const struct evaluation *evaluation, enum ctx_expression_name name)
{
	const int64_t *values = evaluation->subject->values;
	int64_t value = values[name];
	size_t before;

	if (name == CTX_NAME_SAMPLE)
		value = ctx_expr_sample_number(evaluation->expression, values[CTX_NAME_PROCID],
					       (uint64_t)values[CTX_NAME_TSTAMP], &before);

	return value != CTX_EXPRESSION_NO_VALUE ? ctx_expr_integer(value) : (struct ctx_value){0};
}

bool ctx_expr_test(const struct ctx_expression *expression, const struct expr_node *node,
		   const struct ctx_expression_subject *subject)
{
	const struct expr_test *asked = &expression->tests[node->test];
	int64_t i =
		asked->kind == EXPR_TEST_NAME_VALUE ? subject->values[asked->name] : (int64_t)subject->stack;

	return asked->bits != NULL && i >= 0 && (uint64_t)i < asked->n && expr_bit(asked->bits, (size_t)i);
}

/* The right side is evaluated only if the left one does not decide. */
static struct ctx_value of_logic(const struct evaluation *evaluation, const struct expr_node *node)
{
	struct ctx_value left = evaluate(evaluation, node->left), right;

	if (left.kind == CTX_VALUE_NONE)
		return left;
	if (ctx_expr_is_nonzero(left) == (node->op == EXPR_OR_ELSE))
		return ctx_expr_integer(node->op == EXPR_OR_ELSE);
	right = evaluate(evaluation, node->right);
	return right.kind == CTX_VALUE_NONE ? right : ctx_expr_integer(ctx_expr_is_nonzero(right));
}

static struct ctx_value of_condition(const struct evaluation *evaluation, const struct expr_node *node)
{
	struct ctx_value condition = evaluate(evaluation, node->left), value;

	if (condition.kind == CTX_VALUE_NONE)
		return condition;
	value = evaluate(evaluation, ctx_expr_is_nonzero(condition) ? node->right : node->third);
	/* As in C: of an integer and a decimal the value is a decimal, whichever it is. */
	return value.kind == CTX_VALUE_INTEGER && node->type == EXPR_TYPE_REAL
		       ? ctx_expr_real((double)value.integer)
		       : value;
}

static struct ctx_value of_operator(const struct evaluation *evaluation, const struct expr_node *node)
{
	struct ctx_value left = evaluate(evaluation, node->left), right;

	if (left.kind == CTX_VALUE_NONE)
		return left;
	right = ctx_expr_is_sign(node->op) ? left : evaluate(evaluation, node->right);
	return right.kind == CTX_VALUE_NONE ? right : ctx_expr_operate(node->op, left, right);
}

/* Recursion is bounded by CTX_EXPRESSION_NODES_MAX small frames. */
static struct ctx_value evaluate(const struct evaluation *evaluation, uint32_t number)
{
	const struct expr_node *node = &evaluation->expression->nodes[number];

	switch (node->op) {
	case EXPR_NUMBER:
		return node->value;
	case EXPR_NAME:
		return of_name(evaluation, node->name);
	case EXPR_TEST:
	case EXPR_NAME_LIKE:
		return ctx_expr_integer(ctx_expr_test(evaluation->expression, node, evaluation->subject));
	case EXPR_OR_ELSE:
	case EXPR_AND_ALSO:
		return of_logic(evaluation, node);
	case EXPR_CONDITION:
		return of_condition(evaluation, node);
	default:
		return of_operator(evaluation, node);
	}
}

struct ctx_value ctx_expression_evaluate(const struct ctx_expression *expression,
					 const struct ctx_expression_subject *subject)
{
	struct evaluation evaluation = {expression, subject};

	return evaluate(&evaluation, (uint32_t)expression->n - 1);
}

bool ctx_expression_is_true(const struct ctx_expression *expression,
			    const struct ctx_expression_subject *subject)
{
	struct ctx_value value = ctx_expression_evaluate(expression, subject);

	return value.kind != CTX_VALUE_NONE && ctx_expr_is_nonzero(value);
}

int64_t ctx_expression_key(const struct ctx_expression *expression,
			   const struct ctx_expression_subject *subject)
{
	struct ctx_value value = ctx_expression_evaluate(expression, subject);

	if (value.kind == CTX_VALUE_INTEGER)
		return value.integer;
	value.real = floor(value.real);
	/* Every double below 2^63 fits; the next one is 2^63 itself. */
	if (value.kind == CTX_VALUE_REAL && value.real >= -0x1p63 && value.real < 0x1p63)
		return (int64_t)value.real;
	return -1;
}
