/*
 * The probe is made as it is loaded: instructions are appended one by one, jumps go to labels.
 *
 *	r6 the sample, r7 the process's struct place, r8 the record, r9 an address in the target
 */
#include "collect/python_probe.h"

#include "base/mem.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROCESSES_MAX 4096u
#define THREADS_MAX 256 /* that are looked through for the one that runs */
#define INSTRUCTIONS_MAX 400u
#define JUMPS_MAX 64u

/* The kernel gives what the probe calls to programs with such a license alone. */
#define LICENSE "Dual BSD/GPL"

/* Of a process, by its pid. */
struct place {
	uint64_t runtime; /* address */
	struct ctx_python_layout layout;
};

struct ctx_python_probe {
	int places, scratch, outputs; /* maps */
	int program;
};

/* What the probe keeps on its stack. */
enum slot {
	TID = -8,
	PID = -4,
	COUNT = -16,
	INTERPRETER = -24,
	VALUE = -32,
	ZERO = -40,
	CODE = -48,
	INSTRUCTION = -56,
	FLAGS = -64,
	NAMES = -96, /* 32 bytes */
	THREADS = -104,
	CURRENT = -112, /* the thread's state of which frames were read */
	IS_SECOND = -120,
	MORE = -128,
	ROUND = -136,
};

enum label {
	OUT,
	LIST,
	THREAD,
	INTERPRETER_NEXT,
	LOOKED_AT,
	THREAD_NEXT,
	ENDED,
	FOUND,
	FRAME,
	DONE,
	WRITE,
	LABELS,
};

struct making {
	struct bpf_insn code[INSTRUCTIONS_MAX];
	int n;
	int labels[LABELS];
	struct {
		int at;
		enum label to;
	} jumps[JUMPS_MAX];
	int n_jumps;
};

struct instruction {
	uint8_t code, to, from; /* the last two are registers */
	int off;
	int32_t value;
};

static void put(struct making *making, struct instruction what)
{
	struct bpf_insn *insn = &making->code[making->n++];

	*insn = (struct bpf_insn){.code = what.code, .off = (int16_t)what.off, .imm = what.value};
	insn->dst_reg = what.to & 0xfu;
	insn->src_reg = what.from & 0xfu;
}

/* ---- instructions ---- */

static void copy(struct making *making, uint8_t to, uint8_t from)
{
	put(making, (struct instruction){BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0});
}

static void set(struct making *making, uint8_t to, int32_t value)
{
	put(making, (struct instruction){BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value});
}

static void add(struct making *making, uint8_t to, int32_t value)
{
	put(making, (struct instruction){BPF_ALU64 | BPF_ADD, to, 0, 0, value});
}

static void load(struct making *making, uint8_t to, uint8_t from, int off)
{
	put(making, (struct instruction){BPF_LDX | BPF_MEM | BPF_DW, to, from, off, 0});
}

static void load_word(struct making *making, uint8_t to, uint8_t from, int off)
{
	put(making, (struct instruction){BPF_LDX | BPF_MEM | BPF_W, to, from, off, 0});
}

static void store(struct making *making, uint8_t to, int off, uint8_t from)
{
	put(making, (struct instruction){BPF_STX | BPF_MEM | BPF_DW, to, from, off, 0});
}

static void load_map(struct making *making, uint8_t to, int map)
{
	put(making, (struct instruction){BPF_LD | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, map});
	put(making, (struct instruction){0, 0, 0, 0, 0});
}

static void call(struct making *making, int32_t function)
{
	put(making, (struct instruction){BPF_JMP | BPF_CALL, 0, 0, 0, function});
}

static void jump(struct making *making, enum label to)
{
	making->jumps[making->n_jumps].at = making->n;
	making->jumps[making->n_jumps++].to = to;
	put(making, (struct instruction){BPF_JMP | BPF_JA, 0, 0, 0, 0});
}

static void jump_if(struct making *making, uint8_t comparison, uint8_t left, int32_t value, enum label to)
{
	making->jumps[making->n_jumps].at = making->n;
	making->jumps[making->n_jumps++].to = to;
	put(making, (struct instruction){(uint8_t)(BPF_JMP | comparison | BPF_K), left, 0, 0, value});
}

static void jump_if_same(struct making *making, uint8_t left, uint8_t right, enum label to)
{
	making->jumps[making->n_jumps].at = making->n;
	making->jumps[making->n_jumps++].to = to;
	put(making, (struct instruction){BPF_JMP | BPF_JEQ | BPF_X, left, right, 0, 0});
}

static void here(struct making *making, enum label label)
{
	making->labels[label] = making->n;
}

#define LAYOUT(field) ((int)(offsetof(struct place, layout) + offsetof(struct ctx_python_layout, field)))

