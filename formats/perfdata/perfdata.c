/*
 *	parts --pd_stream--> records --pd_queue--> in order --here--> pd_tasks (processes, threads, maps) --.
 *	                                                     `-----> pd_chain (frames of a sample) --------+--> outbox --> events
 *	                                                     `-----> counts, told at the end --------------'
 */
#include "formats/perfdata/perfdata.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/perfdata/pd_chain.h"
#include "formats/perfdata/pd_file.h"
#include "formats/perfdata/pd_jitdump.h"
#include "formats/perfdata/pd_queue.h"
#include "formats/perfdata/pd_tasks.h"
#include "formats/perfdata/pd_wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAITING_BYTES_MAX ((size_t)256 << 20) /* of all queues together */
#define WAITING_BYTES_MIN ((size_t)2 << 20)
#define METRIC_BEGINNING_MAX 250

struct jit { /* a dump whose functions come as time goes on */
	struct ctx_pd_jitdump dump;
	size_t at;
	uint32_t path; /* id among the names */
	int64_t pid; /* as the kernel calls the process; in a container the dump has another number for it */
};

struct counts {
	uint64_t lost, lost_samples; /* records that the kernel dropped; samples, as it says at the end */
	uint64_t unknown_ids, guests, branches, copied_stacks, without_time, outside, longer;
	uint64_t types[CTX_PD_TYPE_END]; /* records that are not used, by type */
};

struct reader {
	struct ctx_event_source source;
	struct ctx_pd_file file;
	char *format;		     /* owned */
	struct ctx_pd_queue *queues; /* owned; one for each part */
	size_t n_queues, n_ready;    /* n_ready: queues that are initialised */
	size_t current;		     /* queue that the last record came from */
	struct ctx_pd_tasks tasks;
	struct ctx_pd_outbox out;
	struct ctx_pd_chain chain;
	struct jit *jits; /* owned */
	size_t n_jits, jits_cap;
	size_t damage_at; /* lines of file.damage that were told */
	bool monotonic;	  /* the file's clock is CLOCK_MONOTONIC */
	bool ended;
	struct counts counts;
	char text[1200]; /* of the event in hand */
};

static enum ctx_status put(struct reader *reader, const struct ctx_event *event, struct ctx_err *err)
{
	return ctx_pd_outbox_put(&reader->out, event, err);
}

/* The time of a record from the start of the experiment; what is outside of it is moved to its ends. */
static uint64_t relative(const struct reader *reader, uint64_t time)
{
	const struct ctx_pd_file *file = &reader->file;

	if (time <= file->first_sample)
		return 0;
	return (time < file->last_sample ? time : file->last_sample) - file->first_sample;
}

static enum ctx_status put_damage(struct reader *reader, uint64_t offset, const char *what,
				  struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_DAMAGE, .text = reader->text};

	snprintf(reader->text, sizeof(reader->text), "%s: offset %llu: %s",
		 reader->queues[reader->current].stream.name, (unsigned long long)offset, what);
	return put(reader, &event, err);
}

/* Samples */

