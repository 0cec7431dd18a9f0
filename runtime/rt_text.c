#include "runtime/rt_text.h"

#include "runtime/rt_memory.h"
#include "runtime/rt_nops.h"
#include "runtime/shared_layout.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

#ifdef __x86_64__

#define NEAR_STEP ((uint64_t)65536)
#define NEAR_TRIES 4096u
#define ROOM_MAX 11u /* a sled of XRay */
#define OBJECT_MAX ((uint64_t)1 << 30)

struct ctx_rt_text ctx_rt_text_of(const struct dl_phdr_info *info)
{
	struct ctx_rt_text text = {.base = info->dlpi_addr,
				   .begin = UINT64_MAX,
				   .segments = info->dlpi_phdr,
				   .n_segments = info->dlpi_phnum};

	for (unsigned i = 0; i < text.n_segments; i++) {
		uint64_t begin = text.base + text.segments[i].p_vaddr;

		if (text.segments[i].p_type != PT_LOAD)
			continue;
		text.begin = begin < text.begin ? begin : text.begin;
		if (begin + text.segments[i].p_memsz > text.end)
			text.end = begin + text.segments[i].p_memsz;
	}
	return text;
}

bool ctx_rt_text_has(const struct ctx_rt_text *text, uint64_t at, size_t n)
{
	for (unsigned i = 0; i < text->n_segments; i++) {
		const ElfW(Phdr) *segment = &text->segments[i];
		uint64_t begin = text->base + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 && at >= begin &&
		    at - begin < segment->p_memsz && segment->p_memsz - (at - begin) >= n)
			return true;
	}
	return false;
}

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(CTX_RT_PAGE - 1);
}

bool ctx_rt_text_open(const struct ctx_rt_text *text, bool opens)
{
	bool done = true;

	for (unsigned i = 0; i < text->n_segments; i++) {
		const ElfW(Phdr) *segment = &text->segments[i];
		uint64_t begin = page_of(text->base + segment->p_vaddr);
		uint64_t end = page_of(text->base + segment->p_vaddr + segment->p_memsz + CTX_RT_PAGE - 1);
		int protection = ((segment->p_flags & PF_R) != 0 ? PROT_READ : 0) |
				 ((segment->p_flags & PF_W) != 0 ? PROT_WRITE : 0) | PROT_EXEC;

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
			done = ctx_rt_syscall(SYS_mprotect, begin, end - begin,
					      !opens ? protection
					      : __libc_single_threaded == 0
						      ? PROT_READ | PROT_WRITE | PROT_EXEC
						      : PROT_READ | PROT_WRITE) == 0 &&
			       done;
	}
	return done;
}

static long map_at(uint64_t at, size_t bytes)
{
	return ctx_rt_syscall(CTX_RT_SYS_MMAP, at, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

uint8_t *ctx_rt_text_near(const struct ctx_rt_text *text, size_t bytes)
{
	uint64_t below = page_of(text->begin), above = page_of(text->end + NEAR_STEP);
	long page = -1;

	if (text->end - text->begin > OBJECT_MAX || bytes > OBJECT_MAX / 2)
		return NULL;
	for (unsigned i = 1; i < NEAR_TRIES && page == -1 && below > i * NEAR_STEP + bytes; i++)
		page = map_at(below - i * NEAR_STEP - page_of(bytes + CTX_RT_PAGE - 1), bytes);
	for (unsigned i = 0; i < NEAR_TRIES && page == -1; i++)
		page = map_at(above + i * NEAR_STEP, bytes);
	return page != -1 ? (uint8_t *)page : NULL;
}

size_t ctx_rt_text_room(const struct ctx_rt_text *text, uint64_t at)
{
	uint8_t code[CTX_RT_LOOK_BYTES];
	size_t n = 0;

	if (!ctx_rt_text_has(text, at, CTX_RT_LOOK_BYTES))
		return 0;
	memcpy(code, (const void *)(uintptr_t)at, sizeof(code));
	while (n < CTX_RT_JUMP_BYTES) {
		size_t more = ctx_rt_nop(code + n, sizeof(code) - n);

		if (more == 0)
			return 0;
		n += more;
	}
	return n <= ROOM_MAX ? n : 0;
}

#else

typedef int ctx_rt_text_nothing; /* hooks of i386 need no patches */

#endif
