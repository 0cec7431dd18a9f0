/*
 * What agents in virtual machines report: messages whole and cut, code at an address over time against a list, and frames of a
 * stack that was made by hand, by a connection like that of an agent.
 */
#include "experiment_place.h"

#include "base/buf.h"
#include "base/clock.h"
#include "collect/mapped_files.h"
#include "collect/vm_attach.h"
#include "collect/vm_frames.h"
#include "collect/vm_image.h"
#include "collect/vm_listener.h"
#include "collect/vm_parse.h"
#include "collect/vms.h"
#include "runtime/shared_layout.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

static void put_text(struct ctx_buf *out, const char *text)
{
	ctx_buf_put_u16(out, (uint16_t)strlen(text));
	ctx_buf_put_text(out, text);
}

static void put_head(struct ctx_buf *out, uint32_t kind, uint64_t time_ns)
{
	ctx_buf_clear(out);
	ctx_buf_put_u32(out, kind);
	ctx_buf_put_u32(out, 0);
	ctx_buf_put_u64(out, time_ns);
}

#define FIB_ID 0x1008u
#define FIB_METHOD 0x7f0000002000u
#define FIB_CODE 0x7f0000003000u
#define MAIN_ID 0x1010u
#define MAIN_METHOD 0x7f0000002100u

/* Class demo/J with fib, whose line is 5 from bytecode 0 and 7 from bytecode 10 on, and main, which has no lines. */
static void put_methods(struct ctx_buf *out)
{
	put_head(out, CTX_VM_METHODS, 1);
	put_text(out, "demo/J");
	put_text(out, "J.java");
	ctx_buf_put_u32(out, 2);
	ctx_buf_put_u64(out, FIB_ID);
	ctx_buf_put_u64(out, FIB_METHOD);
	ctx_buf_put_u64(out, FIB_CODE);
	ctx_buf_put_u32(out, 20);
	ctx_buf_put_u32(out, 0);
	put_text(out, "fib");
	put_text(out, "(I)I");
	ctx_buf_put_u32(out, 2);
	ctx_buf_put_u16(out, 10);
	ctx_buf_put_u16(out, 7);
	ctx_buf_put_u16(out, 0);
	ctx_buf_put_u16(out, 5);
	ctx_buf_put_u64(out, MAIN_ID);
	ctx_buf_put_u64(out, MAIN_METHOD);
	ctx_buf_put_u64(out, 0);
	ctx_buf_put_u32(out, 0);
	ctx_buf_put_u32(out, 0);
	put_text(out, "main");
	put_text(out, "([Ljava/lang/String;)V");
	ctx_buf_put_u32(out, 0);
}

static void put_code(struct ctx_buf *out, uint32_t number, uint64_t address, uint32_t bytes, uint64_t method)
{
	put_head(out, CTX_VM_CODE, 2);
	ctx_buf_put_u32(out, number);
	ctx_buf_put_u64(out, address);
	ctx_buf_put_u32(out, bytes);
	ctx_buf_put_u64(out, method);
	put_text(out, method != 0 ? "" : "Interpreter");
}

static void put_code_end(struct ctx_buf *out, uint32_t number, uint64_t time_ns)
{
	put_head(out, CTX_VM_CODE_END, time_ns);
	ctx_buf_put_u32(out, number);
}

static enum ctx_status take(struct ctx_vm_image *image, const struct ctx_buf *message, size_t n,
			    uint32_t *ret_code)
{
	struct ctx_cursor rest;
	struct ctx_vm_head head;

	*ret_code = CTX_NONE;
	if (!ctx_vm_parse_head(message->bytes, n, &head, &rest))
		return CTX_OK;
	return ctx_vm_image_take(image, &head, &rest, ret_code, NULL);
}

static void test_vms__methods_are_found_by_id_and_by_address(void **state)
{
	struct ctx_buf message CTX_AUTO_BUF = {0};
	struct ctx_vm_image image = {0};
	struct ctx_vm_class class;
	struct ctx_vm_method method;
	uint32_t code;

	(void)state;
	put_methods(&message);
	assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
	assert_int_equal(image.damaged, 0);
	ctx_vm_image_method(&image, ctx_map64_get(&image.by_address, FIB_METHOD), &class, &method);
	assert_int_equal(class.name.n, 6);
	assert_memory_equal(class.name.at, "demo/J", 6);
	assert_memory_equal(method.name.at, "fib", 3);
	assert_int_equal(ctx_vm_line_of(&method, 0), 5);
	assert_int_equal(ctx_vm_line_of(&method, 9), 5);
	assert_int_equal(ctx_vm_line_of(&method, 10), 7);
	assert_int_equal(ctx_vm_line_of(&method, 19), 7);
	ctx_vm_image_method(&image, ctx_map64_get(&image.by_id, MAIN_ID), &class, &method);
	assert_memory_equal(method.name.at, "main", 4);
	assert_int_equal(ctx_vm_line_of(&method, 0), 0);
	ctx_vm_image_deinit(&image);
}

