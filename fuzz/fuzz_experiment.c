/*
 * Fuzz target: reads an experiment directory of arbitrary bytes to its end.
 *
 * The first byte is a set of bits: 1, data is wrapped in correct file and block headers, so that
 * the code after the checksums is reached, and packed texts in zstd frames; 2, the log has a valid
 * beginning; 4, and it is log.xml.zst. Then come parts: file
 * (1 byte), length (2 bytes), bytes. In wrapped parts the first four bytes are the process, the
 * epoch (and PACKED, CALLS), the number of records and the first time.
 */
#include "base/compress.h"
#include "base/cursor.h"
#include "base/fileio.h"
#include "base/xxh.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_callevents.h"
#include "formats/experiment/exp_calls.h"
#include "formats/experiment/exp_heap_code.h"
#include "formats/experiment/exp_io_block.h"
#include "formats/experiment/exp_packed_frames.h"
#include "formats/experiment/exp_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS_MAX 256u
#define PACKED                                                                                               \
	4u	 /* in the byte of the epoch: call stacks are packed, heap operations are of the large kind */
#define CALLS 8u /* and call stacks by their calls */

static const char FIRST_LINES[] =
	"<experiment version=\"1\"/>\n<profile metric=\"0\" name=\"c\" unit=\"ns\" period=\"5\"/>\n"
	"<event kind=\"run\" tstamp=\"0.0\"/>\n"
	"<event kind=\"process\" tstamp=\"0.1\" process=\"0\" pid=\"1\" lineage=\"\" command=\"c\"/>\n";

static const char *const FILES[] = {
	"log.xml",	  "map.xml",	    "profile",		"frameinfo",   "overview",  "hwcounters",
	"_f1.er/map.xml", "_f1.er/profile", "_f1.er/frameinfo", "notes",       "states",    "_f1.er/states",
	"heaptrace",	  "log.xml.zst",    "map.xml.zst",	"profile.zst", "synctrace", "iotrace",
	"marktrace",	  "callevents",	    "omptrace",		"accesses"};
#define LOG 0u
#define PACKED_LOG 13u
#define N_FILES (sizeof(FILES) / sizeof(FILES[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What lasts is said the same by both passes; what can be decoded can be encoded, and is the same again. */
static void decode_heap(struct ctx_bytes payload)
{
	static struct ctx_exp_heap_coder *coder; /* much memory, kept */
	struct ctx_exp_heap_addresses addresses[RECORDS_MAX];
	struct ctx_exp_packet packets[RECORDS_MAX];
	const struct ctx_exp_heap_block block = {
		.packets = packets, .addresses = addresses, .n = RECORDS_MAX, .last_ns = 1000};
	struct ctx_exp_heap_list lasting;
	struct ctx_exp_heap_parts parts;
	struct ctx_buf again = {0};

	if (ctx_exp_heap_decode(&coder, payload, &block, NULL) == CTX_OK) {
		if (ctx_exp_heap_find_lasting(&coder, payload, RECORDS_MAX, &lasting, NULL) != CTX_OK)
			abort();
		for (size_t i = 0; i < lasting.n; i++) {
			const struct ctx_exp_heap_lasting *item = &lasting.items[i];

			if (item->operation != packets[item->place].operation)
				abort();
		}
		if (ctx_exp_heap_encode(&coder, &block, &again, &parts, NULL) != CTX_OK ||
		    ctx_exp_heap_decode(&coder, (struct ctx_bytes){again.bytes, again.n}, &block, NULL) !=
			    CTX_OK)
			abort();
	}
	ctx_buf_deinit(&again);
}

/* What can be unpacked, of either form, is packed again, and is the same then. */
static void unpack_frames(struct ctx_bytes payload, bool are_calls)
{
	size_t ends[CTX_EXP_CALLS_STREAMS + 1];
	struct ctx_buf once = {0}, packed = {0}, twice = {0};
	enum ctx_status status = are_calls ? ctx_exp_unpack_calls(payload, &once, NULL)
					   : ctx_exp_unpack_frames(payload, &once, NULL);

	if (status == CTX_OK &&
	    ctx_exp_pack_calls((struct ctx_bytes){once.bytes, once.n}, &packed, ends, NULL) == CTX_OK &&
	    (ctx_exp_unpack_calls((struct ctx_bytes){packed.bytes, packed.n}, &twice, NULL) != CTX_OK ||
	     twice.n != once.n || memcmp(twice.bytes, once.bytes, once.n) != 0))
		abort();
	ctx_buf_deinit(&once);
	ctx_buf_deinit(&packed);
	ctx_buf_deinit(&twice);
}

