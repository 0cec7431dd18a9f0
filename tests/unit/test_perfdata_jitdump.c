/*
 * Dumps are made here, record by record, in either byte order; each is read from memory and from a
 * file, which must agree. Large ones are compared with what the test noted down while it wrote
 * them.
 */
#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "chance.h"
#include "formats/perfdata/pd_jitdump.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIB ((uint64_t)1 << 30)
#define HEADER_BYTES 40

enum { LOAD, MOVE, DEBUG, CLOSE, UNWINDING };

static const char *path; /* of a dump */

/* A dump being written. */
struct maker {
	struct ctx_buf buf;
	bool swap;
};

static void put32(struct maker *maker, uint32_t value)
{
	value = maker->swap ? __builtin_bswap32(value) : value;
	ctx_buf_put(&maker->buf, &value, sizeof(value));
}

static void put64(struct maker *maker, uint64_t value)
{
	value = maker->swap ? __builtin_bswap64(value) : value;
	ctx_buf_put(&maker->buf, &value, sizeof(value));
}

static void put_header_of(struct maker *maker, uint32_t version, uint32_t size, uint64_t flags)
{
	put32(maker, 0x4a695444);
	put32(maker, version);
	put32(maker, size);
	put32(maker, 62);
	put32(maker, 0);
	put32(maker, 7);
	put64(maker, 1000);
	put64(maker, flags);
}

static void put_header(struct maker *maker)
{
	put_header_of(maker, 1, HEADER_BYTES, 0);
}

static void put_record(struct maker *maker, uint32_t id, uint64_t size, uint64_t time_ns)
{
	put32(maker, id);
	put32(maker, (uint32_t)size);
	put64(maker, time_ns);
}

/* All of a load but its code. */
static void put_load_of(struct maker *maker, uint64_t record_size, uint64_t time_ns, uint64_t address,
			uint64_t size, uint64_t index, const char *name)
{
	put_record(maker, LOAD, record_size, time_ns);
	put32(maker, 7);
	put32(maker, 8);
	put64(maker, address + 0x1000000);
	put64(maker, address);
	put64(maker, size);
	put64(maker, index);
	ctx_buf_put(&maker->buf, name, strlen(name) + 1);
}

/* Returns where the code is. */
static uint64_t put_load(struct maker *maker, uint64_t time_ns, uint64_t address, uint32_t size,
			 uint64_t index, const char *name)
{
	uint64_t at;
	uint8_t *code;

	put_load_of(maker, 56 + strlen(name) + 1 + size, time_ns, address, size, index, name);
	at = maker->buf.n;
	code = ctx_buf_reserve(&maker->buf, size);
	assert_non_null(code);
	memset(code, 0, size); /* as a record of its own it would end the reading */
	maker->buf.n += size;
	return at;
}

static void put_move(struct maker *maker, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t index)
{
	put_record(maker, MOVE, 64, time_ns);
	put32(maker, 9);
	put32(maker, 8);
	put64(maker, to + 0x1000000);
	put64(maker, from);
	put64(maker, to);
	put64(maker, 1);
	put64(maker, index);
}

static void put_other(struct maker *maker, uint32_t id, uint32_t n)
{
	put_record(maker, id, 16 + n, 1);
	for (uint32_t i = 0; i < n; i++)
		ctx_buf_put_u8(&maker->buf, 0xff);
}

static void write_file(const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ctx_file_write(fd, path, bytes, n, NULL), CTX_OK);
	close(fd);
}

static void assert_same(const struct ctx_pd_jitdump *a, const struct ctx_pd_jitdump *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->arch_timestamps, b->arch_timestamps);
	assert_int_equal(a->damaged, b->damaged);
	for (size_t i = 0; i < a->n; i++) {
		assert_int_equal(a->loads[i].time_ns, b->loads[i].time_ns);
		assert_int_equal(a->loads[i].address, b->loads[i].address);
		assert_int_equal(a->loads[i].size, b->loads[i].size);
		assert_int_equal(a->loads[i].file_offset, b->loads[i].file_offset);
		assert_int_equal(a->loads[i].pid, b->loads[i].pid);
		assert_string_equal(a->loads[i].name, b->loads[i].name);
	}
}

