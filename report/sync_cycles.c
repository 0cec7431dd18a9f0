#include "report/sync_cycles.h"

#include "base/mem.h"
#include "model/lock_cycles.h"
#include "report/part_cells.h"
#include "report/stack_cells.h"

#include <inttypes.h>
#include <stdlib.h>

/* Orders, and the operations that they are of. */
struct orders {
	struct ctx_lock_order *items;
	const struct ctx_traced **operations;
	size_t n, cap, operations_cap;
	struct ctx_sync_locks locks;
};

static void orders_deinit(struct orders *orders)
{
	free(orders->items);
	free(orders->operations);
	ctx_sync_locks_deinit(&orders->locks);
}

uint32_t ctx_sync_lock_number(struct ctx_sync_locks *locks, uint32_t process, uint64_t address)
{
	uint32_t number = ctx_traced_number(&locks->addresses, address);

	return number != CTX_MAP64_NONE ? ctx_traced_number(&locks->locks, (uint64_t)process << 32 | number)
					: CTX_MAP64_NONE;
}

void ctx_sync_locks_deinit(struct ctx_sync_locks *locks)
{
	ctx_map64_deinit(&locks->addresses);
	ctx_map64_deinit(&locks->locks);
}

static enum ctx_status add(struct orders *orders, const struct ctx_traced *operation, uint32_t process,
			   struct ctx_err *err)
{
	struct ctx_lock_order order = {
		.held = ctx_sync_lock_number(&orders->locks, process, operation->old_address),
		.taken = ctx_sync_lock_number(&orders->locks, process, operation->address),
		.thread = operation->thread,
		.held_read = (operation->size & CTX_SYNC_ORDER_HELD_READ) != 0,
		.taken_read = (operation->size & CTX_SYNC_ORDER_TAKEN_READ) != 0};
	enum ctx_status status = ctx_grow(&orders->items, &orders->cap, orders->n + 1, err);

	if (status == CTX_OK)
		status = ctx_grow(&orders->operations, &orders->operations_cap, orders->n + 1, err);
	if (status != CTX_OK)
		return status;
	if (order.held == CTX_MAP64_NONE || order.taken == CTX_MAP64_NONE)
		return ctx_err_nomem(err);
	if (order.held == order.taken)
		return CTX_OK;
	orders->operations[orders->n] = operation;
	orders->items[orders->n++] = order;
	return CTX_OK;
}

const char *ctx_sync_object_text(struct ctx_traced_page *page, uint32_t process, uint64_t address,
				 const char *kind)
{
	const struct ctx_profile *profile = page->profile;
	const char *space = kind != NULL ? " " : "";

	kind = kind != NULL ? kind : "";
	if (profile->n_processes > 1 && process < profile->n_processes)
		return ctx_traced_text(page, "%s%s%" PRId64 ":0x%" PRIx64, kind, space,
				       profile->processes[process].pid, address);
	return ctx_traced_text(page, "%s%s0x%" PRIx64, kind, space, address);
}

const char *ctx_sync_thread_text(struct ctx_traced_page *page, uint32_t thread)
{
	const struct ctx_profile *profile = page->profile;

	if (thread >= profile->n_threads)
		return "?";
	return ctx_traced_text(page, "%" PRId64 " %s", profile->threads[thread].tid,
			       profile->threads[thread].name);
}

static void put_order(struct ctx_traced_page *page, const struct ctx_sync_cycle_columns *columns,
		      size_t cycle, const struct ctx_traced *operation)
{
	uint32_t process = ctx_profile_process_of(page->profile, operation->thread);
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&page->sections, cells);
	cells[columns->cycle] = ctx_cell_number(cycle);
	cells[columns->process] = ctx_pid_cell(page->profile, process);
	cells[columns->thread] = ctx_thread_cell(page->profile, operation->thread);
	cells[columns->held] = ctx_cell_number(operation->old_address);
	cells[columns->address] = ctx_cell_number(operation->address);
	if (ctx_out_is_text(&page->out)) {
		cells[columns->holder] = ctx_cell_name(ctx_sync_thread_text(page, operation->thread));
		cells[columns->held_text] =
			ctx_cell_name(ctx_sync_object_text(page, process, operation->old_address, NULL));
		cells[columns->object] =
			ctx_cell_name(ctx_sync_object_text(page, process, operation->address, NULL));
		cells[columns->text] = ctx_cell_name(ctx_traced_chain(page, operation->stack));
	} else if (page->out.options->format == CTX_REPORT_CSV) {
		cells[columns->stack] = ctx_stack_joined_cell(&page->out, operation->stack, &page->buf);
	}
	ctx_sections_row_begin(&page->sections, cells, NULL);
	ctx_stack_put_list(&page->out, "stack", operation->stack);
	ctx_sections_row_end(&page->sections);
}

static void put_cycles(struct ctx_traced_page *page, const struct ctx_sync_cycle_columns *columns,
		       const struct ctx_lock_cycles *cycles, const struct orders *orders)
{
	const struct ctx_section_column shown[] = {{columns->cycle, "Cycle"},
						   {columns->holder, "Thread"},
						   {columns->held_text, "Holds"},
						   {columns->object, "Takes"},
						   {columns->text, "Call stack"}};
	const struct ctx_section section = {"cycle", NULL, shown, CTX_COUNT_OF(shown)};

	ctx_sections_begin(&page->sections, &section, NULL);
	for (size_t i = 0; i < cycles->n && i < page->most; i++) {
		for (uint32_t j = 0; j < cycles->items[i].n; j++)
			put_order(page, columns, i + 1, orders->operations[cycles->items[i].orders[j]]);
	}
	ctx_traced_put_more(page, cycles->n, "cycle");
}

enum ctx_status ctx_sync_cycles_put(struct ctx_traced_page *page,
				    const struct ctx_sync_cycle_columns *columns, struct ctx_err *err)
{
	struct orders orders = {0};
	struct ctx_lock_cycles cycles = {0};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < page->traced.n && status == CTX_OK; i++) {
		const struct ctx_traced *operation = &page->traced.items[i];

		if (operation->operation == CTX_SYNC_ORDER && ctx_traced_passes(page, operation))
			status = add(&orders, operation,
				     ctx_profile_process_of(page->profile, operation->thread), err);
	}
	if (status == CTX_OK)
		status = ctx_lock_cycles_find(orders.items, orders.n, (uint32_t)orders.locks.locks.n, &cycles,
					      err);
	if (status == CTX_OK) {
		page->topic.note = cycles.n == 0
					   ? "no locks were taken in inverse orders by different threads"
					   : "locks taken in inverse orders by different threads: such "
					     "threads may wait for each other";
		page->total.count = orders.n;
		page->topic.counted = "pairs of locks";
		ctx_traced_page_begin(page);
		put_cycles(page, columns, &cycles, &orders);
	}
	ctx_lock_cycles_deinit(&cycles);
	orders_deinit(&orders);
	return status;
}
