/*
 * Opens arbitrary bytes as perf.data and reads them to the end, checking the guarantees of every
 * source.
 *
 * An input is the file itself. If it begins with "DIR" and three bytes n (little endian), it is a
 * directory: n bytes are its file `data`, the rest is `data.0`. For every fourth size the source is
 * closed in the middle.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/perfdata/perfdata.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DIR_HEADER_BYTES 6u
#define METRICS_COMPARED 256u
#define EVENTS_OF_SOME 9

struct seen {
	uint32_t n_processes;
	uint32_t *process_of; /* by thread; owned */
	size_t n_threads, cap;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Reads a text to its end, so that a sanitizer detects a missing terminator or freed memory. */
static void read_text(const char *text)
{
	static volatile size_t sink;

	require(text != NULL);
	sink = sink + strlen(text);
}

static void check_info(const struct ctx_source_info *info)
{
	require(info->duration_ns > 0 && info->n_metrics > 0);
	for (uint32_t i = 0; i < info->n_metrics; i++) {
		read_text(ctx_unit_word(info->metrics[i].unit));
		require(info->metrics[i].name[0] != '\0');
		for (uint32_t j = 0; j < i && j < METRICS_COMPARED; j++)
			require(strcmp(info->metrics[i].name, info->metrics[j].name) != 0);
	}
	for (size_t i = 0; i < info->n_properties; i++) {
		read_text(info->properties[i].key);
		read_text(info->properties[i].value);
	}
	read_text(info->name);
	read_text(info->format);
	read_text(info->notes);
	read_text(info->kallsyms);
	read_text(info->fallback_root);
	read_text(info->kernel.build_id);
	read_text(info->kernel.release);
}

static void check_map(const struct ctx_event *event, const struct seen *seen)
{
	const struct ctx_map_event *map = &event->map;

	require(event->process < seen->n_processes || event->process == CTX_NONE);
	require(map->size <= UINT64_MAX - map->address);
	if (event->kind == CTX_EV_UNMAP)
		return;
	read_text(map->path);
	read_text(map->build_id);
	read_text(map->archive);
	read_text(map->function);
}

static void check_sample(const struct ctx_event *event, const struct seen *seen,
			 const struct ctx_source_info *info)
{
	static volatile uint64_t sink;

	require(event->thread < seen->n_threads && event->process == seen->process_of[event->thread]);
	require(event->sample.metric < info->n_metrics);
	require(event->sample.stack.frames != NULL);
	for (uint32_t i = 0; i < event->sample.stack.n_frames; i++) {
		require(event->sample.stack.frames[i] != CTX_FRAME_TRUNCATED ||
			i + 1 == event->sample.stack.n_frames);
		sink = sink + event->sample.stack.frames[i];
	}
}

static void check_state(const struct ctx_event *event, const struct seen *seen,
			const struct ctx_source_info *info)
{
	static volatile uint64_t sink;
	bool woken = ctx_state_change_has_waker(event->state.change);

	require(info->has_states && event->thread < seen->n_threads && event->process < seen->n_processes);
	require(woken || event->process == seen->process_of[event->thread]);
	require(event->state.waker == CTX_NONE || (woken && event->state.waker < seen->n_threads));
	require(event->state.stack.frames != NULL || event->state.stack.n_frames == 0);
	for (uint32_t i = 0; i < event->state.stack.n_frames; i++)
		sink = sink + event->state.stack.frames[i];
	if (event->state.external_waker != NULL)
		read_text(event->state.external_waker);
}

static void add_thread(const struct ctx_event *event, struct seen *seen)
{
	require(event->thread == seen->n_threads && event->process < seen->n_processes);
	read_text(event->thread_start.name);
	if (ctx_grow(&seen->process_of, &seen->cap, seen->n_threads + 1, NULL) != CTX_OK)
		abort();
	seen->process_of[seen->n_threads++] = event->process;
}

static void check_thread(const struct ctx_event *event, const struct seen *seen)
{
	require(event->thread < seen->n_threads && event->process == seen->process_of[event->thread]);
	if (event->kind == CTX_EV_THREAD_NAME)
		read_text(event->thread_name);
}

/* Branches and accesses to memory. */
static void check_traced(const struct ctx_event *event, const struct seen *seen)
{
	const struct ctx_traced *operation = event->traced.operation;

	require(event->thread < seen->n_threads && event->process == seen->process_of[event->thread]);
	require(operation->kind == CTX_TRACED_BRANCH || operation->kind == CTX_TRACED_MEMORY);
	require(operation->operation < ctx_traced_n_operations((enum ctx_traced_kind)operation->kind));
	require(operation->cpu >= -1 && operation->duration_ns == 0 && !operation->leaked);
	require(operation->kind != CTX_TRACED_BRANCH || event->traced.stack.n_frames == 2);
	if (event->traced.file != NULL)
		read_text(event->traced.file);
}

