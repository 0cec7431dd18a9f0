/*
 * Unwinds the samples of a recording with our unwinder and with libdw, and compares. The recording
 * is a perf.data (perf record --call-graph dwarf) or an experiment (ctxrec --keep-stacks).
 *
 *	unwind_compare PERF.DATA|EXPERIMENT [-v N]		-v: print the first N stacks that differ
 *
 * Time is CPU time of the unwinding alone. Our tables are built before, when an object is mapped
 * (libdw reads frame descriptions on demand, and caches them); each stack is unwound once, so that
 * its bytes are cold for ours.
 * Frames are compared as pcs, from the leaf. The load objects are read from their mapped paths.
 *
 * Differences of two kinds are explained (docs/unwinding.md), and counted only on these conditions:
 *	further		ours reaches the root, and libdw's stack is the beginning of it
 *	rewritten	the thread is in libgcc's unwinder (one of the three innermost functions is its), which
 *			rewrites the stack to enter a handler; one of the stacks begins as the other; ours says that it ended early
 */
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_kept.h"
#include "formats/experiment/exp_reader.h"
#include "formats/perfdata/pd_opening.h"
#include "formats/perfdata/pd_queue.h"
#include "formats/perfevent/pe_sample.h"
#include "unwind/table_cache.h"
#include "unwind/unwind.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_FRAMES 1024
#define BYTES_QUEUED ((size_t)512 << 20)

struct map {
	uint64_t begin, end, bias;
	uint64_t file_offset;
	char *path; /* owned */
	const struct ctx_cfi_table *table;
};

struct process {
	int64_t pid;
	struct map *maps;
	size_t n_maps, maps_cap;
	Dwfl *dwfl;
	bool attached;
};

struct stack {
	uint64_t pcs[MAX_FRAMES];
	size_t n;
	bool root;
};

struct tally {
	uint64_t samples, frames, roots, ns;
};

struct compare {
	struct ctx_pd_file file;
	struct ctx_table_cache tables;
	struct process *processes;
	size_t n_processes, processes_cap;
	const struct ctx_user_state *state; /* that libdw reads */
	struct stack *sink;
	struct tally ours, theirs;
	uint64_t identical, prefix, further, rewritten, reasons[CTX_TRUNCATED_N], without_user;
	long show;
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	const struct ctx_user_state *state = ((struct compare *)arg)->state;
	uint64_t at = address - state->regs.value[ctx_machine_sp(state->regs.machine)];

	(void)dwfl;
	if (state->stack_bytes < sizeof(*ret) || at > state->stack_bytes - sizeof(*ret))
		return false;
	memcpy(ret, state->stack + at, sizeof(*ret));
	return true;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	if (*thread_arg != NULL)
		return 0;
	*thread_arg = arg;
	return dwfl_pid(dwfl);
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct ctx_user_state *state = ((struct compare *)arg)->state;

	return dwfl_thread_state_registers(thread, 0, 17, state->regs.value);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

static const Dwfl_Callbacks dwfl_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct stack *sink = ((struct compare *)arg)->sink;
	bool activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &activation) || sink->n == MAX_FRAMES)
		return DWARF_CB_ABORT;
	sink->pcs[sink->n++] = activation ? pc : pc - 1;
	return DWARF_CB_OK;
}

static struct process *find_process(struct compare *compare, int64_t pid)
{
	for (size_t i = 0; i < compare->n_processes; i++) {
		if (compare->processes[i].pid == pid)
			return &compare->processes[i];
	}
	if (ctx_grow(&compare->processes, &compare->processes_cap, compare->n_processes + 1, NULL) != CTX_OK)
		return NULL;
	compare->processes[compare->n_processes] = (struct process){.pid = pid};
	return &compare->processes[compare->n_processes++];
}

/*
 * The vdso has no file. Returns a descriptor of a file with our own vdso, which is the same in all
 * processes here; -1: none.
 */