static bool is_of_guest(uint16_t misc)
{
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

static enum ctx_status on_sample(struct reader *reader, const struct ctx_pd_queued *item, struct ctx_err *err)
{
	const struct ctx_pd_record *record = &item->record;
	struct ctx_event event = {.kind = CTX_EV_SAMPLE, .time_ns = relative(reader, item->time)};
	const struct ctx_pd_event *source;
	struct ctx_pd_sample sample;
	struct ctx_err why = {0};
	enum ctx_status status;
	bool unknown;

	status = ctx_pd_sample_parse(&reader->file.events, record->bytes, &record->header, reader->file.swap,
				     &sample, &unknown, &why);
	if (unknown) {
		reader->counts.unknown_ids++;
		return CTX_OK;
	}
	if (status != CTX_OK)
		return put_damage(reader, record->offset, why.msg, err);
	source = &reader->file.events.items[sample.event];
	if (source->metric == CTX_NONE) {
		reader->counts.unknown_ids++;
		return CTX_OK;
	}
	if (item->time == 0)
		reader->counts.without_time++;
	else if (item->time < reader->file.first_sample || item->time > reader->file.last_sample)
		reader->counts.outside++;
	reader->counts.longer += sample.is_longer;
	reader->counts.guests += is_of_guest(record->header.misc);
	reader->counts.branches += sample.n_branches;
	reader->counts.copied_stacks += sample.user_stack != NULL;
	status = ctx_pd_chain_set(&reader->chain, &sample, source, record->header.misc, reader->file.swap,
				  err);
	if (status == CTX_OK)
		status = ctx_pd_tasks_sample(&reader->tasks, event.time_ns, sample.pid, sample.tid,
					     &event.process, &event.thread, err);
	if (status != CTX_OK)
		return status;
	event.sample.weight = sample.period;
	event.sample.metric = source->metric;
	event.sample.cpu = sample.cpu;
	event.sample.frames = reader->chain.frames;
	event.sample.n_frames = reader->chain.n;
	return put(reader, &event, err);
}

/* Maps */

static bool is_anonymous(const char *path)
{
	return strcmp(path, "//anon") == 0 || strncmp(path, "/dev/zero", 9) == 0 ||
	       strncmp(path, "/anon_hugepage", 14) == 0 || strncmp(path, "[anon:", 6) == 0;
}

static enum ctx_status add_jit(struct reader *reader, const struct ctx_pd_mmap *mmap, struct ctx_err *err)
{
	const char *path = mmap->path;
	enum ctx_status status = ctx_grow(&reader->jits, &reader->jits_cap, reader->n_jits + 1, err);
	struct ctx_event event = {.kind = CTX_EV_WARNING, .text = reader->text};
	struct ctx_err why = {0};
	struct jit *jit;
	uint32_t id;

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&reader->tasks.names, path, &id, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < reader->n_jits; i++) {
		if (reader->jits[i].path == id)
			return CTX_OK; /* mapped twice */
	}
	jit = &reader->jits[reader->n_jits];
	*jit = (struct jit){.path = id, .pid = mmap->pid};
	if (!reader->monotonic) {
		snprintf(reader->text, sizeof(reader->text),
			 "%s is not used: its times are on another clock (record with perf record -k mono)",
			 path);
		return put(reader, &event, err);
	}
	status = ctx_pd_jitdump_read(path, &jit->dump, &why);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status == CTX_OK && jit->dump.arch_timestamps) {
		ctx_pd_jitdump_deinit(&jit->dump);
		status = ctx_err_set(&why, CTX_E_FORMAT, "%s is not used: its times are of another clock",
				     path);
	}
	if (status != CTX_OK) {
		snprintf(reader->text, sizeof(reader->text), "%s", why.msg);
		return put(reader, &event, err);
	}
	reader->n_jits++;
	return CTX_OK;
}

/* The functions that had been made by `time`. */
static enum ctx_status put_jitted(struct reader *reader, uint64_t time, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < reader->n_jits; i++) {
		struct jit *jit = &reader->jits[i];

		while (status == CTX_OK && jit->at < jit->dump.n &&
		       jit->dump.loads[jit->at].time_ns <= time) {
			const struct ctx_pd_jit_load *load = &jit->dump.loads[jit->at++];
			struct ctx_pd_map map = {.address = load->address,
						 .size = load->size,
						 .file_offset = load->file_offset,
						 .path = jit->path,
						 .executable = true};

			if (load->size > UINT64_MAX - load->address)
				continue;
			status = ctx_strtab_add_text(&reader->tasks.names, "", &map.build_id, err);
			if (status == CTX_OK)
				status = ctx_strtab_add_text(&reader->tasks.names, load->name, &map.function,
							     err);
			if (status == CTX_OK)
				status = ctx_pd_tasks_map(&reader->tasks, relative(reader, load->time_ns),
							  load->pid == jit->dump.pid ? jit->pid : load->pid,
							  &map, err);
		}
	}
	return status;
}