static void test_vms__a_message_that_is_cut_is_damage_and_keeps_what_is_whole(void **state)
{
	struct ctx_buf message CTX_AUTO_BUF = {0};

	(void)state;
	put_methods(&message);
	for (size_t n = 0; n < message.n; n++) {
		struct ctx_vm_image image = {0};
		uint32_t code;

		assert_int_equal(take(&image, &message, n, &code), CTX_OK);
		assert_int_equal(image.damaged, n >= CTX_VM_HEAD_BYTES);
		assert_true(image.n_methods < 2);
		ctx_vm_image_deinit(&image);
	}
}

/* Rows, bytes and ends of code that was not begun, or that are beyond it, are ignored. */
static void test_vms__parts_of_no_code_are_ignored(void **state)
{
	struct ctx_buf message CTX_AUTO_BUF = {0};
	struct ctx_vm_image image = {0};
	uint32_t code;

	(void)state;
	put_code_end(&message, 7, 5);
	assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
	assert_int_equal(code, CTX_NONE);
	put_code(&message, 7, 0x5000, 16, FIB_ID);
	assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
	assert_null(ctx_vm_image_code_at(&image, 0x5000)); /* it is not complete */
	put_head(&message, CTX_VM_CODE_BYTES, 3);
	ctx_buf_put_u32(&message, 7);
	ctx_buf_put_u32(&message, 10);
	ctx_buf_put(&message, "1234567", 7);
	assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
	assert_int_equal(image.damaged, 1);
	put_code_end(&message, 7, 5);
	assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
	assert_int_equal(code, 0);
	assert_non_null(ctx_vm_image_code_at(&image, 0x500f));
	assert_null(ctx_vm_image_code_at(&image, 0x5010));
	put_code(&message, 8, UINT64_MAX - 3, 16, FIB_ID); /* beyond all addresses */
	assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
	assert_int_equal(image.damaged, 2);
	ctx_vm_image_deinit(&image);
}

#define CODES 300u

struct listed {
	uint64_t address, bytes, told_ns, unload_ns;
};

/* The last one there, and the largest end of what it took the place of. */
static int slowly_at(const struct listed *codes, int n, uint64_t address)
{
	while (--n >= 0 && address - codes[n].address >= codes[n].bytes)
		continue;
	return n;
}

static uint64_t slowly_begun(const struct listed *codes, int n)
{
	uint64_t begin_ns = 0;

	for (uint64_t at = codes[n].address; at < codes[n].address + codes[n].bytes; at++) {
		int before = slowly_at(codes, n, at);
		uint64_t gone_ns = before < 0 ? 0 : codes[before].unload_ns;

		if (gone_ns > codes[n].told_ns)
			gone_ns = codes[n].told_ns;
		begin_ns = gone_ns > begin_ns ? gone_ns : begin_ns;
	}
	return begin_ns;
}

static void test_vms__code_is_what_was_told_last_of_an_address(void **state)
{
	struct listed codes[CODES];
	struct ctx_buf message CTX_AUTO_BUF = {0};
	struct ctx_vm_image image = {0};
	uint64_t seed = 11;
	uint32_t code;

	(void)state;
	for (int i = 0; i < (int)CODES; i++) {
		codes[i] = (struct listed){.address = 0x1000 + fixture_random(&seed, 200),
					   .bytes = 1 + fixture_random(&seed, 12),
					   .told_ns = (uint64_t)i * 10 + 5,
					   .unload_ns = UINT64_MAX};
		put_code(&message, (uint32_t)i, codes[i].address, (uint32_t)codes[i].bytes, FIB_ID);
		assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
		put_code_end(&message, (uint32_t)i, codes[i].told_ns);
		assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
		assert_int_equal(code, i);
		assert_int_equal(image.codes[i].begin_ns, slowly_begun(codes, i));
		for (uint64_t at = 0xff0; at < 0x10f0; at++) {
			const struct ctx_vm_known_code *found = ctx_vm_image_code_at(&image, at);

			assert_int_equal(found != NULL ? (int)(found - image.codes) : -1,
					 slowly_at(codes, i + 1, at));
		}
		if (fixture_random(&seed, 2) == 0 && slowly_at(codes, i + 1, codes[i].address) == i) {
			codes[i].unload_ns = codes[i].told_ns + 3;
			put_head(&message, CTX_VM_UNLOAD, codes[i].unload_ns);
			ctx_buf_put_u64(&message, codes[i].address);
			assert_int_equal(take(&image, &message, message.n, &code), CTX_OK);
		}
	}
	ctx_vm_image_deinit(&image);
}

/* --- frames --- */

#define INTERPRETER UINT64_C(0x7f1000000000)
#define COMPILED UINT64_C(0x7f1000100000)
#define STACK UINT64_C(0x7ffd00001000)
#define STACK_WORDS 64u

