/*
 * Layout of a jitdump:
 *
 *	header	 magic, version, own size, machine, padding, pid	6 x u32
 *		 time, flags						2 x u64
 *	record	 id, size of the whole record, time			2 x u32, u64
 *	  load	 pid, thread, virtual and code address, size, index	2 x u32, 4 x u64
 *		 name, a zero byte, the machine code
 *	  move	 pid, thread, virtual, old and new address, size, index	2 x u32, 5 x u64
 *	  close	 nothing
 *	record ...
 *
 * A move refers to its function by the index of the load. Machine code is most of the file and not
 * needed here: a window slides over the file and only names are kept.
 */
#include "formats/perfdata/pd_jitdump.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "base/map64.h"
#include "base/mem.h"
#include "formats/perfevent/pe_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x4a695444u
#define VERSION 1
#define FLAG_ARCH_TIMESTAMPS ((uint64_t)1)

#define HEADER_BYTES 40u
#define RECORD_BYTES 16u
#define LOAD_BYTES (RECORD_BYTES + 40u) /* up to the name */
#define MOVE_BYTES (RECORD_BYTES + 48u)

#define FILE_BYTES_MAX ((uint64_t)4 << 30)
#define NAME_BYTES_MAX ((size_t)64 * 1024) /* with the zero byte; C++ and Java names reach a few thousand */
#define WINDOW_BYTES ((size_t)128 * 1024)  /* more than the longest piece read at once */

enum { LOAD = 0, MOVE = 1, CLOSE = 3 };

struct input {
	const char *name;
	int fd; /* -1: all bytes are in memory at `bytes` */
	uint64_t size;
	const uint8_t *bytes; /* borrowed */
	uint8_t *window;      /* owned; window_n bytes of the file from window_at on */
	uint64_t window_at;
	size_t window_n;
};

/* A load whose name is an offset, because `names` may still be reallocated. */
struct found {
	struct ctx_pd_jit_load load;
	size_t name;	/* offset in `names` */
	uint32_t order; /* in the file */
};

struct reading {
	struct input input;
	bool swap;
	struct found *found; /* owned; in the order of the file */
	size_t n, cap;
	size_t empty;		   /* of these, functions of no bytes */
	struct ctx_buf names;	   /* each with its zero byte */
	struct ctx_map64 by_index; /* -> latest load or move */
	uint64_t damaged;
};

static void reading_deinit(struct reading *reading)
{
	free(reading->input.window);
	free(reading->found);
	ctx_buf_deinit(&reading->names);
	ctx_map64_deinit(&reading->by_index);
}

/*
 * The `n` bytes at `at`, which are within the size; borrowed until the next call. CTX_END when the
 * file has been truncated meanwhile.
 */
static enum ctx_status input_get(struct input *input, uint64_t at, size_t n, const uint8_t **ret,
				 struct ctx_err *err)
{
	enum ctx_status status;
	size_t want = WINDOW_BYTES;

	if (input->fd < 0) {
		*ret = n != 0 ? input->bytes + at : NULL;
		return CTX_OK;
	}
	if (at < input->window_at || at + n > input->window_at + input->window_n) {
		if (want > input->size - at)
			want = (size_t)(input->size - at);
		status = ctx_file_pread(&(struct ctx_file_place){input->fd, input->name, at}, input->window,
					want, &input->window_n, err);
		if (status < 0)
			return status;
		input->window_at = at;
		if (input->window_n < n)
			return CTX_END;
	}
	*ret = input->window + (at - input->window_at);
	return CTX_OK;
}

static enum ctx_status append(struct reading *reading, const struct found *found, uint64_t index,
			      struct ctx_err *err)
{
	uint32_t *place;

