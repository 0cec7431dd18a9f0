#include "collect/vm_marks.h"

#include "base/mem.h"
#include "model/traced.h"

#include <stdlib.h>
#include <string.h>

void ctx_vm_marks_deinit(struct ctx_vm_marks *marks)
{
	free(marks->items);
	*marks = (struct ctx_vm_marks){0};
}

enum ctx_status ctx_vm_marks_add(struct ctx_vm_marks *marks, const struct ctx_vm_mark *mark,
				 struct ctx_err *err)
{
	enum ctx_status status;
	size_t at = marks->n;

	if (marks->n == CTX_VM_MARKS_MAX)
		return CTX_E_LIMIT;
	status = ctx_grow(&marks->items, &marks->cap, marks->n + 1, err);
	if (status != CTX_OK)
		return status;
	while (at > 0 && marks->items[at - 1].time_ns > mark->time_ns)
		at--;
	memmove(&marks->items[at + 1], &marks->items[at], (marks->n - at) * sizeof(*marks->items));
	marks->items[at] = *mark;
	marks->n++;
	return CTX_OK;
}

enum ctx_status ctx_vm_marks_add_interval(struct ctx_vm_marks *marks, const struct ctx_vm_mark *begin,
					  uint64_t end_ns, struct ctx_err *err)
{
	struct ctx_vm_mark mark = *begin;
	enum ctx_status status;

	if (marks->n + 2 > CTX_VM_MARKS_MAX)
		return CTX_E_LIMIT;
	mark.operation = CTX_MARK_BEGIN;
	status = ctx_vm_marks_add(marks, &mark, err);
	mark.operation = CTX_MARK_END;
	mark.time_ns = end_ns;
	return status == CTX_OK ? ctx_vm_marks_add(marks, &mark, err) : status;
}

void ctx_vm_marks_end(struct ctx_vm_marks *marks, int64_t tid, uint64_t time_ns)
{
	size_t to = 0;

	while (to < marks->n && marks->items[to].time_ns <= time_ns)
		to++;
	for (size_t i = to; i < marks->n; i++) {
		struct ctx_vm_mark mark = marks->items[i];

		if (tid != 0 && mark.tid != tid)
			continue;
		mark.time_ns = time_ns;
		memmove(&marks->items[to + 1], &marks->items[to], (i - to) * sizeof(mark));
		marks->items[to++] = mark;
	}
}

static enum ctx_status write_mark(const struct ctx_vm_mark *item, const struct ctx_vm_marks_target *target,
				  struct ctx_err *err)
{
	struct ctx_exp_mark mark = {.time_ns = item->time_ns,
				    .operation = item->operation,
				    .value = item->value,
				    .name = item->name};

	if (!ctx_proctree_lookup(target->tree, item->tid, &mark.process, &mark.thread))
		return CTX_OK;
	return mark.process == target->process ? ctx_exp_mark(target->writer, &mark, err) : CTX_OK;
}

enum ctx_status ctx_vm_marks_write(struct ctx_vm_marks *marks, const struct ctx_vm_marks_target *target,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	while (n < marks->n && marks->items[n].time_ns <= target->until_ns && status == CTX_OK)
		status = write_mark(&marks->items[n++], target, err);
	marks->n -= n;
	if (marks->n != 0)
		memmove(marks->items, marks->items + n, marks->n * sizeof(*marks->items));
	return status;
}