struct recording {
	struct ctx_exp_writer *writer;
	struct ctx_mapped_files *files;
	struct ctx_proctree *tree;
	struct ctx_vms *vms;
	char name[64]; /* of the socket */
	int agent;
	uint64_t begun_ns;			/* before it connected */
	const struct ctx_vm_interest *interest; /* NULL: all are of interest */
};

/* As an agent does, by the name in the options. */
static void connect_agent(struct recording *recording)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s", recording->name);
	recording->agent = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(connect(recording->agent, (struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					     strlen(address.sun_path + 1))),
			 0);
}

/* False: this build has no agent. */
static bool begin(struct recording *recording, const char *path)
{
	struct ctx_exp_options options = fixture_options(path);
	const char *variable;
	uint64_t now_ns = ctx_clock_ns(CLOCK_MONOTONIC);

	if (ctx_vms_create(&recording->vms, &(struct ctx_vm_wishes){.sync = true}, NULL) != CTX_OK)
		return false;
	if (recording->interest != NULL)
		assert_int_equal(ctx_vms_choose(recording->vms, recording->interest, NULL), CTX_OK);
	options.start_ns = recording->begun_ns = now_ns;
	options.has_marks = options.has_sync = true;
	assert_int_equal(ctx_exp_create(&options, &recording->writer, NULL), CTX_OK);
	assert_int_equal(ctx_mapped_files_create(&recording->files, NULL), CTX_OK);
	assert_int_equal(ctx_proctree_create(recording->writer, recording->files, &recording->tree, NULL),
			 CTX_OK);
	assert_int_equal(ctx_proctree_add_root_process(recording->tree, getpid(), "java", now_ns, NULL),
			 CTX_OK);
	assert_int_equal(ctx_vms_begin(recording->vms, recording->writer, recording->tree, NULL), CTX_OK);
	setenv("JAVA_TOOL_OPTIONS", "-Xmx1g", 1);
	assert_int_equal(ctx_vms_enter_environment(recording->vms, NULL), CTX_OK);
	variable = getenv("JAVA_TOOL_OPTIONS");
	assert_true(strncmp(variable, "-Xmx1g -agentpath:/", 19) == 0);
	snprintf(recording->name, sizeof(recording->name), "%s", strrchr(variable, '=') + 1);
	assert_string_equal(strchr(variable, ','), recording->interest != NULL ? ",sync,asked" : ",sync");
	*strchr(recording->name, ',') = '\0';
	connect_agent(recording);
	ctx_vms_leave_environment(recording->vms);
	assert_string_equal(getenv("JAVA_TOOL_OPTIONS"), "-Xmx1g");
	unsetenv("JAVA_TOOL_OPTIONS");
	return true;
}

static void end(struct recording *recording)
{
	if (recording->vms == NULL)
		return;
	close(recording->agent);
	assert_int_equal(ctx_vms_take(recording->vms, UINT64_MAX, NULL), CTX_OK);
	assert_int_equal(ctx_exp_close(recording->writer, ctx_clock_ns(CLOCK_MONOTONIC), NULL), CTX_OK);
	ctx_vms_destroy(recording->vms);
	ctx_proctree_destroy(recording->tree);
	ctx_mapped_files_destroy(recording->files);
}

static void tell(const struct recording *recording, const struct ctx_buf *message)
{
	assert_int_equal(send(recording->agent, message->bytes, message->n, 0), (ssize_t)message->n);
}

static void tell_code(const struct recording *recording, uint32_t number, uint64_t address, uint64_t method)
{
	struct ctx_buf message CTX_AUTO_BUF = {0};

	put_code(&message, number, address, 0x1000, method);
	tell(recording, &message);
	put_code_end(&message, number, 9);
	tell(recording, &message);
}

/* The word of the stack at `address`. */
static uint64_t *word(uint64_t *stack, uint64_t address)
{
	return &stack[(address - STACK) / 8];
}

/* A frame of the interpreter whose frame pointer is `fp`. */
static void put_frame(uint64_t *stack, uint64_t fp, uint64_t method, uint64_t bytecode)
{
	*word(stack, fp - 24) = method;
	*word(stack, fp - 56) = fp + 32; /* its variables */
	*word(stack, fp - 64) = bytecode;
}