static void decode_io(const uint8_t *data, size_t size, bool are_accesses)
{
	struct ctx_exp_io_rest rest[RECORDS_MAX];
	struct ctx_exp_packet packets[RECORDS_MAX];
	struct ctx_exp_io_block block = {.packets = packets, .rest = rest, .n = size % RECORDS_MAX + 1};

	enum ctx_status status =
		are_accesses ? ctx_exp_decode_accesses((struct ctx_bytes){data, size}, 0, &block, NULL)
			     : ctx_exp_decode_io((struct ctx_bytes){data, size}, 0, &block, NULL);

	if (status == CTX_OK) {
		for (size_t i = 0; i < block.n; i++) {
			const char *name = ctx_exp_io_block_name(&block, &packets[i]);

			if (name != NULL && strlen(name) > CTX_EXP_IO_NAME_MAX)
				abort();
		}
	}
	ctx_exp_io_block_deinit(&block);
}

/* What can be read can be written, and is the same again. */
static void decode_calls(const uint8_t *data, size_t size)
{
	const struct ctx_bytes payload = {data, size};
	struct ctx_exp_call_block block = {0};
	struct ctx_exp_calls_in in = {0}, again = {0};
	struct ctx_exp_call call, same;
	struct ctx_buf out = {0};
	uint32_t kept, kept_again, n = (uint32_t)(size % RECORDS_MAX);
	enum ctx_status status = ctx_exp_calls_begin(&in, payload, 0, n, NULL);
	bool is_new;

	block.thread = in.thread;
	block.depth = block.depth_now = in.depth;
	while (status == CTX_OK && (status = ctx_exp_calls_next(&in, &call, &kept, NULL)) == CTX_OK) {
		if (ctx_exp_call_put(&block, &call, &is_new, NULL) != CTX_OK)
			abort();
	}
	if (status == CTX_END && n != 0) {
		if (ctx_exp_calls_encode(&block, &out, NULL) != CTX_OK ||
		    ctx_exp_calls_begin(&again, (struct ctx_bytes){out.bytes, out.n}, block.first_ns, n,
					NULL) != CTX_OK ||
		    ctx_exp_calls_begin(&in, payload, 0, n, NULL) != CTX_OK)
			abort();
		while (ctx_exp_calls_next(&in, &call, &kept, NULL) == CTX_OK) {
			if (ctx_exp_calls_next(&again, &same, &kept_again, NULL) != CTX_OK ||
			    kept != kept_again || call.time_ns != same.time_ns || call.left != same.left ||
			    call.function != same.function || call.unwound != same.unwound ||
			    call.is_sum != same.is_sum || call.took_ns != same.took_ns ||
			    call.calls != same.calls)
				abort();
		}
	}
	ctx_buf_deinit(&out);
	ctx_exp_call_block_deinit(&block);
	ctx_exp_calls_in_deinit(&in);
	ctx_exp_calls_in_deinit(&again);
}

static void check_traced(const struct ctx_event *event, uint32_t n_processes, uint32_t n_threads)
{
	const struct ctx_traced *operation = event->traced.operation;
	enum ctx_traced_kind kind = (enum ctx_traced_kind)operation->kind;
	uint64_t longest_ns = kind == CTX_TRACED_SYNC ? CTX_TRACED_WEIGHT_MAX : event->time_ns;

	if (event->process >= n_processes || event->thread >= n_threads || kind >= CTX_TRACED_N ||
	    operation->operation >= ctx_traced_n_operations(kind) || operation->duration_ns > longest_ns)
		abort();
	if (kind == CTX_TRACED_SYNC && operation->other != CTX_NONE && operation->other >= n_threads)
		abort();
	if (kind == CTX_TRACED_MARK && event->traced.file == NULL)
		abort();
	if (event->traced.file != NULL && strlen(event->traced.file) > CTX_EXP_IO_NAME_MAX)
		abort();
}

static void decode(const uint8_t *data, size_t size)
{
	struct ctx_exp_packet packets[RECORDS_MAX];
	struct ctx_exp_sync_rest rests[RECORDS_MAX];
	struct ctx_exp_block_header header;
	struct ctx_exp_frames_in in;
	uint32_t id, parent, last = 0;
	uint64_t address;

	if (ctx_exp_decode_block_header(data, size, &header, NULL) == CTX_OK &&
	    header.raw_bytes > CTX_EXP_RAW_MAX)
		abort();
	if (ctx_exp_decode_packets((struct ctx_bytes){data, size}, 0, packets, RECORDS_MAX, NULL) == CTX_OK) {
		for (size_t i = 1; i < RECORDS_MAX; i++) {
			if (packets[i].time_ns < packets[i - 1].time_ns)
				abort();
		}
	}
	decode_heap((struct ctx_bytes){data, size});
	if (ctx_exp_decode_sync((struct ctx_bytes){data, size}, 0,
				&(struct ctx_exp_sync_block){packets, rests, RECORDS_MAX}, NULL) == CTX_OK &&
	    packets[RECORDS_MAX - 1].order != RECORDS_MAX - 1)
		abort();
	decode_calls(data, size);
	unpack_frames((struct ctx_bytes){data, size}, false);
	unpack_frames((struct ctx_bytes){data, size}, true);
	if (ctx_exp_frames_begin(data, size, &in, NULL) != CTX_OK)
		return;
	while (ctx_exp_frames_next(&in, &id, &parent, &address, NULL) == CTX_OK) {
		if (parent >= id || id <= last)
			abort();
		last = id;
	}
}