static int open_vdso(void)
{
	char build_id[CTX_BUILDID_TEXT];
	const uint8_t *image;
	size_t n;
	int fd;

	if (!ctx_exp_own_vdso(&image, &n, build_id))
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image, n) != (ssize_t)n) {
		close(fd);
		return -1;
	}
	return fd;
}

static enum ctx_status get_table(struct compare *compare, const char *path, const struct ctx_cfi_table **ret)
{
	char build_id[CTX_BUILDID_TEXT];
	const uint8_t *image;
	size_t n;

	if (strcmp(path, "[vdso]") == 0 && ctx_exp_own_vdso(&image, &n, build_id))
		return ctx_table_cache_get_image(&compare->tables, &(struct ctx_table_image){path, image, n},
						 ret, NULL);
	return ctx_table_cache_get(&compare->tables, &(struct ctx_table_file){path, path, ""}, ret, NULL);
}

static void free_maps(struct process *process)
{
	for (size_t i = 0; i < process->n_maps; i++)
		free(process->maps[i].path);
	process->n_maps = 0;
}

static void add_map(struct compare *compare, struct process *process, const struct ctx_map_event *event)
{
	const struct ctx_cfi_table *table;
	struct map map;
	uint64_t address;

	if (get_table(compare, event->path, &table) != CTX_OK ||
	    ctx_grow(&process->maps, &process->maps_cap, process->n_maps + 1, NULL) != CTX_OK)
		return;
	map = (struct map){.begin = event->address,
			   .end = event->address + event->size,
			   .file_offset = event->file_offset,
			   .path = strdup(event->path),
			   .table = table};
	if (map.path == NULL)
		return;
	if (table != NULL && ctx_cfi_table_address(table, event->file_offset, &address)) {
		map.bias = event->address - address;
		if (process->dwfl == NULL)
			process->dwfl = dwfl_begin(&dwfl_callbacks);
		else
			dwfl_report_begin_add(process->dwfl);
		(void)dwfl_report_elf(process->dwfl, event->path, event->path,
				      strcmp(event->path, "[vdso]") == 0 ? open_vdso() : -1, map.bias, true);
		dwfl_report_end(process->dwfl, NULL, NULL);
	}
	process->maps[process->n_maps++] = map;
}

/* A fork has the maps of its parent. */
static void inherit_maps(struct compare *compare, int64_t parent, int64_t child)
{
	struct process *from = find_process(compare, parent);
	struct process *to = find_process(compare, child);

	if (from == NULL || to == NULL || parent == child)
		return;
	from = find_process(compare, parent); /* may have moved */
	for (size_t i = 0; i < from->n_maps; i++)
		add_map(compare, to,
			&(struct ctx_map_event){.address = from->maps[i].begin,
						.size = from->maps[i].end - from->maps[i].begin,
						.file_offset = from->maps[i].file_offset,
						.path = from->maps[i].path});
}

static void take_map(struct compare *compare, const struct ctx_pd_record *record)
{
	struct ctx_pe_mmap mmap;
	struct process *process;

	if (ctx_pe_mmap_parse(ctx_pe_body(record->bytes, record->header.size, compare->file.swap),
			      &record->header, &mmap, NULL) != CTX_OK ||
	    (mmap.protection & PROT_EXEC) == 0 || mmap.pid < 0)
		return;
	process = find_process(compare, mmap.pid);
	if (process != NULL)
		add_map(compare, process,
			&(struct ctx_map_event){.address = mmap.address,
						.size = mmap.size,
						.file_offset = mmap.file_offset,
						.path = mmap.path});
}

/* An exec removes all mappings. */
static void forget(struct compare *compare, int64_t pid)
{
	struct process *process = find_process(compare, pid);

	if (process == NULL)
		return;
	if (process->dwfl != NULL)
		dwfl_end(process->dwfl);
	process->dwfl = NULL;
	process->attached = false;
	free_maps(process);
}

