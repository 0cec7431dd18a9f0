/*
 * Makes a long perf.data from a short one by repeating the recorded work.
 *
 *	gen_perfdata [--diverse PERCENT] [--stretch] [--seed K] IN.perf.data OUT.perf.data SAMPLES|COPIESx
 *
 *	IN:   header | attributes, ids | data: synthesized records (time 0), then timed ones | features
 *	OUT:  the same                 | data: all of it, the timed ones again, ...          | features, moved
 *
 * The timed records of copy k are k * (duration + gap) later, where the gap is the mean distance of
 * two samples; so the copies follow each other and the rounds (FINISHED_ROUND) order the long file
 * as they did the short one. Records without a time, or with time 0, are written once: a process
 * that ran before the recording began and ended in it has no maps in the later copies. With SAMPLES
 * the last copy ends at that sample.
 *
 * --stretch makes one long run of the same processes instead: they begin in the first copy and do
 * not end. (What a process did before it executed another program is later done by that program:
 * fine for a benchmark.)
 *
 * --diverse makes the stacks of about that many percent of the samples unique: below the sampled
 * user address are return addresses of the same process, in a unique order. The sampled address
 * stays: the flat profile is that of the plain file. Chains that are too short are extended.
 *
 * Reads file mode in this machine's byte order, neither compressed nor with AUX traces; the file is
 * mapped and read once for each copy. Source: tools/perf/Documentation/perf.data-file-format.txt
 * and include/uapi/linux/perf_event.h of Linux.
 */
#include "base/map64.h"
#include "base/mem.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "PERFILE2"
#define FEATURE_AUXTRACE 18
#define FEATURE_SAMPLE_TIME 21
#define FEATURE_DIR_FORMAT 24
#define FEATURE_COMPRESSED 27
#define FEATURE_BITS 256
#define RECORD_FINISHED_ROUND 68
#define RECORD_AUXTRACE 71
#define RECORD_MAX 65528u /* sizes have 16 bits and are whole words */
#define POOL_MAX 512u
#define NEW_FRAMES_MAX 12u
#define MIXER UINT64_C(2654435761) /* a prime that divides no power of a pool's size */

struct section {
	uint64_t offset, size;
};

struct header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t flags[FEATURE_BITS / 64];
};

struct event {		  /* positions of fields in the records of one event */
	size_t time_at;	  /* in a sample, from the beginning of the record */
	size_t time_back; /* in others, from the end; 0: they have no time */
	size_t pid_at;	  /* in a sample; 0: not there */
	size_t chain_at;  /* in a sample; 0: missing, or not at a fixed position */
	bool identified;  /* samples begin with the id, other records end with it */
};

struct range {
	uint64_t begin, end;
};

struct pool { /* return addresses of a process, between one exec and the next */
	uint64_t *addresses;
	size_t n, cap;
};

struct recording {
	const uint8_t *bytes; /* the whole file, mapped */
	uint64_t n;
	struct header header;
	struct event *events;
	size_t n_events, events_cap;
	struct ctx_map64 event_of_id;
	bool by_id;		    /* the events' records differ: ask the id */
	uint64_t first_ns, last_ns; /* of all timed records */
	uint64_t samples;
	struct range *code; /* executable maps of all processes; sorted after the survey */
	size_t n_code, code_cap;
	struct pool *pools; /* in the order of the data */
	size_t n_pools, pools_cap;
};

struct walk { /* the pool of each process; the same in each pass over the data */
	struct ctx_map64 pool_of_pid;
	uint32_t n_pools;
};

struct settings {
	const char *in, *out;
	uint64_t samples, copies; /* one of them is 0 */
	uint64_t seed;
	unsigned diverse; /* per cent */
	bool stretch;
};

struct output {
	FILE *file; /* owned */
	uint64_t bytes, samples, diverse;
	uint64_t first_sample_ns, last_sample_ns;
	uint8_t record[RECORD_MAX + 8];
};

static uint64_t load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void store64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static uint64_t load32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static struct perf_event_header header_of(const uint8_t *record)
{
	struct perf_event_header header;

	memcpy(&header, record, sizeof(header));
	return header;
}