	/* A file of 4 GiB cannot have so many records; bytes in memory can. */
	if (reading->n >= CTX_MAP64_NONE)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: too many functions", reading->input.name);
	if (ctx_grow(&reading->found, &reading->cap, reading->n + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	place = ctx_map64_place(&reading->by_index, index);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = (uint32_t)reading->n;
	reading->found[reading->n] = *found;
	reading->found[reading->n].order = (uint32_t)reading->n;
	reading->n++;
	reading->empty += found->load.size == 0;
	return CTX_OK;
}

static enum ctx_status damaged(struct reading *reading)
{
	reading->damaged++;
	return CTX_OK;
}

struct record {
	uint64_t begin, end; /* in the file */
	uint64_t time_ns;
	struct ctx_pe_wire body; /* after the record's header; may end before the record does */
};

static enum ctx_status take_load(struct reading *reading, struct record *record, struct ctx_err *err)
{
	struct found found = {.load.time_ns = record->time_ns, .name = reading->names.n};
	uint64_t record_bytes = record->end - record->begin;
	struct ctx_pe_wire *wire = &record->body;
	uint64_t index, room;
	const uint8_t *zero;
	size_t n;

	found.load.pid = ctx_pe_wire_u32(wire);
	ctx_pe_wire_u32(wire); /* thread that compiled it */
	ctx_pe_wire_u64(wire); /* virtual address: not where the code runs */
	found.load.address = ctx_pe_wire_u64(wire);
	found.load.size = ctx_pe_wire_u64(wire);
	index = ctx_pe_wire_u64(wire);
	if (wire->failed || found.load.size > record_bytes - LOAD_BYTES ||
	    found.load.size > UINT64_MAX - found.load.address)
		return damaged(reading);
	room = record_bytes - LOAD_BYTES - found.load.size;
	n = ctx_pe_wire_left(wire) < room ? ctx_pe_wire_left(wire) : (size_t)room;
	zero = n != 0 ? memchr(wire->at, 0, n) : NULL;
	if (zero == NULL)
		return damaged(reading);
	n = (size_t)(zero - wire->at) + 1;
	found.load.file_offset = record->begin + LOAD_BYTES + n;
	ctx_buf_put(&reading->names, wire->at, n);
	if (ctx_buf_check(&reading->names, err) != CTX_OK)
		return CTX_E_NOMEM;
	return append(reading, &found, index, err);
}

/* A move keeps name, size and code of the load. */
static enum ctx_status take_move(struct reading *reading, struct record *record, struct ctx_err *err)
{
	struct ctx_pe_wire *wire = &record->body;
	struct found found;
	uint64_t address, index;
	uint32_t pid, before;

	pid = ctx_pe_wire_u32(wire);
	ctx_pe_wire_u32(wire); /* thread */
	ctx_pe_wire_u64(wire); /* virtual address */
	ctx_pe_wire_u64(wire); /* old address */
	address = ctx_pe_wire_u64(wire);
	ctx_pe_wire_u64(wire); /* size */
	index = ctx_pe_wire_u64(wire);
	if (wire->failed)
		return damaged(reading);
	before = ctx_map64_get(&reading->by_index, index);
	if (before == CTX_MAP64_NONE || reading->found[before].load.size > UINT64_MAX - address)
		return damaged(reading);
	found = reading->found[before];
	found.load.time_ns = record->time_ns;
	found.load.address = address;
	found.load.pid = pid;
	return append(reading, &found, index, err);
}

/* Reads the record at `*at` and advances `*at`. CTX_END after the last usable record. */
static enum ctx_status take_record(struct reading *reading, uint64_t *at, struct ctx_err *err)
{
	struct input *input = &reading->input;
	uint64_t left = input->size - *at;
	struct record record = {.begin = *at};
	struct ctx_pe_wire wire;
	const uint8_t *bytes;
	enum ctx_status status;
	uint32_t id, size;
	size_t look = left;

	if (left == 0)
		return CTX_END;
	if (look > LOAD_BYTES + NAME_BYTES_MAX)
		look = LOAD_BYTES + NAME_BYTES_MAX;
	status = left < RECORD_BYTES ? CTX_END : input_get(input, record.begin, RECORD_BYTES, &bytes, err);
	if (status < 0)
		return status;
	if (status == CTX_END) {
		reading->damaged++;
		return CTX_END;
	}
	wire = ctx_pe_wire_make(bytes, RECORD_BYTES, reading->swap);
	id = ctx_pe_wire_u32(&wire);
	size = ctx_pe_wire_u32(&wire);
	record.time_ns = ctx_pe_wire_u64(&wire);
	if (size < RECORD_BYTES || size > left) { /* the start of the next record is unknown */
		reading->damaged++;
		return CTX_END;
	}
	if (id == CLOSE)
		return CTX_END;
	*at = record.end = record.begin + size;
	if (id != LOAD && id != MOVE)
		return CTX_OK;
	if (look > size)
		look = size;
	status = input_get(input, record.begin, look, &bytes, err);
	if (status == CTX_END)
		reading->damaged++;
	if (status != CTX_OK)
		return status;
	record.body = ctx_pe_wire_make(bytes + RECORD_BYTES, look - RECORD_BYTES, reading->swap);
	return id == MOVE ? take_move(reading, &record, err) : take_load(reading, &record, err);
}

/* `*ret_at` is the offset of the first record. */
static enum ctx_status take_header(struct reading *reading, struct ctx_pd_jitdump *dump, uint64_t *ret_at,
				   struct ctx_err *err)
{
	struct input *input = &reading->input;
	uint32_t version, size, magic = 0;
	struct ctx_pe_wire wire;
	enum ctx_status status = CTX_END;
	const uint8_t *bytes;
	uint64_t flags;

	if (input->size >= HEADER_BYTES)
		status = input_get(input, 0, HEADER_BYTES, &bytes, err);
	if (status < 0)
		return status;
	if (status == CTX_OK)
		memcpy(&magic, bytes, sizeof(magic));
	if (magic != MAGIC && magic != __builtin_bswap32(MAGIC))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a jitdump", input->name);
	reading->swap = magic != MAGIC;
	wire = ctx_pe_wire_make(bytes, HEADER_BYTES, reading->swap);
	ctx_pe_wire_u32(&wire); /* magic */
	version = ctx_pe_wire_u32(&wire);
	size = ctx_pe_wire_u32(&wire);
	ctx_pe_wire_u64(&wire); /* machine, padding */
	dump->pid = ctx_pe_wire_u32(&wire);
	ctx_pe_wire_u64(&wire); /* time of the header */
	flags = ctx_pe_wire_u64(&wire);
	if (version > VERSION)
		return ctx_err_set(err, CTX_E_VERSION, "%s: jitdump version %u, known is %d", input->name,
				   version, VERSION);
	if ((flags & ~FLAG_ARCH_TIMESTAMPS) != 0)
		return ctx_err_set(err, CTX_E_VERSION, "%s: jitdump flags 0x%llx are not known", input->name,
				   (unsigned long long)flags);
	if (version == 0 || size < HEADER_BYTES || size > input->size)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: damaged header (version %u, %u bytes)",
				   input->name, version, size);
	dump->arch_timestamps = (flags & FLAG_ARCH_TIMESTAMPS) != 0;
	*ret_at = size;
	return CTX_OK;
}

static int by_time(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->load.time_ns != y->load.time_ns)
		return x->load.time_ns < y->load.time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Empty functions are valid but cannot be sampled: they are left out. */
static enum ctx_status finish(struct reading *reading, struct ctx_pd_jitdump *dump, struct ctx_err *err)
{
	size_t n = reading->n - reading->empty;

