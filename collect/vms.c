/*
 *	take: message -> hello, end -> the log
 *	              -> methods, code -> image
 *	              -> begin, end of a garbage collection --+
 *	counters of the virtual machine --vm_perfdata-- safepoints +-> vm_marks -> marks of its threads
 */
#include "collect/vms.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/installation.h"
#include "collect/vm_attach.h"
#include "collect/vms_impl.h"
#include "formats/experiment/exp_functions.h"
#include "model/traced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "JAVA_TOOL_OPTIONS"
#define LIBRARY "libctxjvm.so"
#define LATE_NS ((uint64_t)60 * 1000000)   /* within which what the counters say is known */
#define POLL_NS ((uint64_t)20 * 1000000)   /* between readings of a virtual machine's counters */
#define RELEASE_NS ((uint64_t)1000000000)  /* after the end of a virtual machine what it took is free */
#define COUNT_NS ((uint64_t)100 * 1000000) /* between marks of what they count */

/* As agents read them (agents/jvm_objects.h). */
static void set_options(struct ctx_vms *vms)
{
	int n = snprintf(vms->options, sizeof(vms->options), "%.64s", ctx_vm_listener_name(vms->listener));

	if (vms->wishes.heap_bytes != 0)
		n += snprintf(vms->options + n, sizeof(vms->options) - (size_t)n, ",heap=%llu",
			      (unsigned long long)vms->wishes.heap_bytes);
	if (vms->wishes.sync)
		n += snprintf(vms->options + n, sizeof(vms->options) - (size_t)n, ",sync");
	if (vms->interest.is_on)
		snprintf(vms->options + n, sizeof(vms->options) - (size_t)n, ",asked");
}

enum ctx_status ctx_vms_create(struct ctx_vms **ret, const struct ctx_vm_wishes *wishes, struct ctx_err *err)
{
	struct ctx_vms *vms = ctx_calloc(1, sizeof(*vms));
	enum ctx_status status = CTX_OK;

	if (vms == NULL)
		return ctx_err_nomem(err);
	if (!ctx_installation_find(LIBRARY, R_OK, vms->library) || strpbrk(vms->library, " =") != NULL)
		status = ctx_err_set(
			err, CTX_E_NOTFOUND,
			"the agent " LIBRARY
			" of this installation is missing, or its path has a space or a '=': it is built "
			"where the headers of JVMTI are (openjdk-17-jdk-headless)");
	if (status == CTX_OK)
		status = ctx_vm_listener_create(&vms->listener, err);
	if (status != CTX_OK) {
		ctx_vms_destroy(vms);
		return status;
	}
	vms->wishes = *wishes;
	set_options(vms);
	*ret = vms;
	return CTX_OK;
}

enum ctx_status ctx_vms_choose(struct ctx_vms *vms, const struct ctx_vm_interest *interest,
			       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	vms->interest.is_on = true;
	vms->interest.function = CTX_NONE;
	vms->interest.choice = (struct ctx_vm_choice){.limit = interest->limit, .turn_ns = interest->turn_ns};
	for (size_t i = 0; i < interest->n && status == CTX_OK; i++)
		status = ctx_vm_rules_add(&vms->interest.rules, interest->rules[i], err);
	set_options(vms);
	return status;
}

/* All but its counts. */
static void release_vm(struct ctx_vm *vm)
{
	vm->damaged += vm->image.damaged + vm->objects.damaged;
	vm->left_out += vm->image.left_out + vm->objects.left_out;
	vm->is_released = true;
	ctx_vm_image_deinit(&vm->image);
	ctx_vm_writing_deinit(&vm->writing);
	ctx_buf_deinit(&vm->hello);
	ctx_buf_deinit(&vm->goodbye);
	ctx_map64_deinit(&vm->pending.of_method);
	ctx_map64_deinit(&vm->is_missed);
	free(vm->missed);
	free(vm->pending.items);
	ctx_vm_marks_deinit(&vm->marks);
	ctx_vm_objects_deinit(&vm->objects);
	free(vm->turns.items);
	if (vm->counters.fd >= 0)
		close(vm->counters.fd);
	vm->missed = NULL;
	vm->n_missed = 0;
	vm->turns = (struct ctx_vm_turns){0};
	vm->pending = (struct ctx_vm_pending){0};
	vm->counters.fd = -1;
	vm->interpreter_begin = vm->interpreter_end = 0;
}