/* Reads the bytes both ways. */
static enum ctx_status read_bytes(const void *bytes, size_t n, struct ctx_pd_jitdump *ret,
				  struct ctx_err *err)
{
	struct ctx_pd_jitdump from_file;
	enum ctx_status status, file_status;

	write_file(bytes, n);
	status = ctx_pd_jitdump_parse(bytes, n, ret, err);
	file_status = ctx_pd_jitdump_read(path, &from_file, NULL);
	assert_int_equal(status, file_status);
	if (status == CTX_OK) {
		assert_same(ret, &from_file);
		ctx_pd_jitdump_deinit(&from_file);
	}
	return status;
}

static void read_good(struct maker *maker, struct ctx_pd_jitdump *ret)
{
	assert_int_equal(read_bytes(maker->buf.bytes, maker->buf.n, ret, NULL), CTX_OK);
	ctx_buf_deinit(&maker->buf);
}

static void expect_failure(struct maker *maker, enum ctx_status expected, const char *says)
{
	struct ctx_pd_jitdump dump;
	struct ctx_err err = {0};

	assert_int_equal(read_bytes(maker->buf.bytes, maker->buf.n, &dump, &err), expected);
	if (strstr(err.msg, says) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", says, err.msg);
	ctx_buf_deinit(&maker->buf);
}

static void assert_load(const struct ctx_pd_jitdump *dump, size_t i, uint64_t time_ns, uint64_t address,
			uint64_t size, uint64_t offset, const char *name)
{
	assert_true(i < dump->n);
	assert_int_equal(dump->loads[i].time_ns, time_ns);
	assert_int_equal(dump->loads[i].address, address);
	assert_int_equal(dump->loads[i].size, size);
	assert_int_equal(dump->loads[i].file_offset, offset);
	assert_string_equal(dump->loads[i].name, name);
}

static void test_perfdata_jitdump__both_byte_orders(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct maker maker = {.swap = swap != 0};
		struct ctx_pd_jitdump dump;
		uint64_t code[2];

		/* A longer header and unknown records are skipped. */
		put_header_of(&maker, 1, HEADER_BYTES + 8, 1);
		put64(&maker, UINT64_MAX);
		put_other(&maker, DEBUG, 33);
		code[0] = put_load(&maker, 5, 0x7f0000001000, 11, 0, "alpha");
		put_other(&maker, UNWINDING, 1);
		put_other(&maker, 77, 0);
		code[1] = put_load(&maker, 6, 0x7f0000002000, 12, 1, "");
		put_other(&maker, CLOSE, 0);
		put_load(&maker, 7, 0x7f0000003000, 12, 2, "behind the end");
		read_good(&maker, &dump);
		assert_int_equal(dump.n, 2);
		assert_int_equal(dump.pid, 7);
		assert_true(dump.arch_timestamps);
		assert_int_equal(dump.damaged, 0);
		assert_load(&dump, 0, 5, 0x7f0000001000, 11, code[0], "alpha");
		assert_load(&dump, 1, 6, 0x7f0000002000, 12, code[1], "");
		assert_int_equal(dump.loads[0].pid, 7);
		ctx_pd_jitdump_deinit(&dump);
	}
}

static void test_perfdata_jitdump__a_move_is_a_second_load(void **state)
{
	struct maker maker = {0};
	struct ctx_pd_jitdump dump;
	uint64_t code, again;

	(void)state;
	put_header(&maker);
	put_move(&maker, 1, 0x1000, 0x2000, 5); /* before its load: unusable */
	code = put_load(&maker, 2, 0x1000, 16, 5, "alpha");
	put_move(&maker, 3, 0x1000, 0x2000, 5);
	put_move(&maker, 4, 0x2000, 0x3000, 5);
	again = put_load(&maker, 5, 0x1000, 32, 5, "beta"); /* the index is taken over */
	put_move(&maker, 6, 0x1000, 0x4000, 5);
	put_move(&maker, 7, 0x1000, UINT64_MAX - 31, 5); /* beyond all addresses */
	put_move(&maker, 8, 0x1000, 0x2000, 6);
	put_record(&maker, MOVE, 16 + 40, 9); /* too short */
	put_other(&maker, CLOSE, 24);
	read_good(&maker, &dump);
	assert_int_equal(dump.n, 5);
	assert_int_equal(dump.damaged, 4);
	assert_load(&dump, 0, 2, 0x1000, 16, code, "alpha");
	assert_load(&dump, 1, 3, 0x2000, 16, code, "alpha");
	assert_load(&dump, 2, 4, 0x3000, 16, code, "alpha");
	assert_load(&dump, 3, 5, 0x1000, 32, again, "beta");
	assert_load(&dump, 4, 6, 0x4000, 32, again, "beta");
	assert_int_equal(dump.loads[0].pid, 7);
	assert_int_equal(dump.loads[1].pid, 9);
	ctx_pd_jitdump_deinit(&dump);
}

