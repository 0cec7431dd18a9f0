/*
 * perf.data made by tests, byte by byte, in either byte order: events and records.
 *
 * A recording is a list of events (attrs with ids), of features, and the bytes of its records.
 * perfdata_files.h puts it into a file. Source of all layouts: include/uapi/linux/perf_event.h and
 * tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#ifndef CTX_TESTS_UNIT_PERFDATA_FIXTURE_H
#define CTX_TESTS_UNIT_PERFDATA_FIXTURE_H

#include "base/buf.h"
#include "base/mem.h"
#include "formats/perfdata/pd_facts.h"
#include "formats/perfdata/pd_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PD_ATTR_BYTES 128u
#define PD_ATTRS_MAX 12u
#define PD_IDS_MAX 4u
#define PD_FEATURES_MAX 16u
#define PD_FRAMES_MAX 64u

/* Numbers of the attr's flags. */
#define PD_FLAG_FREQ (UINT64_C(1) << 10)
#define PD_FLAG_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define PD_FLAG_EXCLUDE_CALLCHAIN_KERNEL (UINT64_C(1) << 21)
#define PD_FLAG_EXCLUDE_CALLCHAIN_USER (UINT64_C(1) << 22)
#define PD_FLAG_USE_CLOCKID (UINT64_C(1) << 25)
#define PD_FLAG_CONTEXT_SWITCH (UINT64_C(1) << 26)

struct pd_attr {
	uint32_t type, size; /* size 0: the one that is written, PD_ATTR_BYTES */
	uint64_t config, period, sample_type, read_format;
	uint64_t flags; /* bit n is the n-th of the bit field, whatever the byte order */
	uint64_t branch_type, regs_user;
	int32_t clockid;
	uint16_t max_stack;
	uint64_t ids[PD_IDS_MAX];
	uint32_t n_ids;
	const char *name;
};

struct pd_feature {
	uint32_t bit;
	struct ctx_buf bytes;
};

/* A recording, or any other run of bytes: then only `bytes` and `swap` matter. */
struct pd_recording {
	bool swap; /* in the other byte order than this machine's */
	struct pd_attr attrs[PD_ATTRS_MAX];
	size_t n_attrs;
	struct pd_feature features[PD_FEATURES_MAX];
	size_t n_features;
	struct ctx_buf bytes; /* the records */
	size_t *starts;	      /* of the records in `bytes` */
	size_t n, starts_cap;
};

static inline void pd_recording_deinit(struct pd_recording *recording)
{
	for (size_t i = 0; i < recording->n_features; i++)
		ctx_buf_deinit(&recording->features[i].bytes);
	ctx_buf_deinit(&recording->bytes);
	free(recording->starts);
	*recording = (struct pd_recording){0};
}

static inline uint64_t pd_random(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 24) % below;
}

/* ---- numbers and texts ---- */

static inline void pd_u16(struct ctx_buf *buf, bool swap, uint16_t value)
{
	value = swap ? __builtin_bswap16(value) : value;
	ctx_buf_put(buf, &value, sizeof(value));
}

static inline void pd_u32(struct ctx_buf *buf, bool swap, uint32_t value)
{
	value = swap ? __builtin_bswap32(value) : value;
	ctx_buf_put(buf, &value, sizeof(value));
}

static inline void pd_u64(struct ctx_buf *buf, bool swap, uint64_t value)
{
	value = swap ? __builtin_bswap64(value) : value;
	ctx_buf_put(buf, &value, sizeof(value));
}

static inline void pd_zeros(struct ctx_buf *buf, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_u8(buf, 0);
}

/* With its zero byte, padded to a multiple of `unit`. */
static inline void pd_text(struct ctx_buf *buf, const char *text, size_t unit)
{
	size_t n = strlen(text) + 1;

	ctx_buf_put(buf, text, n);
	pd_zeros(buf, (unit - n % unit) % unit);
}

static inline void pd_patch64(struct ctx_buf *buf, bool swap, size_t at, uint64_t value)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(buf->bytes + at, &value, sizeof(value));
}

