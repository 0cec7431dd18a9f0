#include "collect/breakpoints.h"

#include "collect/child.h"
#include "collect/procfs.h"
#include "elf/elf_file.h"

#include <elf.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#define PART_MAX 8u /* bytes */

size_t ctx_breakpoint_divide(uint64_t address, uint64_t length_bytes, struct ctx_breakpoint_part *parts,
			     size_t max)
{
	size_t n = 0;

	while (length_bytes != 0) {
		uint32_t size = PART_MAX;

		while (address % size != 0 || size > length_bytes)
			size /= 2;
		if (n < max)
			parts[n] = (struct ctx_breakpoint_part){.address = address, .length_bytes = size};
		n++;
		address += size;
		length_bytes -= size;
	}
	return n;
}

struct perf_event_attr ctx_breakpoint_attr(enum ctx_breakpoint_kind kind,
					   const struct ctx_breakpoint_part *part)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr)};

	attr.bp_addr = part->address;
	attr.bp_type = kind == CTX_BREAKPOINT_EXECUTE ? HW_BREAKPOINT_X
		       : kind == CTX_BREAKPOINT_WRITE ? HW_BREAKPOINT_W
						      : HW_BREAKPOINT_RW;
	attr.bp_len = kind == CTX_BREAKPOINT_EXECUTE ? sizeof(long) : part->length_bytes;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

unsigned ctx_breakpoints_free(void)
{
	static const uint64_t somewhere = 0;
	int fds[CTX_BREAKPOINTS_MAX];
	unsigned n = 0;

	for (; n < CTX_BREAKPOINTS_MAX; n++) {
		const struct ctx_breakpoint_part part = {(uintptr_t)&somewhere, sizeof(somewhere)};
		struct perf_event_attr attr = ctx_breakpoint_attr(CTX_BREAKPOINT_WRITE, &part);

		attr.disabled = 1;
		fds[n] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fds[n] < 0)
			break;
	}
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
	return n;
}

/* The first executable mapping of a path. */
static enum ctx_status find_code(pid_t pid, const char *path, struct ctx_procfs_map *ret, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_procfs_maps(pid, &text, err);
	char *rest = (char *)text.bytes;

	if (status < CTX_OK)
		return status;
	while (ctx_procfs_next_map(&rest, ret)) {
		if (strcmp(ret->path, path) == 0) {
			ret->path = path;
			return CTX_OK;
		}
	}
	return ctx_err_set(err, CTX_E_NOTFOUND, "%s is not loaded", path);
}

enum ctx_status ctx_breakpoint_bias(pid_t pid, const char *path, uint64_t *ret, struct ctx_err *err)
{
	struct ctx_elf_file file = {.fd = -1};
	struct ctx_procfs_map code = {0};
	enum ctx_status status = find_code(pid, path, &code, err);

	if (status == CTX_OK)
		status = ctx_elf_open_path(&file, path, err);
	if (status == CTX_OK) {
		bool known = false;

		/* A mapping begins on a page, a segment anywhere in it. */
		for (size_t i = 0; i < file.n_segments && !known; i++) {
			const struct ctx_elf_segment *segment = &file.segments[i];

			known = segment->offset + segment->file_size > code.file_offset;
			if (known)
				*ret = code.address - (segment->address - segment->offset + code.file_offset);
		}
		if (!known)
			status = ctx_err_set(err, CTX_E_FORMAT, "%s has no code where it is mapped", path);
	}
	ctx_elf_close(&file);
	return status;
}

#if defined(__x86_64__)

#define DEBUG_REGISTER(i) (offsetof(struct user, u_debugreg) + (i) * sizeof(unsigned long))
#define CONTROL 7
#define LOCAL_0 1UL /* register 0 counts executions of the thread */

static enum ctx_status entry_of(pid_t pid, uint64_t *ret, struct ctx_err *err)
{
	unsigned long entry[2] = {0};
	char name[64];
	bool found = false;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/auxv", (int)pid);
	file = fopen(name, "re");
	while (file != NULL && !found && fread(entry, sizeof(entry), 1, file) == 1)
		found = entry[0] == AT_ENTRY;
	if (file != NULL)
		fclose(file);
	*ret = entry[1];
	return found ? CTX_OK : ctx_err_set(err, CTX_E_IO, "%s does not have the entry of the program", name);
}

static bool set_register(pid_t pid, size_t i, unsigned long value)
{
	return ptrace(PTRACE_POKEUSER, pid, (void *)DEBUG_REGISTER(i), (void *)value) == 0;
}

static bool is_at(pid_t pid, uint64_t address)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0 && regs.rip == address;
}

enum ctx_status ctx_breakpoint_run_to_entry(pid_t pid, struct ctx_err *err)
{
	uint64_t entry = 0;
	enum ctx_status status = entry_of(pid, &entry, err);
	int signal = 0;

	if (status != CTX_OK)
		return status;
	if (!set_register(pid, 0, entry) || !set_register(pid, CONTROL, LOCAL_0))
		return ctx_err_errno(err, CTX_E_IO, "the program cannot be held at its entry");
	for (;;) {
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)signal) != 0)
			return ctx_err_errno(err, CTX_E_IO, "the program cannot go on to its entry");
		if (!ctx_child_wait_stop(pid, &signal))
			return CTX_END;
		if (signal == SIGTRAP && is_at(pid, entry))
			break;
	}
	return set_register(pid, CONTROL, 0)
		       ? CTX_OK
		       : ctx_err_errno(err, CTX_E_IO, "the program cannot go on from its entry");
}

#else

enum ctx_status ctx_breakpoint_run_to_entry(pid_t pid, struct ctx_err *err)
{
	(void)pid;
	return ctx_err_set(err, CTX_E_ARG, "libraries are watched by hardware breakpoints on x86 alone");
}

#endif
