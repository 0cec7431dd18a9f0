/*
 * Experiments in gprofng's format, made by tests: a directory with text that tests write and block
 * files of records.
 */
#ifndef CTX_TESTS_UNIT_GPROFNG_FIXTURE_H
#define CTX_TESTS_UNIT_GPROFNG_FIXTURE_H

#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "tests/unit/source_check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define GP_R UINT64_C(801425552975190205)
#define GP_RUN_NS INT64_C(5000000000000)

static inline void gp_u16(struct ctx_buf *out, bool big, unsigned value)
{
	ctx_buf_put_u16(out, big ? __builtin_bswap16((uint16_t)value) : (uint16_t)value);
}

static inline void gp_u32(struct ctx_buf *out, bool big, uint32_t value)
{
	ctx_buf_put_u32(out, big ? __builtin_bswap32(value) : value);
}

static inline void gp_u64(struct ctx_buf *out, bool big, uint64_t value)
{
	ctx_buf_put_u64(out, big ? __builtin_bswap64(value) : value);
}

/* The number of a stack: of an info with seed 1, of a record with seed R. Leaf first. */
static inline uint64_t gp_uid(const uint64_t *frames, size_t n, uint64_t seed)
{
	while (n-- != 0)
		seed = (seed + frames[n]) * GP_R;
	return seed;
}

/* A clock record as 2.40 writes it. */
static inline void gp_clock(struct ctx_buf *out, bool big, uint32_t tid, int64_t time_ns, uint64_t stack)
{
	gp_u16(out, big, 56);
	gp_u16(out, big, 8);
	gp_u32(out, big, 0);
	gp_u64(out, big, tid);
	gp_u64(out, big, tid);
	gp_u32(out, big, tid % 4);
	gp_u64(out, big, (uint64_t)time_ns);
	gp_u64(out, big, stack);
	gp_u32(out, big, 10);
	gp_u32(out, big, 1);
	gp_u32(out, big, 0);
}

/* A FRAME record with one native info; `rest` is the link, 0 none. */
static inline void gp_frame(struct ctx_buf *out, bool big, uint64_t record, uint64_t info,
			    const uint64_t *frames, size_t n, uint64_t rest)
{
	size_t body = 8 * n + (rest != 0 ? 8 : 0);

	gp_u16(out, big, (unsigned)(32 + body));
	gp_u16(out, big, 11);
	gp_u32(out, big, 16);
	gp_u64(out, big, record);
	gp_u32(out, big, (uint32_t)(16 + body));
	gp_u32(out, big, 1 | (rest != 0 ? 0x80000000u : 0));
	gp_u64(out, big, info);
	for (size_t i = 0; i < n; i++)
		gp_u64(out, big, frames[i]);
	if (rest != 0)
		ctx_buf_put_u64(out, rest); /* in any byte order the same way */
}

/* Fills up to the end of the block. */
static inline void gp_end_block(struct ctx_buf *out, bool big, unsigned type)
{
	size_t left = 65536 - out->n % 65536;

	if (left == 65536)
		return;
	gp_u16(out, big, (unsigned)left);
	gp_u16(out, big, type);
	for (left -= 4; left != 0; left--)
		ctx_buf_put_u8(out, 0);
}

static inline const char *gp_clock_profile(void)
{
	return "<profile name=\"profile\" ptimer=\"10007\" numstates=\"1\">\n"
	       " <profdata fname=\"profile\"/>\n"
	       " <profpckt kind=\"8\" uname=\"Clock profiling data\">\n"
	       "  <field name=\"LWPID\" uname=\"Lightweight process id\" offset=\"8\" type=\"INT64\"/>\n"
	       "  <field name=\"THRID\" offset=\"16\" type=\"INT64\"/>\n"
	       "  <field name=\"CPUID\" offset=\"24\" type=\"INT32\"/>\n"
	       "  <field name=\"TSTAMP\" offset=\"28\" type=\"INT64\"/>\n"
	       "  <field name=\"FRINFO\" offset=\"36\" type=\"INT64\"/>\n"
	       "  <field name=\"MSTATE\" offset=\"44\" type=\"INT32\"/>\n"
	       "  <field name=\"NTICK\" offset=\"48\" type=\"INT32\"/>\n"
	       " </profpckt>\n</profile>\n";
}

