#include "collect/python.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "collect/procfs.h"
#include "collect/python_code.h"
#include "collect/python_file.h"
#include "collect/python_match.h"
#include "formats/experiment/exp_functions.h"
#include "model/event_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MODULE "<Python functions>"
#define CODES_MAX 65536u /* of a process */
/* From the probe's record to its sample; where more is in between, one of them was lost. */
#define APART_NS UINT64_C(200000)

struct code {
	struct ctx_python_code code;
	uint32_t function; /* its number in the experiment */
};

struct process {
	uint32_t pid; /* 0: the place is free */
	uint64_t code_type, eval_begin, eval_end;
	uint64_t runtime;
	uint32_t version; /* as Py_Version has it */
	bool is_written;  /* as a virtual machine */
	const struct ctx_python_layout *layout;
	struct ctx_map64 of_address; /* a code object's -> index in codes */
	struct code *codes;	     /* owned */
	size_t n, cap;
};

/* Of a processor: the last record of the probe that no sample has had. */
struct pending {
	uint32_t tid; /* 0: none */
	uint64_t time_ns;
	struct ctx_python_chain chain;
};

struct ctx_python {
	struct ctx_python_probe *probe;
	struct ctx_exp_writer *writer;
	uint32_t event; /* number of the probe's records */
	int *fds;	/* owned; of its outputs */
	size_t n_fds;
	struct pending *pending; /* owned; by processor */
	uint32_t n_pending;
	struct ctx_map64 of_pid; /* index in processes */
	struct process *processes;
	size_t n_processes, processes_cap;
	struct ctx_strtab paths; /* of files with interpreters that were looked at */
	struct looked {
		struct ctx_python_file file;
		bool is_usable;
	} * files; /* owned; by id of the path */
	size_t files_cap;
	uint64_t *out; /* owned; scratch: a stack with its frames by name */
	size_t out_cap;
	uint64_t matched, unmatched, unread, cut;
	char refused[CTX_PYTHON_TEXT_MAX]; /* the first interpreter that could not be used, and why */
};

/* ---- the probe ---- */

static int open_output(const struct ctx_session *session, int32_t cpu, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
					 .size = sizeof(*attr),
					 .config = PERF_COUNT_SW_BPF_OUTPUT,
					 .sample_period = 1,
					 .sample_type = CTX_PERF_SAMPLE_TYPE | PERF_SAMPLE_RAW,
					 .read_format = session->read_format,
					 .sample_id_all = 1,
					 .exclude_callchain_kernel = 1,
					 .exclude_callchain_user = 1,
					 .use_clockid = 1,
					 .clockid = CLOCK_MONOTONIC};
	return (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Into the ring of the processor. */
static enum ctx_status add_output(struct ctx_python *python, struct ctx_session *session, uint32_t ring,
				  struct ctx_err *err)
{
	int32_t cpu = session->ring_cpus[ring];
	struct perf_event_attr attr;
	int fd = open_output(session, cpu, &attr);
	enum ctx_status status;

	if (fd < 0)
		return ctx_err_errno(err, CTX_E_PERM, "the probe for Python cannot write into ring buffers");
	python->fds[python->n_fds++] = fd;
	session->layouts[python->event] = ctx_pe_layout_make(&attr, false);
	status = ctx_session_join(session, fd, session->ring_fds[ring], python->event, err);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "the probe for Python");
	return ctx_python_probe_output(python->probe, (uint32_t)cpu, fd, err);
}

/* The events whose samples have a copied stack. */
static bool takes_stacks(const struct ctx_session *session, int fd)
{
	uint64_t id;
	uint32_t event;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
		return false;
	event = ctx_map64_get(&session->event_of_id, id);
	return event != CTX_MAP64_NONE && session->layouts[event].regs_user != 0;
}

static void attach(const struct ctx_python *python, const struct ctx_session *session)
{
	for (size_t i = 0; i < session->n_fds; i++) {
		if (takes_stacks(session, session->fds[i]))
			(void)ctx_python_probe_attach(python->probe, session->fds[i]);
	}
	for (unsigned i = 0; i < CTX_COPY_N; i++) {
		for (size_t k = 0; i != CTX_COPY_USUAL && k < session->copies.fds[i].n; k++) {
			if (session->copies.fds[i].items[k] >= 0)
				(void)ctx_python_probe_attach(python->probe,
							      (int)session->copies.fds[i].items[k]);
		}
	}
}