static void test_perfdata_jitdump__loads_of_equal_time_keep_their_order(void **state)
{
	struct ctx_pd_jitdump dump;
	struct maker maker = {0};
	char name[32];

	(void)state;
	put_header(&maker);
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		put_load(&maker, 10 - i % 3, 0x1000, 1, i, name);
	}
	read_good(&maker, &dump);
	assert_int_equal(dump.n, 3000);
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "f%u", i % 1000 * 3 + 2 - i / 1000);
		assert_string_equal(dump.loads[i].name, name);
		assert_int_equal(dump.loads[i].time_ns, 8 + i / 1000);
	}
	ctx_pd_jitdump_deinit(&dump);
}

/*
 * Code and names of all sizes around the window's and the name's limits; what was written is what
 * is read.
 */
static void test_perfdata_jitdump__records_round_trip(void **state)
{
	static const uint32_t SIZES[] = {1,	 15,	 4096,	 65535 - 56, 65536,
					 131071, 131072, 131073, 200000,     400000};
	static char name[200000];

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct ctx_pd_jit_load loads[100];
		struct ctx_pd_jitdump dump;
		struct maker maker = {.swap = seed % 2 != 0};

		random_state = seed;
		put_header(&maker);
		for (uint32_t i = 0; i < 100; i++) {
			uint32_t size = (uint32_t)(next_random() % 3000 + 1);
			size_t n = next_random() % 100;

			if (next_random() % 4 == 0)
				size = SIZES[next_random() % CTX_COUNT_OF(SIZES)];
			if (next_random() % 8 == 0)
				n = 65535 - next_random() % 40; /* with its zero byte it just fits */
			memset(name, 'a' + (int)(i % 26), n);
			name[n] = '\0';
			loads[i].time_ns = i;
			loads[i].address = next_random() >> 16;
			loads[i].size = size;
			loads[i].name = strdup(name);
			loads[i].file_offset = put_load(&maker, i, loads[i].address, size, i, name);
			if (next_random() % 4 == 0)
				put_other(&maker, DEBUG, SIZES[next_random() % CTX_COUNT_OF(SIZES)]);
		}
		read_good(&maker, &dump);
		assert_int_equal(dump.n, 100);
		assert_int_equal(dump.damaged, 0);
		for (uint32_t i = 0; i < 100; i++) {
			assert_load(&dump, i, i, loads[i].address, loads[i].size, loads[i].file_offset,
				    loads[i].name);
			free((char *)(uintptr_t)loads[i].name);
		}
		ctx_pd_jitdump_deinit(&dump);
	}
}

static void test_perfdata_jitdump__a_name_without_end_is_damage(void **state)
{
	static char name[65537];
	struct ctx_pd_jitdump dump;
	struct maker maker = {0};

	(void)state;
	memset(name, 'x', 65536);
	put_header(&maker);
	put_load(&maker, 1, 0x1000, 4, 1, name);		 /* one longer than we look at */
	put_load_of(&maker, 56 + 3 + 1, 2, 0x1000, 1, 2, "abc"); /* the code begins where the zero byte is */
	put_load_of(&maker, 56, 3, 0x1000, 0, 3, "");		 /* not even the zero byte is in the record */
	maker.buf.n--;
	put_load(&maker, 4, 0x1000, 4, 4, "good");
	read_good(&maker, &dump);
	assert_int_equal(dump.damaged, 3);
	assert_int_equal(dump.n, 1);
	assert_string_equal(dump.loads[0].name, "good");
	ctx_pd_jitdump_deinit(&dump);
}