static void test_vms__interpreted_frames_get_the_names_and_lines_of_their_methods(void **state)
{
	const struct place *place = *state;
	struct recording recording = {0};
	struct ctx_buf message CTX_AUTO_BUF = {0};
	uint64_t stack[STACK_WORDS] = {0};
	struct ctx_user_state user = {.regs = {.machine = CTX_MACHINE_X86_64, .valid = 1u << 7},
				      .stack = (const uint8_t *)stack,
				      .stack_bytes = sizeof(stack)};
	/* The leaf calls into the virtual machine by a frame of its own; then fib, main, and one that is not reported yet. */
	struct ctx_unwind_frame items[] = {{INTERPRETER + 1, STACK + 40},  {INTERPRETER + 2, STACK + 120},
					   {INTERPRETER + 3, STACK + 200}, {INTERPRETER + 4, STACK + 280},
					   {COMPILED + 5, STACK + 300},	   {0x401000, STACK + 400}};
	struct ctx_vms_frames frames = {.items = items, .n = CTX_COUNT_OF(items)};
	struct ctx_vms_stack whose = {.pid = getpid(), .state = &user};

	if (!begin(&recording, place->path))
		skip();
	user.regs.value[7] = STACK;
	put_frame(stack, STACK + 120 - 16, FIB_METHOD, FIB_CODE + 12);
	put_frame(stack, STACK + 200 - 16, MAIN_METHOD, 0);
	put_frame(stack, STACK + 280 - 16, FIB_METHOD + 0x800, 0);
	put_methods(&message);
	tell(&recording, &message);
	tell_code(&recording, 0, INTERPRETER, 0);
	tell_code(&recording, 1, COMPILED, FIB_ID);
	assert_int_equal(ctx_vms_take(recording.vms, ctx_clock_ns(CLOCK_MONOTONIC), NULL), CTX_OK);
	whose.time_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(ctx_vms_name(recording.vms, &whose, &frames, NULL), CTX_OK);
	assert_int_equal(frames.n, 5);
	assert_int_equal(frames.n_named, 3);
	assert_true(ctx_frame_is_named(items[0].address));
	assert_int_equal(ctx_frame_position(items[0].address), 7);
	assert_int_equal(items[0].cfa, STACK + 120);
	assert_true(ctx_frame_is_named(items[1].address));
	assert_int_equal(ctx_frame_position(items[1].address), 0);
	assert_true(ctx_frame_is_named(items[2].address));
	assert_int_not_equal(ctx_frame_function(items[0].address), ctx_frame_function(items[1].address));
	assert_int_not_equal(ctx_frame_function(items[2].address), ctx_frame_function(items[1].address));
	assert_int_equal(items[3].address, COMPILED + 5);
	assert_int_equal(items[4].address, 0x401000);
	end(&recording);
}

/* Of another process, or outside of what was copied: frames stay. */
static void test_vms__frames_of_others_stay(void **state)
{
	const struct place *place = *state;
	struct recording recording = {0};
	struct ctx_buf message CTX_AUTO_BUF = {0};
	uint64_t stack[STACK_WORDS] = {0};
	struct ctx_user_state user = {.regs = {.machine = CTX_MACHINE_X86_64, .valid = 1u << 7},
				      .stack = (const uint8_t *)stack,
				      .stack_bytes = 64};
	struct ctx_unwind_frame item = {INTERPRETER + 1, STACK + 200};
	struct ctx_vms_frames frames = {.items = &item, .n = 1};
	struct ctx_vms_stack whose = {.pid = getpid() + 1, .state = &user, .process = 1};

	if (!begin(&recording, place->path))
		skip();
	user.regs.value[7] = STACK;
	put_frame(stack, STACK + 200 - 16, FIB_METHOD, FIB_CODE);
	put_methods(&message);
	tell(&recording, &message);
	tell_code(&recording, 0, INTERPRETER, 0);
	assert_int_equal(ctx_vms_take(recording.vms, ctx_clock_ns(CLOCK_MONOTONIC), NULL), CTX_OK);
	whose.time_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ctx_vms_name(recording.vms, &whose, &frames, NULL), CTX_OK);
		assert_int_equal(frames.n_named, 0);
		assert_int_equal(item.address, INTERPRETER + 1);
		whose.pid = getpid();
		whose.process = 0;
	}
	user.stack_bytes = sizeof(stack); /* all of it: now it is the method's */
	assert_int_equal(ctx_vms_name(recording.vms, &whose, &frames, NULL), CTX_OK);
	assert_int_equal(frames.n_named, 1);
	end(&recording);
}

/* --- of interest --- */

/* The duration of each mark that ends, and the thread that they are of; returns how many there are. */
static size_t read_ends(const char *path, uint64_t *durations, size_t most, uint32_t *ret_thread)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status;
	size_t n = 0;

	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		if (event.kind != CTX_EV_TRACED || event.traced.operation->operation != CTX_MARK_END)
			continue;
		assert_true(n < most);
		assert_true(n == 0 || *ret_thread == event.thread);
		*ret_thread = event.thread;
		durations[n++] = event.traced.operation->duration_ns;
	}
	assert_int_equal(status, CTX_END);
	source->close(source);
	return n;
}

static void tell_hello(const struct recording *recording, const char *command, uint64_t time_ns)
{
	struct ctx_buf message CTX_AUTO_BUF = {0};

	put_head(&message, CTX_VM_HELLO, time_ns);
	ctx_buf_put_u32(&message, CTX_VM_VERSION);
	put_text(&message, "OpenJDK");
	put_text(&message, "17");
	put_text(&message, "G1");
	put_text(&message, command);
	ctx_buf_put_u64(&message, 0);
	tell(recording, &message);
}

