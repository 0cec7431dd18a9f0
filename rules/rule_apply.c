#include "rules/rule_impl.h"

#include "base/mem.h"
#include "model/name_pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- conditions ---- */

struct evaluation {
	const struct ctx_rule_rows *rows;
	const struct rule *rule;
	const struct ctx_rule_row *row;
};

static double compute(enum rule_op op, double left, double right)
{
	switch (op) {
	case RULE_EQUAL:
		return left == right;
	case RULE_UNEQUAL:
		return left != right;
	case RULE_LESS:
		return left < right;
	case RULE_LESS_EQUAL:
		return left <= right;
	case RULE_GREATER:
		return left > right;
	case RULE_GREATER_EQUAL:
		return left >= right;
	case RULE_ADD:
		return left + right;
	case RULE_SUBTRACT:
		return left - right;
	case RULE_MULTIPLY:
		return left * right;
	case RULE_DIVIDE:
		return right != 0 ? left / right : NAN;
	case RULE_NUMBER:
	case RULE_FIELD:
	case RULE_LIKE:
	case RULE_UNLIKE:
	case RULE_NOT:
	case RULE_NEGATE:
	case RULE_OR_ELSE:
	case RULE_AND_ALSO:
		break;
	}
	return NAN;
}

static double evaluate(const struct evaluation *at, uint32_t index);

/* NAN: the row has no such text. */
static double like(const struct evaluation *at, const struct rule_node *node)
{
	const struct rule_field *field = &at->rule->nodes[node->left].field;
	const struct ctx_rule_row *row = ctx_rule_row_of(at->rows, at->rule, at->row, field->kind);
	const char *text = row != NULL ? ctx_rule_text(row, field) : NULL;
	bool fits;

	if (text == NULL)
		return NAN;
	fits = ctx_name_pattern_fits(node->pattern, text);
	return fits == (node->op == RULE_LIKE);
}

/* What has no value is neither true nor false; && and || know when that does not matter. */
static double decide(enum rule_op op, double left, double right)
{
	double settled = op == RULE_OR_ELSE; /* the value that one side alone decides */

	if (left == settled || right == settled)
		return settled;
	return isnan(left) || isnan(right) ? NAN : 1 - settled;
}

/* As deep as the condition: CTX_RULE_DEPTH_MAX parentheses, or CTX_RULE_NODES_MAX operators in a row. */
static double evaluate(const struct evaluation *at, uint32_t index)
{
	const struct rule_node *node = &at->rule->nodes[index];
	double left, right;

	if (node->op == RULE_NUMBER)
		return node->number;
	if (node->op == RULE_FIELD)
		return ctx_rule_value(at->rows,
				      ctx_rule_row_of(at->rows, at->rule, at->row, node->field.kind),
				      &node->field);
	if (node->op == RULE_LIKE || node->op == RULE_UNLIKE)
		return like(at, node);
	left = evaluate(at, node->left);
	if (node->op == RULE_NEGATE)
		return -left;
	if (node->op == RULE_NOT)
		return isnan(left) ? NAN : left == 0;
	right = evaluate(at, node->right);
	if (node->op == RULE_OR_ELSE || node->op == RULE_AND_ALSO)
		return decide(node->op, left, right);
	if (isnan(left) || isnan(right))
		return NAN;
	return compute(node->op, left, right);
}

/* ---- findings ---- */

static bool is_selected(const struct rule *rule, const struct ctx_rule_row *row)
{
	for (size_t i = 0; i < rule->n_selectors; i++) {
		if (regexec(rule->selectors[i], row->name, 0, NULL, 0) != 0)
			return false;
	}
	return true;
}

static enum ctx_status add(const struct evaluation *at, uint32_t rule, struct ctx_rule_findings *findings,
			   struct ctx_err *err)
{
	struct rule_field field = at->rule->first;
	const struct ctx_rule_row *own = ctx_rule_row_of(at->rows, at->rule, at->row, field.kind);
	struct ctx_rule_finding finding = {
		.rule = rule, .unit = field.unit, .name = at->row->name, .object = at->row->object};
	struct ctx_buf message CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_grow(&findings->items, &findings->cap, findings->n + 1, err);

