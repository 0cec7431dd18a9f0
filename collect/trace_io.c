#include "collect/trace_io.h"

#include "model/io_call.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The text of the record, without the zero bytes at its end. */
static const char *take_text(const struct ctx_trace_record *record, struct ctx_trace_io_name *room)
{
	memcpy(room->text, record->text, record->text_bytes);
	room->text[record->text_bytes] = '\0';
	return room->text;
}

/* NULL: the process has ended, or the descriptor may be another by now. */
static const char *look_up(const struct ctx_trace_io_process *process, struct ctx_rt_io_what what,
			   struct ctx_trace_io_name *room)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%lld/fd/%d", (long long)process->pid, what.descriptor);
	n = readlink(path, room->text, sizeof(room->text) - 1);
	if (n <= 0 || (uint16_t)atomic_load(process->closes) != what.error)
		return NULL;
	room->text[n] = '\0';
	return room->text;
}

bool ctx_trace_io_is_nameless(const struct ctx_trace_record *record)
{
	return (ctx_rt_io_unpack(record->words[3]).flags & CTX_RT_IO_NAMELESS) != 0;
}

bool ctx_trace_io_read(const struct ctx_trace_record *record, const struct ctx_trace_io_process *process,
		       struct ctx_trace_io_name *room, struct ctx_exp_io *ret)
{
	struct ctx_rt_io_what what = ctx_rt_io_unpack(record->words[3]);
	bool changes, nameless = ctx_trace_io_is_nameless(record);

	if (what.call == CTX_CALL_NONE || what.call >= CTX_CALL_N || what.descriptor < -1 ||
	    record->words[1] > record->words[0] || record->words[2] > CTX_TRACED_WEIGHT_MAX)
		return false;
	ret->time_ns = record->words[0];
	ret->duration_ns = record->words[1];
	ret->size = record->words[2];
	ret->call = what.call;
	ret->error = nameless ? 0 : what.error;
	ret->descriptor = what.descriptor;
	ret->name = record->text != NULL ? take_text(record, room) : NULL;
	if (nameless && ret->name == NULL && what.descriptor >= 0 && process->closes != NULL)
		ret->name = look_up(process, what, room);
	/* What a child of vfork does to its own descriptors changes none of the process's. */
	changes = ctx_io_call_operation(what.call) >= CTX_IO_OPEN;
	if ((what.flags & CTX_RT_IO_FOREIGN) != 0 && changes)
		ret->descriptor = -1;
	return true;
}