/* The order that has come; 0: none. */
static uint32_t order_of(const struct recording *recording)
{
	uint32_t order = 0;

	return recv(recording->agent, &order, sizeof(order), MSG_DONTWAIT) == sizeof(order) ? order : 0;
}

/* A virtual machine that says this is of interest, or not, where only my.Server is. */
static void check_interest(const struct place *place, const char *command, bool is_chosen)
{
	static const char *const rule = "main=my.Server";
	const struct ctx_vm_interest interest = {.rules = &rule, .n = 1};
	struct recording recording = {.interest = &interest};
	struct ctx_vms_stack whose = {.pid = getpid()};
	uint64_t now_ns, frame;

	if (!begin(&recording, place->path))
		skip();
	now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(order_of(&recording), 0);
	tell_hello(&recording, command, now_ns);
	assert_int_equal(ctx_vms_listen(recording.vms, NULL), CTX_OK);
	assert_int_equal(order_of(&recording), is_chosen ? CTX_VM_ORDER_REPORT : 0);
	whose.time_ns = now_ns - 1; /* while it starts */
	assert_int_equal(ctx_vms_leaves_out(recording.vms, &whose, &frame, NULL), CTX_OK);
	assert_int_equal(frame, 0);
	whose.time_ns = now_ns + 1;
	assert_int_equal(ctx_vms_leaves_out(recording.vms, &whose, &frame, NULL), CTX_OK);
	assert_int_equal(frame != 0 && ctx_frame_is_named(frame), !is_chosen);
	end(&recording);
}

static void test_vms__what_is_of_interest_is_asked_to_report(void **state)
{
	check_interest(*state, "my.Server 80", true);
}

static void test_vms__what_is_not_of_interest_is_not_asked_and_has_no_stacks(void **state)
{
	check_interest(*state, "my.Client", false);
}

/* Two virtual machines in one process, as far as the recorder can tell: one at a time is of interest. */
static void test_vms__the_next_ones_turn_comes_when_one_ends(void **state)
{
	const struct place *place = *state;
	struct recording recording = {.interest = &(struct ctx_vm_interest){.limit = 1}}, second;
	uint64_t now_ns, durations[8];
	uint32_t thread = 0;
	size_t n;
	struct ctx_buf message CTX_AUTO_BUF = {0};

	if (!begin(&recording, place->path))
		skip();
	now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	tell_hello(&recording, "first", now_ns);
	assert_int_equal(ctx_vms_listen(recording.vms, NULL), CTX_OK);
	assert_int_equal(order_of(&recording), CTX_VM_ORDER_REPORT);
	second = recording;
	connect_agent(&second);
	tell_hello(&second, "second", now_ns + 10);
	assert_int_equal(ctx_vms_listen(recording.vms, NULL), CTX_OK);
	assert_int_equal(order_of(&second), 0);
	put_head(&message, CTX_VM_BYE, now_ns + 20);
	for (size_t i = 0; i < 4; i++)
		ctx_buf_put_u64(&message, 0);
	tell(&recording, &message);
	assert_int_equal(ctx_vms_listen(recording.vms, NULL), CTX_OK);
	assert_int_equal(order_of(&second), CTX_VM_ORDER_REPORT);
	close(second.agent);
	end(&recording);
	/* Their lives begin in one thread here, so they pair differently; the turn of the first is as long as its life. */
	n = read_ends(place->path, durations, CTX_COUNT_OF(durations), &thread);
	while (n != 0 && durations[n - 1] != 20)
		n--;
	assert_int_not_equal(n, 0);
}

/* --- garbage collections --- */

static void tell_gc(const struct recording *recording, uint32_t tid, uint64_t begin_ns, uint64_t end_ns)
{
	struct ctx_buf message CTX_AUTO_BUF = {0};

	put_head(&message, CTX_VM_GC, end_ns);
	ctx_buf_put_u32(&message, tid);
	ctx_buf_put_u64(&message, begin_ns);
	tell(recording, &message);
}

/* Writes the task records, as those of rings are: the thread's fork or end. */
static struct ctx_perf_record task_record(uint32_t type, uint32_t tid, uint64_t time_ns)
{
	return (struct ctx_perf_record){.type = type,
					.time_ns = time_ns,
					.pid = (uint32_t)getpid(),
					.tid = tid,
					.task = {.pid = getpid(),
						 .parent_pid = getpid(),
						 .tid = (int32_t)tid,
						 .parent_tid = getpid()}};
}

