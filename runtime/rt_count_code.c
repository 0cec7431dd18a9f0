#include "runtime/rt_count_code.h"

#include <stdbool.h>
#include <string.h>

struct writing {
	uint8_t *out;
	size_t n;
	uint64_t at; /* of the first byte */
	bool failed;
};

static void put(struct writing *writing, const void *bytes, size_t n)
{
	memcpy(writing->out + writing->n, bytes, n);
	writing->n += n;
}

#define PUT(writing, ...) put(writing, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_32(struct writing *writing, uint64_t value)
{
	const int32_t word = (int32_t)(int64_t)value;

	writing->failed = writing->failed || (int64_t)word != (int64_t)value;
	put(writing, &word, sizeof(word));
}

/* The last four bytes of an instruction: the distance from its end. */
static void put_distance(struct writing *writing, uint64_t target)
{
	put_32(writing, target - (writing->at + writing->n + 4));
}

/* The last byte of an instruction. */
static void put_short(struct writing *writing, size_t target)
{
	const int64_t distance = (int64_t)target - (int64_t)(writing->n + 1);
	const int8_t byte = (int8_t)distance;

	writing->failed = writing->failed || byte != distance;
	put(writing, &byte, 1);
}

/* Sets a distance of 32 bits that ends at `end` to what comes now. */
static void set_distance(struct writing *writing, size_t end)
{
	const int32_t distance = (int32_t)(writing->n - end);

	memcpy(writing->out + end - 4, &distance, sizeof(distance));
}

/* Returns where the distance of the last jump ends. */
static size_t put_call(struct writing *writing, uint32_t site, uint64_t slot)
{
	PUT(writing, 0x68); /* push $site */
	put_32(writing, site);
	PUT(writing, 0xff, 0x15); /* call *slot(%rip) */
	put_distance(writing, slot);
	PUT(writing, 0x48, 0x8d, 0x64, 0x24, 0x08); /* lea 8(%rsp), %rsp */
	PUT(writing, 0xe9, 0, 0, 0, 0);
	return writing->n;
}

static void put_bump(struct writing *writing, const struct ctx_rt_count_bump *bump)
{
	PUT(writing, 0x48, 0xff, 0x81); /* incq counter(%rcx) */
	put_32(writing, bump->counter);
	if (bump->countdown == 0)
		return;
	PUT(writing, 0x48, 0xff, 0x89); /* decq countdown(%rcx) */
	put_32(writing, bump->countdown);
	PUT(writing, 0x0f, 0x84, 0, 0, 0, 0); /* je raise */
}

/* Behind the je of a threshold: it ends after the counters and what was written for the sites before. */
static size_t je_end(const struct ctx_rt_count_code *code, size_t begin, size_t which)
{
	for (size_t i = 0; i <= which; i++)
		begin += code->bumps[i].countdown != 0 ? 20 : 7;
	return begin;
}

size_t ctx_rt_count_jump(uint64_t at, uint64_t target, uint8_t out[5])
{
	struct writing writing = {.at = at};

	writing.out = out;
	PUT(&writing, 0xe9);
	put_distance(&writing, target);
	return writing.failed ? 0 : writing.n;
}

size_t ctx_rt_count_encode(const struct ctx_rt_count_code *code, uint8_t *out, size_t *ret_entry)
{
	struct writing writing = {.at = code->at};
	size_t slow, bumps;

	writing.out = out;
	slow = put_call(&writing, code->bumps[0].site, code->slots);
	*ret_entry = writing.n;
	PUT(&writing, 0x51, 0x50);		     /* push %rcx; push %rax */
	PUT(&writing, 0x64, 0x48, 0x8b, 0x0c, 0x25); /* mov %fs:tls, %rcx */
	put_32(&writing, (uint64_t)(int64_t)code->tls);
	PUT(&writing, 0xe3); /* jrcxz */
	put_short(&writing, 0);
	PUT(&writing, 0x48, 0x8b, 0x09); /* mov (%rcx), %rcx */
	PUT(&writing, 0xe3);
	put_short(&writing, 0);
	PUT(&writing, 0x9f, 0x0f, 0x90, 0xc0); /* lahf; seto %al */
	bumps = writing.n;
	for (size_t i = 0; i < code->n; i++)
		put_bump(&writing, &code->bumps[i]);
	PUT(&writing, 0x04, 0x7f, 0x9e); /* add $0x7f, %al; sahf */
	set_distance(&writing, slow);
	PUT(&writing, 0x58, 0x59, 0xe9); /* pop %rax; pop %rcx; jmp back */
	put_distance(&writing, code->back);
	for (size_t i = 0; i < code->n; i++) {
		size_t raised = code->bumps[i].countdown != 0 ? je_end(code, bumps, i) : 0, back;

		if (raised == 0)
			continue;
		set_distance(&writing, raised);
		back = put_call(&writing, code->bumps[i].site, code->slots + 8);
		writing.n = back - 4;
		put_distance(&writing, code->at + raised);
	}
	return writing.failed ? 0 : writing.n;
}
