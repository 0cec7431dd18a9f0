#include "runtime/rt_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>

#define CELLS 16u

_Atomic bool ctx_rt_restricted_now;

/* i386 has other calls with these names, which are not made. */
#ifdef __i386__
#undef SYS_mmap
#define SYS_mmap SYS_mmap2
#define SYS_newfstatat SYS_fstatat64
#define ARCH AUDIT_ARCH_I386
#else
#define ARCH AUDIT_ARCH_X86_64
#endif

static const uint32_t needed[] = {
	/* a process begins */
	SYS_socket, SYS_setsockopt, SYS_getsockopt, SYS_connect, SYS_sendmsg, SYS_recvmsg, SYS_close,
	SYS_mmap, SYS_munmap, SYS_madvise, SYS_getpid, SYS_getppid,
	/* its descriptors, with --io */
	SYS_openat, SYS_getdents64, SYS_readlinkat, SYS_readlink,
	/* a thread begins */
	SYS_gettid, SYS_tgkill, SYS_sched_getaffinity, SYS_prlimit64, SYS_sched_yield,
	/* a stack that is not the thread's own; a full ring, where the program waits */
	SYS_rt_sigprocmask, SYS_clock_nanosleep,
	/* the program that is executed */
	SYS_pread64, SYS_newfstatat, SYS_access,
	/* a library that is opened */
	SYS_faccessat};

/* The machine of a filter: the kernel has checked, or will check, what it checks at first. */
struct machine {
	const struct seccomp_data *data;
	uint32_t a, x, cells[CELLS];
};

static bool load(const struct machine *machine, const struct sock_filter *at, uint32_t *to)
{
	switch (BPF_MODE(at->code)) {
	case BPF_IMM:
		*to = at->k;
		return true;
	case BPF_LEN:
		*to = sizeof(*machine->data);
		return true;
	case BPF_MEM:
		if (at->k < CELLS)
			*to = machine->cells[at->k];
		return at->k < CELLS;
	case BPF_ABS:
		if (at->k > sizeof(*machine->data) - 4 || at->k % 4 != 0)
			return false;
		memcpy(to, (const char *)machine->data + at->k, 4);
		return true;
	default:
		return false;
	}
}

static bool compute(struct machine *machine, const struct sock_filter *at)
{
	uint32_t value = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;

	switch (BPF_OP(at->code)) {
	case BPF_ADD:
		machine->a += value;
		return true;
	case BPF_SUB:
		machine->a -= value;
		return true;
	case BPF_MUL:
		machine->a *= value;
		return true;
	case BPF_DIV:
		machine->a = value != 0 ? machine->a / value : 0;
		return value != 0;
	case BPF_AND:
		machine->a &= value;
		return true;
	case BPF_OR:
		machine->a |= value;
		return true;
	case BPF_XOR:
		machine->a ^= value;
		return true;
	case BPF_LSH:
		machine->a = value < 32 ? machine->a << value : 0;
		return true;
	case BPF_RSH:
		machine->a = value < 32 ? machine->a >> value : 0;
		return true;
	case BPF_NEG:
		machine->a = -machine->a;
		return true;
	default:
		return false;
	}
}

/* How many instructions are left out. */
static bool jump(const struct machine *machine, const struct sock_filter *at, uint32_t *ret)
{
	uint32_t value = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;
	bool is;

	switch (BPF_OP(at->code)) {
	case BPF_JA:
		*ret = at->k;
		return true;
	case BPF_JEQ:
		is = machine->a == value;
		break;
	case BPF_JGT:
		is = machine->a > value;
		break;
	case BPF_JGE:
		is = machine->a >= value;
		break;
	case BPF_JSET:
		is = (machine->a & value) != 0;
		break;
	default:
		return false;
	}
	*ret = is ? at->jt : at->jf;
	return true;
}

static bool store(struct machine *machine, const struct sock_filter *at)
{
	if (at->k >= CELLS)
		return false;
	machine->cells[at->k] = BPF_CLASS(at->code) == BPF_ST ? machine->a : machine->x;
	return true;
}

static bool step(struct machine *machine, const struct sock_filter *at, uint32_t *skip)
{
	switch (BPF_CLASS(at->code)) {
	case BPF_LD:
		return load(machine, at, &machine->a);
	case BPF_LDX:
		return load(machine, at, &machine->x);
	case BPF_ST:
	case BPF_STX:
		return store(machine, at);
	case BPF_ALU:
		return compute(machine, at);
	case BPF_JMP:
		return jump(machine, at, skip);
	case BPF_MISC:
		if (BPF_MISCOP(at->code) == BPF_TAX)
			machine->x = machine->a;
		else
			machine->a = machine->x;
		return true;
	default:
		return false;
	}
}

bool ctx_rt_filter_allows(const struct sock_filter *filter, size_t n, uint32_t number)
{
	const struct seccomp_data data = {.nr = (int)number, .arch = ARCH};
	struct machine machine = {.data = &data};

	for (size_t i = 0; i < n; i++) {
		uint32_t skip = 0;

		if (BPF_CLASS(filter[i].code) == BPF_RET) {
			uint32_t action = BPF_RVAL(filter[i].code) == BPF_A ? machine.a : filter[i].k;

			action &= SECCOMP_RET_ACTION_FULL;
			return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
		}
		if (!step(&machine, &filter[i], &skip))
			return false;
		i += skip;
	}
	return false;
}

bool ctx_rt_filter_is_harmless(const struct sock_filter *filter, size_t n)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!ctx_rt_filter_allows(filter, n, needed[i]))
			return false;
	}
	return true;
}