/* Up to every byte: what is whole is read, and what is not is counted once. */
static void test_perfdata_jitdump__torn_at_every_byte(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct maker maker = {.swap = swap != 0};
		struct ctx_pd_jitdump dump;
		size_t ends[5], whole = 0;

		put_header(&maker);
		ends[0] = maker.buf.n;
		put_load(&maker, 1, 0x1000, 20, 1, "alpha");
		ends[1] = maker.buf.n;
		put_move(&maker, 2, 0x1000, 0x2000, 1);
		ends[2] = maker.buf.n;
		put_load(&maker, 3, 0x1000, 20, 2, "beta");
		ends[3] = maker.buf.n;
		put_other(&maker, CLOSE, 0);
		ends[4] = maker.buf.n;
		for (size_t n = 0; n <= maker.buf.n; n++) {
			enum ctx_status status = read_bytes(maker.buf.bytes, n, &dump, NULL);

			if (n < HEADER_BYTES) {
				assert_int_equal(status, CTX_E_FORMAT);
				continue;
			}
			assert_int_equal(status, CTX_OK);
			while (whole < 4 && ends[whole + 1] <= n)
				whole++;
			assert_int_equal(dump.n, whole < 3 ? whole : 3);
			assert_int_equal(dump.damaged, ends[whole] != n);
			ctx_pd_jitdump_deinit(&dump);
		}
		ctx_buf_deinit(&maker.buf);
	}
}

static void test_perfdata_jitdump__wrong_headers_are_refused(void **state)
{
	struct maker maker = {0};

	(void)state;
	put_header(&maker);
	maker.buf.bytes[0] ^= 1;
	expect_failure(&maker, CTX_E_FORMAT, "not a jitdump");
	expect_failure(&maker, CTX_E_FORMAT, "not a jitdump"); /* empty */
	put_header_of(&maker, 2, HEADER_BYTES, 0);
	expect_failure(&maker, CTX_E_VERSION, "version 2");
	put_header_of(&maker, 0, HEADER_BYTES, 0);
	expect_failure(&maker, CTX_E_FORMAT, "damaged header");
	put_header_of(&maker, 1, HEADER_BYTES - 1, 0);
	expect_failure(&maker, CTX_E_FORMAT, "damaged header");
	put_header_of(&maker, 1, HEADER_BYTES + 1, 0);
	expect_failure(&maker, CTX_E_FORMAT, "damaged header");
	put_header_of(&maker, 1, HEADER_BYTES, 3);
	expect_failure(&maker, CTX_E_VERSION, "flags 0x3");
}

static void test_perfdata_jitdump__sizes_that_lie(void **state)
{
	static const uint32_t RECORD_SIZES[] = {0, 1, 15, UINT32_MAX, 0x80000000};
	static const uint64_t CODE_SIZES[] = {5,	  4 * GIB - 1,	   4 * GIB,	     4 * GIB + 4,
					      UINT64_MAX, UINT64_MAX - 63, (uint64_t)1 << 63};
	struct maker maker = {0};
	struct ctx_pd_jitdump dump;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(RECORD_SIZES); i++) {
		put_header(&maker);
		put_load(&maker, 1, 0x1000, 4, 1, "good");
		put_load_of(&maker, RECORD_SIZES[i], 2, 0x2000, 0, 2, "bad");
		put_load(&maker, 3, 0x3000, 4, 3, "unreachable");
		read_good(&maker, &dump);
		assert_int_equal(dump.n, 1);
		assert_int_equal(dump.damaged, 1);
		ctx_pd_jitdump_deinit(&dump);
	}
	for (size_t i = 0; i < CTX_COUNT_OF(CODE_SIZES); i++) {
		put_header(&maker);
		put_load_of(&maker, 56 + 2 + 4, 1, 0x1000, CODE_SIZES[i], 1, "f");
		put32(&maker, 0);
		put_load(&maker, 2, 0x2000, 4, 2, "good");
		put_load(&maker, 3, UINT64_MAX - 4, 5, 3, "over the top");
		put_load(&maker, 4, UINT64_MAX - 5, 5, 3, "just below");
		read_good(&maker, &dump);
		assert_int_equal(dump.n, 2);
		assert_int_equal(dump.damaged, 2);
		ctx_pd_jitdump_deinit(&dump);
	}
}