/* ---- attrs ---- */

static inline bool pd_is_big_endian(bool swap)
{
	return (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != swap;
}

/*
 * A bit field's first member is the lowest bit of a byte on a little-endian machine and the highest
 * on a big one.
 */
static inline void pd_put_flags(struct ctx_buf *buf, bool swap, uint64_t flags)
{
	for (unsigned i = 0; i < 8; i++) {
		unsigned byte = (unsigned)(flags >> (8 * i)) & 0xffu, turned = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			turned |= (byte >> bit & 1u) << (7 - bit);
		ctx_buf_put_u8(buf, (uint8_t)(pd_is_big_endian(swap) ? turned : byte));
	}
}

/*
 * `bytes` of it: what is behind the fields that are known is 0xff, as if a later perf had set it.
 */
static inline void pd_put_attr(struct ctx_buf *buf, bool swap, const struct pd_attr *attr, size_t bytes)
{
	struct ctx_buf whole = {0};

	pd_u32(&whole, swap, attr->type);
	pd_u32(&whole, swap, attr->size != 0 ? attr->size : (uint32_t)bytes);
	pd_u64(&whole, swap, attr->config);
	pd_u64(&whole, swap, attr->period);
	pd_u64(&whole, swap, attr->sample_type);
	pd_u64(&whole, swap, attr->read_format);
	pd_put_flags(&whole, swap, attr->flags);
	pd_zeros(&whole, 24); /* wakeup, type of breakpoint, two more of config */
	pd_u64(&whole, swap, attr->branch_type);
	pd_u64(&whole, swap, attr->regs_user);
	pd_u32(&whole, swap, 0); /* bytes of user stack */
	pd_u32(&whole, swap, (uint32_t)attr->clockid);
	pd_u64(&whole, swap, 0); /* registers at the interrupt */
	pd_u32(&whole, swap, 0); /* watermark of aux */
	pd_u16(&whole, swap, attr->max_stack);
	pd_zeros(&whole, PD_ATTR_BYTES - whole.n);
	while (whole.n < bytes)
		ctx_buf_put_u8(&whole, 0xff);
	ctx_buf_put(buf, whole.bytes, bytes);
	ctx_buf_deinit(&whole);
}

static inline size_t pd_attr_bytes(const struct pd_attr *attr)
{
	return attr->size != 0 ? attr->size : PD_ATTR_BYTES;
}

/* An event of cpu-clock samples that are complete in the way of perf record -g. */
#define PD_USUAL_TYPE                                                                                        \
	((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |           \
		    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN))

static inline struct pd_attr *pd_add_attr(struct pd_recording *recording, uint64_t sample_type, uint64_t id)
{
	struct pd_attr *attr = &recording->attrs[recording->n_attrs];

	assert_true(recording->n_attrs < PD_ATTRS_MAX);
	*attr = (struct pd_attr){.type = PERF_TYPE_SOFTWARE,
				 .config = PERF_COUNT_SW_CPU_CLOCK,
				 .period = 1000000,
				 .sample_type = sample_type,
				 .flags = PD_FLAG_SAMPLE_ID_ALL,
				 .ids = {id},
				 .n_ids = 1,
				 .name = ""};
	recording->n_attrs++;
	return attr;
}

/* ---- features ---- */

static inline struct ctx_buf *pd_add_feature(struct pd_recording *recording, uint32_t bit)
{
	assert_true(recording->n_features < PD_FEATURES_MAX);
	recording->features[recording->n_features].bit = bit;
	return &recording->features[recording->n_features++].bytes;
}

static inline void pd_add_text(struct pd_recording *recording, uint32_t bit, const char *text)
{
	struct ctx_buf *buf = pd_add_feature(recording, bit);

	pd_u32(buf, recording->swap, (uint32_t)((strlen(text) + 64) & ~(size_t)63));
	pd_text(buf, text, 64);
}

static inline void pd_add_sample_times(struct pd_recording *recording, uint64_t first, uint64_t last)
{
	struct ctx_buf *buf = pd_add_feature(recording, CTX_PD_FEATURE_SAMPLE_TIME);

	pd_u64(buf, recording->swap, first);
	pd_u64(buf, recording->swap, last);
}

/* Names of the events that have one. */
static inline void pd_add_event_names(struct pd_recording *recording)
{
	struct ctx_buf *buf = pd_add_feature(recording, CTX_PD_FEATURE_EVENT_DESC);

	pd_u32(buf, recording->swap, (uint32_t)recording->n_attrs);
	pd_u32(buf, recording->swap, PD_ATTR_BYTES);
	for (size_t i = 0; i < recording->n_attrs; i++) {
		const struct pd_attr *attr = &recording->attrs[i];

		pd_put_attr(buf, recording->swap, attr, PD_ATTR_BYTES);
		pd_u32(buf, recording->swap, attr->n_ids);
		pd_u32(buf, recording->swap, (uint32_t)((strlen(attr->name) + 64) & ~(size_t)63));
		pd_text(buf, attr->name, 64);
		for (uint32_t k = 0; k < attr->n_ids; k++)
			pd_u64(buf, recording->swap, attr->ids[k]);
	}
}

/* ---- records ---- */

/* Fields that most records have in their trailer, samples at their beginning. */
struct pd_place {
	uint64_t id; /* 0: the first of the attr */
	int32_t pid, tid;
	uint64_t time;
	uint32_t cpu;
};

static inline struct ctx_buf *pd_begin(struct pd_recording *recording, uint32_t type, uint16_t misc)
{
	assert_int_equal(ctx_grow(&recording->starts, &recording->starts_cap, recording->n + 1, NULL),
			 CTX_OK);
	recording->starts[recording->n++] = recording->bytes.n;
	pd_u32(&recording->bytes, recording->swap, type);
	pd_u16(&recording->bytes, recording->swap, misc);
	pd_u16(&recording->bytes, recording->swap, 0);
	return &recording->bytes;
}

/* Sets the size of the record that was begun last. */
static inline void pd_end(struct pd_recording *recording)
{
	size_t start = recording->starts[recording->n - 1];
	uint16_t size = (uint16_t)(recording->bytes.n - start);

	assert_true(recording->bytes.n - start <= UINT16_MAX);
	size = recording->swap ? __builtin_bswap16(size) : size;
	memcpy(recording->bytes.bytes + start + 6, &size, sizeof(size));
}

static inline uint64_t pd_id_of(const struct pd_attr *attr, const struct pd_place *place)
{
	return place->id != 0 || attr->n_ids == 0 ? place->id : attr->ids[0];
}

/* The trailer of the kernel's records, and their end. */
static inline void pd_end_with(struct pd_recording *recording, size_t attr_number,
			       const struct pd_place *place)
{
	const struct pd_attr *attr = &recording->attrs[attr_number];
	uint64_t type = attr->flags & PD_FLAG_SAMPLE_ID_ALL ? attr->sample_type : 0;
	struct ctx_buf *buf = &recording->bytes;

	if (type & PERF_SAMPLE_TID) {
		pd_u32(buf, recording->swap, (uint32_t)place->pid);
		pd_u32(buf, recording->swap, (uint32_t)place->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		pd_u64(buf, recording->swap, place->time);
	if (type & PERF_SAMPLE_ID)
		pd_u64(buf, recording->swap, pd_id_of(attr, place));
	if (type & PERF_SAMPLE_STREAM_ID)
		pd_u64(buf, recording->swap, UINT64_C(0x1111111111111111));
	if (type & PERF_SAMPLE_CPU) {
		pd_u32(buf, recording->swap, place->cpu);
		pd_u32(buf, recording->swap, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		pd_u64(buf, recording->swap, pd_id_of(attr, place));
	pd_end(recording);
}

static inline void pd_comm(struct pd_recording *recording, const struct pd_place *place, const char *name,
			   bool exec)
{
	struct ctx_buf *buf = pd_begin(recording, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

	pd_u32(buf, recording->swap, (uint32_t)place->pid);
	pd_u32(buf, recording->swap, (uint32_t)place->tid);
	pd_text(buf, name, 8);
	pd_end_with(recording, 0, place);
}

/* FORK and EXIT. */
static inline void pd_task(struct pd_recording *recording, uint32_t type, uint16_t misc,
			   const struct pd_place *place, int32_t parent)
{
	struct ctx_buf *buf = pd_begin(recording, type, misc);

	pd_u32(buf, recording->swap, (uint32_t)place->pid);
	pd_u32(buf, recording->swap, (uint32_t)parent);
	pd_u32(buf, recording->swap, (uint32_t)place->tid);
	pd_u32(buf, recording->swap, (uint32_t)parent);
	pd_u64(buf, recording->swap, place->time);
	pd_end_with(recording, 0, place);
}

struct pd_map {
	uint64_t address, size, offset;
	const char *path;
	uint8_t build_id; /* first of 20 bytes that count up; 0 none (MMAP2 only) */
	bool data;	  /* not executable */
	uint16_t mode;	  /* of the processor; 0: of the user (MMAP only) */
};

static inline void pd_mmap(struct pd_recording *recording, const struct pd_place *place,
			   const struct pd_map *map)
{
	struct ctx_buf *buf = pd_begin(recording, PERF_RECORD_MMAP,
				       (uint16_t)((map->mode != 0 ? map->mode : PERF_RECORD_MISC_USER) |
						  (map->data ? PERF_RECORD_MISC_MMAP_DATA : 0)));

	pd_u32(buf, recording->swap, (uint32_t)place->pid);
	pd_u32(buf, recording->swap, (uint32_t)place->tid);
	pd_u64(buf, recording->swap, map->address);
	pd_u64(buf, recording->swap, map->size);
	pd_u64(buf, recording->swap, map->offset);
	pd_text(buf, map->path, 8);
	pd_end_with(recording, 0, place);
}

static inline void pd_mmap2(struct pd_recording *recording, const struct pd_place *place,
			    const struct pd_map *map)
{
	uint16_t misc =
		(uint16_t)(PERF_RECORD_MISC_USER | (map->build_id != 0 ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	struct ctx_buf *buf = pd_begin(recording, PERF_RECORD_MMAP2, misc);

	pd_u32(buf, recording->swap, (uint32_t)place->pid);
	pd_u32(buf, recording->swap, (uint32_t)place->tid);
	pd_u64(buf, recording->swap, map->address);
	pd_u64(buf, recording->swap, map->size);
	pd_u64(buf, recording->swap, map->offset);
	if (map->build_id != 0) {
		ctx_buf_put_u8(buf, 20);
		pd_zeros(buf, 3);
		for (uint8_t i = 0; i < 20; i++)
			ctx_buf_put_u8(buf, (uint8_t)(map->build_id + i));
	} else {
		pd_u32(buf, recording->swap, 8);
		pd_u32(buf, recording->swap, 1);
		pd_u64(buf, recording->swap, 123456);
		pd_u64(buf, recording->swap, 0);
	}
	pd_u32(buf, recording->swap, map->data ? 3 : 5);
	pd_u32(buf, recording->swap, 2);
	pd_text(buf, map->path, 8);
	pd_end_with(recording, 0, place);
}

static inline void pd_lost(struct pd_recording *recording, const struct pd_place *place, uint64_t count)
{
	struct ctx_buf *buf = pd_begin(recording, PERF_RECORD_LOST, 0);

	pd_u64(buf, recording->swap, pd_id_of(&recording->attrs[0], place));
	pd_u64(buf, recording->swap, count);
	pd_end_with(recording, 0, place);
}

static inline void pd_lost_samples(struct pd_recording *recording, const struct pd_place *place,
				   uint16_t misc, uint64_t count)
{
	pd_u64(pd_begin(recording, PERF_RECORD_LOST_SAMPLES, misc), recording->swap, count);
	pd_end_with(recording, 0, place);
}

static inline void pd_throttle(struct pd_recording *recording, const struct pd_place *place, bool off)
{
	struct ctx_buf *buf = pd_begin(recording, off ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE, 0);

	pd_u64(buf, recording->swap, place->time);
	pd_u64(buf, recording->swap, pd_id_of(&recording->attrs[0], place));
	pd_u64(buf, recording->swap, 0x5555);
	pd_end_with(recording, 0, place);
}

static inline void pd_ksymbol(struct pd_recording *recording, const struct pd_place *place, uint64_t address,
			      uint32_t size, const char *name, bool gone)
{
	struct ctx_buf *buf = pd_begin(recording, PERF_RECORD_KSYMBOL, 0);

	pd_u64(buf, recording->swap, address);
	pd_u32(buf, recording->swap, size);
	pd_u16(buf, recording->swap, 1);
	pd_u16(buf, recording->swap, gone);
	pd_text(buf, name, 8);
	pd_end_with(recording, 0, place);
}

static inline void pd_switch(struct pd_recording *recording, const struct pd_place *place)
{
	pd_begin(recording, PERF_RECORD_SWITCH, 0);
	pd_end_with(recording, 0, place);
}

/* SWITCH, or SWITCH_CPU_WIDE with the other thread `other`. The trailer is that of event `attr`. */
static inline void pd_switch_of(struct pd_recording *recording, size_t attr, const struct pd_place *place,
				uint16_t misc, int32_t other)
{
	struct ctx_buf *buf =
		pd_begin(recording, other >= 0 ? PERF_RECORD_SWITCH_CPU_WIDE : PERF_RECORD_SWITCH, misc);

	if (other >= 0) {
		pd_u32(buf, recording->swap, (uint32_t)other);
		pd_u32(buf, recording->swap, (uint32_t)other);
	}
	pd_end_with(recording, attr, place);
}

static inline void pd_round(struct pd_recording *recording)
{
	pd_begin(recording, CTX_PD_FINISHED_ROUND, 0);
	pd_end(recording);
}

/* Followed by `n` bytes of data that look like records to a reader that does not know better. */
static inline void pd_auxtrace(struct pd_recording *recording, size_t n)
{
	struct ctx_buf *buf = pd_begin(recording, CTX_PD_AUXTRACE, 0);

	pd_u64(buf, recording->swap, n);
	pd_zeros(buf, 32);
	pd_end(recording);
	for (size_t i = 0; i < n; i++)
		ctx_buf_put_u8(buf, (uint8_t)(i % 8 == 0 ? 9 : i % 8 == 6 ? 8 : 0));
}

/* ---- samples ---- */

struct pd_sample {
	size_t attr;
	struct pd_place place;
	uint16_t misc; /* 0: of the user */
	uint64_t ip, addr, period;
	uint64_t frames[PD_FRAMES_MAX]; /* the chain, with its marks */
	size_t n_frames;
	uint32_t raw_bytes;		  /* and 4 of its size: to be a multiple of 8 together */
	const uint8_t *raw;		  /* NULL: bytes of 0xab */
	uint64_t n_values, n_branches;	  /* of a group of counters; of the branch stack */
	uint64_t regs_abi, first_reg;	  /* registers count up from there */
	uint64_t stack_bytes, stack_used; /* stack: bytes that count up from 1 */
};

static inline void pd_put_read(struct pd_recording *recording, const struct pd_sample *sample)
{
	uint64_t format = recording->attrs[sample->attr].read_format;
	bool group = format & PERF_FORMAT_GROUP;
	struct ctx_buf *buf = &recording->bytes;

	if (group)
		pd_u64(buf, recording->swap, sample->n_values);
	else
		pd_u64(buf, recording->swap, 77);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		pd_u64(buf, recording->swap, 78);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		pd_u64(buf, recording->swap, 79);
	for (uint64_t i = 0; i < (group ? sample->n_values : 1); i++) {
		if (group)
			pd_u64(buf, recording->swap, 80 + i);
		if (format & PERF_FORMAT_ID)
			pd_u64(buf, recording->swap, 81 + i);
		if (format & (1u << 4))
			pd_u64(buf, recording->swap, 82 + i);
	}
}

static inline void pd_put_branches(struct pd_recording *recording, const struct pd_sample *sample)
{
	uint64_t type = recording->attrs[sample->attr].branch_type;
	struct ctx_buf *buf = &recording->bytes;

	pd_u64(buf, recording->swap, sample->n_branches);
	if (type & (1u << 17))
		pd_u64(buf, recording->swap, 0x123);
	for (uint64_t i = 0; i < sample->n_branches * 3; i++)
		pd_u64(buf, recording->swap, 0x400000 + i);
	for (uint64_t i = 0; type & (1u << 19) && i < sample->n_branches; i++)
		pd_u64(buf, recording->swap, i);
}

static inline void pd_put_lists(struct pd_recording *recording, const struct pd_sample *sample)
{
	const struct pd_attr *attr = &recording->attrs[sample->attr];
	uint64_t type = attr->sample_type;
	struct ctx_buf *buf = &recording->bytes;

	if (type & PERF_SAMPLE_READ)
		pd_put_read(recording, sample);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		pd_u64(buf, recording->swap, sample->n_frames);
		for (size_t i = 0; i < sample->n_frames; i++)
			pd_u64(buf, recording->swap, sample->frames[i]);
	}
	if (type & PERF_SAMPLE_RAW) {
		pd_u32(buf, recording->swap, sample->raw_bytes);
		for (uint32_t i = 0; i < sample->raw_bytes; i++)
			ctx_buf_put_u8(buf, sample->raw != NULL ? sample->raw[i] : 0xab);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		pd_put_branches(recording, sample);
	if (type & PERF_SAMPLE_REGS_USER) {
		pd_u64(buf, recording->swap, sample->regs_abi);
		for (int i = 0; sample->regs_abi != 0 && i < __builtin_popcountll(attr->regs_user); i++)
			pd_u64(buf, recording->swap, sample->first_reg + (uint64_t)i);
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		pd_u64(buf, recording->swap, sample->stack_bytes);
		for (uint64_t i = 0; i < sample->stack_bytes; i++)
			ctx_buf_put_u8(buf, (uint8_t)(i + 1));
		if (sample->stack_bytes != 0)
			pd_u64(buf, recording->swap, sample->stack_used);
	}
}

static inline void pd_sample(struct pd_recording *recording, const struct pd_sample *sample)
{
	const struct pd_attr *attr = &recording->attrs[sample->attr];
	const struct pd_place *place = &sample->place;
	uint64_t type = attr->sample_type;
	struct ctx_buf *buf = pd_begin(recording, PERF_RECORD_SAMPLE,
				       sample->misc != 0 ? sample->misc : PERF_RECORD_MISC_USER);

	if (type & PERF_SAMPLE_IDENTIFIER)
		pd_u64(buf, recording->swap, pd_id_of(attr, place));
	if (type & PERF_SAMPLE_IP)
		pd_u64(buf, recording->swap, sample->ip);
	if (type & PERF_SAMPLE_TID) {
		pd_u32(buf, recording->swap, (uint32_t)place->pid);
		pd_u32(buf, recording->swap, (uint32_t)place->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		pd_u64(buf, recording->swap, place->time);
	if (type & PERF_SAMPLE_ADDR)
		pd_u64(buf, recording->swap, sample->addr);
	if (type & PERF_SAMPLE_ID)
		pd_u64(buf, recording->swap, pd_id_of(attr, place));
	if (type & PERF_SAMPLE_STREAM_ID)
		pd_u64(buf, recording->swap, UINT64_C(0x2222222222222222));
	if (type & PERF_SAMPLE_CPU) {
		pd_u32(buf, recording->swap, place->cpu);
		pd_u32(buf, recording->swap, 0);
	}
	if (type & PERF_SAMPLE_PERIOD)
		pd_u64(buf, recording->swap, sample->period);
	pd_put_lists(recording, sample);
	pd_end(recording);
}

#endif