static enum ctx_status put_module(struct reader *reader, uint64_t time_ns, const struct ctx_pd_mmap *mmap,
				  struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_MAP, .time_ns = time_ns, .process = CTX_NONE};
	struct ctx_strtab *names = &reader->tasks.names;
	uint32_t path = 0, build_id = 0;
	enum ctx_status status = ctx_strtab_add_text(names, mmap->path, &path, err);

	if (status == CTX_OK)
		status = ctx_strtab_add_text(names, mmap->build_id, &build_id, err);
	if (status != CTX_OK || mmap->size == 0)
		return status;
	event.map = (struct ctx_map_event){.address = mmap->address,
					   .size = mmap->size,
					   .file_offset = mmap->file_offset,
					   .path = ctx_strtab_get(names, path),
					   .build_id = ctx_strtab_get(names, build_id),
					   .archive = "",
					   .function = ""};
	return put(reader, &event, err);
}

/* perf names the kernel's map "[kernel.kallsyms]_text": the symbol by which its place is told. */
static enum ctx_status on_kernel_map(struct reader *reader, uint64_t time_ns, const struct ctx_pd_mmap *mmap,
				     struct ctx_err *err)
{
	struct ctx_source_kernel *kernel = &reader->source.info.kernel;
	const char *symbol = strchr(mmap->path, ']');
	uint32_t id = 0;
	enum ctx_status status = CTX_OK;

	if (strncmp(mmap->path, "[kernel", 7) != 0)
		return put_module(reader, time_ns, mmap, err);
	if (symbol == NULL)
		return CTX_OK;
	if (kernel->symbol[0] == '\0' && symbol[1] != '\0') {
		status = ctx_strtab_add_text(&reader->tasks.names, symbol + 1, &id, err);
		if (status == CTX_OK)
			kernel->symbol = ctx_strtab_get(&reader->tasks.names, id);
		kernel->address = mmap->file_offset;
	}
	if (status == CTX_OK && kernel->build_id[0] == '\0' && mmap->has_build_id) {
		status = ctx_strtab_add_text(&reader->tasks.names, mmap->build_id, &id, err);
		if (status == CTX_OK)
			kernel->build_id = ctx_strtab_get(&reader->tasks.names, id);
	}
	return status;
}

static enum ctx_status on_user_map(struct reader *reader, uint64_t time_ns, const struct ctx_pd_mmap *mmap,
				   struct ctx_err *err)
{
	struct ctx_strtab *names = &reader->tasks.names;
	struct ctx_pd_map map = {.address = mmap->address,
				 .size = mmap->size,
				 .file_offset = mmap->file_offset,
				 .executable = mmap->executable};
	const char *build_id =
		mmap->has_build_id ? mmap->build_id : ctx_pd_facts_build_id(&reader->file.facts, mmap->path);
	const char *path = mmap->path;
	char jit_map[64];
	enum ctx_status status;

