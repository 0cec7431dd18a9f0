/* The table `vm`: figures that are not known are NULL. */
#include "store/store_rows.h"

#define FIRST_FIGURE 7 /* column */

void ctx_store_bind_vm(struct ctx_store_rows *rows, size_t i)
{
	const struct ctx_vm_info *vm = &rows->contents->profile->vms.items[i];

	ctx_bind_id(rows->stmt, 2, vm->process);
	ctx_bind_text(rows->stmt, 3, vm->name);
	ctx_bind_text(rows->stmt, 4, vm->version);
	ctx_bind_text(rows->stmt, 5, vm->collector);
	ctx_bind_text(rows->stmt, 6, vm->command);
	ctx_bind_u64(rows->stmt, 7, vm->life.begin_ns);
	ctx_bind_u64(rows->stmt, 8, vm->life.end_ns);
	for (int figure = 0; figure < CTX_VM_FIGURE_N; figure++) {
		if (vm->figures[figure] == CTX_VM_UNKNOWN)
			sqlite3_bind_null(rows->stmt, FIRST_FIGURE + 2 + figure);
		else
			ctx_bind_u64(rows->stmt, FIRST_FIGURE + 2 + figure, vm->figures[figure]);
	}
}

enum ctx_status ctx_store_take_vm(struct ctx_store_reader *reader, size_t i, struct ctx_err *err)
{
	struct ctx_profile *profile = &reader->store->profile;
	struct ctx_vm_info *item = ctx_store_append(&profile->vms.items, i, sizeof(*item));
	sqlite3_stmt *stmt = reader->stmt;

	if (item == NULL)
		return ctx_err_nomem(err);
	profile->vms.n = (uint32_t)i + 1;
	item->process = ctx_column_id(stmt, 1);
	item->name = ctx_store_reader_text(reader, 2);
	item->version = ctx_store_reader_text(reader, 3);
	item->collector = ctx_store_reader_text(reader, 4);
	item->command = ctx_store_reader_text(reader, 5);
	item->life.begin_ns = ctx_column_u64(stmt, 6);
	item->life.end_ns = ctx_column_u64(stmt, FIRST_FIGURE);
	for (int figure = 0; figure < CTX_VM_FIGURE_N; figure++) {
		int column = FIRST_FIGURE + 1 + figure;

		item->figures[figure] = sqlite3_column_type(stmt, column) == SQLITE_NULL
						? CTX_VM_UNKNOWN
						: ctx_column_u64(stmt, column);
	}
	/* Processes are read before. */
	return item->process >= profile->n_processes || item->life.begin_ns > item->life.end_ns
		       ? ctx_store_bad(reader->store,
				       "a virtual machine of no process, or that ends before it begins", err)
		       : CTX_OK;
}
