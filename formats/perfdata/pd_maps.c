#include "formats/perfdata/pd_reader.h"

#include "base/mem.h"
#include "model/jit_code.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BPF_LOADS_MAX 4u /* of one number: the kernel gives it to another program after 2^31 others */

/* Memory without a file: code there is JIT code. */
static bool is_anonymous(const char *path)
{
	static const char *const beginnings[] = {
		"//anon", "/dev/zero", "/anon_hugepage", "[anon:", "/SYSV", "[heap]", "[stack"};

	for (size_t i = 0; i < CTX_COUNT_OF(beginnings); i++) {
		if (strncmp(path, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	}
	return false;
}

/* Warns that a dump is not used, or only in part. */
static enum ctx_status warn_of_jit(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	const struct ctx_event event = {.kind = CTX_EV_WARNING, .text = reader->text};

	return ctx_pd_reader_put(reader, &event, err);
}

static enum ctx_status read_jit(struct ctx_pd_reader *reader, const char *path, struct ctx_pd_jitdump *ret,
				struct ctx_err *why)
{
	enum ctx_status status;

	if (!reader->monotonic)
		return ctx_err_set(
			why, CTX_E_FORMAT,
			"%s is not used: its times are on another clock (record with perf record -k mono)",
			path);
	status = ctx_pd_jitdump_read(path, ret, why);
	if (status != CTX_OK || !ret->arch_timestamps)
		return status;
	ctx_pd_jitdump_deinit(ret);
	return ctx_err_set(why, CTX_E_FORMAT, "%s is not used: its times are of another clock", path);
}

static enum ctx_status add_jit(struct ctx_pd_reader *reader, const struct ctx_pe_mmap *mmap,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&reader->jits, &reader->jits_cap, reader->n_jits + 1, err);
	size_t n_before = reader->jit_paths.n;
	struct ctx_err why = {0};
	struct ctx_pd_jit *jit;
	uint32_t id;

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&reader->jit_paths, mmap->path, &id, err);
	if (status != CTX_OK || id != n_before) /* mapped again */
		return status;
	jit = &reader->jits[reader->n_jits];
	*jit = (struct ctx_pd_jit){.pid = mmap->pid};
	status = ctx_pd_reader_name(reader, mmap->path, &jit->path, err);
	if (status != CTX_OK)
		return status;
	status = read_jit(reader, mmap->path, &jit->dump, &why);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK) {
		snprintf(reader->text, sizeof(reader->text), "%s", why.msg);
		return warn_of_jit(reader, err);
	}
	reader->n_jits++;
	if (jit->dump.damaged == 0)
		return CTX_OK;
	snprintf(reader->text, sizeof(reader->text), "%s: %llu of its records cannot be used", mmap->path,
		 (unsigned long long)jit->dump.damaged);
	return warn_of_jit(reader, err);
}

enum ctx_status ctx_pd_maps_jitted(struct ctx_pd_reader *reader, uint64_t time, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < reader->n_jits; i++) {
		struct ctx_pd_jit *jit = &reader->jits[i];

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
			status = ctx_pd_reader_name(reader, "", &map.build_id, err);
			if (status == CTX_OK)
				status = ctx_pd_reader_name(reader, load->name, &map.function, err);
			if (status == CTX_OK)
				status = ctx_pd_tasks_map(
					&reader->tasks, ctx_pd_reader_relative(reader, load->time_ns),
					load->pid == jit->dump.pid ? jit->pid : load->pid, &map, err);
		}
	}
	return status;
}

static enum ctx_status put_module(struct ctx_pd_reader *reader, uint64_t time_ns,
				  const struct ctx_pe_mmap *mmap, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_MAP, .time_ns = time_ns, .process = CTX_NONE};
	struct ctx_strtab *names = &reader->tasks.names;
	uint64_t address = ctx_pd_kernel_address(mmap->address), most = UINT64_MAX - address;
	uint32_t path = 0, build_id = 0;
	enum ctx_status status = ctx_strtab_add_text(names, mmap->path, &path, err);

	if (status == CTX_OK)
		status = ctx_strtab_add_text(names, mmap->build_id, &build_id, err);
	if (status != CTX_OK || mmap->size == 0)
		return status;
	event.map = (struct ctx_map_event){.address = address,
					   .size = mmap->size < most ? mmap->size : most,
					   .file_offset = mmap->file_offset,
					   .path = ctx_strtab_get(names, path),
					   .build_id = ctx_strtab_get(names, build_id),
					   .archive = "",
					   .function = ""};
	return ctx_pd_reader_put(reader, &event, err);
}

/*
 * perf names the kernel's map "[kernel.kallsyms]_text": the symbol is the reference for relocation.
 */
