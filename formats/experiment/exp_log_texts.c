#include "base/buf.h"
#include "base/mem.h"
#include "formats/experiment/exp_keep.h"
#include "formats/experiment/exp_log.h"

#include <string.h>

#define VMS_SHOWN 16u /* in the header */
#define VM_LINES_MAX 16384u

/* Appends a count of the line, unless it is 0. */
__attribute__((format(printf, 4, 0))) static void put_count(struct ctx_buf *text,
							    const struct ctx_exp_line *line, const char *name,
							    const char *format)
{
	uint64_t n = 0;

	(void)ctx_exp_line_number(line, name, &n);
	if (n != 0)
		ctx_buf_printf(text, format, (unsigned long long)n);
}

static enum ctx_status add_property(struct ctx_exp_log *log, const char *key, struct ctx_buf *text,
				    struct ctx_err *err)
{
	enum ctx_status status;
	const char *value;

	ctx_buf_put_u8(text, 0);
	status = ctx_buf_check(text, err);
	if (status == CTX_OK)
		status = ctx_grow(&log->properties, &log->properties_cap, log->n_properties + 1, err);
	if (status != CTX_OK)
		return status;
	value = ctx_arena_strdup(&log->arena, (const char *)text->bytes);
	if (value == NULL)
		return ctx_err_nomem(err);
	log->properties[log->n_properties++] = (struct ctx_property){key, value};
	return CTX_OK;
}

/* Reasons added by later versions are ignored. */
enum ctx_status ctx_exp_log_unwinding(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				      struct ctx_err *err)
{
	uint64_t counts[CTX_TRUNCATED_N], all = 0;
	struct ctx_buf text = {0};
	enum ctx_status status;

	for (size_t i = 0; i < CTX_TRUNCATED_N; i++) {
		if (!ctx_exp_line_number(line, ctx_exp_unwinding_names[i], &counts[i]) ||
		    counts[i] > UINT64_MAX / CTX_TRUNCATED_N)
			counts[i] = 0;
		all += counts[i];
	}
	ctx_buf_printf(&text, "%llu of %llu stacks up to their root",
		       (unsigned long long)counts[CTX_TRUNCATED_NOT], (unsigned long long)all);
	put_count(&text, line, "joined", " (%llu with callers of an earlier one)");
	put_count(&text, line, "gap", " (%llu with frames left out in the middle)");
	put_count(&text, line, "exec", " (%llu in an execve)");
	for (size_t i = CTX_TRUNCATED_NOT + 1; i < CTX_TRUNCATED_N; i++) {
		if (counts[i] != 0)
			ctx_buf_printf(&text, "; %llu: %s", (unsigned long long)counts[i],
				       ctx_truncation_text((enum ctx_truncation)i));
	}
	put_count(&text, line, "unread", "; of %llu the recorder may not read the memory of the process");
	put_count(&text, line, "by_code", "; %llu by instructions");
	put_count(&text, line, "by_frame_pointer", "; %llu by frame pointers");
	put_count(&text, line, "by_chain", "; %llu along the kernel's frame pointers");
	status = add_property(log, "unwinding", &text, err);
	ctx_buf_deinit(&text);
	return status;
}

/* "OpenJDK 64-Bit Server VM 17.0.2, G1, heap of at most 64 MiB: Server 8080" */
static enum ctx_status add_vm_property(struct ctx_exp_log *log, const struct ctx_vm_info *vm,
				       struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	uint64_t heap = vm->figures[CTX_VM_HEAP_MAX];

	if (vm->name[0] == '\0' || log->bounds.n_vms++ >= VMS_SHOWN)
		return CTX_OK;
	ctx_buf_put_text(&text, vm->name);
	if (vm->version[0] != '\0')
		ctx_buf_printf(&text, " %s", vm->version);
	if (vm->collector[0] != '\0')
		ctx_buf_printf(&text, ", %s", vm->collector);
	if (heap != CTX_VM_UNKNOWN && heap != 0)
		ctx_buf_printf(&text, ", heap of at most %llu MiB", (unsigned long long)(heap >> 20));
	if (vm->command[0] != '\0')
		ctx_buf_printf(&text, ": %.200s", vm->command);
	return add_property(log, "virtual machine", &text, err);
}

static enum ctx_status keep_attribute(struct ctx_exp_log *log, const struct ctx_exp_line *line,
				      const char *name, const char **ret, struct ctx_err *err)
{
	const char *text = ctx_exp_line_text(line, name);

	if (text == NULL)
		return CTX_OK;
	*ret = ctx_arena_strdup(&log->arena, text);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_exp_log_vm(struct ctx_exp_log *log, const struct ctx_exp_line *line,
			       struct ctx_exp_entry *entry, struct ctx_err *err)
{
	struct ctx_vm_info vm = ctx_vm_info_make(CTX_NONE, entry->time_ns);
	const char *kind = ctx_exp_line_text(line, "kind");
	enum ctx_status status;

	if (log->codes.n_vms == VM_LINES_MAX)
		return CTX_E_FORMAT;
	status = ctx_grow(&log->codes.vms, &log->codes.vms_cap, log->codes.n_vms + 1, err);
	if (status == CTX_OK)
		status = keep_attribute(log, line, "name", &vm.name, err);
	if (status == CTX_OK)
		status = keep_attribute(log, line, "version", &vm.version, err);
	if (status == CTX_OK)
		status = keep_attribute(log, line, "collector", &vm.collector, err);
	if (status == CTX_OK)
		status = keep_attribute(log, line, "command", &vm.command, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < CTX_VM_FIGURE_N; i++) {
		uint64_t value;

		if (ctx_exp_line_number(line, ctx_vm_figure_name((enum ctx_vm_figure)i), &value) &&
		    value <= INT64_MAX)
			vm.figures[i] = value;
	}
	/* Written as 0 where it is not known. */
	if (vm.figures[CTX_VM_HEAP_MAX] == 0)
		vm.figures[CTX_VM_HEAP_MAX] = CTX_VM_UNKNOWN;
	if (strcmp(kind, "vm-end") == 0)
		vm.life.end_ns = entry->time_ns;
	entry->a = log->codes.n_vms;
	log->codes.vms[log->codes.n_vms++] = vm;
	return strcmp(kind, "vm") == 0 ? add_vm_property(log, &vm, err) : CTX_OK;
}