/* The thread is known from its fork to its end, and not a round earlier or later. */
static void test_vms__collections_are_marks_of_a_thread_that_begins_and_ends_in_a_round(void **state)
{
	const struct place *place = *state;
	const uint32_t tid = (uint32_t)getpid() + 1;
	struct recording recording = {0};
	struct ctx_perf_record record;
	uint64_t now_ns, durations[8];
	uint32_t thread = 0;

	if (!begin(&recording, place->path))
		skip();
	now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	tell_gc(&recording, tid, now_ns + 20, now_ns + 25);
	tell_gc(&recording, tid, now_ns + 30, now_ns + 36);
	tell_gc(&recording, tid + 1, now_ns + 37, now_ns + 38); /* an unknown thread */
	assert_int_equal(ctx_vms_listen(recording.vms, NULL), CTX_OK);
	record = task_record(PERF_RECORD_FORK, tid, now_ns + 10);
	assert_int_equal(ctx_proctree_apply(recording.tree, &record, NULL), CTX_OK);
	record = task_record(PERF_RECORD_EXIT, tid, now_ns + 40);
	assert_int_equal(ctx_vms_before_end(recording.vms, &record, NULL), CTX_OK);
	assert_int_equal(ctx_proctree_apply(recording.tree, &record, NULL), CTX_OK);
	end(&recording);
	assert_int_equal(read_ends(place->path, durations, CTX_COUNT_OF(durations), &thread), 2);
	assert_int_equal(durations[0], 5);
	assert_int_equal(durations[1], 6);
	assert_int_equal(thread, 1);
}

/* What is known roughly may be placed behind the end of the process: its intervals end there, and none stays open. */
static void test_vms__intervals_end_with_the_process(void **state)
{
	const struct place *place = *state;
	const uint32_t tid = (uint32_t)getpid();
	struct recording recording = {0};
	struct ctx_perf_record record;
	uint64_t now_ns, durations[8];
	uint32_t thread = 0;

	if (!begin(&recording, place->path))
		skip();
	now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	tell_gc(&recording, tid, now_ns + 5, now_ns + 10);
	tell_gc(&recording, tid, now_ns + 20, now_ns + 60);
	assert_int_equal(ctx_vms_listen(recording.vms, NULL), CTX_OK);
	record = task_record(PERF_RECORD_EXIT, tid, now_ns + 40);
	assert_int_equal(ctx_vms_before_end(recording.vms, &record, NULL), CTX_OK);
	assert_int_equal(ctx_proctree_apply(recording.tree, &record, NULL), CTX_OK);
	end(&recording);
	assert_int_equal(read_ends(place->path, durations, CTX_COUNT_OF(durations), &thread), 2);
	assert_int_equal(durations[0], 5);
	assert_int_equal(durations[1], 20);
}

/* A process executes Java, which connects before the record of that is read: the virtual machine is not of what ends. */
static void test_vms__a_virtual_machine_is_not_of_the_image_before_it(void **state)
{
	const struct place *place = *state;
	const uint32_t tid = (uint32_t)getpid();
	struct recording recording = {0};
	struct ctx_perf_record record;
	uint64_t now_ns, durations[8];
	uint32_t thread = 0;

	if (!begin(&recording, place->path))
		skip();
	now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	tell_gc(&recording, tid, now_ns + 20, now_ns + 25);
	record = (struct ctx_perf_record){.type = PERF_RECORD_COMM,
					  .misc = PERF_RECORD_MISC_COMM_EXEC,
					  .time_ns = recording.begun_ns + 1,
					  .pid = tid,
					  .tid = tid,
					  .comm = "sh"};
	assert_int_equal(ctx_proctree_apply(recording.tree, &record, NULL), CTX_OK); /* the command itself */
	record.time_ns++;
	record.comm = "java";
	assert_int_equal(ctx_vms_before_end(recording.vms, &record, NULL), CTX_OK);
	assert_int_equal(ctx_proctree_apply(recording.tree, &record, NULL), CTX_OK);
	record.time_ns = now_ns + 30;
	record.type = PERF_RECORD_EXIT;
	assert_int_equal(ctx_vms_before_end(recording.vms, &record, NULL), CTX_OK);
	end(&recording);
	assert_int_equal(read_ends(place->path, durations, CTX_COUNT_OF(durations), &thread), 1);
	assert_int_equal(durations[0], 5);
	assert_int_equal(thread, 1);
}

/* --- objects --- */

/* The head of an object's message, its class and a stack: fib at bytecode 10, called by main. */
static void put_stack(struct ctx_buf *message, const char *class)
{
	put_text(message, class);
	ctx_buf_put_u32(message, 2);
	ctx_buf_put_u64(message, FIB_ID);
	ctx_buf_put_u32(message, 10);
	ctx_buf_put_u64(message, MAIN_ID);
	ctx_buf_put_u32(message, 0);
}