/* `n` bytes of the target at r`from` + the offset in the layout, to a slot; what cannot be read ends the probe. */
static void read_field(struct making *making, int slot, int32_t n, uint8_t from, int field)
{
	copy(making, 3, from);
	load_word(making, 4, 7, field);
	put(making, (struct instruction){BPF_ALU64 | BPF_ADD | BPF_X, 3, 4, 0, 0});
	copy(making, 1, 10);
	add(making, 1, slot);
	set(making, 2, n);
	call(making, BPF_FUNC_probe_read_user);
	jump_if(making, BPF_JNE, 0, 0, OUT);
}

/* Goes on at `to` if the thread's state at r9 is that of the thread that runs. */
static void is_it(struct making *making, enum label to)
{
	read_field(making, VALUE, 8, 9, LAYOUT(thread_id));
	load(making, 1, 10, VALUE);
	load_word(making, 2, 10, TID);
	jump_if_same(making, 1, 2, to);
}

/* Leaves the new count in r1. */
static void increment(struct making *making, int slot)
{
	load(making, 1, 10, slot);
	add(making, 1, 1);
	store(making, 10, slot, 1);
}

static void count(struct making *making, int slot, int32_t most, enum label again)
{
	increment(making, slot);
	jump_if(making, BPF_JLT, 1, most, again);
}

/* ---- the probe ---- */

static void begin(struct making *making, const struct ctx_python_probe *probe)
{
	copy(making, 6, 1);
	call(making, BPF_FUNC_get_current_pid_tgid);
	put(making, (struct instruction){BPF_STX | BPF_MEM | BPF_W, 10, 0, TID, 0});
	put(making, (struct instruction){BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32});
	put(making, (struct instruction){BPF_STX | BPF_MEM | BPF_W, 10, 0, PID, 0});
	load_map(making, 1, probe->places);
	copy(making, 2, 10);
	add(making, 2, PID);
	call(making, BPF_FUNC_map_lookup_elem);
	jump_if(making, BPF_JEQ, 0, 0, OUT);
	copy(making, 7, 0);
	set(making, 1, 0);
	store(making, 10, ZERO, 1);
	store(making, 10, COUNT, 1);
	store(making, 10, THREADS, 1);
	store(making, 10, IS_SECOND, 1);
	store(making, 10, CURRENT, 1);
	load_map(making, 1, probe->scratch);
	copy(making, 2, 10);
	add(making, 2, ZERO);
	call(making, BPF_FUNC_map_lookup_elem);
	jump_if(making, BPF_JEQ, 0, 0, OUT);
	copy(making, 8, 0);
}

/*
 * r9: the state of the thread that runs. It may have the interpreter's lock; else it is in a list. A thread that has entered
 * another interpreter has a state in each: they are looked for again.
 */
static void find_thread(struct making *making)
{
	load(making, 9, 7, offsetof(struct place, runtime));
	read_field(making, VALUE, 8, 9, LAYOUT(thread_current));
	load(making, 9, 10, VALUE);
	jump_if(making, BPF_JEQ, 9, 0, LIST);
	is_it(making, FOUND);
	here(making, LIST);
	load(making, 9, 7, offsetof(struct place, runtime));
	read_field(making, INTERPRETER, 8, 9, LAYOUT(interpreters));
	set(making, 9, 0);
	here(making, THREAD);
	jump_if(making, BPF_JEQ, 9, 0, INTERPRETER_NEXT);
	is_it(making, FOUND);
	here(making, THREAD_NEXT);
	read_field(making, VALUE, 8, 9, LAYOUT(thread_next));
	load(making, 9, 10, VALUE);
	jump(making, LOOKED_AT);
	here(making, INTERPRETER_NEXT);
	load(making, 9, 10, INTERPRETER);
	jump_if(making, BPF_JEQ, 9, 0, ENDED);
	read_field(making, VALUE, 8, 9, LAYOUT(interpreter_threads));
	read_field(making, INTERPRETER, 8, 9, LAYOUT(interpreter_next));
	load(making, 9, 10, VALUE);
	here(making, LOOKED_AT);
	count(making, THREADS, THREADS_MAX, THREAD);
	here(making, ENDED);
	load(making, 1, 10, IS_SECOND);
	jump_if(making, BPF_JNE, 1, 0, WRITE);
	jump(making, OUT);
	here(making, FOUND);
	load(making, 1, 10, CURRENT);
	jump_if_same(making, 1, 9, THREAD_NEXT);
	store(making, 10, CURRENT, 9);
}

