/*
 * Values along a span of time: interval arithmetic over the nodes of an expression.
 *
 *	TSTAMP in [first, last]  --nodes-->  [least, greatest]	one value: the span is not divided
 *							more: halved until a part has one
 *
 * The range of a part lies inside the range of the whole, so that the part is found by bisection.
 * Ranges contain every value, and can be larger than needed.
 */
#include "model/expression_impl.h"

#include <math.h>

#define NS_PER_S INT64_C(1000000000)

struct range {
	bool varies; /* nothing is known: it may have no value at some time */
	/* Both integers, both real, or both without a value. */
	struct ctx_value least, greatest;
};

struct passing {
	const struct ctx_expression *expression;
	const struct ctx_expression_subject *subject;
	int64_t first_ns, last_ns;
};

static const struct range unknown_range = {.varies = true};

static struct range point(struct ctx_value value)
{
	return (struct range){.least = value, .greatest = value};
}

static struct range between(int64_t least, int64_t greatest)
{
	return (struct range){.least = ctx_expr_integer(least), .greatest = ctx_expr_integer(greatest)};
}

static bool has_none(const struct range *range)
{
	return !range->varies && range->least.kind == CTX_VALUE_NONE;
}

static bool is_point(const struct range *range)
{
	if (range->varies)
		return false;
	if (range->least.kind == CTX_VALUE_REAL)
		return !(range->least.real < range->greatest.real);
	return range->least.kind == CTX_VALUE_NONE || range->least.integer == range->greatest.integer;
}

static bool is_less(struct ctx_value a, struct ctx_value b)
{
	return ctx_expr_operate(EXPR_LESS, a, b).integer != 0;
}

enum truth { NEVER, ALWAYS, SOMETIMES };

static enum truth truth_of(const struct range *range)
{
	struct ctx_value zero = ctx_expr_integer(0);

	if (range->varies)
		return SOMETIMES;
	if (range->least.kind == CTX_VALUE_NONE)
		return NEVER;
	if (is_less(zero, range->least) || is_less(range->greatest, zero))
		return ALWAYS;
	return is_point(range) ? NEVER : SOMETIMES;
}

static struct range of_truth(enum truth truth)
{
	return between(truth == ALWAYS, truth != NEVER);
}

static struct range of_sample_number(const struct passing *passing)
{
	int64_t process = passing->subject->values[CTX_NAME_PROCID];
	size_t first, last;
	int64_t number =
		ctx_expr_sample_number(passing->expression, process, (uint64_t)passing->first_ns, &first);

	(void)ctx_expr_sample_number(passing->expression, process, (uint64_t)passing->last_ns, &last);
	return first == last ? between(number, number) : unknown_range;
}

static struct range of_name(const struct passing *passing, enum ctx_expression_name name)
{
	const int64_t *values = passing->subject->values;

	switch (name) {
	case CTX_NAME_TSTAMP:
		return between(passing->first_ns, passing->last_ns);
	case CTX_NAME_SECOND:
		return between(passing->first_ns / NS_PER_S, passing->last_ns / NS_PER_S);
	case CTX_NAME_SAMPLE:
		return of_sample_number(passing);
	default:
		return point(values[name] != CTX_EXPRESSION_NO_VALUE ? ctx_expr_integer(values[name])
								     : (struct ctx_value){0});
	}
}

/* Monotonic in each operand: the extremes are at the corners. */
static struct range of_corners(enum expr_op op, const struct range *left, const struct range *right)
{
	const struct ctx_value corners[4] = {
		ctx_expr_operate(op, left->least, right->least),
		ctx_expr_operate(op, left->least, right->greatest),
		ctx_expr_operate(op, left->greatest, right->least),
		ctx_expr_operate(op, left->greatest, right->greatest),
	};
	struct range range = point(corners[0]);

	for (int i = 0; i < 4; i++) {
		if (corners[i].kind == CTX_VALUE_NONE)
			return unknown_range;
		if (is_less(corners[i], range.least))
			range.least = corners[i];
		if (is_less(range.greatest, corners[i]))
			range.greatest = corners[i];
	}
	return range;
}

static struct range of_division(enum expr_op op, const struct range *left, const struct range *right)
{
	int64_t by = right->least.integer;
	uint64_t last;

