/*
 * Reads arbitrary bytes as log.xml, map.xml, labels.xml and warnings.xml, and a record by the
 * layouts that the log describes.
 */
#include "formats/gprofng/gp_events.h"
#include "formats/gprofng/gp_labels.h"
#include "formats/gprofng/gp_map.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Every layout, on records of exactly the size that it needs, and of one byte less. */
static void check_layouts(const struct ctx_gp_log *log)
{
	for (size_t i = 0; i < log->n_layouts; i++) {
		const struct ctx_gp_layout *layout = &log->layouts[i];
		size_t n = layout->bytes_min < 4 ? 4 : layout->bytes_min;
		uint8_t *bytes = calloc(1, n);
		struct ctx_gp_record record = {.bytes = bytes, .n = n, .type = layout->type};
		struct ctx_gp_event event;

		require(bytes != NULL && layout->file < log->n_files);
		require(ctx_gp_event_decode(layout, &record, log->machine.big_endian, &event) ==
			ctx_gp_layout_has(layout, CTX_GP_TSTAMP));
		record.n--;
		if (layout->bytes_min >= n)
			require(!ctx_gp_event_decode(layout, &record, log->machine.big_endian, &event));
		free(bytes);
	}
}

static void check_log(const uint8_t *data, size_t size)
{
	struct ctx_err err = {0};
	struct ctx_gp_xml xml;
	struct ctx_gp_log log;
	enum ctx_status status;

	require(ctx_gp_xml_set(&xml, data, size, NULL) == CTX_OK);
	status = ctx_gp_log_parse(&log, &xml, &err);
	if (status != CTX_OK)
		require((status == CTX_E_FORMAT || status == CTX_E_VERSION) && err.msg[0] != '\0');
	else
		check_layouts(&log);
	for (size_t i = 0; i < log.n_files; i++)
		require(strchr(log.files[i], '/') == NULL && log.files[i][0] != '.');
	ctx_gp_log_deinit(&log);
	ctx_gp_xml_deinit(&xml);
}

static void check_map(const uint8_t *data, size_t size)
{
	struct ctx_gp_map map = {0};
	struct ctx_gp_xml xml;

	require(ctx_gp_xml_set(&xml, data, size, NULL) == CTX_OK);
	require(ctx_gp_map_parse(&map, &xml, NULL) == CTX_OK);
	for (size_t i = 0; i < map.n; i++) {
		const struct ctx_gp_map_entry *entry = &map.entries[i];

		require(entry->path < map.names.n || entry->is_unmap || entry->method != 0);
		require(entry->size == 0 || entry->size - 1 <= UINT64_MAX - entry->address);
		if (i > 0)
			require(map.entries[i - 1].time_ns <= entry->time_ns);
	}
	ctx_gp_map_deinit(&map);
	ctx_gp_xml_deinit(&xml);
}

/* Ends are after begins, times in range, and names not NULL. */
static void check_labels(const uint8_t *data, size_t size)
{
	struct ctx_gp_log log = {.machine.host = "h", .times.run_ns = 1000, .times.run_unix = 1000};
	struct ctx_gp_intervals intervals = {0};
	struct ctx_gp_xml xml;

	require(ctx_gp_xml_set(&xml, data, size, NULL) == CTX_OK);
	require(ctx_gp_log_add_messages(&log, &xml, NULL) == CTX_OK);
	ctx_gp_log_deinit(&log);
	ctx_gp_xml_deinit(&xml);
	log = (struct ctx_gp_log){.machine.host = "h", .times.run_ns = 1000, .times.run_unix = 1000};
	require(ctx_gp_xml_set(&xml, data, size, NULL) == CTX_OK);
	require(ctx_gp_intervals_parse(&intervals, &xml, &log, NULL) == CTX_OK);
	for (size_t i = 0; i < intervals.n; i++) {
		const struct ctx_gp_interval *item = &intervals.items[i];

		require(item->name != NULL && item->comment != NULL && (item->has_begin || !item->has_end));
		require(item->begin_ns > -((int64_t)1 << 62) && item->begin_ns < (int64_t)1 << 62);
	}
	ctx_gp_intervals_deinit(&intervals);
	ctx_gp_xml_deinit(&xml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_log(data, size);
	check_labels(data, size);
	check_map(data, size);
	return 0;
}