/* Waits for monitors have the class as leaf, below it the methods; of a thread that is not known there is none. */
static void test_vms__waits_have_their_class_and_methods_and_owner(void **state)
{
	const struct place *place = *state;
	const uint32_t tid = (uint32_t)getpid(), owner = tid + 1;
	struct ctx_buf message CTX_AUTO_BUF = {0};
	struct recording recording = {0};
	struct ctx_perf_record record;
	struct ctx_event_source *source;
	struct ctx_event event;
	uint64_t now_ns;
	unsigned n = 0, blocks = 0, functions = 0;

	if (!begin(&recording, place->path))
		skip();
	put_methods(&message);
	tell(&recording, &message);
	now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	record = task_record(PERF_RECORD_FORK, owner, now_ns + 5);
	assert_int_equal(ctx_proctree_apply(recording.tree, &record, NULL), CTX_OK);
	/* A monitor whose owner is not known, a lock that another thread has, a thread that is not known. */
	for (uint32_t i = 0; i < 3; i++) {
		put_head(&message, CTX_VM_MONITOR, now_ns + 40);
		ctx_buf_put_u32(&message, i < 2 ? tid : owner + 1);
		ctx_buf_put_u32(&message, i == 1 ? CTX_VM_MONITOR_PARK | CTX_VM_MONITOR_OWNED : 0);
		ctx_buf_put_u32(&message, i == 1 ? owner : i == 2 ? tid : 0);
		ctx_buf_put_u64(&message, now_ns + 10);
		ctx_buf_put_u64(&message, 0x1234);
		put_stack(&message, "Ldemo/Lock;");
		tell(&recording, &message);
	}
	assert_int_equal(ctx_vms_take(recording.vms, UINT64_MAX, NULL), CTX_OK);
	end(&recording);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		if (event.kind == CTX_EV_FUNCTION)
			functions += strcmp(event.function.name, "demo.Lock") == 0 ||
				     strcmp(event.function.name, "demo.J.fib(int)") == 0 ||
				     strcmp(event.function.name, "demo.J.main(java.lang.String[])") == 0;
		if (event.kind != CTX_EV_TRACED)
			continue;
		assert_int_equal(event.traced.operation->kind, CTX_TRACED_SYNC);
		assert_int_equal(event.traced.operation->duration_ns, 30);
		assert_int_equal(event.traced.operation->address, 0x1234);
		if (event.traced.operation->operation == CTX_SYNC_BLOCK) {
			assert_int_equal(event.thread, 1);
			assert_int_equal(event.traced.operation->other, 0);
			blocks++;
			continue;
		}
		assert_int_equal(event.traced.operation->operation, CTX_SYNC_MUTEX);
		assert_int_equal(event.thread, 0);
		n++;
	}
	source->close(source);
	assert_int_equal(n, 2);
	assert_int_equal(blocks, 1);
	assert_int_equal(functions, 3);
}

/* Every message that is cut is none, and one whose stack is too deep. */
static void test_vms__objects_are_read_whole_or_not_at_all(void **state)
{
	struct ctx_buf message CTX_AUTO_BUF = {0};
	struct ctx_vm_object object;
	struct ctx_cursor cursor;
	const uint32_t deep = CTX_VM_STACK_MAX + 1;

	(void)state;
	ctx_buf_put_u32(&message, 7);
	ctx_buf_put_u64(&message, 24);
	put_stack(&message, "[B");
	for (size_t i = 0; i < message.n; i++) {
		cursor = ctx_cursor_make(message.bytes, i);
		assert_false(ctx_vm_parse_allocation(&cursor, &object));
	}
	cursor = ctx_cursor_make(message.bytes, message.n);
	assert_true(ctx_vm_parse_allocation(&cursor, &object));
	assert_int_equal(object.tid, 7);
	assert_int_equal(object.bytes, 24);
	assert_int_equal(object.n_frames, 2);
	assert_int_equal(ctx_vm_object_frame(&object, 0).method, FIB_ID);
	assert_int_equal(ctx_vm_object_frame(&object, 0).bytecode, 10);
	memcpy(message.bytes + 16, &deep, sizeof(deep));
	cursor = ctx_cursor_make(message.bytes, message.n);
	assert_false(ctx_vm_parse_allocation(&cursor, &object));
	/* A large one stands for itself, small ones for what was not sampled. */
	assert_int_equal(ctx_vm_objects_weight(1024, 1024 * 1024), 1024 * 1024);
	assert_in_range(ctx_vm_objects_weight(1 << 20, 16), (1 << 20) - 16, (1 << 20) + 16);
}

/* What a killed recorder could not remove; a socket that somebody listens to stays. */
static void test_vms__a_socket_that_nobody_listens_to_is_removed(void **state)
{
	static const char left[] = CTX_RT_SOCKETS "/ctxrec-vm-0123456789abcdef0123456789abcdef";
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ctx_vm_listener *listener, *other;
	char path[128];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	(void)state;
	assert_int_equal(ctx_vm_listener_create(&listener, NULL), CTX_OK);
	snprintf(path, sizeof(path), CTX_RT_SOCKETS "/%s", ctx_vm_listener_name(listener));
	strcpy(address.sun_path, left);
	unlink(left);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	assert_int_equal(ctx_vm_listener_create(&other, NULL), CTX_OK);
	ctx_vm_listener_destroy(other);
	assert_int_not_equal(access(left, F_OK), 0);
	assert_int_equal(access(path, F_OK), 0);
	ctx_vm_listener_destroy(listener);
	assert_int_not_equal(access(path, F_OK), 0);
}

