#include "runtime/rt_code.h"

#include "runtime/rt_filter.h"
#include "runtime/rt_syscall.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

#pragma weak _dl_find_object

/* An area is empty as long as its end is 0. Only ever extended. */
static struct {
	_Atomic uint64_t begin, end;
} areas[CTX_RT_CODE_AREAS];
static _Atomic uint32_t n_areas;

static bool is_near(uint32_t i, uint64_t begin, uint64_t end)
{
	return begin <= atomic_load(&areas[i].end) + CTX_RT_CODE_NEAR &&
	       end + CTX_RT_CODE_NEAR >= atomic_load(&areas[i].begin);
}

static void extend(uint32_t i, uint64_t begin, uint64_t end)
{
	uint64_t old = atomic_load(&areas[i].begin);

	while (begin < old && !atomic_compare_exchange_weak(&areas[i].begin, &old, begin))
		;
	old = atomic_load(&areas[i].end);
	while (end > old && !atomic_compare_exchange_weak(&areas[i].end, &old, end))
		;
}

void ctx_rt_code_note(uint64_t begin, uint64_t size_bytes)
{
	uint64_t end = begin + size_bytes;
	uint32_t n = atomic_load(&n_areas);

	if (size_bytes == 0 || end < begin)
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (atomic_load(&areas[i].end) != 0 && is_near(i, begin, end)) {
			extend(i, begin, end);
			return;
		}
	}
	while (n < CTX_RT_CODE_AREAS && !atomic_compare_exchange_weak(&n_areas, &n, n + 1))
		;
	if (n == CTX_RT_CODE_AREAS)
		return;
	atomic_store(&areas[n].begin, begin);
	atomic_store(&areas[n].end, end);
}

static bool is_in_object(uint64_t address)
{
	struct dl_find_object found;

	return _dl_find_object != NULL && _dl_find_object((void *)(uintptr_t)address, &found) == 0;
}

static bool is_code(uint64_t address)
{
	uint32_t n;

	if (is_in_object(address))
		return true;
	n = atomic_load_explicit(&n_areas, memory_order_relaxed);
	for (uint32_t i = 0; i < n; i++) {
		if (address >= atomic_load_explicit(&areas[i].begin, memory_order_relaxed) &&
		    address < atomic_load_explicit(&areas[i].end, memory_order_relaxed))
			return true;
	}
	return false;
}

/* The kernel reads a set of signals there, and then refuses what to do with it. errno is kept. */
bool ctx_rt_is_readable(uint64_t address)
{
	int error = errno;
	bool readable =
		!ctx_rt_is_restricted() &&
		(ctx_rt_syscall(SYS_rt_sigprocmask, -1, (const void *)(uintptr_t)address, NULL, 8) == 0 ||
		 errno == EINVAL);

	errno = error;
	return readable;
}

/* Page by page, up to one that is no code. */
static size_t read_code(void *context, uint64_t address, uint8_t *out, size_t n)
{
	size_t done = 0;

	(void)context;
	while (done < n) {
		uint64_t at = address + done;
		size_t part = PAGE_BYTES - at % PAGE_BYTES;

		if (part > n - done)
			part = n - done;
		if (!is_code(at) || !ctx_rt_is_readable(at & ~(uint64_t)(PAGE_BYTES - 1)))
			break;
		memcpy(out + done, (const void *)(uintptr_t)at, part);
		done += part;
	}
	return done;
}

#define PRINT_BEFORE 8u
#define PRINT_BYTES 64u
#define NOT_READABLE 1u

uint64_t ctx_rt_code_print(uint64_t pc)
{
	uint64_t page = pc & ~(uint64_t)(PAGE_BYTES - 1), begin = pc - PRINT_BEFORE, print = 0;

	if (is_in_object(pc))
		return 0;
	if (begin < page || begin > pc)
		begin = page;
	if (begin > page + PAGE_BYTES - PRINT_BYTES)
		begin = page + PAGE_BYTES - PRINT_BYTES;
	if (!ctx_rt_is_readable(page))
		return NOT_READABLE;
	for (uint64_t at = begin; at < begin + PRINT_BYTES; at += 8) {
		uint64_t word;

		memcpy(&word, (const void *)(uintptr_t)at, sizeof(word));
		print = (print ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		print ^= print >> 29;
	}
	return print > NOT_READABLE ? print : NOT_READABLE + 1;
}

struct ctx_code_frame ctx_rt_code_at(uint64_t pc, enum ctx_code_depth depth)
{
	const struct ctx_insn_reader reader = {.read = read_code};

	if (sizeof(void *) != 8 || !is_code(pc)) /* instructions of 64 bits are known alone */
		return (struct ctx_code_frame){0};
	return ctx_code_frame_find(&reader, pc, depth);
}