	dump->damaged = reading->damaged;
	if (n == 0)
		return CTX_OK;
	dump->loads = ctx_calloc(n, sizeof(*dump->loads));
	if (dump->loads == NULL)
		return ctx_err_nomem(err);
	dump->cap = n;
	qsort(reading->found, reading->n, sizeof(*reading->found), by_time);
	for (size_t i = 0; i < reading->n; i++) {
		const struct found *found = &reading->found[i];

		if (found->load.size == 0)
			continue;
		dump->loads[dump->n] = found->load;
		dump->loads[dump->n++].name = (const char *)reading->names.bytes + found->name;
	}
	dump->bytes = (char *)reading->names.bytes;
	reading->names = (struct ctx_buf){0};
	return CTX_OK;
}

static enum ctx_status read_all(struct reading *reading, struct ctx_pd_jitdump *ret, struct ctx_err *err)
{
	struct ctx_pd_jitdump dump = {0};
	enum ctx_status status;
	uint64_t at = 0;

	status = take_header(reading, &dump, &at, err);
	while (status == CTX_OK)
		status = take_record(reading, &at, err);
	if (status == CTX_END)
		status = finish(reading, &dump, err);
	if (status == CTX_OK)
		*ret = dump;
	return status;
}

enum ctx_status ctx_pd_jitdump_parse(const void *bytes, size_t n, struct ctx_pd_jitdump *ret,
				     struct ctx_err *err)
{
	struct reading reading = {.input = {.name = "jitdump", .fd = -1, .size = n, .bytes = bytes}};
	enum ctx_status status = read_all(&reading, ret, err);