enum ctx_status ctx_python_create(struct ctx_session *session, struct ctx_python **ret, struct ctx_err *err)
{
	struct ctx_python *python = ctx_calloc(1, sizeof(*python));
	enum ctx_status status = CTX_OK;

	if (python == NULL)
		return ctx_err_nomem(err);
	python->event = (uint32_t)session->events->n + CTX_STATE_EVENT_N;
	for (uint32_t i = 0; i < session->n_rings; i++) {
		if ((uint32_t)session->ring_cpus[i] >= python->n_pending)
			python->n_pending = (uint32_t)session->ring_cpus[i] + 1;
	}
	python->pending = ctx_calloc(python->n_pending, sizeof(*python->pending));
	python->fds = ctx_calloc(session->n_rings, sizeof(*python->fds));
	if (python->pending == NULL || python->fds == NULL)
		status = ctx_err_nomem(err);
	if (status == CTX_OK)
		status = ctx_python_probe_create(python->n_pending, &python->probe, err);
	for (uint32_t i = 0; i < session->n_rings && status == CTX_OK; i++)
		status = add_output(python, session, i, err);
	if (status != CTX_OK) {
		ctx_python_destroy(python);
		return status;
	}
	attach(python, session);
	*ret = python;
	return CTX_OK;
}

static void forget_codes(struct process *process)
{
	for (size_t i = 0; i < process->n; i++)
		ctx_python_code_deinit(&process->codes[i].code);
	free(process->codes);
	ctx_map64_deinit(&process->of_address);
	process->codes = NULL;
	process->n = process->cap = 0;
}

void ctx_python_destroy(struct ctx_python *python)
{
	if (python == NULL)
		return;
	for (size_t i = 0; i < python->n_fds; i++)
		close(python->fds[i]);
	for (size_t i = 0; i < python->n_processes; i++)
		forget_codes(&python->processes[i]);
	ctx_python_probe_destroy(python->probe);
	ctx_map64_deinit(&python->of_pid);
	ctx_strtab_deinit(&python->paths);
	free(python->processes);
	free(python->files);
	free(python->fds);
	free(python->pending);
	free(python->out);
	free(python);
}

void ctx_python_begin(struct ctx_python *python, struct ctx_exp_writer *writer)
{
	python->writer = writer;
}

/* ---- processes ---- */

static struct process *find_process(struct ctx_python *python, uint32_t pid)
{
	uint32_t i = ctx_map64_get(&python->of_pid, pid);

	return i != CTX_MAP64_NONE && python->processes[i].pid == pid ? &python->processes[i] : NULL;
}

static void remove_process(struct ctx_python *python, uint32_t pid)
{
	struct process *process = find_process(python, pid);

	if (process == NULL)
		return;
	ctx_python_probe_remove(python->probe, pid);
	forget_codes(process);
	process->pid = 0;
}

static enum ctx_status add_process(struct ctx_python *python, const struct process *like, uint32_t pid,
				   struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&python->of_pid, pid);
	enum ctx_status status = CTX_OK;
	struct process process = {.pid = pid,
				  .code_type = like->code_type,
				  .eval_begin = like->eval_begin,
				  .eval_end = like->eval_end,
				  .runtime = like->runtime,
				  .version = like->version,
				  .layout = like->layout};

	if (place == NULL)
		return ctx_err_nomem(err);
	remove_process(python, pid);
	if (*place == CTX_MAP64_NONE) {
		status = ctx_grow(&python->processes, &python->processes_cap, python->n_processes + 1, err);
		if (status != CTX_OK)
			return status;
		*place = (uint32_t)python->n_processes++;
	}
	python->processes[*place] = process;
	/* What is beyond the probe's limit is left out. */
	if (ctx_python_probe_set(python->probe, pid, process.runtime, process.layout, NULL) != CTX_OK)
		python->processes[*place].pid = 0;
	return CTX_OK;
}

static void refuse(struct ctx_python *python, const char *path, const char *why)
{
	if (python->refused[0] == '\0')
		snprintf(python->refused, sizeof(python->refused),
			 "no functions of Python are recorded of %.200s: %.200s", path, why);
}