void ctx_vms_destroy(struct ctx_vms *vms)
{
	if (vms == NULL)
		return;
	ctx_vm_listener_destroy(vms->listener);
	for (size_t i = 0; i < vms->n; i++) {
		release_vm(vms->items[i]);
		free(vms->items[i]);
	}
	for (size_t i = 0; i < vms->n_attached; i++)
		close(vms->attached[i]);
	free(vms->attached);
	free(vms->items);
	free(vms->old_options);
	ctx_buf_deinit(&vms->received);
	ctx_map64_deinit(&vms->of_process);
	ctx_vm_rules_deinit(&vms->interest.rules);
	free(vms->interest.candidates);
	free(vms);
}

/* Options that the user has given stay, in front of ours. */
enum ctx_status ctx_vms_enter_environment(struct ctx_vms *vms, struct ctx_err *err)
{
	const char *old = getenv(VARIABLE);
	char *options CTX_AUTO_FREE = NULL;

	if (old != NULL) {
		vms->old_options = ctx_memdup0(old, strlen(old));
		if (vms->old_options == NULL)
			return ctx_err_nomem(err);
	}
	if (asprintf(&options, "%s%s-agentpath:%s=%s", old != NULL ? old : "", old != NULL ? " " : "",
		     vms->library, vms->options) < 0 ||
	    setenv(VARIABLE, options, 1) != 0)
		return ctx_err_nomem(err);
	return CTX_OK;
}

void ctx_vms_leave_environment(struct ctx_vms *vms)
{
	if (vms->old_options == NULL)
		unsetenv(VARIABLE);
	else
		(void)setenv(VARIABLE, vms->old_options, 1); /* shorter than what is there */
}

enum ctx_status ctx_vms_begin(struct ctx_vms *vms, struct ctx_exp_writer *writer,
			      const struct ctx_proctree *tree, struct ctx_err *err)
{
	vms->writer = writer;
	vms->tree = tree;
	return ctx_vm_listener_start(vms->listener, err);
}

enum ctx_status ctx_vms_attach(struct ctx_vms *vms, int64_t pid, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&vms->attached, &vms->attached_cap, vms->n_attached + 1, err);

	if (status == CTX_OK)
		status = ctx_vm_attach(pid, vms->library, vms->options, &vms->attached[vms->n_attached], err);
	vms->n_attached += status == CTX_OK;
	return status;
}

/* --- messages --- */

static enum ctx_status keep_message(struct ctx_buf *kept, const struct ctx_cursor *rest, struct ctx_err *err)
{
	ctx_buf_clear(kept);
	ctx_buf_put(kept, rest->at, ctx_cursor_left(rest));
	return ctx_buf_check(kept, err);
}

static enum ctx_status take_hello(struct ctx_vms *vms, struct ctx_vm *vm, const struct ctx_vm_head *head,
				  struct ctx_cursor *rest, struct ctx_err *err)
{
	struct ctx_vm_hello hello;
	struct ctx_cursor cursor = *rest;
	enum ctx_status status;

	if (!ctx_vm_parse_hello(&cursor, &hello)) {
		vm->is_stranger = true;
		return CTX_OK;
	}
	if (vm->has_hello)
		return CTX_OK;
	vm->counters.fd = ctx_vm_perfdata_open(vm->pid);
	vm->has_hello = true;
	vm->hello_ns = head->time_ns;
	status = ctx_vms_turns_hello(vms, vm, &hello, err);
	return status == CTX_OK ? keep_message(&vm->hello, rest, err) : status;
}

static enum ctx_status take_goodbye(struct ctx_vm *vm, const struct ctx_vm_head *head,
				    struct ctx_cursor *rest, struct ctx_err *err)
{
	struct ctx_cursor cursor = *rest;
	struct ctx_vm_bye bye;

	if (!ctx_vm_parse_bye(&cursor, &bye)) {
		vm->damaged++;
		return CTX_OK;
	}
	vm->goodbye_ns = head->time_ns;
	return keep_message(&vm->goodbye, rest, err);
}

static enum ctx_status add_interval(struct ctx_vm *vm, const struct ctx_vm_mark *begin, uint64_t end_ns,
				    struct ctx_err *err)
{
	enum ctx_status status = ctx_vm_marks_add_interval(&vm->marks, begin, end_ns, err);