/* SIGQUIT ends who does not catch it. */
static void test_vms__only_a_virtual_machine_that_catches_its_signal_is_asked(void **state)
{
	static const char maps[] = "7f00-7f01 r-xp 0 fe:00 9 /usr/lib/jvm/java-17/lib/server/libjvm.so\n";
	static const char catches[] = "Name:\tjava\nSigIgn:\t0000000000000004\nSigCgt:\t0000000181005ccf\n";
	static const char ignores[] = "Name:\tjava\nSigIgn:\t0000000000000004\nSigCgt:\t0000000181005ccb\n";

	(void)state;
	assert_true(ctx_vm_attach_is_java(maps, catches));
	assert_false(ctx_vm_attach_is_java(maps, ignores));
	assert_false(ctx_vm_attach_is_java(maps, "Name:\tjava\n"));
	assert_false(ctx_vm_attach_is_java("7f00-7f01 r-xp 0 fe:00 9 /usr/bin/libjvm\n", catches));
	assert_int_not_equal(ctx_vm_attach(getpid(), "/lib.so", "x", &(int){0}, NULL), CTX_OK);
}

static void test_vms__an_answer_is_whole_before_it_counts(void **state)
{
	(void)state;
	assert_int_equal(ctx_vm_attach_answer("", NULL), CTX_END);
	assert_int_equal(ctx_vm_attach_answer("0", NULL), CTX_END);
	assert_int_equal(ctx_vm_attach_answer("0\n", NULL), CTX_END);
	assert_int_equal(ctx_vm_attach_answer("0\nreturn code: 0", NULL), CTX_END);
	assert_int_equal(ctx_vm_attach_answer("0\nreturn code: 0\n", NULL), CTX_OK);
	assert_int_equal(ctx_vm_attach_answer("0\nreturn code: -1\n", NULL), CTX_E_IO);
	assert_int_equal(ctx_vm_attach_answer("100\nno such library\n", NULL), CTX_E_IO);
}

static void test_vms__what_was_missed_is_said(void **state)
{
	struct ctx_vms_counts counts = {.vms = 1};
	char text[CTX_VMS_TEXT_MAX];
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < CTX_VMS_TEXTS; i++)
		n += ctx_vms_text(&counts, i, text);
	assert_int_equal(n, 0);
	counts.dropped = 12;
	for (unsigned i = 0; i < CTX_VMS_TEXTS; i++) {
		if (ctx_vms_text(&counts, i, text))
			n++;
	}
	assert_int_equal(n, 1);
	assert_false(ctx_vms_text(&counts, CTX_VMS_TEXTS, text));
	assert_true(ctx_vms_text(&counts, 1, text));
	assert_true(strncmp(text, "12 messages ", 12) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vms__methods_are_found_by_id_and_by_address),
		cmocka_unit_test(test_vms__a_message_that_is_cut_is_damage_and_keeps_what_is_whole),
		cmocka_unit_test(test_vms__parts_of_no_code_are_ignored),
		cmocka_unit_test(test_vms__code_is_what_was_told_last_of_an_address),
		cmocka_unit_test_setup_teardown(
			test_vms__interpreted_frames_get_the_names_and_lines_of_their_methods, make_place,
			remove_place),
		cmocka_unit_test_setup_teardown(test_vms__frames_of_others_stay, make_place, remove_place),
		place_test(test_vms__what_is_of_interest_is_asked_to_report),
		place_test(test_vms__what_is_not_of_interest_is_not_asked_and_has_no_stacks),
		place_test(test_vms__the_next_ones_turn_comes_when_one_ends),
		cmocka_unit_test_setup_teardown(
			test_vms__collections_are_marks_of_a_thread_that_begins_and_ends_in_a_round,
			make_place, remove_place),
		place_test(test_vms__intervals_end_with_the_process),
		cmocka_unit_test_setup_teardown(test_vms__a_virtual_machine_is_not_of_the_image_before_it,
						make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_vms__waits_have_their_class_and_methods_and_owner,
						make_place, remove_place),
		cmocka_unit_test(test_vms__objects_are_read_whole_or_not_at_all),
		cmocka_unit_test(test_vms__a_socket_that_nobody_listens_to_is_removed),
		cmocka_unit_test(test_vms__only_a_virtual_machine_that_catches_its_signal_is_asked),
		cmocka_unit_test(test_vms__an_answer_is_whole_before_it_counts),
		cmocka_unit_test(test_vms__what_was_missed_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