/* The interpreter in a file, read once; *ret is NULL: none, or one that cannot be used. CTX_E_NOMEM. */
static enum ctx_status look_at_file(struct ctx_python *python, uint32_t pid, const char *path,
				    const struct ctx_python_file **ret, struct ctx_err *err)
{
	size_t known = python->paths.n;
	struct ctx_err why = {0};
	struct looked *looked;
	char place[4096 + 64];
	enum ctx_status status = ctx_grow(&python->files, &python->files_cap, known + 1, err);
	uint32_t id;

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&python->paths, path, &id, err);
	if (status != CTX_OK)
		return status;
	looked = &python->files[id];
	if (python->paths.n == known) {
		*ret = looked->is_usable ? &looked->file : NULL;
		return CTX_OK;
	}
	*looked = (struct looked){0};
	snprintf(place, sizeof(place), "/proc/%" PRIu32 "/root%s", pid, path);
	status = ctx_python_file_read(place, &looked->file, &why);
	if (status != CTX_OK && status != CTX_E_NOTFOUND)
		status = ctx_python_file_read(path, &looked->file, &why);
	if (status == CTX_OK && ctx_python_layout_of(looked->file.version) == NULL) {
		(void)ctx_err_set(&why, CTX_E_VERSION, "it is Python %u.%u.%u, which is not known: 3.11 is",
				  looked->file.version >> 24, looked->file.version >> 16 & 0xff,
				  looked->file.version >> 8 & 0xff);
		status = CTX_E_VERSION;
	}
	looked->is_usable = status == CTX_OK;
	if (status != CTX_OK && status != CTX_E_NOTFOUND)
		refuse(python, path, why.msg);
	*ret = looked->is_usable ? &looked->file : NULL;
	return CTX_OK;
}

static enum ctx_status add_map(struct ctx_python *python, uint32_t pid, const struct ctx_pe_mmap *map,
			       struct ctx_err *err)
{
	const struct ctx_python_file *file;
	enum ctx_status status;
	struct process process;
	uint64_t shift;

	if ((map->protection & PROT_EXEC) == 0 || !ctx_python_is_name(map->path))
		return CTX_OK;
	status = look_at_file(python, pid, map->path, &file, err);
	if (status != CTX_OK || file == NULL)
		return status;
	shift = map->address - map->file_offset - (file->address - file->offset);
	process = (struct process){.code_type = file->code_type + shift,
				   .eval_begin = file->eval + shift,
				   .eval_end = file->eval + shift + file->eval_size,
				   .runtime = file->runtime + shift,
				   .version = file->version,
				   .layout = ctx_python_layout_of(file->version)};
	return add_process(python, &process, pid, err);
}

enum ctx_status ctx_python_scan(struct ctx_python *python, int64_t pid, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	struct ctx_procfs_map map;
	enum ctx_status status = CTX_OK;
	char *line;

	if (ctx_procfs_maps(pid, &text, NULL) != CTX_OK)
		return CTX_OK;
	line = (char *)text.bytes;
	while (status == CTX_OK && ctx_procfs_next_map(&line, &map)) {
		const struct ctx_pe_mmap mapped = {.address = map.address,
						   .file_offset = map.file_offset,
						   .protection = PROT_EXEC,
						   .path = map.path};

		status = add_map(python, (uint32_t)pid, &mapped, err);
	}
	return status;
}