	vm->damaged += status == CTX_E_LIMIT;
	return status == CTX_E_LIMIT ? CTX_OK : status;
}

static enum ctx_status take_stop(struct ctx_vm *vm, const struct ctx_vm_head *head, struct ctx_cursor *rest,
				 struct ctx_err *err)
{
	struct ctx_vm_mark begin = {.name = CTX_VM_NAME_GC, .tid = (int64_t)ctx_cursor_get_u32(rest)};

	begin.time_ns = ctx_cursor_get_u64(rest);
	if (rest->failed || begin.time_ns > head->time_ns) {
		vm->damaged++;
		return CTX_OK;
	}
	vm->counters.lane = begin.tid;
	return add_interval(vm, &begin, head->time_ns, err);
}

enum ctx_status ctx_vms_write_code(struct ctx_vms *vms, struct ctx_vm *vm, struct ctx_vm_known_code *code,
				   struct ctx_err *err)
{
	struct ctx_vm_target target = {vms->writer, &vm->image, vm->process};

	code->is_written = true;
	return ctx_vm_write_code(&vm->writing, &target, code, err);
}

/* Code that is complete: the interpreter, or such as samples were in before it was reported, which is written. */
static enum ctx_status take_complete(struct ctx_vms *vms, struct ctx_vm *vm, uint32_t index,
				     struct ctx_err *err)
{
	struct ctx_vm_known_code *code = &vm->image.codes[index];

	if (code->method == 0 && strcmp(code->name, CTX_VMS_INTERPRETER) == 0) {
		vm->interpreter_begin = code->address;
		vm->interpreter_end = code->address + code->bytes;
	}
	if (vm->process == CTX_NONE)
		return CTX_OK;
	for (uint32_t i = 0; vm->missed != NULL && i < vm->n_missed && i < CTX_VM_MISSED_N; i++) {
		if (vm->missed[i] - code->address < code->bytes)
			return ctx_vms_write_code(vms, vm, code, err);
	}
	return CTX_OK;
}

static enum ctx_status take_message(struct ctx_vms *vms, struct ctx_vm *vm, const uint8_t *bytes, size_t n,
				    struct ctx_err *err)
{
	enum ctx_status status;
	struct ctx_cursor rest;
	struct ctx_vm_head head;
	uint32_t code;

	if (!ctx_vm_parse_head(bytes, n, &head, &rest)) {
		vm->damaged++;
		return CTX_OK;
	}
	vm->dropped += head.dropped;
	/* The recorder may have seen the connection late. */
	if (head.time_ns < vm->since_ns)
		vm->since_ns = head.time_ns;
	if (vm->is_stranger)
		return CTX_OK;
	switch (head.kind) {
	case CTX_VM_HELLO:
		return take_hello(vms, vm, &head, &rest, err);
	case CTX_VM_BYE:
		return take_goodbye(vm, &head, &rest, err);
	case CTX_VM_GC:
		return take_stop(vm, &head, &rest, err);
	case CTX_VM_ALLOCATION:
	case CTX_VM_MONITOR:
		return ctx_vm_objects_add(&vm->objects, &head, &rest, err);
	default:
		status = ctx_vm_image_take(&vm->image, &head, &rest, &code, err);
		return status == CTX_OK && code != CTX_NONE ? take_complete(vms, vm, code, err) : status;
	}
}

static enum ctx_status take_messages(struct ctx_vms *vms, size_t i, struct ctx_err *err)
{
	struct ctx_vm *vm = vms->items[i];
	enum ctx_status status = CTX_OK;
	struct ctx_cursor cursor;

	if (vm->is_closed)
		return CTX_OK;
	vm->is_closed = !ctx_vm_listener_take(vms->listener, i, &vms->received);
	cursor = ctx_cursor_make(vms->received.bytes, vms->received.n);
	while (status == CTX_OK && ctx_cursor_left(&cursor) != 0) {
		uint32_t n = ctx_cursor_get_u32(&cursor);
		const uint8_t *bytes = ctx_cursor_get_bytes(&cursor, n);

		if (bytes == NULL)
			break;
		status = take_message(vms, vm, bytes, n, err);
	}
	return status;
}