static bool find_object(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	const struct process *process = context;

	for (size_t i = process->n_maps; i-- > 0;) {
		const struct map *map = &process->maps[i];

		if (pc < map->begin || pc >= map->end)
			continue;
		*ret = (struct ctx_unwind_object){
			.begin = map->begin, .end = map->end, .table = map->table, .bias = map->bias};
		return true;
	}
	return false;
}

static enum ctx_truncation unwind_ours(struct process *process, const struct ctx_user_state *state,
				       struct stack *ret)
{
	struct ctx_unwind_space space = {.find = find_object, .context = process};
	struct ctx_unwind_frame frames[MAX_FRAMES];
	enum ctx_truncation reason = ctx_unwind(&space, state, frames, MAX_FRAMES, &ret->n);

	for (size_t i = 0; i < ret->n; i++)
		ret->pcs[i] = frames[i].address;
	ret->root = reason == CTX_TRUNCATED_NOT;
	return reason;
}

static void unwind_theirs(struct compare *compare, struct process *process, struct stack *ret)
{
	ret->n = 0;
	ret->root = false;
	if (process->dwfl == NULL)
		return;
	if (!process->attached) {
		process->attached = dwfl_attach_state(process->dwfl, NULL, (pid_t)process->pid,
						      &thread_callbacks, compare);
		if (!process->attached)
			return;
	}
	compare->sink = ret;
	ret->root = dwfl_getthread_frames(process->dwfl, (pid_t)process->pid, take_frame, compare) == 0;
}

static void show(const struct compare *compare, const struct process *process, const struct stack *ours,
		 const struct stack *theirs, enum ctx_truncation reason)
{
	size_t n = ours->n > theirs->n ? ours->n : theirs->n;

	printf("-- sample %llu: ours %zu (%s), libdw %zu%s\n", (unsigned long long)compare->ours.samples,
	       ours->n, ctx_truncation_text(reason), theirs->n, theirs->root ? "" : " (truncated)");
	for (size_t i = 0; i < n; i++) {
		uint64_t a = i < ours->n ? ours->pcs[i] : 0;
		uint64_t b = i < theirs->n ? theirs->pcs[i] : 0;
		struct ctx_unwind_object object = {0};

		(void)find_object((void *)(uintptr_t)process, a != 0 ? a : b, &object);
		printf("  %016llx %016llx %s object+%llx%s\n", (unsigned long long)a, (unsigned long long)b,
		       a == b ? " " : "*", (unsigned long long)((a != 0 ? a : b) - object.bias),
		       object.table != NULL ? "" : " no table");
	}
}

static void count(struct tally *tally, const struct stack *stack, uint64_t ns)
{
	tally->samples++;
	tally->frames += stack->n;
	tally->roots += stack->root;
	tally->ns += ns;
}

/* Whether it is a function of libgcc's unwinder: _Unwind_*, or uw_* if symbols are available. */
static bool is_unwinder(struct process *process, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(process->dwfl, pc);
	const char *name = module != NULL ? dwfl_module_addrname(module, pc) : NULL;
	const char *path =
		module != NULL ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : NULL;

	return name != NULL && path != NULL && strstr(path, "libgcc_s") != NULL &&
	       (strncmp(name, "_Unwind_", 8) == 0 || strncmp(name, "uw_", 3) == 0);
}

/* Counts a difference if one stack is a prefix of the other. False: it is not explained. */
static bool explain(struct compare *compare, struct process *process, const struct stack *ours,
		    const struct stack *theirs)
{
	if (ours->root && theirs->n < ours->n) {
		compare->further++;
		return true;
	}
	if (ours->root || process->dwfl == NULL)
		return false;
	for (size_t i = 0; i < 3 && i < ours->n; i++) {
		if (is_unwinder(process, ours->pcs[i])) {
			compare->rewritten++;
			return true;
		}
	}
	return false;
}