static void test_perfdata_jitdump__empty_functions_are_left_out(void **state)
{
	struct maker maker = {0};
	struct ctx_pd_jitdump dump;

	(void)state;
	put_header(&maker);
	put_load(&maker, 1, 0x1000, 0, 1, "empty");
	put_load(&maker, 2, 0x1000, 1, 2, "one");
	put_move(&maker, 3, 0x1000, 0x2000, 1);
	put_move(&maker, 4, 0x1000, 0x2000, 2);
	read_good(&maker, &dump);
	assert_int_equal(dump.n, 2);
	assert_int_equal(dump.damaged, 0);
	assert_int_equal(dump.loads[1].address, 0x2000);
	assert_string_equal(dump.loads[1].name, "one");
	ctx_pd_jitdump_deinit(&dump);
	put_header(&maker);
	put_load(&maker, 1, 0x1000, 0, 1, "empty");
	read_good(&maker, &dump);
	assert_int_equal(dump.n, 0);
	ctx_pd_jitdump_deinit(&dump);
}

/*
 * A file of 4 GiB, nearly all of it a hole that is the code of one function: quick, and little
 * memory.
 */
static void test_perfdata_jitdump__files_up_to_4_gib(void **state)
{
	uint32_t size = (uint32_t)(4 * GIB - HEADER_BYTES - 16 - 58);
	struct maker maker = {0};
	struct ctx_pd_jitdump dump;
	struct ctx_err err = {0};
	int fd;

	(void)state;
	put_header(&maker);
	put_load_of(&maker, 58 + (uint64_t)size, 1, 0x1000, size, 1, "f");
	write_file(maker.buf.bytes, maker.buf.n);
	maker.buf.n = 0;
	put_other(&maker, CLOSE, 0);
	fd = open(path, O_WRONLY);
	if (fd < 0 || ftruncate(fd, (off_t)(4 * GIB)) != 0) {
		print_message("skipped: no file of 4 GiB here\n");
		skip();
	}
	assert_int_equal(pwrite(fd, maker.buf.bytes, maker.buf.n, (off_t)(4 * GIB - 16)), 16);
	assert_int_equal(ctx_pd_jitdump_read(path, &dump, &err), CTX_OK);
	assert_int_equal(dump.n, 1);
	assert_int_equal(dump.damaged, 0);
	assert_int_equal(dump.loads[0].size, size);
	ctx_pd_jitdump_deinit(&dump);
	assert_int_equal(ftruncate(fd, (off_t)(4 * GIB + 1)), 0);
	assert_int_equal(ctx_pd_jitdump_read(path, &dump, &err), CTX_E_LIMIT);
	assert_non_null(strstr(err.msg, "4 GiB"));
	close(fd);
	unlink(path);
	ctx_buf_deinit(&maker.buf);
}

static void test_perfdata_jitdump__only_plain_files(void **state)
{
	struct ctx_pd_jitdump dump;
	struct ctx_err err = {0};
	struct maker maker = {0};
	char link[80];

	(void)state;
	put_header(&maker);
	write_file(maker.buf.bytes, maker.buf.n);
	ctx_buf_deinit(&maker.buf);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(ctx_pd_jitdump_read(link, &dump, &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "link"));
	unlink(link);
	assert_int_equal(mkfifo(link, 0600), 0); /* nobody writes: waiting for it would hang */
	assert_int_equal(ctx_pd_jitdump_read(link, &dump, &err), CTX_E_FORMAT);
	unlink(link);
	assert_int_equal(ctx_pd_jitdump_read(folder, &dump, &err), CTX_E_FORMAT);
	assert_int_equal(ctx_pd_jitdump_read(link, &dump, &err), CTX_E_NOTFOUND);
	snprintf(link, sizeof(link), "%s/below", path);
	assert_int_equal(ctx_pd_jitdump_read(link, &dump, &err), CTX_E_NOTFOUND);
}