static enum ctx_status add_new(struct ctx_vms *vms, struct ctx_err *err)
{
	size_t n = ctx_vm_listener_count(vms->listener);
	enum ctx_status status = ctx_grow(&vms->items, &vms->cap, n, err);

	while (status == CTX_OK && vms->n < n) {
		struct ctx_vm_connection info = ctx_vm_listener_get(vms->listener, vms->n);
		struct ctx_vm *vm = ctx_calloc(1, sizeof(*vm));

		if (vm == NULL)
			return ctx_err_nomem(err);
		vm->pid = info.pid;
		vm->since_ns = info.since_ns;
		vm->process = CTX_NONE;
		vm->counters.fd = -1;
		vm->counters.lane = info.pid;
		vms->items[vms->n++] = vm;
	}
	return status;
}

/* --- counters, and the log --- */

static enum ctx_status add_safepoint(struct ctx_vm *vm, const struct ctx_vm_safepoint *safepoint,
				     struct ctx_err *err)
{
	struct ctx_vm_mark begin = {
		.time_ns = safepoint->begin_ns, .tid = vm->counters.lane, .name = CTX_VM_NAME_SAFEPOINT};
	enum ctx_status status = add_interval(vm, &begin, safepoint->end_ns, err);

	begin.name = CTX_VM_NAME_SYNC;
	return status == CTX_OK ? add_interval(vm, &begin, safepoint->begin_ns + safepoint->sync_ns, err)
				: status;
}

/* Marks of what has changed since the last ones. */
static enum ctx_status add_counts(struct ctx_vm *vm, uint64_t now_ns, struct ctx_err *err)
{
	static const struct {
		enum ctx_vm_figure figure;
		const char *name;
	} counts[] = {{CTX_VM_HEAP_USED, "Java heap in use (bytes)"},
		      {CTX_VM_CLASSES, "classes loaded"},
		      {CTX_VM_CLASS_LOAD_NS, "time loading classes (ns)"},
		      {CTX_VM_COMPILATIONS, "methods compiled"},
		      {CTX_VM_COMPILE_NS, "time compiling (ns)"}};
	struct ctx_vm_polled *counters = &vm->counters;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(counts) && status == CTX_OK; i++) {
		uint64_t value = counters->last.figures[counts[i].figure];
		const struct ctx_vm_mark mark = {.time_ns = now_ns,
						 .tid = counters->lane,
						 .name = counts[i].name,
						 .operation = CTX_MARK_COUNTER,
						 .value = (int64_t)value};

		if (value != CTX_VM_UNKNOWN &&
		    (!counters->is_marked || value != counters->marked.figures[counts[i].figure]))
			status = ctx_vm_marks_add(&vm->marks, &mark, err);
		vm->damaged += status == CTX_E_LIMIT;
		status = status == CTX_E_LIMIT ? CTX_OK : status;
	}
	counters->marked = counters->last;
	counters->is_marked = true;
	return status;
}

/* Up to when what is known is written. */
struct known {
	uint64_t until_ns;
	bool is_end;  /* of the process, or of the recording: nothing comes later */
	bool is_last; /* what waits for more waits no longer: a thread or a process ends, */
	int64_t tid;  /* this one; 0: none */
};

/* Reads the counters where it is time, or in any case. */
static enum ctx_status poll_counters(struct ctx_vms *vms, struct ctx_vm *vm, const struct known *known,
				     struct ctx_err *err)
{
	struct ctx_vm_polled *counters = &vm->counters;
	uint64_t now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	bool is_end = known->is_end || known->tid == counters->lane;
	struct ctx_vm_safepoint safepoint;
	enum ctx_status status = CTX_OK;

	/* Of what is not of interest the last ones are enough. What has closed its connection has ended at a time that comes later. */
	if (counters->fd < 0 ||
	    (!is_end && (now_ns < counters->next_poll_ns || !vm->turns.is_chosen || vm->is_closed)))
		return CTX_OK;
	/* They say nothing of the time after the end of the process, or of the thread that makes safepoints. */
	if (is_end && known->until_ns < now_ns)
		now_ns = known->until_ns;
	counters->next_poll_ns = now_ns + POLL_NS;
	if (!ctx_vm_perfdata_read(counters->fd, &vms->received, &counters->last))
		return CTX_OK;
	counters->is_read = true;
	if (ctx_vm_safepoints_update(&counters->safepoints, &counters->last, now_ns, &safepoint))
		status = add_safepoint(vm, &safepoint, err);
	if (status != CTX_OK || (!is_end && now_ns < counters->next_count_ns))
		return status;
	counters->next_count_ns = now_ns + COUNT_NS;
	return add_counts(vm, now_ns, err);
}