static enum ctx_status on_kernel_map(struct ctx_pd_reader *reader, uint64_t time_ns,
				     const struct ctx_pe_mmap *mmap, struct ctx_err *err)
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
		status = ctx_pd_reader_name(reader, symbol + 1, &id, err);
		if (status == CTX_OK)
			kernel->symbol = ctx_strtab_get(&reader->tasks.names, id);
		kernel->address = mmap->file_offset;
	}
	if (status == CTX_OK && kernel->build_id[0] == '\0' && mmap->build_id[0] != '\0') {
		status = ctx_pd_reader_name(reader, mmap->build_id, &id, err);
		if (status == CTX_OK)
			kernel->build_id = ctx_strtab_get(&reader->tasks.names, id);
	}
	return status;
}

/* Functions of code without a file: in simpleperf's recording, or in /tmp of this host. */
static bool has_jit_map(const struct ctx_pd_reader *reader, int32_t pid, char ret[CTX_JIT_CODE_PATH])
{
	snprintf(ret, CTX_JIT_CODE_PATH, "perf-%d.map", pid);
	if (ctx_pd_simpleperf_has(&reader->file.facts.simpleperf, ret))
		return true;
	ctx_jit_code_path(pid, ret);
	return !reader->other_host && access(ret, F_OK) == 0;
}