/* A log up to the run, `offset_ns` behind GP_RUN_NS. */
static inline void gp_log_head(struct ctx_buf *out, const char *arch, int pid, int ppid, const char *command,
			       int64_t offset_ns)
{
	int64_t run = GP_RUN_NS + offset_ns;

	ctx_buf_printf(out,
		       "<experiment version=\"12.4\">\n<collector>2.40.00</collector>\n</experiment>\n"
		       "<system hostname=\"h\" arch=\"%s\" os=\"Linux 6\" pagesz=\"4096\" npages=\"100\">\n"
		       "  <cpu id=\"0\" clk=\"2000\"/>\n</system>\n"
		       "<process pid=\"%d\"></process>\n<process ppid=\"%d\"></process>\n"
		       "<process cwd=\"/home\"></process>\n<process wsize=\"64\"></process>\n"
		       "<process>%s</process>\n"
		       "<event kind=\"run\" tstamp=\"%lld.%09lld\" time=\"1795229715\" tm_zone=\"0\"/>\n%s",
		       arch, pid, ppid, command, (long long)(run / 1000000000), (long long)(run % 1000000000),
		       gp_clock_profile());
}

static inline void gp_write(const char *directory, const char *name, const void *bytes, size_t n)
{
	char *path CTX_AUTO_FREE = ctx_path_join(directory, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(n == 0 ? 0 : fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static inline void gp_write_buf(const char *directory, const char *name, struct ctx_buf *buf)
{
	assert_false(buf->failed);
	gp_write(directory, name, buf->bytes, buf->n);
	ctx_buf_deinit(buf);
}

/* All events of a source as lines of text; the guarantees of sources are checked. */
struct gp_reading {
	struct ctx_buf events;	/* ends in a zero byte */
	struct ctx_buf trouble; /* damage and warnings */
	uint64_t samples, weight;
	bool closed;
};

static inline void gp_reading_deinit(struct gp_reading *reading)
{
	ctx_buf_deinit(&reading->events);
	ctx_buf_deinit(&reading->trouble);
	*reading = (struct gp_reading){0};
}

static inline void gp_note(struct gp_reading *reading, const struct ctx_event *event)
{
	struct ctx_buf *out = &reading->events;
	unsigned long long time = event->time_ns;

	switch (event->kind) {
	case CTX_EV_PROCESS_START:
		ctx_buf_printf(out, "%llu process %u pid %lld of %d %s [%s]\n", time, event->process,
			       (long long)event->process_start.pid, (int)event->process_start.parent,
			       event->process_start.command, event->process_start.lineage);
		break;
	case CTX_EV_PROCESS_EXIT:
		ctx_buf_printf(out, "%llu end of %u\n", time, event->process);
		break;
	case CTX_EV_THREAD_START:
		ctx_buf_printf(out, "%llu thread %u tid %lld of %u %s\n", time, event->thread,
			       (long long)event->thread_start.tid, event->process, event->thread_start.name);
		break;
	case CTX_EV_MAP:
	case CTX_EV_UNMAP:
		ctx_buf_printf(out, "%llu %s %u %llx+%llx", time, event->kind == CTX_EV_MAP ? "map" : "unmap",
			       event->process, (unsigned long long)event->map.address,
			       (unsigned long long)event->map.size);
		if (event->kind == CTX_EV_MAP)
			ctx_buf_printf(out, " %s@%llx %s %s", event->map.path,
				       (unsigned long long)event->map.file_offset, event->map.function,
				       ctx_path_base(event->map.archive));
		ctx_buf_put_text(out, "\n");
		break;
	case CTX_EV_FUNCTION:
		ctx_buf_printf(out, "%llu function %x+%x %s of %s\n", time, event->function.id,
			       event->function.size, event->function.name, event->function.module);
		break;
	case CTX_EV_USAGE:
		ctx_buf_printf(out, "%llu usage %u user %llu\n", time, event->process,
			       (unsigned long long)event->usage.user_ns);
		break;
	case CTX_EV_SAMPLE:
		reading->samples++;
		reading->weight += event->sample.weight;
		ctx_buf_printf(out, "%llu sample %u metric %u weight %llu cpu %d:", time, event->thread,
			       event->sample.metric, (unsigned long long)event->sample.weight,
			       event->sample.cpu);
		for (uint32_t i = 0; i < event->sample.stack.n_frames; i++)
			ctx_buf_printf(out, " %llx", (unsigned long long)event->sample.stack.frames[i]);
		ctx_buf_put_text(out, "\n");
		break;
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
		ctx_buf_printf(&reading->trouble, "%s\n", event->text);
		break;
	default:
		fail_msg("an event of kind %d", (int)event->kind);
	}
}

#endif