	reading_deinit(&reading);
	return status;
}

/* The path comes from a recording and must not be trusted: it may lead to a link or a device. */
static enum ctx_status open_dump(const char *path, int *ret_fd, uint64_t *ret_size, struct ctx_err *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	enum ctx_status status = CTX_OK;
	struct stat info;

	if (fd < 0 && errno == ELOOP)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: a link, not a plain file", path);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
	if (fd < 0)
		return ctx_err_errno(err, errno == EACCES || errno == EPERM ? CTX_E_PERM : CTX_E_IO, "%s",
				     path);
	if (fstat(fd, &info) != 0)
		status = ctx_err_errno(err, CTX_E_IO, "%s", path);
	else if (!S_ISREG(info.st_mode))
		status = ctx_err_set(err, CTX_E_FORMAT, "%s: not a plain file", path);
	else if (info.st_uid != 0 && info.st_uid != geteuid())
		status = ctx_err_set(err, CTX_E_PERM, "%s: belongs to another user (%u)", path,
				     (unsigned)info.st_uid);
	else if ((uint64_t)info.st_size > FILE_BYTES_MAX)
		status = ctx_err_set(err, CTX_E_LIMIT, "%s: larger than 4 GiB", path);
	if (status != CTX_OK) {
		close(fd);
		return status;
	}
	*ret_fd = fd;
	*ret_size = (uint64_t)info.st_size;
	return CTX_OK;
}

enum ctx_status ctx_pd_jitdump_read(const char *path, struct ctx_pd_jitdump *ret, struct ctx_err *err)
{
	struct reading reading = {.input.name = path};
	int fd CTX_AUTO_CLOSE = -1;
	enum ctx_status status;

	status = open_dump(path, &fd, &reading.input.size, err);
	if (status != CTX_OK)
		return status;
	reading.input.fd = fd;
	reading.input.window = malloc(WINDOW_BYTES);
	if (reading.input.window == NULL)
		return ctx_err_nomem(err);
	status = read_all(&reading, ret, err);
	reading_deinit(&reading);
	return status;
}

void ctx_pd_jitdump_deinit(struct ctx_pd_jitdump *dump)
{
	free(dump->bytes);
	free(dump->loads);
	*dump = (struct ctx_pd_jitdump){0};
}

bool ctx_pd_jitdump_is(const char *path, uint32_t *ret_pid)
{
	const char *at = ctx_path_base(path);
	uint64_t pid = 0;

	if (strncmp(at, "jit-", 4) != 0 || at[4] < '0' || at[4] > '9')
		return false;
	for (at += 4; *at >= '0' && *at <= '9'; at++) {
		pid = pid * 10 + (uint64_t)(*at - '0');
		if (pid > INT_MAX) /* pid_t */
			return false;
	}
	if (strcmp(at, ".dump") != 0)
		return false;
	*ret_pid = (uint32_t)pid;
	return true;
}