/* What the counters say at the end of the virtual machine or of the recording. */
static enum ctx_status write_figures(struct ctx_vms *vms, struct ctx_vm *vm, struct ctx_err *err)
{
	struct ctx_exp_vm_figures figures = {.process = vm->process,
					     .time_ns = ctx_clock_ns(CLOCK_MONOTONIC)};

	if (!vm->counters.is_read || vm->has_figures)
		return CTX_OK;
	vm->has_figures = true;
	memcpy(figures.figures, vm->counters.last.figures, sizeof(figures.figures));
	return ctx_exp_vm_figures(vms->writer, &figures, err);
}

static enum ctx_status write_log(struct ctx_vms *vms, struct ctx_vm *vm, struct ctx_err *err)
{
	struct ctx_vm_target target = {vms->writer, &vm->image, vm->process};
	enum ctx_status status = CTX_OK;
	struct ctx_cursor rest;

	if (vm->hello.n != 0) {
		struct ctx_vm_hello hello;

		rest = ctx_cursor_make(vm->hello.bytes, vm->hello.n);
		if (ctx_vm_parse_hello(&rest, &hello))
			status = ctx_vm_write_hello(&target, &hello, vm->hello_ns, err);
		ctx_buf_deinit(&vm->hello);
	}
	if (status == CTX_OK && vm->goodbye.n != 0) {
		struct ctx_vm_bye bye;

		rest = ctx_cursor_make(vm->goodbye.bytes, vm->goodbye.n);
		if (ctx_vm_parse_bye(&rest, &bye))
			status = ctx_vm_write_bye(&target, &bye, vm->goodbye_ns, err);
		ctx_buf_deinit(&vm->goodbye);
	}
	return status;
}

/* Defines the methods of frames that have been reported since; at the end also those that never were. */
static enum ctx_status define_pending(struct ctx_vms *vms, struct ctx_vm *vm, bool is_last,
				      struct ctx_err *err)
{
	struct ctx_vm_target target = {vms->writer, &vm->image, vm->process};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; vm->pending.n_defined < vm->pending.n && i < vm->pending.n && status == CTX_OK;
	     i++) {
		struct ctx_vm_pending_method *pending = &vm->pending.items[i];
		uint32_t index = ctx_map64_get(&vm->image.by_address, pending->address);

		if (pending->is_defined || (index == CTX_MAP64_NONE && !is_last))
			continue;
		status = ctx_vm_define(&target, pending->number, index != CTX_MAP64_NONE ? index : CTX_NONE,
				       err);
		pending->is_defined = true;
		vm->pending.n_defined++;
	}
	return status;
}

static enum ctx_status write_objects(struct ctx_vms *vms, struct ctx_vm *vm, uint64_t until_ns,
				     struct ctx_err *err)
{
	const struct ctx_vm_objects_target target = {.names = {vms->writer, &vm->image, vm->process},
						     .tree = vms->tree,
						     .wishes = &vms->wishes,
						     .until_ns = until_ns};

	return ctx_vm_objects_write(&vm->objects, &target, err);
}

/* What needs to know its process and its threads. */
static enum ctx_status write_known(struct ctx_vms *vms, size_t i, const struct known *known,
				   struct ctx_err *err)
{
	struct ctx_vm *vm = vms->items[i];
	struct ctx_vm_marks_target target = {.writer = vms->writer, .tree = vms->tree};
	enum ctx_status status;