	field.aspect = RULE_A;
	finding.a = ctx_rule_value(at->rows, own, &field);
	field.aspect = RULE_B;
	finding.b = ctx_rule_value(at->rows, own, &field);
	field = ctx_rule_field_aspect(field, RULE_CHANGE);
	finding.change = ctx_rule_value(at->rows, own, &field);
	if (own != NULL && at->rows->compared)
		finding.verdict = ctx_rule_figure_of(own, &field)->verdict;
	ctx_rule_put_message(&message, at->rows, at->rule, at->row);
	if (status == CTX_OK)
		status = ctx_buf_check(&message, err);
	if (status != CTX_OK)
		return status;
	finding.message = ctx_memdup0(message.bytes != NULL ? (const void *)message.bytes : "", message.n);
	if (finding.message == NULL)
		return ctx_err_nomem(err);
	findings->items[findings->n++] = finding;
	return CTX_OK;
}

static double size_of(const struct ctx_rule_finding *finding)
{
	double size = isnan(finding->a) ? finding->b : fabs(finding->b - finding->a);

	return isnan(size) ? -1 : size;
}

static int by_size(const void *left, const void *right)
{
	const struct ctx_rule_finding *a = left, *b = right;
	double x = size_of(a), y = size_of(b);
	int order;

	if (x != y)
		return x < y ? 1 : -1;
	order = strcmp(a->name, b->name);
	return order != 0 ? order : strcmp(a->object, b->object);
}

/* Why the rule cannot be applied: the first of its kinds that is missing. */
static const char *why_not(const struct rule *rule, const struct ctx_rule_rows *rows)
{
	if (rule->info.compares && !rows->compared)
		return "it compares two sides: --diff";
	if (rows->untimed != NULL && ctx_rule_asks_times(rule))
		return rows->untimed;
	for (size_t i = 0; i < rule->n && !rows->counted; i++) {
		if (rule->nodes[i].op == RULE_FIELD && rule->nodes[i].field.base == CTX_RULE_PER_COUNT)
			return "how much work was done is not said: --per-count";
	}
	for (size_t i = 0; i < rule->n; i++) {
		if (rule->nodes[i].op == RULE_FIELD &&
		    rows->tables[rule->nodes[i].field.kind].missing != NULL)
			return rows->tables[rule->nodes[i].field.kind].missing;
	}
	return NULL;
}

static enum ctx_status apply(const struct ctx_rules *rules, uint32_t rule, const struct ctx_rule_rows *rows,
			     struct ctx_rule_findings *findings, struct ctx_err *err)
{
	static const struct ctx_rule_row alone = {"", "", NULL};
	struct evaluation at = {.rows = rows, .rule = &rules->rules[rule]};
	const struct ctx_rule_table *table = &rows->tables[at.rule->info.kind];
	bool has_rows = ctx_rule_kind_has_rows(at.rule->info.kind);
	size_t n = has_rows ? table->n : 1, before = findings->n;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		at.row = has_rows ? &table->rows[i] : &alone;
		if (is_selected(at.rule, at.row) && evaluate(&at, (uint32_t)at.rule->n - 1) == 1)
			status = add(&at, rule, findings, err);
	}
	if (findings->n != before)
		qsort(findings->items + before, findings->n - before, sizeof(*findings->items), by_size);
	return status;
}

enum ctx_status ctx_rules_apply(const struct ctx_rules *rules, const struct ctx_rule_rows *rows,
				struct ctx_rule_findings *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_rule_findings){.n_rules = rules->n,
					  .unjudged = ctx_calloc(rules->n, sizeof(*ret->unjudged))};
	if (ret->unjudged == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < rules->n && status == CTX_OK; i++) {
		ret->unjudged[i] = why_not(&rules->rules[i], rows);
		if (ret->unjudged[i] == NULL)
			status = apply(rules, i, rows, ret, err);
	}
	if (status != CTX_OK)
		ctx_rule_findings_deinit(ret);
	return status;
}

void ctx_rule_findings_deinit(struct ctx_rule_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		free((char *)(uintptr_t)findings->items[i].message);
	free(findings->items);
	free(findings->unjudged);
	*findings = (struct ctx_rule_findings){0};
}

size_t ctx_rule_findings_count(const struct ctx_rules *rules, const struct ctx_rule_findings *findings,
			       enum ctx_rule_action action)
{
	size_t n = 0;

	for (size_t i = 0; i < findings->n; i++)
		n += rules->rules[findings->items[i].rule].info.action == action;
	return n;
}