/* A valid block with these bytes as its payload. */
static void wrap(const char *file, const uint8_t *bytes, size_t n, struct ctx_buf *out)
{
	struct ctx_compressor compressor = {0};
	struct ctx_exp_block_header header = {.last_ns = UINT64_MAX};
	struct ctx_buf frame = {0};
	uint8_t encoded[CTX_EXP_BLOCK_HEADER_BYTES];

	if (n < 4)
		return;
	header.kind = CTX_EXP_BLOCK_PROFILE;
	if (strstr(file, "frameinfo") != NULL)
		header.kind = (bytes[1] & PACKED) == 0	? CTX_EXP_BLOCK_FRAMES
			      : (bytes[1] & CALLS) != 0 ? CTX_EXP_BLOCK_CALLS
							: CTX_EXP_BLOCK_PACKED_FRAMES;
	if (strcmp(file, "overview") == 0)
		header.kind = CTX_EXP_BLOCK_OVERVIEW;
	if (strstr(file, "states") != NULL)
		header.kind = CTX_EXP_BLOCK_STATES;
	if (strstr(file, "heaptrace") != NULL)
		header.kind = (bytes[1] & PACKED) != 0 ? CTX_EXP_BLOCK_LARGE_HEAP : CTX_EXP_BLOCK_HEAP;
	if (strstr(file, "synctrace") != NULL)
		header.kind = CTX_EXP_BLOCK_SYNC;
	if (strstr(file, "iotrace") != NULL)
		header.kind = CTX_EXP_BLOCK_IO;
	if (strstr(file, "marktrace") != NULL)
		header.kind = CTX_EXP_BLOCK_MARKS;
	if (strcmp(file, "omptrace") == 0)
		header.kind = CTX_EXP_BLOCK_OMP;
	if (strcmp(file, "accesses") == 0)
		header.kind = CTX_EXP_BLOCK_ACCESSES;
	if (strcmp(file, "callevents") == 0)
		header.kind = CTX_EXP_BLOCK_CALL_EVENTS;
	header.process = bytes[0] & 3;
	header.epoch = bytes[1] & 3;
	header.n_records = bytes[2];
	header.first_ns = ctx_exp_block_has_frames(&header) ? 0 : bytes[3];
	header.raw_bytes = (uint32_t)n - 4;
	if (ctx_compress(&compressor, 1, (struct ctx_bytes){bytes + 4, n - 4}, &frame, NULL) != CTX_OK)
		abort();
	header.frame_bytes = (uint32_t)frame.n;
	header.checksum = ctx_xxh3(frame.bytes, frame.n);
	ctx_exp_encode_block_header(&header, encoded);
	ctx_buf_put(out, encoded, sizeof(encoded));
	ctx_buf_put(out, frame.bytes, frame.n);
	ctx_buf_deinit(&frame);
	ctx_compressor_deinit(&compressor);
}

static void add_part(struct ctx_buf *files, uint8_t which, const uint8_t *bytes, size_t n, bool wrapped)
{
	const char *name = FILES[which % N_FILES];
	struct ctx_buf *out = &files[which % N_FILES];
	bool text = strstr(name, ".xml") != NULL || strcmp(name, "notes") == 0;

	if (!wrapped || text) {
		ctx_buf_put(out, bytes, n);
		return;
	}
	if (out->n == 0)
		ctx_exp_put_file_header(out);
	wrap(name, bytes, n, out);
}

/* The text as one frame. */
static void pack(struct ctx_buf *text)
{
	struct ctx_compressor compressor = {0};
	struct ctx_buf frame = {0};

	if (ctx_compress(&compressor, 1, (struct ctx_bytes){text->bytes, text->n}, &frame, NULL) != CTX_OK)
		abort();
	ctx_compressor_deinit(&compressor);
	ctx_buf_deinit(text);
	*text = frame;
}