	if (vm->is_released)
		return CTX_OK;
	status = ctx_vms_bind_known(vms, i, known->until_ns, err);
	if (status == CTX_OK)
		status = poll_counters(vms, vm, known, err);
	if (status != CTX_OK || vm->process == CTX_NONE)
		return status;
	status = write_log(vms, vm, err);
	if (status == CTX_OK && known->is_end)
		status = write_figures(vms, vm, err);
	if (status == CTX_OK && known->is_end)
		status = ctx_vms_turns_end(vm, known->until_ns, err);
	if (status == CTX_OK)
		status = define_pending(vms, vm, known->is_end, err);
	target.process = vm->process;
	target.until_ns =
		known->is_last || known->until_ns < LATE_NS ? known->until_ns : known->until_ns - LATE_NS;
	if (known->tid != 0)
		ctx_vm_marks_end(&vm->marks, known->is_end ? 0 : known->tid, known->until_ns);
	if (known->tid == vm->counters.lane)
		vm->counters.lane = vm->pid;
	if (status == CTX_OK)
		status = ctx_vm_marks_write(&vm->marks, &target, err);
	if (status == CTX_OK)
		status = write_objects(vms, vm, known->until_ns, err);
	if (known->is_end && known->until_ns != UINT64_MAX)
		vm->ended_ns = known->until_ns;
	return status;
}

enum ctx_status ctx_vms_listen(struct ctx_vms *vms, struct ctx_err *err)
{
	enum ctx_status status = add_new(vms, err);

	for (size_t i = 0; i < vms->n && status == CTX_OK; i++)
		status = take_messages(vms, i, err);
	return status == CTX_OK ? ctx_vms_turns_update(vms, err) : status;
}

enum ctx_status ctx_vms_take(struct ctx_vms *vms, uint64_t until_ns, struct ctx_err *err)
{
	const struct known known = {until_ns, until_ns == UINT64_MAX, until_ns == UINT64_MAX, 0};
	enum ctx_status status = ctx_vms_listen(vms, err);

	for (size_t i = 0; i < vms->n && status == CTX_OK; i++) {
		struct ctx_vm *vm = vms->items[i];

		status = write_known(vms, i, &known, err);
		/* Samples of its threads can come a little after the end of its first one. */
		if (vm->ended_ns != 0 && !vm->is_released && vm->is_closed &&
		    until_ns - vm->ended_ns > RELEASE_NS)
			release_vm(vm);
	}
	return status;
}

enum ctx_status ctx_vms_before_end(struct ctx_vms *vms, const struct ctx_perf_record *record,
				   struct ctx_err *err)
{
	bool is_process = record->pid == record->tid;
	const struct known known = {record->time_ns, is_process, true, record->tid};
	enum ctx_status status = is_process ? add_new(vms, err) : CTX_OK;

	for (size_t i = 0; i < vms->n && status == CTX_OK; i++) {
		if (vms->items[i]->pid != record->pid)
			continue;
		status = take_messages(vms, i, err);
		if (status == CTX_OK)
			status = write_known(vms, i, &known, err);
	}
	return status;
}

struct ctx_vms_counts ctx_vms_counts(const struct ctx_vms *vms)
{
	struct ctx_vms_counts counts = {0};

	for (size_t i = 0; i < vms->n; i++) {
		const struct ctx_vm *vm = vms->items[i];

		counts.vms += vm->has_hello && vm->process != CTX_NONE;
		counts.strangers += vm->is_stranger || (vm->process == CTX_NONE && vm->has_hello);
		counts.dropped += vm->dropped;
		counts.damaged += vm->damaged + vm->image.damaged + vm->objects.damaged;
		counts.left_out += vm->left_out + vm->image.left_out + vm->objects.left_out;
	}
	return counts;
}

bool ctx_vms_text(const struct ctx_vms_counts *counts, unsigned i, char text[CTX_VMS_TEXT_MAX])
{
	const struct {
		uint64_t n;
		const char *format;
	} lines[CTX_VMS_TEXTS] = {
		{counts->vms == 0,
		 "no virtual machine of Java has reported anything: none was started, or it "
		 "cannot load the agent"},
		{counts->dropped, "%llu messages of virtual machines were dropped, since the recorder was "
				  "late: some methods have no names"},
		{counts->damaged, "%llu messages of virtual machines made no sense"},
		{counts->left_out, "%llu messages of virtual machines were left out, since there are too "
				   "many: some methods have no names"},
		{counts->strangers,
		 "%llu virtual machines are not of this recording, or have an agent of another version"},
	};

	if (i >= CTX_VMS_TEXTS || lines[i].n == 0)
		return false;
	snprintf(text, CTX_VMS_TEXT_MAX, lines[i].format, (unsigned long long)lines[i].n);
	return true;
}