enum ctx_status ctx_python_record(struct ctx_python *python, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	const struct process *parent;

	switch (record->type) {
	case PERF_RECORD_MMAP2:
		return add_map(python, record->pid, &record->mmap, err);
	case PERF_RECORD_FORK:
		if (record->task.pid == record->task.parent_pid)
			return CTX_OK;
		parent = find_process(python, (uint32_t)record->task.parent_pid);
		if (parent != NULL) {
			const struct process like = *parent;

			return add_process(python, &like, record->pid, err);
		}
		return CTX_OK;
	case PERF_RECORD_COMM:
		if ((record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0)
			remove_process(python, record->pid);
		return CTX_OK;
	case PERF_RECORD_EXIT:
		if (record->pid == record->tid)
			remove_process(python, record->pid);
		return CTX_OK;
	default:
		return CTX_OK;
	}
}

/* ---- chains ---- */

bool ctx_python_is_chain(const struct ctx_python *python, const struct ctx_perf_record *record)
{
	return record->event == python->event;
}

void ctx_python_take_chain(struct ctx_python *python, const struct ctx_perf_record *record)
{
	const struct ctx_pe_sample *sample = &record->sample;
	size_t head = offsetof(struct ctx_python_chain, entries);
	struct pending *pending;
	uint64_t n;

	if (record->cpu < 0 || (uint32_t)record->cpu >= python->n_pending)
		return;
	pending = &python->pending[record->cpu];
	pending->tid = 0;
	if (sample->raw == NULL || sample->raw_bytes < head)
		return;
	memcpy(&n, sample->raw, sizeof(n));
	if (n > CTX_PYTHON_FRAMES_MAX || sample->raw_bytes < head + n * sizeof(struct ctx_python_entry))
		return;
	memcpy(&pending->chain, sample->raw, head + (size_t)n * sizeof(struct ctx_python_entry));
	pending->tid = record->tid;
	pending->time_ns = record->time_ns;
}

const struct ctx_python_chain *ctx_python_chain_of(struct ctx_python *python,
						   const struct ctx_perf_record *record)
{
	struct pending *pending;

	if (record->cpu < 0 || (uint32_t)record->cpu >= python->n_pending)
		return NULL;
	pending = &python->pending[record->cpu];
	/* Either may have looked at the clock first. */
	if (pending->tid != record->tid || record->time_ns > pending->time_ns + APART_NS ||
	    pending->time_ns > record->time_ns + APART_NS)
		return NULL;
	pending->tid = 0;
	return &pending->chain;
}

/* ---- names ---- */

static bool read_memory(void *context, uint64_t address, void *out, size_t n)
{
	const struct process *process = context;
	struct iovec to = {out, n}, from = {(void *)(uintptr_t)address, n};

	return n == 0 || process_vm_readv((pid_t)process->pid, &to, 1, &from, 1, 0) == (ssize_t)n;
}

static enum ctx_status number_function(struct ctx_python *python, struct code *code, struct ctx_err *err)
{
	const struct ctx_exp_function function = {.name = ctx_python_code_name(&code->code),
						  .module = MODULE,
						  .file = ctx_python_code_file(&code->code),
						  .line = code->code.first_line,
						  .kind = CTX_CODE_PYTHON};

	return ctx_exp_function(python->writer, &function, &code->function, err);
}

/* The code object of an entry, read when it is first seen; NULL: it cannot be read, or is another by now. */
static enum ctx_status find_code(struct ctx_python *python, struct process *process,
				 const struct ctx_python_entry *entry, struct code **ret, struct ctx_err *err)
{
	const struct ctx_python_memory memory = {read_memory, process};
	uint32_t *place = ctx_map64_place(&process->of_address, entry->code);
	struct code *code;
	enum ctx_status status;

	*ret = NULL;
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		if (process->n == CODES_MAX)
			return CTX_OK;
		status = ctx_grow(&process->codes, &process->cap, process->n + 1, err);
		if (status != CTX_OK)
			return status;
		*place = (uint32_t)process->n++;
		process->codes[*place] = (struct code){.function = CTX_NONE};
	}
	code = &process->codes[*place];
	if (code->function == CTX_NONE || code->code.check != entry->check) {
		ctx_python_code_deinit(&code->code);
		code->function = CTX_NONE;
		if (!ctx_python_code_read(&code->code, &memory, process->layout, entry->code,
					  process->code_type) ||
		    code->code.check != entry->check) {
			ctx_python_code_deinit(&code->code);
			return CTX_OK;
		}
		status = number_function(python, code, err);
		if (status != CTX_OK)
			return status;
	}
	*ret = code->function != CTX_NONE ? code : NULL;
	return CTX_OK;
}

struct names {
	uint64_t frames[CTX_PYTHON_FRAMES_MAX];
	bool is_entry[CTX_PYTHON_FRAMES_MAX];
	bool are_known; /* false: one cannot be read */
};