	if (mmap->executable && is_anonymous(path)) {
		snprintf(jit_map, sizeof(jit_map), "/tmp/perf-%lld.map", (long long)mmap->pid);
		if (access(jit_map, F_OK) == 0) {
			path = jit_map;
			map.file_offset = mmap->address;
		}
	}
	status = ctx_strtab_add_text(names, path, &map.path, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(names, build_id, &map.build_id, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(names, "", &map.function, err);
	return status == CTX_OK ? ctx_pd_tasks_map(&reader->tasks, time_ns, mmap->pid, &map, err) : status;
}

static enum ctx_status on_mmap(struct reader *reader, const struct ctx_pd_queued *item, struct ctx_err *err)
{
	const struct ctx_pd_record *record = &item->record;
	struct ctx_pd_mmap mmap;
	struct ctx_err why = {0};
	enum ctx_status status;
	uint32_t pid;

	if (ctx_pd_mmap_parse(record->bytes, &record->header, reader->file.swap, &mmap, &why) != CTX_OK)
		return put_damage(reader, record->offset, why.msg, err);
	if (mmap.pid == -1 ||
	    (record->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return on_kernel_map(reader, relative(reader, item->time), &mmap, err);
	status = on_user_map(reader, relative(reader, item->time), &mmap, err);
	if (status == CTX_OK && mmap.executable && ctx_pd_jitdump_is(mmap.path, &pid))
		status = add_jit(reader, &mmap, err);
	return status;
}

/* KSYMBOL: code that the kernel made at run time (BPF programs), or that is gone again. */
static enum ctx_status on_ksymbol(struct reader *reader, const struct ctx_pd_queued *item,
				  struct ctx_pd_wire *wire, struct ctx_err *err)
{
	struct ctx_event event = {.process = CTX_NONE, .time_ns = relative(reader, item->time)};
	struct ctx_strtab *names = &reader->tasks.names;
	const char *name;
	uint32_t id = 0;
	enum ctx_status status;

	event.map.address = ctx_pd_wire_u64(wire);
	event.map.size = ctx_pd_wire_u32(wire);
	ctx_pd_wire_u16(wire); /* type */
	event.kind = ctx_pd_wire_u16(wire) & 1 ? CTX_EV_UNMAP : CTX_EV_MAP;
	name = ctx_pd_wire_text(wire, ctx_pd_wire_left(wire));
	if (name == NULL || event.map.size == 0 || event.map.address < CTX_KERNEL_START ||
	    event.map.size > UINT64_MAX - event.map.address)
		return put_damage(reader, item->record.offset, "a kernel symbol that cannot be", err);
	status = ctx_strtab_add_text(names, name, &id, err);
	event.map.path = "[bpf]";
	event.map.build_id = event.map.archive = "";
	event.map.function = status == CTX_OK ? ctx_strtab_get(names, id) : "";
	event.map.file_offset = (uint64_t)id << 32; /* unique to the name */
	return status == CTX_OK ? put(reader, &event, err) : status;
}

/* Tasks */

static enum ctx_status on_task(struct reader *reader, const struct ctx_pd_queued *item,
			       struct ctx_pd_wire *wire, struct ctx_err *err)
{
	const struct ctx_pd_header *header = &item->record.header;
	struct ctx_pd_fork fork = {.time_ns = relative(reader, item->time),
				   .synthesized = item->time == 0 || (header->misc & CTX_PD_MISC_FORK_EXEC)};

	fork.pid = (int32_t)ctx_pd_wire_u32(wire);
	fork.parent_pid = (int32_t)ctx_pd_wire_u32(wire);
	fork.tid = (int32_t)ctx_pd_wire_u32(wire);
	if (wire->failed)
		return put_damage(reader, item->record.offset, "a task record that is cut", err);
	if (header->type == PERF_RECORD_FORK)
		return ctx_pd_tasks_fork(&reader->tasks, &fork, err);
	return ctx_pd_tasks_exit(&reader->tasks, fork.time_ns, fork.pid, fork.tid, err);
}

static enum ctx_status on_comm(struct reader *reader, const struct ctx_pd_queued *item,
			       struct ctx_pd_wire *wire, struct ctx_err *err)
{
	int64_t pid = (int32_t)ctx_pd_wire_u32(wire);
	int64_t tid = (int32_t)ctx_pd_wire_u32(wire);
	const char *name = ctx_pd_wire_text(wire, ctx_pd_wire_left(wire));

	if (name == NULL)
		return put_damage(reader, item->record.offset, "a name without its end", err);
	return ctx_pd_tasks_comm(&reader->tasks, relative(reader, item->time), pid, tid, name,
				 item->record.header.misc & CTX_PD_MISC_COMM_EXEC, err);
}

static enum ctx_status on_lost(struct reader *reader, const struct ctx_pd_queued *item,
			       struct ctx_pd_wire *wire, struct ctx_err *err)
{
	const struct ctx_pd_header *header = &item->record.header;
	uint64_t lost;

	if (header->type == PERF_RECORD_LOST)
		ctx_pd_wire_u64(wire); /* id */
	lost = ctx_pd_wire_u64(wire);
	if (wire->failed)
		return put_damage(reader, item->record.offset, "a record of losses that is cut", err);
	if (header->type == PERF_RECORD_LOST)
		reader->counts.lost += lost;
	else if (!(header->misc & CTX_PD_MISC_LOST_SAMPLES_BPF)) /* what a filter left out is not lost */
		reader->counts.lost_samples += lost;
	return CTX_OK;
}

static enum ctx_status on_throttle(struct reader *reader, const struct ctx_pd_queued *item,
				   struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_THROTTLE, .time_ns = relative(reader, item->time)};

	event.count = item->record.header.type == PERF_RECORD_THROTTLE;
	return put(reader, &event, err);
}

static enum ctx_status on_record(struct reader *reader, const struct ctx_pd_queued *item, struct ctx_err *err)
{
	const struct ctx_pd_header *header = &item->record.header;
	struct ctx_pd_wire wire =
		ctx_pd_wire_make(item->record.bytes + CTX_PD_HEADER_BYTES,
				 (size_t)header->size - CTX_PD_HEADER_BYTES, reader->file.swap);

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		return on_sample(reader, item, err);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return on_mmap(reader, item, err);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return on_task(reader, item, &wire, err);
	case PERF_RECORD_COMM:
		return on_comm(reader, item, &wire, err);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return on_lost(reader, item, &wire, err);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return on_throttle(reader, item, err);
	case PERF_RECORD_KSYMBOL:
		return on_ksymbol(reader, item, &wire, err);
	default:
		if (header->type < CTX_PD_TYPE_END)
			reader->counts.types[header->type]++;
		return CTX_OK;
	}
}

/* The end: what was counted is told. */

static const char *type_name(uint32_t type)
{
	static const char *const names[] = {
		[PERF_RECORD_READ] = "READ",
		[PERF_RECORD_AUX] = "AUX",
		[PERF_RECORD_ITRACE_START] = "ITRACE_START",
		[PERF_RECORD_SWITCH] = "SWITCH",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
		[PERF_RECORD_NAMESPACES] = "NAMESPACES",
		[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
		[PERF_RECORD_CGROUP] = "CGROUP",
		[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
		[CTX_PD_AUXTRACE_INFO] = "AUXTRACE_INFO",
		[CTX_PD_AUXTRACE] = "AUXTRACE",
		[CTX_PD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	};

	return type < CTX_COUNT_OF(names) ? names[type] : NULL;
}

/* Records that carry nothing that a profile would miss: perf's own bookkeeping. */
static bool is_bookkeeping(uint32_t type)
{
	return type >= CTX_PD_HEADER_ATTR && type_name(type) == NULL && type <= CTX_PD_COMPRESSED2;
}

/* "12 SWITCH, 3 AUXTRACE, 1 of type 40" */
static enum ctx_status put_skipped(struct reader *reader, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_PROPERTY};
	size_t n = 0;

	for (uint32_t type = 0; type < CTX_PD_TYPE_END; type++) {
		uint64_t count = reader->counts.types[type];
		const char *name = type_name(type);
		char number[32];

		if (count == 0 || is_bookkeeping(type))
			continue;
		snprintf(number, sizeof(number), "of type %u", type);
		if (n + 64 < sizeof(reader->text))
			n += (size_t)snprintf(reader->text + n, sizeof(reader->text) - n, "%s%llu %s",
					      n != 0 ? ", " : "", (unsigned long long)count,
					      name != NULL ? name : number);
	}
	if (n == 0)
		return CTX_OK;
	event.property.key = "records not used";
	event.property.value = reader->text;
	return put(reader, &event, err);
}

/* Texts of warnings stay in the table of names: several wait in the outbox at once. */
static enum ctx_status put_warning(struct reader *reader, uint64_t count, struct ctx_err *err,
				   const char *format, ...)
{
	struct ctx_event event = {.kind = CTX_EV_WARNING};
	char text[512];
	uint32_t id = 0;
	enum ctx_status status;
	va_list args;

	if (count == 0)
		return CTX_OK;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	status = ctx_strtab_add_text(&reader->tasks.names, text, &id, err);
	if (status != CTX_OK)
		return status;
	event.text = ctx_strtab_get(&reader->tasks.names, id);
	return put(reader, &event, err);
}

static enum ctx_status put_warnings(struct reader *reader, struct ctx_err *err)
{
	const struct counts *counts = &reader->counts;
	enum ctx_status status = put_warning(
		reader, counts->copied_stacks, err,
		"%llu samples have a copy of the user's stack (perf record --call-graph dwarf), which "
		"is not unwound: their callers in user code are missing",
		(unsigned long long)counts->copied_stacks);

	if (status == CTX_OK)
		status =
			put_warning(reader, counts->unknown_ids, err,
				    "%llu samples are of events that the file does not describe: not counted",
				    (unsigned long long)counts->unknown_ids);
	if (status == CTX_OK)
		status = put_warning(reader, counts->without_time, err,
				     "%llu samples have no time: they are at the beginning",
				     (unsigned long long)counts->without_time);
	if (status == CTX_OK)
		status = put_warning(
			reader, counts->outside, err,
			"%llu samples were outside of the time that the file tells: they are at its "
			"beginning or end",
			(unsigned long long)counts->outside);
	if (status == CTX_OK)
		status = put_warning(reader, counts->longer, err,
				     "%llu samples are longer than their events say: others may be missing",
				     (unsigned long long)counts->longer);
	if (status == CTX_OK)
		status = put_warning(reader, counts->guests, err,
				     "%llu samples are of guests, whose addresses have no names here",
				     (unsigned long long)counts->guests);
	return status == CTX_OK ? put_warning(reader, counts->branches, err,
					      "%llu entries of branch stacks are not used",
					      (unsigned long long)counts->branches)
				: status;
}

static enum ctx_status put_end(struct reader *reader, struct ctx_err *err)
{
	struct ctx_event lost = {.kind = CTX_EV_LOST, .time_ns = reader->source.info.duration_ns - 1};
	enum ctx_status status = ctx_pd_tasks_expire(&reader->tasks, UINT64_MAX, err);

	/* Newer kernels tell the same loss twice: as it happens, and as a sum at the end. */
	lost.count = reader->counts.lost > reader->counts.lost_samples ? reader->counts.lost
								       : reader->counts.lost_samples;
	if (status == CTX_OK && lost.count != 0)
		status = put(reader, &lost, err);
	if (status == CTX_OK)
		status = put_warnings(reader, err);
	return status == CTX_OK ? put_skipped(reader, err) : status;
}

/* The source */

/* The oldest record of all queues. A queue that has no time of its own for it (or has met damage) goes first. */
static enum ctx_status peek(struct reader *reader, const struct ctx_pd_queued **ret, struct ctx_err *err)
{
	uint64_t oldest = UINT64_MAX;
	bool found = false;

	for (size_t i = 0; i < reader->n_queues; i++) {
		const struct ctx_pd_queued *item;
		enum ctx_status status = ctx_pd_queue_peek(&reader->queues[i], &item, err);

		if (status == CTX_END)
			continue;
		if (status != CTX_OK)
			return status;
		if (found && item != NULL && item->time >= oldest)
			continue;
		found = true;
		reader->current = i;
		*ret = item;
		if (item == NULL || item->time == 0)
			return CTX_OK;
		oldest = item->time;
	}
	return found ? CTX_OK : CTX_END;
}

static enum ctx_status tell_damage(struct reader *reader, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_DAMAGE, .text = reader->text};

	snprintf(reader->text, sizeof(reader->text), "%s", reader->queues[reader->current].stream.damage);
	return put(reader, &event, err);
}

static enum ctx_status read_one(struct reader *reader, struct ctx_err *err)
{
	const struct ctx_pd_queued *item = NULL;
	enum ctx_status status = peek(reader, &item, err);

	if (status == CTX_END) {
		reader->ended = true;
		return put_end(reader, err);
	}
	if (status != CTX_OK)
		return status;
	if (item == NULL) {
		status = tell_damage(reader, err);
	} else {
		if (reader->n_jits != 0)
			status = put_jitted(reader, item->time, err);
		if (status == CTX_OK)
			status = ctx_pd_tasks_expire(&reader->tasks, relative(reader, item->time), err);
		if (status == CTX_OK)
			status = on_record(reader, item, err);
	}
	ctx_pd_queue_take(&reader->queues[reader->current]);
	return status;
}

static enum ctx_status next_event(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct reader *reader = source->impl;

	while (reader->out.at == reader->out.n) {
		enum ctx_status status = CTX_OK;

		if (reader->damage_at < reader->file.n_damage) {
			*ret = (struct ctx_event){.kind = CTX_EV_DAMAGE,
						  .text = reader->file.damage[reader->damage_at++]};
			return CTX_OK;
		}
		if (reader->ended)
			return CTX_END;
		status = read_one(reader, err);
		if (status != CTX_OK)
			return status;
	}
	*ret = reader->out.items[reader->out.at++];
	return CTX_OK;
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct reader *reader = source->impl;
	uint64_t done = 0;

	for (size_t i = 0; i < reader->n_queues; i++)
		done += reader->queues[i].stream.at - reader->file.parts[i].begin;
	return done;
}

static void close_reader(struct ctx_event_source *source)
{
	struct reader *reader = source->impl;

	for (size_t i = 0; i < reader->n_ready; i++)
		ctx_pd_queue_deinit(&reader->queues[i]);
	for (size_t i = 0; i < reader->n_jits; i++)
		ctx_pd_jitdump_deinit(&reader->jits[i].dump);
	ctx_pd_outbox_deinit(&reader->out);
	ctx_pd_tasks_deinit(&reader->tasks);
	ctx_pd_chain_deinit(&reader->chain);
	ctx_pd_file_deinit(&reader->file);
	free(reader->source.info.properties);
	free(reader->source.info.metrics);
	free(reader->queues);
	free(reader->jits);
	free(reader->format);
	free(reader);
}

/* Names that are in use, and for the beginning of each the last number that was put behind it. */
struct metric_names {
	struct ctx_strtab used, beginnings;
	uint32_t *last; /* owned; by id of beginnings */
	size_t cap;
};

static void metric_names_deinit(struct metric_names *names)
{
	ctx_strtab_deinit(&names->used);
	ctx_strtab_deinit(&names->beginnings);
	free(names->last);
}

/* "cycles#2", or with the next number that makes it new. */
static enum ctx_status number_metric(struct reader *reader, struct metric_names *names, const char **name,
				     struct ctx_err *err)
{
	size_t n = strnlen(*name, METRIC_BEGINNING_MAX), n_before = names->beginnings.n;
	char text[METRIC_BEGINNING_MAX + 16];
	uint32_t id = 0;
	enum ctx_status status = ctx_strtab_add(&names->beginnings, *name, n, &id, err);

	if (status == CTX_OK)
		status = ctx_grow(&names->last, &names->cap, names->beginnings.n, err);
	if (status != CTX_OK)
		return status;
	if (id == n_before)
		names->last[id] = 1;
	do {
		snprintf(text, sizeof(text), "%.*s#%u", (int)n, *name, ++names->last[id]);
	} while (ctx_strtab_find(&names->used, text, strlen(text)) != UINT32_MAX);
	*name = ctx_arena_strdup(&reader->file.facts.arena, text);
	return *name != NULL ? ctx_strtab_add_text(&names->used, text, &id, err) : ctx_err_nomem(err);
}

/* Several events with one name are told apart by a number: "cycles", "cycles#2". */
static enum ctx_status name_metric(struct reader *reader, struct metric_names *names,
				   const struct ctx_pd_event *event, const char **ret, struct ctx_err *err)
{
	size_t n_before = names->used.n;
	enum ctx_status status;
	uint32_t id = 0;

	*ret = ctx_pd_facts_event_name(&reader->file.facts, event->first_id);
	if (*ret == NULL || (*ret)[0] == '\0')
		*ret = event->name;
	status = ctx_strtab_add_text(&names->used, *ret, &id, err);
	if (status != CTX_OK || id == n_before)
		return status;
	return number_metric(reader, names, ret, err);
}

static enum ctx_status make_metrics(struct reader *reader, struct ctx_err *err)
{
	struct metric_names names __attribute__((cleanup(metric_names_deinit))) = {0};
	struct ctx_pd_events *events = &reader->file.events;
	struct ctx_source_info *info = &reader->source.info;

	info->metrics = ctx_calloc(events->n, sizeof(*info->metrics));
	if (info->metrics == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < events->n; i++) {
		struct ctx_pd_event *event = &events->items[i];
		enum ctx_status status;

		if (ctx_pd_event_is_dummy(event) && events->n > 1)
			continue;
		event->metric = info->n_metrics;
		status = name_metric(reader, &names, event, &info->metrics[info->n_metrics].name, err);
		if (status != CTX_OK)
			return status;
		info->metrics[info->n_metrics++].unit = ctx_pd_event_unit(event);
	}
	return CTX_OK;
}

static const char *or_nothing(const char *text)
{
	return text != NULL ? text : "";
}

static enum ctx_status fill_info(struct reader *reader, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;
	struct ctx_pd_file *file = &reader->file;
	enum ctx_status status = make_metrics(reader, err);

	if (status == CTX_OK)
		status = ctx_pd_facts_properties(&file->facts, file->first_sample, &info->properties,
						 &info->n_properties, err);
	if (status != CTX_OK)
		return status;
	if (asprintf(&reader->format, "perf.data%s%s", file->pipe ? " (pipe)" : "",
		     file->n_parts > 1 ? " (directory)" : "") < 0) {
		reader->format = NULL;
		return ctx_err_nomem(err);
	}
	info->name = ctx_path_base(file->path);
	info->format = reader->format;
	info->duration_ns =
		file->first_sample <= file->last_sample ? file->last_sample - file->first_sample + 1 : 1;
	info->closed = file->closed;
	info->notes = info->kallsyms = info->fallback_root = "";
	info->kernel = (struct ctx_source_kernel){
		.build_id = ctx_pd_facts_build_id(&file->facts, "[kernel.kallsyms]"),
		.release = or_nothing(file->facts.os_release),
		.symbol = "",
	};
	info->bytes = file->bytes;
	return CTX_OK;
}

static enum ctx_status make_queues(struct reader *reader, struct ctx_err *err)
{
	const struct ctx_pd_file *file = &reader->file;
	size_t bytes_max = WAITING_BYTES_MAX / file->n_parts;

	reader->queues = ctx_calloc(file->n_parts, sizeof(*reader->queues));
	if (reader->queues == NULL)
		return ctx_err_nomem(err);
	reader->n_queues = file->n_parts;
	for (; reader->n_ready < file->n_parts; reader->n_ready++) {
		struct ctx_pd_queue *queue = &reader->queues[reader->n_ready];
		const struct ctx_pd_part *part = &file->parts[reader->n_ready];

		ctx_pd_stream_init(&queue->stream, part->fd, part->name, part->begin, part->end, file->swap);
		ctx_pd_queue_init(queue, &file->events,
				  bytes_max > WAITING_BYTES_MIN ? bytes_max : WAITING_BYTES_MIN);
	}
	return CTX_OK;
}

enum ctx_status ctx_perfdata_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct reader *reader = ctx_calloc(1, sizeof(*reader));
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	reader->source = (struct ctx_event_source){
		.impl = reader, .next = next_event, .progress = progress, .close = close_reader};
	reader->tasks.out = &reader->out;
	status = ctx_pd_file_open(&reader->file, path, err);
	if (status == CTX_OK)
		status = fill_info(reader, err);
	if (status == CTX_OK)
		status = make_queues(reader, err);
	if (status != CTX_OK) {
		close_reader(&reader->source);
		return status;
	}
	reader->monotonic = reader->file.events.items[0].use_clockid &&
			    reader->file.events.items[0].clockid == CLOCK_MONOTONIC;
	*ret = &reader->source;
	return CTX_OK;
}

bool ctx_perfdata_is(const char *path)
{
	return ctx_pd_file_is(path);
}