static void compare_sample(struct compare *compare, struct process *process,
			   const struct ctx_user_state *state)
{
	static struct stack ours, theirs;
	enum ctx_truncation reason;
	uint64_t begin, middle;
	size_t shared;

	compare->state = state;
	begin = cpu_ns();
	reason = unwind_ours(process, state, &ours);
	middle = cpu_ns();
	unwind_theirs(compare, process, &theirs);
	count(&compare->theirs, &theirs, cpu_ns() - middle);
	count(&compare->ours, &ours, middle - begin);
	compare->reasons[reason]++;
	shared = ours.n < theirs.n ? ours.n : theirs.n;
	if (memcmp(ours.pcs, theirs.pcs, shared * sizeof(ours.pcs[0])) == 0) {
		compare->prefix++;
		compare->identical += ours.n == theirs.n;
		if (ours.n == theirs.n || explain(compare, process, &ours, &theirs))
			return;
	}
	if (compare->show-- > 0)
		show(compare, process, &ours, &theirs, reason);
}

static void take_sample(struct compare *compare, const struct ctx_pd_record *record)
{
	struct ctx_user_state state = {0};
	const struct ctx_pd_event *event =
		ctx_pd_sample_event(&compare->file.events, record->bytes, &record->header);
	struct ctx_pe_sample sample;
	struct process *process;

	if (event == NULL ||
	    ctx_pe_sample_parse(&event->layout, record->bytes, record->header.size, &sample, NULL) != CTX_OK)
		return;
	if (sample.user_regs == NULL || sample.user_stack == NULL || sample.user_stack_bytes == 0) {
		compare->without_user++;
		return;
	}
	ctx_pe_sample_user_state(&sample, &state);
	process = find_process(compare, sample.pid);
	if (process != NULL)
		compare_sample(compare, process, &state);
}