static void check_event(const struct ctx_event *event, struct seen *seen, const struct ctx_source_info *info)
{
	require(event->time_ns < info->duration_ns);
	switch (event->kind) {
	case CTX_EV_PROCESS_START:
		require(event->process == seen->n_processes);
		require(event->process_start.parent == CTX_NONE ||
			event->process_start.parent < seen->n_processes);
		read_text(event->process_start.command);
		read_text(event->process_start.lineage);
		seen->n_processes++;
		break;
	case CTX_EV_PROCESS_EXIT:
		require(event->process < seen->n_processes);
		break;
	case CTX_EV_THREAD_START:
		add_thread(event, seen);
		break;
	case CTX_EV_THREAD_NAME:
	case CTX_EV_THREAD_EXIT:
		check_thread(event, seen);
		break;
	case CTX_EV_MAP:
	case CTX_EV_UNMAP:
		check_map(event, seen);
		break;
	case CTX_EV_SAMPLE:
		check_sample(event, seen, info);
		break;
	case CTX_EV_STATE:
		check_state(event, seen, info);
		break;
	case CTX_EV_TRACED:
		check_traced(event, seen);
		break;
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
		require(event->text[0] != '\0');
		break;
	case CTX_EV_PROPERTY:
		read_text(event->property.key);
		read_text(event->property.value);
		break;
	case CTX_EV_LOST:
		require(event->lost.loss.count != 0 || event->lost.loss.located);
		require(!event->lost.loss.located ||
			event->lost.loss.time.begin_ns < event->lost.loss.time.end_ns);
		break;
	case CTX_EV_THROTTLE:
		break;
	default:
		abort(); /* events that this source does not emit */
	}
}

static void read_all(const char *path, unsigned n_events_max)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	struct ctx_err err = {0};
	struct seen seen = {0};
	char fingerprint[17];
	enum ctx_status status = ctx_perfdata_open(path, &source, &err);

	if (status != CTX_OK) {
		require(status == CTX_E_FORMAT || status == CTX_E_VERSION);
		read_text(err.msg);
		require(err.msg[0] != '\0');
		return;
	}
	require(ctx_perfdata_is(path));
	require(ctx_perfdata_fingerprint(path, fingerprint, NULL) == CTX_OK && strlen(fingerprint) == 16);
	check_info(&source->info);
	for (unsigned i = 0; i < n_events_max; i++) {
		status = source->next(source, &event, &err);
		if (status != CTX_OK) {
			require(status == CTX_END); /* damage is an event, not an end of the input */
			require(source->next(source, &event, &err) == CTX_END);
			break;
		}
		check_event(&event, &seen, &source->info);
		require(source->progress(source) <= source->info.bytes);
	}
	source->close(source);
	free(seen.process_of);
}

/* A file in memory and a directory for all inputs, the latter in memory too if possible. */
static int file = -1;
static char file_path[64], directory[64];

static void remove_directory(void)
{
	if (ctx_dir_remove(directory, NULL) != CTX_OK)
		abort();
}

static void make_places(void)
{
	file = memfd_create("perf.data", MFD_CLOEXEC);
	snprintf(file_path, sizeof(file_path), "/proc/self/fd/%d", file);
	snprintf(directory, sizeof(directory), "%s/ctx-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (file < 0 || mkdtemp(directory) == NULL)
		abort();
	atexit(remove_directory);
}

static void put(const char *name, const uint8_t *bytes, size_t n)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ctx_file_write(fd, path, bytes, n, NULL) != CTX_OK)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned n_events_max = size % 4 == 3 ? EVENTS_OF_SOME : UINT_MAX;

	if (file < 0)
		make_places();
	if (size >= DIR_HEADER_BYTES && memcmp(data, "DIR", 3) == 0) {
		size_t left = size - DIR_HEADER_BYTES;
		size_t n = data[3] | (size_t)data[4] << 8 | (size_t)data[5] << 16;

		n = n < left ? n : left;
		put("data", data + DIR_HEADER_BYTES, n);
		put("data.0", data + DIR_HEADER_BYTES + n, left - n);
		read_all(directory, n_events_max);
		return 0;
	}
	if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0 ||
	    ctx_file_write(file, file_path, data, size, NULL) != CTX_OK)
		abort();
	read_all(file_path, n_events_max);
	return 0;
}