	if (truth_of(right) != ALWAYS)
		return unknown_range;
	if (op == EXPR_DIVIDE)
		return of_corners(op, left, right);
	if (!is_point(right) || by == INT64_MIN || by == -1)
		return unknown_range;
	if (left->least.integer / by == left->greatest.integer / by)
		return of_corners(op, left, right);
	last = (uint64_t)(by < 0 ? -by : by) - 1;
	return between(left->least.integer < 0 ? -(int64_t)last : 0,
		       left->greatest.integer > 0 ? (int64_t)last : 0);
}

static struct range of_shift(enum expr_op op, const struct range *left, const struct range *right)
{
	int64_t by = right->least.integer;
	struct range range;

	if (!is_point(right) || by < 0 || by > 63)
		return unknown_range;
	range = of_corners(op, left, right);
	if (op == EXPR_SHIFT_LEFT && (range.least.integer >> by != left->least.integer ||
				      range.greatest.integer >> by != left->greatest.integer))
		return unknown_range;
	return range;
}

/* The bits above the highest one that changes are the same in all values. */
static struct range of_bits(enum expr_op op, const struct range *left, const struct range *right)
{
	uint64_t changes = ((uint64_t)left->least.integer ^ (uint64_t)left->greatest.integer) |
			   ((uint64_t)right->least.integer ^ (uint64_t)right->greatest.integer);
	uint64_t low, bits = (uint64_t)ctx_expr_operate(op, left->least, right->least).integer, fixed;

	if (changes >> 63 != 0)
		return unknown_range;
	low = changes == 0 ? 0 : UINT64_MAX >> __builtin_clzll(changes);
	fixed = bits & ~low;
	if (is_point(right) && op == EXPR_AND)
		return between((int64_t)fixed, (int64_t)(fixed | ((uint64_t)right->least.integer & low)));
	if (is_point(right) && op == EXPR_OR)
		return between((int64_t)(fixed | ((uint64_t)right->least.integer & low)),
			       (int64_t)(fixed | low));
	return between((int64_t)fixed, (int64_t)(fixed | low));
}

static struct range of_comparison(enum expr_op op, const struct range *left, const struct range *right)
{
	bool below = is_less(left->greatest, right->least), above = is_less(right->greatest, left->least);

	switch (op) {
	case EXPR_EQUAL:
	case EXPR_UNEQUAL:
		return below || above ? between(op == EXPR_UNEQUAL, op == EXPR_UNEQUAL) : between(0, 1);
	case EXPR_LESS:
		return below || !is_less(left->least, right->greatest) ? between(below, below)
								       : between(0, 1);
	case EXPR_LESS_EQUAL:
		return above || !is_less(right->least, left->greatest) ? between(!above, !above)
								       : between(0, 1);
	case EXPR_GREATER:
		return of_comparison(EXPR_LESS, right, left);
	default: /* EXPR_GREATER_EQUAL */
		return of_comparison(EXPR_LESS_EQUAL, right, left);
	}
}

static struct range of_two(enum expr_op op, const struct range *left, const struct range *right)
{
	bool real = left->least.kind == CTX_VALUE_REAL || right->least.kind == CTX_VALUE_REAL;

	switch (op) {
	case EXPR_EQUAL:
	case EXPR_UNEQUAL:
	case EXPR_LESS:
	case EXPR_LESS_EQUAL:
	case EXPR_GREATER:
	case EXPR_GREATER_EQUAL:
		return of_comparison(op, left, right);
	case EXPR_ADD:
	case EXPR_SUBTRACT:
	case EXPR_MULTIPLY:
		return of_corners(op, left, right);
	case EXPR_DIVIDE:
		if (real)
			return truth_of(right) == ALWAYS ? of_corners(op, left, right) : unknown_range;
		/* fall through */
	case EXPR_REMAINDER:
		return of_division(op, left, right);
	case EXPR_SHIFT_LEFT:
	case EXPR_SHIFT_RIGHT:
		return of_shift(op, left, right);
	default: /* EXPR_OR, EXPR_XOR, EXPR_AND */
		return of_bits(op, left, right);
	}
}

static struct range of_sign(enum expr_op op, const struct range *range)
{
	enum truth truth = truth_of(range);

	if (op != EXPR_NOT)
		return of_corners(op, range, range);
	return of_truth(truth == SOMETIMES ? truth : truth == ALWAYS ? NEVER : ALWAYS);
}

static struct range range_of(const struct passing *passing, uint32_t number);

static struct range of_logic(const struct passing *passing, const struct expr_node *node)
{
	struct range left = range_of(passing, node->left), right;
	enum truth decides = node->op == EXPR_OR_ELSE ? ALWAYS : NEVER, truth = truth_of(&left);

