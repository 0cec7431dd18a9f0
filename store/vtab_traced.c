/*
 * traced(time_ns, duration_ns, kind, operation, size, address, old_address, thread, cpu,
 * descriptor, file, failed, leaked, leaked_size, stack, raw_stack, other, call, error, value, off_ns, self_ns, cycles,
 * block, flags, latency, data_source, physical): the traced operations as rows.
 * Constraints on time_ns select the blocks.
 */
#include "store/vtab.h"

#include "base/mem.h"
#include "model/io_call.h"

enum column {
	TIME_NS,
	DURATION_NS,
	KIND,
	OPERATION,
	SIZE,
	ADDRESS,
	OLD_ADDRESS,
	THREAD,
	CPU,
	DESCRIPTOR,
	FILE_NAME,
	FAILED,
	LEAKED,
	LEAKED_SIZE,
	STACK,
	RAW_STACK,
	OTHER,
	CALL,
	ERROR,
	VALUE,
	OFF_NS,
	SELF_NS,
	CYCLES,
	BLOCK,
	FLAGS,
	LATENCY,
	DATA_SOURCE,
	PHYSICAL,
	N_COLUMNS
};

static enum ctx_status next_block(struct vtab_timed_cursor *timed, struct ctx_err *err)
{
	return ctx_vtab_blocks_next(timed, &ctx_traced_blocks, err);
}

/* Columns of branches and accesses alone. */
static int64_t number_of_processor(const struct ctx_traced *operation, int which, bool *ret_null)
{
	const bool branch = operation->kind == CTX_TRACED_BRANCH;

	*ret_null = branch != (which <= FLAGS) || (!branch && operation->kind != CTX_TRACED_MEMORY);
	switch (which) {
	case CYCLES:
		return (int64_t)operation->cycles;
	case BLOCK:
		*ret_null |= operation->block == 0;
		return (int64_t)operation->block - 1;
	case FLAGS:
		return (int64_t)operation->detail;
	case LATENCY:
		return (int64_t)operation->latency;
	case DATA_SOURCE:
		return (int64_t)operation->detail;
	default:
		return (int64_t)operation->physical;
	}
}

/* Columns that only some kinds have: NULL for the others. */
static int64_t number_of(const struct ctx_traced *operation, int which, bool *ret_null)
{
	const bool heap = operation->kind == CTX_TRACED_HEAP, io = operation->kind == CTX_TRACED_IO;
	const bool sync = operation->kind == CTX_TRACED_SYNC, mark = operation->kind == CTX_TRACED_MARK;
	const bool call = operation->kind == CTX_TRACED_CALL, memory = operation->kind == CTX_TRACED_MEMORY;
	const bool branch = operation->kind == CTX_TRACED_BRANCH;
	const bool omp = operation->kind == CTX_TRACED_OMP;

	if (which >= CYCLES)
		return number_of_processor(operation, which, ret_null);
	switch (which) {
	case TIME_NS:
		return (int64_t)operation->time_ns;
	case DURATION_NS:
		*ret_null = heap || branch || memory || (mark && !ctx_mark_has_duration(operation));
		return (int64_t)operation->duration_ns;
	case SIZE:
		*ret_null = sync || mark || call || branch || memory || omp;
		return (int64_t)operation->size;
	case ADDRESS:
		*ret_null = io || mark || call || branch || omp;
		return (int64_t)operation->address;
	case OLD_ADDRESS:
		*ret_null = !(heap && operation->operation == CTX_HEAP_REALLOCATE) &&
			    !(sync && operation->operation == CTX_SYNC_ORDER);
		return (int64_t)operation->old_address;
	case THREAD:
		return operation->thread;
	case CPU:
		*ret_null = operation->cpu < 0;
		return operation->cpu;
	case DESCRIPTOR:
		*ret_null = operation->descriptor < 0;
		return operation->descriptor;
	case FILE_NAME:
		*ret_null = operation->file == CTX_NONE || sync;
		return operation->file;
	case OTHER:
		*ret_null = !sync || operation->other == CTX_NONE;
		return operation->other;
	case FAILED:
		return operation->failed;
	case LEAKED:
		return operation->leaked;
	case LEAKED_SIZE:
		*ret_null = !operation->leaked;
		return (int64_t)operation->leaked_size;
	case STACK:
		return operation->stack;
	case ERROR:
		*ret_null = !io || operation->error == 0;
		return (int64_t)operation->error;
	case VALUE:
		*ret_null = !mark || !ctx_mark_has_value(operation->operation);
		return operation->value;
	case OFF_NS:
		*ret_null = !call && !omp;
		return (int64_t)operation->off_ns;
	case SELF_NS:
		*ret_null = !call && !omp;
		return (int64_t)operation->self_ns;
	default:
		return operation->raw_stack;
	}
}

static void column(const struct vtab_cursor *cursor, sqlite3_context *result, int which)
{
	const struct vtab_timed_cursor *timed = (const struct vtab_timed_cursor *)cursor;
	const struct ctx_traced *operation = (const struct ctx_traced *)timed->items + timed->at;
	enum ctx_traced_kind kind = (enum ctx_traced_kind)operation->kind;
	bool is_null = false;
	int64_t number;

	if (which == KIND || which == OPERATION) {
		sqlite3_result_text(result,
				    which == KIND ? ctx_traced_kind_name(kind)
						  : ctx_traced_operation_name(kind, operation->operation),
				    -1, SQLITE_STATIC);
		return;
	}
	if (which == CALL && kind == CTX_TRACED_IO && operation->call != CTX_CALL_NONE &&
	    operation->call < CTX_CALL_N) {
		sqlite3_result_text(result, ctx_io_call_name((unsigned)operation->call), -1, SQLITE_STATIC);
		return;
	}
	if (which == CALL) {
		sqlite3_result_null(result);
		return;
	}
	number = number_of(operation, which, &is_null);
	if (is_null)
		sqlite3_result_null(result);
	else
		sqlite3_result_int64(result, number);
}

const struct vtab_table ctx_vtab_traced = {
	.name = "traced",
	.declaration =
		"CREATE TABLE traced(time_ns INTEGER, duration_ns INTEGER, kind TEXT, operation "
		"TEXT, "
		"size INTEGER, address INTEGER, old_address INTEGER, thread INTEGER, cpu INTEGER, "
		"descriptor INTEGER, file INTEGER, failed INTEGER, leaked INTEGER, leaked_size "
		"INTEGER, stack INTEGER, "
		"raw_stack INTEGER, other INTEGER, call TEXT, error INTEGER, value INTEGER, off_ns INTEGER, "
		"self_ns INTEGER, cycles INTEGER, block INTEGER, flags INTEGER, latency INTEGER, "
		"data_source INTEGER, physical INTEGER)",
	.wishes = ctx_vtab_blocks_wishes,
	.n_wishes = CTX_COUNT_OF(ctx_vtab_blocks_wishes),
	.next_block = next_block,
	.cursor_bytes = sizeof(struct vtab_blocks_cursor),
	.first = ctx_vtab_timed_first,
	.next = ctx_vtab_timed_next,
	.column = column,
	.reset = ctx_vtab_blocks_reset,
};