static enum ctx_status on_user_map(struct ctx_pd_reader *reader, uint64_t time_ns,
				   const struct ctx_pe_mmap *mmap, struct ctx_err *err)
{
	struct ctx_strtab *names = &reader->tasks.names;
	struct ctx_pd_map map = {.address = mmap->address,
				 .size = mmap->size,
				 .file_offset = mmap->file_offset,
				 .executable = (mmap->protection & PROT_EXEC) != 0};
	const char *build_id = mmap->build_id[0] != '\0'
				       ? mmap->build_id
				       : ctx_pd_facts_build_id(&reader->file.facts, mmap->path);
	const char *path = mmap->path;
	char jit_map[CTX_JIT_CODE_PATH];
	enum ctx_status status;

	if (ctx_pd_simpleperf_is_jit(path))
		map.file_offset = mmap->address;
	else if (map.executable && is_anonymous(path) && has_jit_map(reader, mmap->pid, jit_map)) {
		path = jit_map;
		map.file_offset = mmap->address;
	}
	status = ctx_strtab_add_text(names, path, &map.path, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(names, build_id, &map.build_id, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(names, "", &map.function, err);
	return status == CTX_OK ? ctx_pd_tasks_map(&reader->tasks, time_ns, mmap->pid, &map, err) : status;
}

enum ctx_status ctx_pd_maps_mmap(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				 struct ctx_err *err)
{
	const struct ctx_pd_record *record = &item->record;
	struct ctx_pe_mmap mmap;
	struct ctx_err why = {0};
	enum ctx_status status;
	uint32_t pid;

	if (ctx_pe_mmap_parse(ctx_pe_body(record->bytes, record->header.size, reader->file.swap),
			      &record->header, &mmap, &why) != CTX_OK)
		return ctx_pd_reader_damage(reader, record->offset, why.msg, err);
	/* Pids and addresses of a guest are unrelated to the host's; its samples have no names. */
	if (ctx_pd_record_is_of_guest(record->header.misc))
		return CTX_OK;
	if (mmap.pid == -1 ||
	    (record->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return on_kernel_map(reader, ctx_pd_reader_relative(reader, item->time), &mmap, err);
	reader->states.map_bits |= mmap.address | mmap.size;
	status = on_user_map(reader, ctx_pd_reader_relative(reader, item->time), &mmap, err);
	if (status == CTX_OK && (mmap.protection & PROT_EXEC) != 0 && ctx_pd_jitdump_is(mmap.path, &pid))
		status = add_jit(reader, &mmap, err);
	return status;
}

/* The end of code that the kernel generated; name_generated makes a begin of it. */
static struct ctx_event generated(uint64_t time_ns, uint64_t address, uint64_t size)
{
	return (struct ctx_event){
		.kind = CTX_EV_UNMAP,
		.process = CTX_NONE,
		.time_ns = time_ns,
		.map = {.address = address,
			.size = size,
			.path = "[bpf]",
			.build_id = "",
			.archive = "",
			.function = ""},
	};
}

/* The file offset is unique for each name. */
static void name_generated(struct ctx_pd_reader *reader, uint32_t name, struct ctx_event *event)
{
	event->kind = CTX_EV_MAP;
	event->map.file_offset = (uint64_t)name << 32;
	event->map.function = ctx_strtab_get(&reader->tasks.names, name);
}

enum ctx_status ctx_pd_maps_ksymbol(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				    struct ctx_err *err)
{
	struct ctx_pe_ksymbol symbol;
	struct ctx_event event;
	struct ctx_err why = {0};
	uint32_t id = 0, *place;
	enum ctx_status status;

	if (ctx_pe_ksymbol_parse(ctx_pe_body(item->record.bytes, item->record.header.size, reader->file.swap),
				 &symbol, &why) != CTX_OK)
		return ctx_pd_reader_damage(reader, item->record.offset, why.msg, err);
	symbol.address = ctx_pd_kernel_address(symbol.address);
	if (symbol.size == 0 || symbol.address < CTX_KERNEL_START ||
	    symbol.size > UINT64_MAX - symbol.address)
		return CTX_OK; /* names no code */
	status = ctx_pd_reader_name(reader, symbol.name, &id, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&reader->ksymbols, symbol.address);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = symbol.is_released ? 0 : id + 1;
	event = generated(ctx_pd_reader_relative(reader, item->time), symbol.address, symbol.size);
	if (!symbol.is_released)
		name_generated(reader, id, &event);
	return ctx_pd_reader_put(reader, &event, err);
}

/* ELF's number of the machine of the kernel's code; 0 not known. */
static uint16_t kernel_machine(const struct ctx_pd_reader *reader)
{
	const char *arch = reader->file.facts.machine.arch;

	if (arch == NULL)
		return EM_NONE;
	return strcmp(arch, "x86_64") == 0 ? EM_X86_64 : strcmp(arch, "aarch64") == 0 ? EM_AARCH64 : EM_NONE;
}

/* The id of the name that the kernel gave to code at this address; CTX_NONE: it gave none. */
static uint32_t name_at(const struct ctx_pd_reader *reader, uint64_t address)
{
	uint32_t next = ctx_map64_get(&reader->ksymbols, address);

	return next != CTX_MAP64_NONE && next != 0 ? next - 1 : CTX_NONE;
}

static enum ctx_status map_function(struct ctx_pd_reader *reader, uint64_t time_ns,
				    const struct ctx_pd_bpf_function *function, struct ctx_err *err)
{
	uint64_t address = ctx_pd_kernel_address(function->address);
	struct ctx_event event = generated(time_ns, address, function->size);
	uint32_t name = name_at(reader, address);
	uint16_t machine = kernel_machine(reader);
	enum ctx_status status = CTX_OK;

	if (address < CTX_KERNEL_START)
		return CTX_OK;
	/* The program's own name has another tag where the kernel changed it when it was loaded. */
	if (name == CTX_NONE)
		status = ctx_pd_reader_name(reader, function->name, &name, err);
	if (status != CTX_OK)
		return status;
	name_generated(reader, name, &event);
	event.map.machine = machine;
	event.map.code = machine != EM_NONE ? function->code : NULL;
	event.map.n_code = event.map.code != NULL ? function->size : 0;
	event.map.places = function->places.n_rows != 0 ? &function->places : NULL;
	return ctx_pd_reader_put(reader, &event, err);
}

/* What the kernel named it releases itself; another program's code may be there already. */
static enum ctx_status unmap_function(struct ctx_pd_reader *reader, uint64_t time_ns,
				      const struct ctx_pd_bpf_function *function, struct ctx_err *err)
{
	uint64_t address = ctx_pd_kernel_address(function->address);
	struct ctx_event event = generated(time_ns, address, function->size);

	return address < CTX_KERNEL_START || ctx_map64_get(&reader->ksymbols, address) != CTX_MAP64_NONE
		       ? CTX_OK
		       : ctx_pd_reader_put(reader, &event, err);
}

enum ctx_status ctx_pd_maps_bpf(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				struct ctx_err *err)
{
	uint64_t time_ns = ctx_pd_reader_relative(reader, item->time);
	const struct ctx_pd_bpf_function *functions;
	struct ctx_pe_bpf program;
	struct ctx_err why = {0};
	enum ctx_status status = CTX_OK;
	uint32_t *loads;
	size_t n;

	if (ctx_pe_bpf_parse(ctx_pe_body(item->record.bytes, item->record.header.size, reader->file.swap),
			     &program, &why) != CTX_OK)
		return ctx_pd_reader_damage(reader, item->record.offset, why.msg, err);
	if (!program.is_loaded && !program.is_unloaded)
		return CTX_OK;
	functions = ctx_pd_bpf_of(&reader->file.facts.bpf, program.program, &n);
	if (functions == NULL)
		return CTX_OK;
	loads = ctx_map64_place(&reader->bpf_loads, program.program);
	if (loads == NULL)
		return ctx_err_nomem(err);
	if (*loads == CTX_MAP64_NONE)
		*loads = 0;
	if (*loads % 2 == program.is_loaded)
		return CTX_OK; /* it is so already */
	if (*loads == 2 * BPF_LOADS_MAX)
		return ctx_pd_reader_damage(reader, item->record.offset,
					    "a BPF program that is loaded again and again", err);
	*loads += 1;
	for (size_t i = 0; i < n && status == CTX_OK; i++)
		status = program.is_loaded ? map_function(reader, time_ns, &functions[i], err)
					   : unmap_function(reader, time_ns, &functions[i], err);
	return status;
}
