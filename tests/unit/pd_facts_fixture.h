/* Features of a perf.data file that are written field by field, in either byte order. */
#ifndef CTX_TESTS_UNIT_PD_FACTS_FIXTURE_H
#define CTX_TESTS_UNIT_PD_FACTS_FIXTURE_H

#include "base/buf.h"
#include "formats/perfdata/pd_facts.h"
#include "tests/unit/failing_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ATTR_BYTES 128u
#define MISC_KERNEL 1u
#define MISC_USER 2u
#define MISC_GUEST_KERNEL 4u
#define MISC_SIZE 0x8000u

struct maker { /* a feature that is being written */
	struct ctx_buf buf;
	bool swap;
};

static inline void put16(struct maker *maker, uint16_t value)
{
	value = maker->swap ? __builtin_bswap16(value) : value;
	ctx_buf_put(&maker->buf, &value, sizeof(value));
}

static inline void put32(struct maker *maker, uint32_t value)
{
	value = maker->swap ? __builtin_bswap32(value) : value;
	ctx_buf_put(&maker->buf, &value, sizeof(value));
}

static inline void put64(struct maker *maker, uint64_t value)
{
	value = maker->swap ? __builtin_bswap64(value) : value;
	ctx_buf_put(&maker->buf, &value, sizeof(value));
}

static inline void put_zeros(struct maker *maker, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_u8(&maker->buf, 0);
}

/* As perf writes it: padded to a multiple of 64, the length includes the padding. */
static inline void put_text(struct maker *maker, const char *text)
{
	size_t n = strlen(text) + 1;
	size_t padded = (n + 63) / 64 * 64;

	put32(maker, (uint32_t)padded);
	ctx_buf_put(&maker->buf, text, n);
	put_zeros(maker, padded - n);
}

static inline bool is_big_endian(bool swap)
{
	return (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != swap;
}

/* struct perf_event_attr; a clockid of -1: the event names no clock. */
static inline void put_attr(struct maker *maker, uint32_t type, uint64_t config, int clockid)
{
	size_t start = maker->buf.n;

	put32(maker, type);
	put32(maker, ATTR_BYTES);
	put64(maker, config);
	put_zeros(maker, 43 - 16);
	/*
	 * use_clockid is flag 25: the second bit of the fourth byte, from the side that the machine
	 * counts from.
	 */
	ctx_buf_put_u8(&maker->buf, clockid < 0 ? 0 : is_big_endian(maker->swap) ? 0x40 : 0x02);
	put_zeros(maker, 92 - 44);
	put32(maker, clockid < 0 ? 7 : (uint32_t)clockid);
	put_zeros(maker, ATTR_BYTES - (maker->buf.n - start));
}

/*
 * Behind the header: pid, 20 bytes (the first `n` are `first`, `first` + 1, ...), the size,
 * padding, path.
 */
static inline void put_build_id(struct maker *maker, int32_t pid, uint8_t first, uint8_t n, uint8_t size,
				const char *path)
{
	put32(maker, (uint32_t)pid);
	for (uint8_t i = 0; i < 20; i++)
		ctx_buf_put_u8(&maker->buf, i < n ? (uint8_t)(first + i) : 0);
	ctx_buf_put_u8(&maker->buf, size);
	put_zeros(maker, 3);
	ctx_buf_put(&maker->buf, path, strlen(path) + 1);
}

/* With its header, as a section has it. */
static inline void put_build_id_record(struct maker *maker, uint16_t misc, uint8_t first, const char *path)
{
	put32(maker, 0);
	put16(maker, misc);
	put16(maker, (uint16_t)(8 + 28 + strlen(path) + 1));
	put_build_id(maker, -1, first, 20, 20, path);
}

/* A copy of exactly these bytes, so that a sanitizer sees a read past their end. */
static inline enum ctx_status add_copy(struct ctx_pd_facts *facts, uint32_t feature,
				       const struct maker *maker, size_t n)
{
	struct ctx_err err = {0};
	enum ctx_status status;
	uint8_t *copy = __real_malloc(n != 0 ? n : 1);

	assert_non_null(copy);
	if (n != 0)
		memcpy(copy, maker->buf.bytes, n);
	status = ctx_pd_facts_add(facts, feature, ctx_pe_wire_make(copy, n, maker->swap), &err);
	free(copy);
	assert_int_equal(err.status, status);
	return status;
}

static inline void add(struct ctx_pd_facts *facts, uint32_t feature, const struct maker *maker)
{
	assert_int_equal(add_copy(facts, feature, maker, maker->buf.n), CTX_OK);
}

#endif
