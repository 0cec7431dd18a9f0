#include "base/bisect.h"
#include "model/expression_impl.h"

#include <math.h>

#define NS_PER_S INT64_C(1000000000)

static int64_t clamp(uint64_t value)
{
	return value <= INT64_MAX ? (int64_t)value : INT64_MAX;
}

void ctx_expression_subject_of(const struct ctx_profile *profile, const struct ctx_sample *sample,
			       struct ctx_expression_subject *ret)
{
	int64_t *values = ret->values;

	ret->stack = sample->stack;
	for (size_t i = 0; i < CTX_EXPRESSION_NAMES_N; i++)
		values[i] = i < CTX_NAME_EVT_TIME ? -1 : CTX_EXPRESSION_NO_VALUE;
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
	values[CTX_NAME_TSTAMP] = clamp(sample->time_ns);
	values[CTX_NAME_SECOND] = values[CTX_NAME_TSTAMP] / NS_PER_S;
	values[CTX_NAME_WEIGHT] = clamp(sample->weight);
	values[CTX_NAME_METRIC] = sample->metric;
	if (profile->has_states && sample->metric >= profile->states &&
	    sample->metric - profile->states < CTX_STATE_N)
		values[CTX_NAME_STATE] = sample->metric - profile->states;
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

/* The return value of a failed read or write. */
static bool moved_nothing(const struct ctx_traced *operation)
{
	return operation->kind == CTX_TRACED_IO && operation->failed &&
	       (operation->operation == CTX_IO_READ || operation->operation == CTX_IO_WRITE);
}

void ctx_expression_subject_add(const struct ctx_traced *operation, struct ctx_expression_subject *subject)
{
	int64_t *values = subject->values;

	if (operation->kind != CTX_TRACED_HEAP)
		values[CTX_NAME_EVT_TIME] = clamp(operation->duration_ns);
	if (operation->kind != CTX_TRACED_SYNC)
		values[CTX_NAME_SIZE] = moved_nothing(operation) ? -1 : clamp(operation->size);
	if (operation->kind != CTX_TRACED_IO)
		values[CTX_NAME_ADDRESS] = address(operation->address);
	switch (operation->kind) {
	case CTX_TRACED_HEAP:
		values[CTX_NAME_HTYPE] = operation->operation;
		values[CTX_NAME_HSIZE] = clamp(operation->size);
		values[CTX_NAME_HVADDR] = address(operation->address);
		values[CTX_NAME_HOVADDR] = address(operation->old_address);
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

static struct ctx_value integer(int64_t value)
{
	return (struct ctx_value){.kind = CTX_VALUE_INTEGER, .integer = value};
}

static struct ctx_value real(double value)
{
	return (struct ctx_value){.kind = isfinite(value) ? CTX_VALUE_REAL : CTX_VALUE_NONE, .real = value};
}

static double as_real(struct ctx_value value)
{
	return value.kind == CTX_VALUE_REAL ? value.real : (double)value.integer;
}

static bool is_nonzero(struct ctx_value value)
{
	return value.kind == CTX_VALUE_REAL ? value.real < 0 || value.real > 0 : value.integer != 0;
}

static struct ctx_value shifted(enum expr_op op, int64_t value, int64_t by)
{
	if (by < 0 || by > 63)
		return (struct ctx_value){0};
	return integer(op == EXPR_SHIFT_LEFT ? (int64_t)((uint64_t)value << by) : value >> by);
}

static struct ctx_value divided(enum expr_op op, int64_t left, int64_t right)
{
	if (right == 0 || (left == INT64_MIN && right == -1))
		return (struct ctx_value){0};
	return integer(op == EXPR_DIVIDE ? left / right : left % right);
}

static struct ctx_value of_integers(enum expr_op op, int64_t left, int64_t right)
{
	int64_t result = 0;
	bool overflows = false;

	switch (op) {
	case EXPR_OR:
		return integer(left | right);
	case EXPR_XOR:
		return integer(left ^ right);
	case EXPR_AND:
		return integer(left & right);
	case EXPR_EQUAL:
		return integer(left == right);
	case EXPR_UNEQUAL:
		return integer(left != right);
	case EXPR_LESS:
		return integer(left < right);
	case EXPR_LESS_EQUAL:
		return integer(left <= right);
	case EXPR_GREATER:
		return integer(left > right);
	case EXPR_GREATER_EQUAL:
		return integer(left >= right);
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
	return overflows ? (struct ctx_value){0} : integer(result);
}

static struct ctx_value of_reals(enum expr_op op, double left, double right)
{
	switch (op) {
	case EXPR_EQUAL:
		return integer(!(left < right) && !(left > right));
	case EXPR_UNEQUAL:
		return integer(left < right || left > right);
	case EXPR_LESS:
		return integer(left < right);
	case EXPR_LESS_EQUAL:
		return integer(left <= right);
	case EXPR_GREATER:
		return integer(left > right);
	case EXPR_GREATER_EQUAL:
		return integer(left >= right);
	case EXPR_ADD:
		return real(left + right);
	case EXPR_SUBTRACT:
		return real(left - right);
	case EXPR_MULTIPLY:
		return real(left * right);
	default: /* EXPR_DIVIDE; not finite for zero */
		return real(left / right);
	}
}

static struct ctx_value of_sign(enum expr_op op, struct ctx_value value)
{
	switch (op) {
	case EXPR_NOT:
		return integer(!is_nonzero(value));
	case EXPR_COMPLEMENT:
		return integer(~value.integer);
	case EXPR_NEGATE:
		if (value.kind == CTX_VALUE_REAL)
			return real(-value.real);
		return value.integer == INT64_MIN ? (struct ctx_value){0} : integer(-value.integer);
	default: /* EXPR_PLUS */
		return value;
	}
}

struct evaluation {
	const struct ctx_expression *expression;
	const struct ctx_expression_subject *subject;
};

static struct ctx_value evaluate(const struct evaluation *evaluation, uint32_t number);

/* Sample k of a process is the time after its record k - 1, up to record k. */
static int64_t sample_number(const struct evaluation *evaluation)
{
	const struct ctx_expression *expression = evaluation->expression;
	int64_t process = evaluation->subject->values[CTX_NAME_PROCID];
	uint64_t time_ns = (uint64_t)evaluation->subject->values[CTX_NAME_TSTAMP];
	struct expr_range range;
	size_t before;

	if (process < 0 || (uint64_t)process >= expression->usage_processes)
		return -1;
	range = expression->usage_of[process];
	if (range.begin == range.end)
		return -1;
	before = ctx_count_below_u64(expression->usage_ns + range.begin, range.end - range.begin, time_ns);
	return before > 0 && before < range.end - range.begin ? (int64_t)before : -1;
}

static struct ctx_value of_name(const struct evaluation *evaluation, enum ctx_expression_name name)
{
	int64_t value =
		name == CTX_NAME_SAMPLE ? sample_number(evaluation) : evaluation->subject->values[name];

	return value != CTX_EXPRESSION_NO_VALUE ? integer(value) : (struct ctx_value){0};
}

static bool test(const struct evaluation *evaluation, const struct expr_node *node)
{
	const struct expr_test *asked = &evaluation->expression->tests[node->test];
	int64_t i = asked->kind == EXPR_TEST_NAME_VALUE ? evaluation->subject->values[asked->name]
							: (int64_t)evaluation->subject->stack;

	return asked->bits != NULL && i >= 0 && (uint64_t)i < asked->n && expr_bit(asked->bits, (size_t)i);
}

/* The right side is evaluated only if the left one does not decide. */
static struct ctx_value of_logic(const struct evaluation *evaluation, const struct expr_node *node)
{
	struct ctx_value left = evaluate(evaluation, node->left), right;

	if (left.kind == CTX_VALUE_NONE)
		return left;
	if (is_nonzero(left) == (node->op == EXPR_OR_ELSE))
		return integer(node->op == EXPR_OR_ELSE);
	right = evaluate(evaluation, node->right);
	return right.kind == CTX_VALUE_NONE ? right : integer(is_nonzero(right));
}

static struct ctx_value of_condition(const struct evaluation *evaluation, const struct expr_node *node)
{
	struct ctx_value condition = evaluate(evaluation, node->left), value;

	if (condition.kind == CTX_VALUE_NONE)
		return condition;
	value = evaluate(evaluation, is_nonzero(condition) ? node->right : node->third);
	/* As in C: of an integer and a decimal the value is a decimal, whichever it is. */
	return value.kind == CTX_VALUE_INTEGER && node->type == EXPR_TYPE_REAL ? real((double)value.integer)
									       : value;
}

static struct ctx_value of_operator(const struct evaluation *evaluation, const struct expr_node *node)
{
	struct ctx_value left = evaluate(evaluation, node->left), right;

	if (left.kind == CTX_VALUE_NONE)
		return left;
	if (node->op >= EXPR_NEGATE && node->op <= EXPR_COMPLEMENT)
		return of_sign(node->op, left);
	right = evaluate(evaluation, node->right);
	if (right.kind == CTX_VALUE_NONE)
		return right;
	if (left.kind == CTX_VALUE_REAL || right.kind == CTX_VALUE_REAL)
		return of_reals(node->op, as_real(left), as_real(right));
	return of_integers(node->op, left.integer, right.integer);
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
		return integer(test(evaluation, node));
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

	return value.kind != CTX_VALUE_NONE && is_nonzero(value);
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