/* The frames from the innermost one on. */
static void read_frames(struct making *making)
{
	static const struct {
		int slot;
		int entry;
	} fields[] = {{CODE, offsetof(struct ctx_python_entry, code)},
		      {INSTRUCTION, offsetof(struct ctx_python_entry, instruction)},
		      {FLAGS, offsetof(struct ctx_python_entry, flags)}};

	read_field(making, VALUE, 8, 9, LAYOUT(thread_cframe));
	load(making, 9, 10, VALUE);
	jump_if(making, BPF_JEQ, 9, 0, OUT);
	read_field(making, VALUE, 8, 9, LAYOUT(cframe_frame));
	load(making, 9, 10, VALUE);
	set(making, 1, 0);
	store(making, 10, ROUND, 1);
	here(making, FRAME);
	jump_if(making, BPF_JEQ, 9, 0, DONE);
	load(making, 1, 10, COUNT);
	jump_if(making, BPF_JGE, 1, CTX_PYTHON_FRAMES_MAX, DONE);
	read_field(making, CODE, 8, 9, LAYOUT(frame_code));
	read_field(making, INSTRUCTION, 8, 9, LAYOUT(frame_instruction));
	read_field(making, FLAGS, 8, 9, LAYOUT(frame_flags));
	read_field(making, VALUE, 8, 9, LAYOUT(frame_previous));
	load(making, 9, 10, CODE);
	read_field(making, NAMES, 32, 9, LAYOUT(code_names));
	/* r1: the entry. */
	load(making, 1, 10, COUNT);
	put(making,
	    (struct instruction){BPF_ALU64 | BPF_MUL | BPF_K, 1, 0, 0, sizeof(struct ctx_python_entry)});
	put(making, (struct instruction){BPF_ALU64 | BPF_ADD | BPF_X, 1, 8, 0, 0});
	add(making, 1, offsetof(struct ctx_python_chain, entries));
	for (size_t i = 0; i < CTX_COUNT_OF(fields); i++) {
		load(making, 2, 10, fields[i].slot);
		store(making, 1, fields[i].entry, 2);
	}
	load(making, 2, 10, NAMES);
	for (int i = 1; i < 4; i++) {
		load(making, 3, 10, NAMES + 8 * i);
		put(making, (struct instruction){BPF_ALU64 | BPF_XOR | BPF_X, 2, 3, 0, 0});
	}
	store(making, 1, offsetof(struct ctx_python_entry, check), 2);
	load(making, 9, 10, VALUE);
	increment(making, COUNT);
	count(making, ROUND, CTX_PYTHON_FRAMES_MAX, FRAME);
	here(making, DONE);
	store(making, 10, MORE, 9);
}

/*
 * If there are several interpreters, the thread may have come from another one. The kernel follows a program through all
 * values that it knows: how many frames there are is read back from the record, as what may be anything.
 */
static void look_again(struct making *making)
{
	jump_if(making, BPF_JNE, 9, 0, WRITE);
	load(making, 1, 10, IS_SECOND);
	jump_if(making, BPF_JNE, 1, 0, WRITE);
	set(making, 1, 1);
	store(making, 10, IS_SECOND, 1);
	set(making, 1, 0);
	store(making, 10, THREADS, 1);
	load(making, 1, 10, COUNT);
	store(making, 8, offsetof(struct ctx_python_chain, n), 1);
	load(making, 1, 8, offsetof(struct ctx_python_chain, n));
	jump_if(making, BPF_JGT, 1, CTX_PYTHON_FRAMES_MAX, OUT);
	store(making, 10, COUNT, 1);
	load(making, 9, 7, offsetof(struct place, runtime));
	read_field(making, INTERPRETER, 8, 9, LAYOUT(interpreters));
	load(making, 9, 10, INTERPRETER);
	jump_if(making, BPF_JEQ, 9, 0, WRITE);
	read_field(making, VALUE, 8, 9, LAYOUT(interpreter_next));
	load(making, 1, 10, VALUE);
	set(making, 9, 0);
	jump_if(making, BPF_JNE, 1, 0, THREAD);
}

static void write_record(struct making *making, const struct ctx_python_probe *probe)
{
	here(making, WRITE);
	load(making, 9, 10, MORE);
	load(making, 5, 10, COUNT);
	jump_if(making, BPF_JGT, 5, CTX_PYTHON_FRAMES_MAX, OUT);
	store(making, 8, offsetof(struct ctx_python_chain, n), 5);
	store(making, 8, offsetof(struct ctx_python_chain, more), 9);
	put(making,
	    (struct instruction){BPF_ALU64 | BPF_MUL | BPF_K, 5, 0, 0, sizeof(struct ctx_python_entry)});
	add(making, 5, offsetof(struct ctx_python_chain, entries));
	copy(making, 1, 6);
	load_map(making, 2, probe->outputs);
	put(making, (struct instruction){BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1}); /* this processor */
	copy(making, 4, 8);
	call(making, BPF_FUNC_perf_event_output);
	here(making, OUT);
	set(making, 0, 1); /* the sample is written */
	put(making, (struct instruction){BPF_JMP | BPF_EXIT, 0, 0, 0, 0});
}