static void take(struct compare *compare, const struct ctx_pd_record *record)
{
	int32_t pid;

	switch (record->header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		take_map(compare, record);
		break;
	case PERF_RECORD_COMM:
		memcpy(&pid, record->bytes + CTX_PE_HEADER_BYTES, sizeof(pid));
		if ((record->header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0)
			forget(compare, pid);
		break;
	case PERF_RECORD_SAMPLE:
		take_sample(compare, record);
		break;
	default:
		break;
	}
}

static void print_tally(const char *name, const struct tally *tally)
{
	double seconds = (double)tally->ns / 1e9;
	double samples = tally->samples != 0 ? (double)tally->samples : 1;

	printf("%-6s %10.2f frames/stack %10.0f frames/CPU s %8.2f %% to the root\n", name,
	       (double)tally->frames / samples, seconds > 0 ? (double)tally->frames / seconds : 0,
	       100 * (double)tally->roots / samples);
}

static void print(const struct compare *compare)
{
	double samples = compare->ours.samples != 0 ? (double)compare->ours.samples : 1;

	printf("samples %llu, without user registers %llu\n", (unsigned long long)compare->ours.samples,
	       (unsigned long long)compare->without_user);
	print_tally("ours", &compare->ours);
	print_tally("libdw", &compare->theirs);
	printf("identical %.2f %%, one begins as the other %.2f %%\n",
	       100 * (double)compare->identical / samples, 100 * (double)compare->prefix / samples);
	printf("explained: further %.2f %%, rewritten %.2f %%; agreement %.2f %%\n",
	       100 * (double)compare->further / samples, 100 * (double)compare->rewritten / samples,
	       100 * (double)(compare->identical + compare->further + compare->rewritten) / samples);
	for (unsigned i = 1; i < CTX_TRUNCATED_N; i++) {
		if (compare->reasons[i] != 0)
			printf("ended: %s %.2f %%\n", ctx_truncation_text((enum ctx_truncation)i),
			       100 * (double)compare->reasons[i] / samples);
	}
}

static enum ctx_status read_part(struct compare *compare, const struct ctx_pd_part *part, struct ctx_err *err)
{
	const struct ctx_pd_queued *item;
	struct ctx_pd_queue queue;
	enum ctx_status status;

	ctx_pd_queue_init(&queue, &compare->file.events, BYTES_QUEUED);
	ctx_pd_stream_init(&queue.stream, part, compare->file.swap);
	while ((status = ctx_pd_queue_peek(&queue, &item, err)) == CTX_OK) {
		if (item == NULL)
			continue; /* damage is not the subject here */
		take(compare, &item->record);
		ctx_pd_queue_take(&queue);
	}
	ctx_pd_queue_deinit(&queue);
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status read_perfdata(struct compare *compare, const char *path, struct ctx_err *err)
{
	enum ctx_status status = ctx_pd_file_open(&compare->file, path, err);

	for (size_t i = 0; i < compare->file.n_parts && status == CTX_OK; i++)
		status = read_part(compare, &compare->file.parts[i], err);
	return status;
}

/* Adds the maps up to the next event, which is `event`. Numbers of processes are used instead of
 * pids, because an exec begins a new process. */
static enum ctx_status read_maps(struct compare *compare, struct ctx_event_source *source, uint64_t time_ns,
				 struct ctx_event *event, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && event->time_ns <= time_ns) {
		struct process *process = NULL;

		if (event->kind == CTX_EV_MAP && event->process != CTX_NONE)
			process = find_process(compare, (int64_t)event->process + 1);
		if (process != NULL)
			add_map(compare, process, &event->map);
		if (event->kind == CTX_EV_FORK_MAPS)
			inherit_maps(compare, (int64_t)event->maps_of + 1, (int64_t)event->process + 1);
		status = source->next(source, event, err);
	}
	if (status != CTX_END)
		return status;
	event->time_ns = UINT64_MAX;
	return CTX_OK;
}

static enum ctx_status read_kept(struct compare *compare, struct ctx_event_source *source,
				 struct ctx_exp_kept *kept, struct ctx_err *err)
{
	struct ctx_event event = {0};
	struct ctx_exp_kept_sample sample;
	enum ctx_status status = source->next(source, &event, err);

	while (status == CTX_OK && (status = ctx_exp_kept_next(kept, &sample, err)) == CTX_OK) {
		struct process *process;

		status = read_maps(compare, source, sample.time_ns, &event, err);
		if (sample.process == CTX_NONE)
			compare->without_user++;
		process = sample.process != CTX_NONE ? find_process(compare, (int64_t)sample.process + 1)
						     : NULL;
		if (status == CTX_OK && process != NULL)
			compare_sample(compare, process, &sample.state);
	}
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status read_experiment(struct compare *compare, const char *path, struct ctx_err *err)
{
	struct ctx_event_source *source;
	struct ctx_exp_kept *kept;
	enum ctx_status status = ctx_exp_open(path, &source, err);

	if (status != CTX_OK)
		return status;
	status = ctx_exp_kept_open(source, &kept, err);
	if (status == CTX_OK) {
		status = read_kept(compare, source, kept, err);
		ctx_exp_kept_close(kept);
	}
	source->close(source);
	return status;
}

int main(int argc, char **argv)
{
	static struct compare compare;
	enum ctx_status status;
	struct ctx_err err;

	if (argc != 2 && !(argc == 4 && strcmp(argv[2], "-v") == 0)) {
		fprintf(stderr, "usage: %s PERF.DATA|EXPERIMENT [-v N]\n", argv[0]);
		return 2;
	}
	compare.show = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	status = ctx_exp_is_experiment(argv[1]) ? read_experiment(&compare, argv[1], &err)
						: read_perfdata(&compare, argv[1], &err);
	if (status != CTX_OK)
		fprintf(stderr, "unwind_compare: %s\n", err.msg);
	else
		print(&compare);
	for (size_t i = 0; i < compare.n_processes; i++) {
		free_maps(&compare.processes[i]);
		free(compare.processes[i].maps);
		if (compare.processes[i].dwfl != NULL)
			dwfl_end(compare.processes[i].dwfl);
	}
	free(compare.processes);
	ctx_table_cache_deinit(&compare.tables);
	ctx_pd_file_deinit(&compare.file);
	return status == CTX_OK ? 0 : 1;
}