static bool within(const struct recording *recording, struct section section)
{
	return section.offset <= recording->n && section.size <= recording->n - section.offset;
}

static bool has_feature(const struct header *header, unsigned feature)
{
	return (header->flags[feature / 64] >> feature % 64 & 1) != 0;
}

/* Bytes of the one-word fields of a sample that exist and are among `fields`. */
static size_t words(uint64_t sample_type, uint64_t fields)
{
	return 8 * (size_t)__builtin_popcountll(sample_type & fields);
}

static struct event event_of_attr(const struct perf_event_attr *attr)
{
	const uint64_t head = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	const uint64_t behind_time = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
	uint64_t type = attr->sample_type;
	struct event event = {.time_at = 8 + words(type, head | PERF_SAMPLE_TID),
			      .identified = (type & PERF_SAMPLE_IDENTIFIER) != 0};

	if (attr->sample_id_all)
		event.time_back = 8 + words(type, behind_time | PERF_SAMPLE_IDENTIFIER);
	if ((type & PERF_SAMPLE_TID) != 0)
		event.pid_at = 8 + words(type, head);
	if ((type & PERF_SAMPLE_CALLCHAIN) != 0 && (type & PERF_SAMPLE_READ) == 0)
		event.chain_at = 8 + words(type, head | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
							 PERF_SAMPLE_ADDR | behind_time | PERF_SAMPLE_PERIOD);
	return event;
}

static bool same_layout(const struct event *a, const struct event *b)
{
	return a->time_at == b->time_at && a->time_back == b->time_back && a->pid_at == b->pid_at &&
	       a->chain_at == b->chain_at && a->identified == b->identified;
}

static enum ctx_status read_event(struct recording *recording, const uint8_t *entry, struct ctx_err *err)
{
	size_t attr_bytes = recording->header.attr_size - sizeof(struct section);
	struct perf_event_attr attr = {0};
	struct section ids;
	enum ctx_status status =
		ctx_grow(&recording->events, &recording->events_cap, recording->n_events + 1, err);

	if (status != CTX_OK)
		return status;
	memcpy(&attr, entry, attr_bytes < sizeof(attr) ? attr_bytes : sizeof(attr));
	memcpy(&ids, entry + attr_bytes, sizeof(ids));
	if (!within(recording, ids))
		return ctx_err_set(err, CTX_E_FORMAT, "ids of an event lie outside the file");
	if ((attr.sample_type & PERF_SAMPLE_TIME) == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "an event was recorded without times");
	recording->events[recording->n_events] = event_of_attr(&attr);
	for (uint64_t at = 0; at + 8 <= ids.size; at += 8) {
		uint32_t *place =
			ctx_map64_place(&recording->event_of_id, load64(recording->bytes + ids.offset + at));

		if (place == NULL)
			return ctx_err_nomem(err);
		*place = (uint32_t)recording->n_events;
	}
	recording->n_events++;
	return CTX_OK;
}

static enum ctx_status read_events(struct recording *recording, struct ctx_err *err)
{
	const struct header *header = &recording->header;
	uint64_t entry = header->attr_size;
	bool identified = true;

	if (entry < PERF_ATTR_SIZE_VER0 + sizeof(struct section) || entry > 4096 ||
	    !within(recording, header->attrs) || header->attrs.size < entry)
		return ctx_err_set(err, CTX_E_FORMAT, "no events in the header");
	for (uint64_t at = 0; at + entry <= header->attrs.size; at += entry) {
		enum ctx_status status =
			read_event(recording, recording->bytes + header->attrs.offset + at, err);

		if (status != CTX_OK)
			return status;
	}
	for (size_t i = 0; i < recording->n_events; i++) {
		identified = identified && recording->events[i].identified;
		if (!same_layout(&recording->events[i], &recording->events[0]))
			recording->by_id = true;
	}
	if (recording->by_id && !identified)
		return ctx_err_set(err, CTX_E_FORMAT, "events with different samples and no identifiers");
	return CTX_OK;
}