static void test_perfdata_jitdump__another_users_file_is_refused(void **state)
{
	struct ctx_pd_jitdump dump;
	struct ctx_err err = {0};
	struct maker maker = {0};

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can give a file away\n");
		skip();
	}
	put_header(&maker);
	write_file(maker.buf.bytes, maker.buf.n);
	ctx_buf_deinit(&maker.buf);
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(ctx_pd_jitdump_read(path, &dump, &err), CTX_E_PERM);
	assert_non_null(strstr(err.msg, "another user (12345)"));
	/* What that user sees of their own file, and of one of root's. */
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(seteuid(12345), 0);
	assert_int_equal(ctx_pd_jitdump_read(path, &dump, &err), CTX_OK);
	ctx_pd_jitdump_deinit(&dump);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(seteuid(12345), 0);
	assert_int_equal(ctx_pd_jitdump_read(path, &dump, &err), CTX_E_PERM); /* mode 0600 */
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(seteuid(12345), 0);
	assert_int_equal(ctx_pd_jitdump_read(path, &dump, &err), CTX_OK);
	ctx_pd_jitdump_deinit(&dump);
	assert_int_equal(seteuid(0), 0);
	unlink(path);
}

static void test_perfdata_jitdump__paths_of_dumps(void **state)
{
	static const char *const NO[] = {"jit-.dump",
					 "jit-12.dump.old",
					 "jit-99999999999.dump",
					 "jit-12",
					 "jit-12.dumps",
					 "jit-99999999999999999999999.dump",
					 "xjit-12.dump",
					 "jit--12.dump",
					 "jit-12x.dump",
					 "jit- 12.dump",
					 "jit-2147483648.dump",
					 "jit-12.dump/",
					 "",
					 "/",
					 "jit-12.dump/x",
					 "jit-0x12.dump"};
	uint32_t pid = 1;

	(void)state;
	assert_true(ctx_pd_jitdump_is("/tmp/x/jit-12.dump", &pid));
	assert_int_equal(pid, 12);
	assert_true(ctx_pd_jitdump_is("jit-2147483647.dump", &pid));
	assert_int_equal(pid, 2147483647);
	for (size_t i = 0; i < CTX_COUNT_OF(NO); i++) {
		if (ctx_pd_jitdump_is(NO[i], &pid))
			fail_msg("\"%s\" is taken for a dump", NO[i]);
	}
	assert_int_equal(pid, 2147483647);
}

static void test_perfdata_jitdump__a_failing_allocation_is_a_status(void **state)
{
	enum ctx_status status = CTX_E_NOMEM;
	struct ctx_pd_jitdump dump;
	struct maker maker = {0};
	long failures = 0;
	char name[32];

	(void)state;
	put_header(&maker);
	for (uint32_t i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "function %u", i);
		put_load(&maker, 1, 0x1000 * i, 8, i, name);
	}
	write_file(maker.buf.bytes, maker.buf.n);
	ctx_buf_deinit(&maker.buf);
	for (; failures < 1000; failures++) {
		fail_after = failures;
		status = ctx_pd_jitdump_read(path, &dump, NULL);
		fail_after = -1;
		if (status == CTX_OK)
			break;
		assert_int_equal(status, CTX_E_NOMEM);
	}
	assert_int_equal(status, CTX_OK);
	assert_true(failures >= 10);
	assert_int_equal(dump.n, 500);
	ctx_pd_jitdump_deinit(&dump);
}

static int make_path(void **state)
{
	if (make_folder(state) != 0)
		return -1;
	path = in_folder("jit-7.dump");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_jitdump__both_byte_orders),
		cmocka_unit_test(test_perfdata_jitdump__a_move_is_a_second_load),
		cmocka_unit_test(test_perfdata_jitdump__loads_of_equal_time_keep_their_order),
		cmocka_unit_test(test_perfdata_jitdump__records_round_trip),
		cmocka_unit_test(test_perfdata_jitdump__a_name_without_end_is_damage),
		cmocka_unit_test(test_perfdata_jitdump__torn_at_every_byte),
		cmocka_unit_test(test_perfdata_jitdump__wrong_headers_are_refused),
		cmocka_unit_test(test_perfdata_jitdump__sizes_that_lie),
		cmocka_unit_test(test_perfdata_jitdump__empty_functions_are_left_out),
		cmocka_unit_test(test_perfdata_jitdump__files_up_to_4_gib),
		cmocka_unit_test(test_perfdata_jitdump__only_plain_files),
		cmocka_unit_test(test_perfdata_jitdump__another_users_file_is_refused),
		cmocka_unit_test(test_perfdata_jitdump__paths_of_dumps),
		cmocka_unit_test(test_perfdata_jitdump__a_failing_allocation_is_a_status),
	};

	return cmocka_run_group_tests(tests, make_path, remove_folder);
}