static void put_files(const char *directory, struct ctx_buf *files, bool wrapped)
{
	for (size_t i = 0; i < N_FILES; i++) {
		char path[128];
		int fd;

		if (wrapped && files[i].n != 0 && strstr(FILES[i], ".zst") != NULL)
			pack(&files[i]);
		snprintf(path, sizeof(path), "%s/%s", directory, FILES[i]);
		fd = files[i].n != 0 ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
		if (fd < 0)
			unlink(path); /* of the input before */
		else if (ctx_file_write(fd, path, files[i].bytes, files[i].n, NULL) != CTX_OK)
			abort();
		if (fd >= 0)
			close(fd);
		ctx_buf_deinit(&files[i]);
	}
}

static void check_state(const struct ctx_event_source *source, const struct ctx_event *event,
			uint32_t n_processes, uint32_t n_threads)
{
	bool woken = ctx_state_change_has_waker(event->state.change);

	if (!source->info.has_states || event->process >= n_processes || event->thread >= n_threads ||
	    (unsigned)event->state.change >= CTX_CHANGE_N)
		abort();
	if (event->state.waker != CTX_NONE && (!woken || event->state.waker >= n_threads))
		abort();
	if (event->state.external_waker != NULL && (!woken || event->state.waker != CTX_NONE ||
						    strlen(event->state.external_waker) >= (size_t)16 << 20))
		abort();
}

static void check_omp(const struct ctx_event *event, bool has_omp, uint32_t n_threads)
{
	if (!has_omp || event->thread >= n_threads || (unsigned)event->omp.event >= CTX_OMP_EVENT_N ||
	    !ctx_omp_is_value(event->omp.event, event->omp.value) ||
	    (event->omp.has_body && event->omp.stack.id == 0))
		abort();
}

static void read_all(const char *directory)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	struct ctx_err err = {0};
	uint32_t n_processes = 0, n_threads = 0;
	enum ctx_status status = ctx_exp_open(directory, &source, &err);

	if (status != CTX_OK) {
		if (status == CTX_END || err.msg[0] == '\0')
			abort();
		return;
	}
	while ((status = source->next(source, &event, &err)) == CTX_OK) {
		if (event.kind == CTX_EV_PROCESS_START && event.process != n_processes++)
			abort();
		if (event.kind == CTX_EV_THREAD_START && event.thread != n_threads++)
			abort();
		if (event.kind == CTX_EV_SAMPLE &&
		    (event.process >= n_processes || event.thread >= n_threads ||
		     event.sample.metric >= source->info.n_metrics))
			abort();
		if (event.kind == CTX_EV_CALL && (event.process >= n_processes || event.thread >= n_threads))
			abort();
		if (event.kind == CTX_EV_OMP)
			check_omp(&event, source->info.has_omp, n_threads);
		if (event.kind == CTX_EV_TRACED)
			check_traced(&event, n_processes, n_threads);
		if (event.kind == CTX_EV_FORK_MAPS &&
		    (event.process >= n_processes || event.maps_of >= n_processes ||
		     event.maps_of == event.process))
			abort();
		if (event.kind == CTX_EV_STATE)
			check_state(source, &event, n_processes, n_threads);
	}
	if (status != CTX_END)
		abort(); /* damage is an event, not an end of the input */
	source->close(source);
}

/* One directory for all inputs, in memory if possible; removed at exit. */
static char directory[64];

static void remove_directory(void)
{
	if (ctx_dir_remove(directory, NULL) != CTX_OK)
		abort();
}

static void make_directory(void)
{
	char below[80];

	snprintf(directory, sizeof(directory), "%s/ctx-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (mkdtemp(directory) == NULL)
		abort();
	snprintf(below, sizeof(below), "%s/_f1.er", directory);
	if (mkdir(below, 0700) != 0)
		abort();
	atexit(remove_directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_buf files[N_FILES] = {0};
	struct ctx_cursor cursor = ctx_cursor_make(data, size);
	uint8_t mode = ctx_cursor_get_u8(&cursor);

	if (size == 0)
		return 0;
	decode(data, size);
	decode_io(data, size, false);
	decode_io(data, size, true);
	if (directory[0] == '\0')
		make_directory();
	if (mode & 2)
		ctx_buf_put(&files[mode & 4 ? PACKED_LOG : LOG], FIRST_LINES, sizeof(FIRST_LINES) - 1);
	while (ctx_cursor_left(&cursor) >= 3) {
		uint8_t which = ctx_cursor_get_u8(&cursor);
		size_t n = ctx_cursor_get_u16(&cursor);
		size_t left = ctx_cursor_left(&cursor);

		n = n < left ? n : left;
		add_part(files, which, ctx_cursor_get_bytes(&cursor, n), n, mode & 1);
	}
	put_files(directory, files, mode & 1);
	read_all(directory);
	return 0;
}