/* The frames of a chain by name. */
static enum ctx_status name_chain(struct ctx_python *python, struct process *process,
				  const struct ctx_python_chain *chain, struct names *names,
				  struct ctx_err *err)
{
	names->are_known = true;
	for (size_t i = 0; i < chain->n && names->are_known; i++) {
		const struct ctx_python_entry *entry = &chain->entries[i];
		struct code *code;
		enum ctx_status status = find_code(python, process, entry, &code, err);

		if (status != CTX_OK)
			return status;
		names->are_known = code != NULL;
		if (code == NULL)
			break;
		names->frames[i] = ctx_frame_named(code->function,
						   ctx_python_code_line(&code->code, entry->instruction));
		names->is_entry[i] = ctx_python_is_entry(entry->flags) != 0;
	}
	return CTX_OK;
}

/* A process that has ended by now has no command. */
static enum ctx_status write_vm(struct ctx_python *python, struct process *process,
				const struct ctx_python_stack *stack, struct ctx_err *err)
{
	struct ctx_buf command CTX_AUTO_BUF = {0};
	struct ctx_exp_vm vm = {.process = stack->process,
				.time_ns = stack->time_ns,
				.name = "CPython",
				.collector = "",
				.command = ""};
	char version[32];

	process->is_written = true;
	snprintf(version, sizeof(version), "%u.%u.%u", process->version >> 24, process->version >> 16 & 0xff,
		 process->version >> 8 & 0xff);
	vm.version = version;
	if (ctx_procfs_command(process->pid, &command, NULL) == CTX_OK && command.bytes != NULL)
		vm.command = (const char *)command.bytes;
	return ctx_exp_vm(python->writer, &vm, err);
}

enum ctx_status ctx_python_name(struct ctx_python *python, const struct ctx_python_stack *stack,
				struct ctx_python_stack *ret, bool *ret_named, struct ctx_err *err)
{
	struct process *process = find_process(python, stack->pid);
	struct ctx_python_native native = {.frames = stack->frames, .n = stack->n};
	struct names names;
	struct ctx_python_named named = {.frames = names.frames,
					 .is_entry = names.is_entry,
					 .n = (size_t)stack->chain->n,
					 .is_cut = stack->chain->more != 0};
	enum ctx_status status;
	size_t n;

	*ret = *stack;
	*ret_named = false;
	if (process == NULL || stack->chain->n == 0)
		return CTX_OK;
	status = name_chain(python, process, stack->chain, &names, err);
	if (status == CTX_OK)
		status = ctx_grow(&python->out, &python->out_cap, stack->n + CTX_PYTHON_FRAMES_MAX, err);
	if (status != CTX_OK)
		return status;
	native.eval_begin = process->eval_begin;
	native.eval_end = process->eval_end;
	n = names.are_known ? ctx_python_match(&native, &named, python->out) : 0;
	python->unread += !names.are_known;
	python->unmatched += names.are_known && n == 0;
	python->matched += n != 0;
	python->cut += n != 0 && named.is_cut;
	if (n == 0)
		return CTX_OK;
	ret->frames = python->out;
	ret->n = n;
	*ret_named = true;
	return process->is_written ? CTX_OK : write_vm(python, process, stack, err);
}

bool ctx_python_text(const struct ctx_python *python, unsigned i, char text[CTX_PYTHON_TEXT_MAX])
{
	uint64_t all = python->matched + python->unmatched + python->unread;

	text[0] = '\0';
	if (i == 0)
		snprintf(text, CTX_PYTHON_TEXT_MAX, "%s", python->refused);
	else if (i == 1 && python->unmatched != 0)
		snprintf(
			text, CTX_PYTHON_TEXT_MAX,
			"%" PRIu64 " of %" PRIu64
			" stacks of Python have no functions of Python: calls of the interpreter are missing",
			python->unmatched, all);
	else if (i == 2 && python->unread != 0)
		snprintf(text, CTX_PYTHON_TEXT_MAX,
			 "%" PRIu64 " of %" PRIu64 " stacks of Python have no functions of Python: these "
			 "were gone before their names were read",
			 python->unread, all);
	else if (i == 3 && python->cut != 0)
		snprintf(text, CTX_PYTHON_TEXT_MAX,
			 "%" PRIu64
			 " stacks have more than %u functions of Python: the outer ones are left out",
			 python->cut, CTX_PYTHON_FRAMES_MAX);
	return text[0] != '\0';
}