static void make(struct making *making, const struct ctx_python_probe *probe)
{
	begin(making, probe);
	find_thread(making);
	read_frames(making);
	look_again(making);
	write_record(making, probe);
	for (int i = 0; i < making->n_jumps; i++) {
		int at = making->jumps[i].at;

		making->code[at].off = (int16_t)(making->labels[making->jumps[i].to] - at - 1);
	}
}

/* ---- the kernel ---- */

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

struct shape {
	enum bpf_map_type type;
	uint32_t key_bytes, value_bytes, n;
};

static int create_map(struct shape shape)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = shape.type;
	attr.key_size = shape.key_bytes;
	attr.value_size = shape.value_bytes;
	attr.max_entries = shape.n;
	return bpf(BPF_MAP_CREATE, &attr);
}

static enum ctx_status explain(int error, struct ctx_err *err)
{
	/* EACCES: the program itself is refused. */
	if (error == EPERM)
		return ctx_err_set(
			err, CTX_E_PERM,
			"Python's functions are read by a probe in the kernel (BPF), which needs root, "
			"or CAP_BPF and CAP_PERFMON");
	if (error == ENOMEM)
		return ctx_err_nomem(err);
	return ctx_err_set(err, CTX_E_NOTFOUND,
			   "the kernel refuses the probe that reads Python's functions (BPF): %s",
			   strerror(error));
}

static enum ctx_status load_program(struct ctx_python_probe *probe, struct ctx_err *err)
{
	struct making *making CTX_AUTO_FREE = ctx_calloc(1, sizeof(*making));
	union bpf_attr attr;

	if (making == NULL)
		return ctx_err_nomem(err);
	make(making, probe);
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)making->code;
	attr.insn_cnt = (uint32_t)making->n;
	attr.license = (uintptr_t)LICENSE;
	memcpy(attr.prog_name, "ctxrec_python", sizeof("ctxrec_python"));
	probe->program = bpf(BPF_PROG_LOAD, &attr);
	return probe->program >= 0 ? CTX_OK : explain(errno, err);
}

enum ctx_status ctx_python_probe_create(unsigned n_cpus, struct ctx_python_probe **ret, struct ctx_err *err)
{
	struct ctx_python_probe *probe = ctx_calloc(1, sizeof(*probe));
	enum ctx_status status = CTX_OK;

	if (probe == NULL)
		return ctx_err_nomem(err);
	probe->program = -1;
	probe->places = create_map((struct shape){BPF_MAP_TYPE_HASH, 4, sizeof(struct place), PROCESSES_MAX});
	probe->scratch =
		create_map((struct shape){BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct ctx_python_chain), 1});
	probe->outputs = create_map((struct shape){BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, n_cpus});
	if (probe->places < 0 || probe->scratch < 0 || probe->outputs < 0)
		status = explain(errno, err);
	if (status == CTX_OK)
		status = load_program(probe, err);
	if (status != CTX_OK) {
		ctx_python_probe_destroy(probe);
		return status;
	}
	*ret = probe;
	return CTX_OK;
}

void ctx_python_probe_destroy(struct ctx_python_probe *probe)
{
	const int fds[] = {probe != NULL ? probe->program : -1, probe != NULL ? probe->places : -1,
			   probe != NULL ? probe->scratch : -1, probe != NULL ? probe->outputs : -1};

	for (size_t i = 0; i < CTX_COUNT_OF(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	free(probe);
}

bool ctx_python_probe_attach(const struct ctx_python_probe *probe, int event_fd)
{
	return ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, probe->program) == 0;
}

static enum ctx_status update(int map, uint32_t key, const void *value, struct ctx_err *err)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)value;
	return bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0 ? CTX_OK : explain(errno, err);
}

enum ctx_status ctx_python_probe_output(const struct ctx_python_probe *probe, uint32_t cpu, int output_fd,
					struct ctx_err *err)
{
	return update(probe->outputs, cpu, &(uint32_t){(uint32_t)output_fd}, err);
}

enum ctx_status ctx_python_probe_set(const struct ctx_python_probe *probe, uint32_t pid, uint64_t runtime,
				     const struct ctx_python_layout *layout, struct ctx_err *err)
{
	const struct place place = {.runtime = runtime, .layout = *layout};

	return update(probe->places, pid, &place, err);
}

void ctx_python_probe_remove(const struct ctx_python_probe *probe, uint32_t pid)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)probe->places;
	attr.key = (uintptr_t)&pid;
	(void)bpf(BPF_MAP_DELETE_ELEM, &attr);
}