	if (left.varies || has_none(&left))
		return left;
	if (truth == decides)
		return of_truth(truth);
	right = range_of(passing, node->right);
	if (truth != SOMETIMES)
		return right.varies || has_none(&right) ? right : of_truth(truth_of(&right));
	if (right.varies || has_none(&right))
		return unknown_range;
	return truth_of(&right) == decides ? of_truth(decides) : of_truth(SOMETIMES);
}

static struct range of_condition(const struct passing *passing, const struct expr_node *node)
{
	struct range condition = range_of(passing, node->left), range;
	enum truth truth = truth_of(&condition);

	if (condition.varies || has_none(&condition))
		return condition;
	if (truth == SOMETIMES)
		return unknown_range;
	range = range_of(passing, truth == ALWAYS ? node->right : node->third);
	if (!range.varies && range.least.kind == CTX_VALUE_INTEGER && node->type == EXPR_TYPE_REAL) {
		range.least = ctx_expr_real((double)range.least.integer);
		range.greatest = ctx_expr_real((double)range.greatest.integer);
	}
	return range;
}

static struct range of_operator(const struct passing *passing, const struct expr_node *node)
{
	struct range left = range_of(passing, node->left), right;

	if (left.varies || has_none(&left))
		return left;
	if (ctx_expr_is_sign(node->op))
		return of_sign(node->op, &left);
	right = range_of(passing, node->right);
	if (right.varies || has_none(&right))
		return right;
	if (is_point(&left) && is_point(&right))
		return point(ctx_expr_operate(node->op, left.least, right.least));
	return of_two(node->op, &left, &right);
}

/* Recursion is bounded as that of evaluate. */
static struct range range_of(const struct passing *passing, uint32_t number)
{
	const struct expr_node *node = &passing->expression->nodes[number];

	switch (node->op) {
	case EXPR_NUMBER:
		return point(node->value);
	case EXPR_NAME:
		return of_name(passing, node->name);
	case EXPR_TEST:
	case EXPR_NAME_LIKE:
		return of_truth(ctx_expr_test(passing->expression, node, passing->subject) ? ALWAYS : NEVER);
	case EXPR_OR_ELSE:
	case EXPR_AND_ALSO:
		return of_logic(passing, node);
	case EXPR_CONDITION:
		return of_condition(passing, node);
	default:
		return of_operator(passing, node);
	}
}

static bool has_one_truth(const struct range *range)
{
	return truth_of(range) != SOMETIMES;
}

static bool has_one_key(const struct range *range)
{
	if (range->varies || range->least.kind != CTX_VALUE_REAL)
		return is_point(range);
	return !(floor(range->least.real) < floor(range->greatest.real));
}

static uint64_t until(struct passing *passing, bool (*is_one)(const struct range *range), uint64_t last_ns)
{
	uint32_t root = (uint32_t)passing->expression->n - 1;
	int64_t first = passing->subject->values[CTX_NAME_TSTAMP];
	int64_t last = last_ns <= INT64_MAX ? (int64_t)last_ns : INT64_MAX, known = first, step = 1;
	struct range range;

	if (!passing->expression->uses_time || last <= first)
		return last_ns;
	passing->first_ns = first;
	passing->last_ns = last;
	range = range_of(passing, root);
	if (is_one(&range))
		return last_ns;
	/* Steps grow from the begin on, then halve: parts are often much shorter than the span. */
	for (bool grows = true; step > 0; step = grows ? step * 2 : step / 2) {
		bool fits = step < last - known;

		passing->last_ns = fits ? known + step : last;
		if (fits)
			range = range_of(passing, root);
		fits = fits && is_one(&range);
		known += fits ? step : 0;
		grows = grows && fits && step < INT64_MAX / 4;
	}
	return (uint64_t)known;
}

uint64_t ctx_expression_truth_until(const struct ctx_expression *expression,
				    const struct ctx_expression_subject *subject, uint64_t last_ns)
{
	struct passing passing = {.expression = expression, .subject = subject};

	return until(&passing, has_one_truth, last_ns);
}

uint64_t ctx_expression_key_until(const struct ctx_expression *expression,
				  const struct ctx_expression_subject *subject, uint64_t last_ns)
{
	struct passing passing = {.expression = expression, .subject = subject};

	return until(&passing, has_one_key, last_ns);
}