static enum ctx_status check_header(const struct recording *recording, struct ctx_err *err)
{
	const struct header *header = &recording->header;

	if (memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0 || header->size < sizeof(*header))
		return ctx_err_set(err, CTX_E_FORMAT,
				   "no perf.data in file mode and this machine's byte order");
	if (has_feature(header, FEATURE_COMPRESSED) || has_feature(header, FEATURE_AUXTRACE) ||
	    has_feature(header, FEATURE_DIR_FORMAT))
		return ctx_err_set(err, CTX_E_FORMAT, "compressed, a directory, or with AUX traces");
	if (header->data.size == 0 || !within(recording, header->data))
		return ctx_err_set(err, CTX_E_FORMAT,
				   "not finished: the header does not have the end of the data");
	return CTX_OK;
}

static enum ctx_status open_recording(const char *path, struct recording *ret, struct ctx_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes;

	if (fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	if (fstat(fd, &st) != 0 || (size_t)st.st_size < sizeof(ret->header)) {
		close(fd);
		return ctx_err_set(err, CTX_E_FORMAT, "%s is too short", path);
	}
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	*ret = (struct recording){.bytes = bytes, .n = (uint64_t)st.st_size};
	memcpy(&ret->header, bytes, sizeof(ret->header));

	enum ctx_status status = check_header(ret, err);

	return status == CTX_OK ? read_events(ret, err) : status;
}

static void close_recording(struct recording *recording)
{
	for (size_t i = 0; i < recording->n_pools; i++)
		free(recording->pools[i].addresses);
	free(recording->pools);
	free(recording->code);
	free(recording->events);
	ctx_map64_deinit(&recording->event_of_id);
	if (recording->bytes != NULL)
		munmap((void *)(uintptr_t)recording->bytes, recording->n);
}

static const struct event *event_of(const struct recording *recording, const uint8_t *record)
{
	struct perf_event_header header = header_of(record);
	size_t at = header.type == PERF_RECORD_SAMPLE ? 8 : (size_t)header.size - 8;
	uint32_t number;

	if (!recording->by_id || header.size < 16)
		return &recording->events[0];
	number = ctx_map64_get(&recording->event_of_id, load64(record + at));
	return &recording->events[number != CTX_MAP64_NONE ? number
							   : 0]; /* id 0 belongs to the first, as in perf */
}

/* Position of the record's time; 0: none. */
static size_t time_place(const struct recording *recording, const uint8_t *record)
{
	struct perf_event_header header = header_of(record);
	const struct event *event = event_of(recording, record);

	if (header.type >= 64) /* perf's own */
		return 0;
	if (header.type == PERF_RECORD_SAMPLE)
		return event->time_at + 8 <= header.size ? event->time_at : 0;
	return event->time_back != 0 && event->time_back + 8 <= header.size ? header.size - event->time_back
									    : 0;
}

/* The next record at `*at`, CTX_END after the last. */
static enum ctx_status next_record(const struct recording *recording, uint64_t *at, const uint8_t **ret,
				   struct ctx_err *err)
{
	struct section data = recording->header.data;
	struct perf_event_header header;

	if (*at == data.size)
		return CTX_END;
	if (data.size - *at < sizeof(header))
		return ctx_err_set(err, CTX_E_FORMAT, "data: offset %" PRIu64 ": half a record", *at);
	header = header_of(recording->bytes + data.offset + *at);
	if (header.size < sizeof(header) || header.size > data.size - *at)
		return ctx_err_set(err, CTX_E_FORMAT, "data: offset %" PRIu64 ": a record of %u bytes", *at,
				   (unsigned)header.size);
	*ret = recording->bytes + data.offset + *at;
	*at += header.size;
	return CTX_OK;
}

/* The words of a sample's call chain; NULL when it has none. */
static const uint8_t *chain_of(const struct recording *recording, const uint8_t *sample, uint64_t *ret_n)
{
	size_t at = event_of(recording, sample)->chain_at;
	size_t size = header_of(sample).size;

	if (at == 0 || at + 8 > size)
		return NULL;
	*ret_n = load64(sample + at);
	return *ret_n <= (size - at - 8) / 8 ? sample + at + 8 : NULL;
}

/* The index of the first user address in a chain, or `n`. */
static uint64_t user_begin(const uint8_t *chain, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (load64(chain + 8 * i) == (uint64_t)PERF_CONTEXT_USER)
			return i + 1;
	return n;
}

/* Tracks processes by a record; returns the number of the pool of a sample's process. */
static enum ctx_status follow(const struct recording *recording, struct walk *walk, const uint8_t *record,
			      uint32_t *ret_pool, struct ctx_err *err)
{
	struct perf_event_header header = header_of(record);
	bool exec = header.type == PERF_RECORD_COMM && (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
	size_t pid_at = header.type == PERF_RECORD_SAMPLE ? event_of(recording, record)->pid_at : 8;
	uint32_t *place;

	*ret_pool = CTX_MAP64_NONE;
	if ((header.type != PERF_RECORD_SAMPLE && !exec) || pid_at == 0 || pid_at + 8 > header.size)
		return CTX_OK;
	place = ctx_map64_place(&walk->pool_of_pid, load32(record + pid_at));
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE || exec)
		*place = walk->n_pools++;
	*ret_pool = *place;
	return CTX_OK;
}

static enum ctx_status note_code(struct recording *recording, const uint8_t *record, struct ctx_err *err)
{
	enum ctx_status status;

	if ((header_of(record).misc & PERF_RECORD_MISC_MMAP_DATA) != 0 || header_of(record).size < 40)
		return CTX_OK;
	status = ctx_grow(&recording->code, &recording->code_cap, recording->n_code + 1, err);
	if (status == CTX_OK)
		recording->code[recording->n_code++] =
			(struct range){load64(record + 16), load64(record + 16) + load64(record + 24)};
	return status;
}

/* Adds the return addresses of a sample to its pool: one per 64 bytes, usually one per function. */
static enum ctx_status note_addresses(struct recording *recording, uint32_t number, const uint8_t *sample,
				      struct ctx_err *err)
{
	uint64_t n = 0;
	const uint8_t *chain = chain_of(recording, sample, &n);
	enum ctx_status status = ctx_grow(&recording->pools, &recording->pools_cap, (size_t)number + 1, err);

	while (status == CTX_OK && recording->n_pools <= number)
		recording->pools[recording->n_pools++] = (struct pool){0};
	if (status != CTX_OK || chain == NULL)
		return status;

	struct pool *pool = &recording->pools[number];

	for (uint64_t i = user_begin(chain, n) + 1; i < n && pool->n < POOL_MAX; i++) {
		uint64_t address = load64(chain + 8 * i);
		size_t k = 0;

		while (k < pool->n && pool->addresses[k] >> 6 != address >> 6)
			k++;
		if (k < pool->n)
			continue;
		status = ctx_grow(&pool->addresses, &pool->cap, pool->n + 1, err);
		if (status != CTX_OK)
			return status;
		pool->addresses[pool->n++] = address;
	}
	return CTX_OK;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return (left->begin > right->begin) - (left->begin < right->begin);
}

/* Wrong frame pointers give wrong addresses: only those in mapped code stay in the pools. */
static void keep_code(struct recording *recording)
{
	size_t n = 0;

	if (recording->n_code != 0)
		qsort(recording->code, recording->n_code, sizeof(*recording->code), compare_ranges);
	for (size_t i = 0; i < recording->n_code; i++) {
		struct range range = recording->code[i];

		if (n != 0 && range.begin <= recording->code[n - 1].end) {
			if (recording->code[n - 1].end < range.end)
				recording->code[n - 1].end = range.end;
		} else {
			recording->code[n++] = range;
		}
	}
	recording->n_code = n;
	for (size_t i = 0; i < recording->n_pools; i++) {
		struct pool *pool = &recording->pools[i];
		size_t kept = 0;

		for (size_t k = 0; k < pool->n; k++) {
			size_t low = 0, high = n; /* the last range that begins at or before the address */

			while (low < high) {
				size_t middle = low + (high - low) / 2;

				if (recording->code[middle].begin <= pool->addresses[k])
					low = middle + 1;
				else
					high = middle;
			}
			if (low != 0 && pool->addresses[k] < recording->code[low - 1].end)
				pool->addresses[kept++] = pool->addresses[k];
		}
		pool->n = kept;
	}
}

/* One pass over the data: times, counts, and the pools for diverse stacks. */
static enum ctx_status survey(struct recording *recording, bool diverse, struct ctx_err *err)
{
	struct walk walk = {0};
	const uint8_t *record;
	uint64_t at = 0;
	uint32_t pool = CTX_MAP64_NONE;
	enum ctx_status status;

	recording->first_ns = UINT64_MAX;
	while ((status = next_record(recording, &at, &record, err)) == CTX_OK) {
		struct perf_event_header header = header_of(record);
		size_t place = time_place(recording, record);
		uint64_t time_ns = place != 0 ? load64(record + place) : 0;

		if (header.type == RECORD_AUXTRACE) {
			status = ctx_err_set(err, CTX_E_FORMAT, "AUX traces in the data");
			break;
		}
		if (time_ns != 0 && time_ns < recording->first_ns)
			recording->first_ns = time_ns;
		if (time_ns != 0 && time_ns > recording->last_ns)
			recording->last_ns = time_ns;
		recording->samples += header.type == PERF_RECORD_SAMPLE;
		if (!diverse)
			continue;
		status = follow(recording, &walk, record, &pool, err);
		if (status == CTX_OK && header.type == PERF_RECORD_SAMPLE && pool != CTX_MAP64_NONE)
			status = note_addresses(recording, pool, record, err);
		if (status == CTX_OK && (header.type == PERF_RECORD_MMAP || header.type == PERF_RECORD_MMAP2))
			status = note_code(recording, record, err);
		if (status != CTX_OK)
			break;
	}
	ctx_map64_deinit(&walk.pool_of_pid);
	if (status == CTX_END && recording->samples == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no samples");
	keep_code(recording);
	return status == CTX_END ? CTX_OK : status;
}

/* Whether the next sample is changed. Spread evenly over the file, and reproducible. */
static bool chosen(const struct settings *settings, uint64_t sample)
{
	return (ctx_hash64(sample + settings->seed * MIXER) >> 32) % 100 < settings->diverse;
}

/*
 * The number of addresses of the pool that give each of `orders` samples a unique order, with a
 * margin.
 */
static unsigned frames_needed(const struct pool *pool, uint64_t orders, uint64_t *ret_orders)
{
	unsigned n = 0;

	for (*ret_orders = 1; *ret_orders < orders && n <= NEW_FRAMES_MAX && pool->n > 1; n++)
		*ret_orders *= pool->n;
	return n;
}

/*
 * Gives the sample in output->record a unique chain. Leaves it unchanged if that is not possible.
 */
static void diversify(const struct settings *settings, const struct recording *recording, uint64_t total,
		      const struct pool *pool, struct output *output)
{
	struct perf_event_header header = header_of(output->record);
	uint64_t n = 0, orders;
	uint8_t *chain = (uint8_t *)(uintptr_t)chain_of(recording, output->record, &n);
	unsigned fresh = frames_needed(pool, total * 16, &orders);
	uint64_t user = chain != NULL ? user_begin(chain, n) : n;

	if (user >= n || fresh == 0 || fresh > NEW_FRAMES_MAX || header.size + 8 * fresh > RECORD_MAX)
		return;

	uint64_t replaced = n - user - 1 < fresh ? n - user - 1 : fresh;
	uint8_t *first = chain + 8 * (user + 1);
	uint8_t *rest = first + 8 * replaced;
	uint64_t order = (output->diverse * MIXER + settings->seed) % orders;

	memmove(first + 8 * fresh, rest, (size_t)(output->record + header.size - rest));
	for (unsigned i = 0; i < fresh; i++, order /= pool->n)
		store64(first + 8 * i, pool->addresses[order % pool->n]);
	store64(chain - 8, n + fresh - replaced);
	header.size = (uint16_t)(header.size + 8 * (fresh - replaced));
	memcpy(output->record, &header, sizeof(header));
	output->diverse++;
}

static enum ctx_status put(struct output *output, const void *bytes, size_t n, struct ctx_err *err)
{
	if (fwrite(bytes, 1, n, output->file) != n)
		return ctx_err_errno(err, CTX_E_IO, "write");
	output->bytes += n;
	return CTX_OK;
}

static void note_sample(struct output *output, uint64_t time_ns)
{
	output->samples++;
	if (output->first_sample_ns == 0 || time_ns < output->first_sample_ns)
		output->first_sample_ns = time_ns;
	if (time_ns > output->last_sample_ns)
		output->last_sample_ns = time_ns;
}

/*
 * Whether a record is about the lifetime of a process, which a stretched run has only once, or not
 * at all.
 */
static bool is_left_out(const struct settings *settings, uint32_t type, uint64_t shift_ns)
{
	if (!settings->stretch)
		return false;
	return type == PERF_RECORD_EXIT ||
	       (shift_ns != 0 && (type == PERF_RECORD_FORK || type == PERF_RECORD_COMM ||
				  type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2));
}

/* Writes the records of one copy, `shift_ns` later; those without a time in the first copy only. */
static enum ctx_status put_copy(const struct settings *settings, const struct recording *recording,
				uint64_t shift_ns, uint64_t total, struct output *output, struct ctx_err *err)
{
	struct walk walk = {0};
	const uint8_t *record;
	uint64_t at = 0;
	uint32_t pool = CTX_MAP64_NONE;
	uint64_t limit = settings->samples != 0 ? settings->samples : UINT64_MAX;
	enum ctx_status status = CTX_OK;

	while (output->samples < limit && (status = next_record(recording, &at, &record, err)) == CTX_OK) {
		struct perf_event_header header = header_of(record);
		size_t place = time_place(recording, record);
		uint64_t time_ns = place != 0 ? load64(record + place) : 0;

		if (shift_ns != 0 && time_ns == 0 && header.type != RECORD_FINISHED_ROUND)
			continue;
		if (is_left_out(settings, header.type, shift_ns))
			continue;
		memcpy(output->record, record, header.size);
		if (time_ns != 0)
			store64(output->record + place, time_ns + shift_ns);
		if (settings->diverse != 0)
			status = follow(recording, &walk, record, &pool, err);
		if (status == CTX_OK && header.type == PERF_RECORD_SAMPLE) {
			if (settings->diverse != 0 && pool != CTX_MAP64_NONE &&
			    chosen(settings, output->samples))
				diversify(settings, recording, total, &recording->pools[pool], output);
			note_sample(output, time_ns + shift_ns);
		}
		if (status == CTX_OK)
			status = put(output, output->record, header_of(output->record).size, err);
		if (status != CTX_OK)
			break;
	}
	ctx_map64_deinit(&walk.pool_of_pid);
	return status == CTX_END ? CTX_OK : status;
}

/*
 * Writes what follows the data: the table of the features and the features, all `moved` bytes
 * further on.
 */
static enum ctx_status put_features(const struct recording *recording, uint64_t moved, struct output *output,
				    struct ctx_err *err)
{
	uint64_t begin = recording->header.data.offset + recording->header.data.size;
	size_t n = (size_t)(recording->n - begin);
	size_t at = 0;
	uint8_t *tail CTX_AUTO_FREE = (uint8_t *)ctx_memdup0(recording->bytes + begin, n);

	if (tail == NULL)
		return ctx_err_nomem(err);
	for (unsigned feature = 0; feature < FEATURE_BITS; feature++) {
		struct section section;

		if (!has_feature(&recording->header, feature))
			continue;
		if (n - at < sizeof(section))
			return ctx_err_set(err, CTX_E_FORMAT, "features: the table is cut off");
		memcpy(&section, tail + at, sizeof(section));
		if (!within(recording, section) || section.offset < begin)
			return ctx_err_set(err, CTX_E_FORMAT, "feature %u is not behind the data", feature);
		if (feature == FEATURE_SAMPLE_TIME && section.size >= 16) {
			store64(tail + (section.offset - begin), output->first_sample_ns);
			store64(tail + (section.offset - begin) + 8, output->last_sample_ns);
		}
		store64(tail + at, section.offset + moved);
		at += sizeof(section);
	}
	return put(output, tail, n, err);
}

static enum ctx_status generate(const struct settings *settings, struct recording *recording,
				struct output *output, struct ctx_err *err)
{
	struct header header = recording->header;
	enum ctx_status status = survey(recording, settings->diverse != 0, err);
	uint64_t duration_ns, step_ns, total, copies;

	if (status != CTX_OK)
		return status;
	duration_ns = recording->last_ns > recording->first_ns ? recording->last_ns - recording->first_ns : 0;
	step_ns = duration_ns + duration_ns / recording->samples + 1;
	copies = settings->samples != 0 ? (settings->samples - 1) / recording->samples + 1 : settings->copies;
	if (copies > UINT32_MAX / recording->samples || copies > INT64_MAX / step_ns)
		return ctx_err_set(err, CTX_E_LIMIT, "too many samples");
	total = copies * recording->samples;
	status = put(output, recording->bytes, header.data.offset, err);
	for (uint64_t copy = 0; status == CTX_OK && copy < copies; copy++)
		status = put_copy(settings, recording, copy * step_ns, total, output, err);
	if (status != CTX_OK)
		return status;
	header.data.size = output->bytes - header.data.offset;
	status = put_features(recording, header.data.size - recording->header.data.size, output, err);
	if (status == CTX_OK &&
	    (fseeko(output->file, 0, SEEK_SET) != 0 || fwrite(&header, sizeof(header), 1, output->file) != 1))
		status = ctx_err_errno(err, CTX_E_IO, "write");
	return status;
}

static int run(const struct settings *settings)
{
	static struct output output;
	struct recording recording = {0};
	struct ctx_err err = {0};
	enum ctx_status status = open_recording(settings->in, &recording, &err);

	if (status == CTX_OK) {
		output.file = fopen(settings->out, "we");
		status = output.file != NULL ? generate(settings, &recording, &output, &err)
					     : ctx_err_errno(&err, CTX_E_IO, "%s", settings->out);
		if (output.file != NULL && fclose(output.file) != 0 && status == CTX_OK)
			status = ctx_err_errno(&err, CTX_E_IO, "%s", settings->out);
	}
	close_recording(&recording);
	if (status != CTX_OK) {
		fprintf(stderr, "gen_perfdata: %s: %s\n", settings->in, err.msg);
		return 1;
	}
	printf("%" PRIu64 " samples, %" PRIu64 " with stacks of their own, %.3f s, %" PRIu64 " bytes\n",
	       output.samples, output.diverse, (double)(output.last_sample_ns - output.first_sample_ns) / 1e9,
	       output.bytes);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"diverse", required_argument, NULL, 'd'},
		{"seed", required_argument, NULL, 's'},
		{"stretch", no_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	struct settings settings = {.seed = 1};
	char *end = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'd')
			settings.diverse = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 's')
			settings.seed = strtoull(optarg, NULL, 10);
		else if (option == 't')
			settings.stretch = true;
		else
			return 1;
	}
	if (argc - optind == 3) {
		settings.in = argv[optind];
		settings.out = argv[optind + 1];
		settings.samples = strtoull(argv[optind + 2], &end, 10);
		if (strcmp(end, "x") == 0) {
			settings.copies = settings.samples;
			settings.samples = 0;
			end++;
		}
	}
	if (end == NULL || *end != '\0' || settings.samples + settings.copies == 0 ||
	    settings.diverse > 100) {
		fprintf(stderr, "usage: gen_perfdata [--diverse PERCENT] [--stretch] [--seed K] IN.perf.data "
				"OUT.perf.data "
				"SAMPLES|COPIESx\n");
		return 1;
	}
	return run(&settings);
}
