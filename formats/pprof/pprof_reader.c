#include "formats/pprof/pprof_reader.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/protobuf.h"
#include "base/utc.h"
#include "formats/named/named.h"
#include "formats/pprof/pprof_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)2 << 30)
#define PROBE_BYTES 65536u
#define WEIGHT_MAX (INT64_C(1) << 56)
#define PROCESS 1

struct place { /* a location's frames, among the known ones */
	size_t first;
	uint32_t n;
	bool is_known;
};

struct reader {
	struct ctx_named named; /* first */
	struct ctx_buf bytes;
	struct ctx_pprof_profile profile;
	struct ctx_protobuf rest; /* samples that are not yet read */
	uint32_t *metric_of;	  /* owned; by type of value */
	int64_t *factor_of;	  /* likewise: to the metric's unit */
	struct place *places;	  /* owned; by location */
	uint64_t *known;	  /* owned */
	size_t n_known, known_cap;
	uint64_t *frames; /* owned */
	uint32_t n_frames;
	size_t frames_cap;
	int64_t *values; /* owned; of the current sample, one for each type */
	uint64_t n_negative, n_unknown;
	bool began, ended;
};

static void destroy(struct ctx_named *named)
{
	struct reader *reader = (struct reader *)named;

	ctx_named_deinit(named);
	ctx_pprof_profile_deinit(&reader->profile);
	ctx_buf_deinit(&reader->bytes);
	free(reader->metric_of);
	free(reader->factor_of);
	free(reader->places);
	free(reader->known);
	free(reader->frames);
	free(reader->values);
	free(reader);
}

/* --- recognising --- */

/* Fields of a profile have these kinds: bytes for messages and strings. */
static bool fits(const struct ctx_protobuf_field *field)
{
	bool is_list = field->number >= CTX_PPROF_SAMPLE_TYPE && field->number <= CTX_PPROF_STRING;

	if (field->number == 0 || field->number >= CTX_PPROF_FIELDS)
		return false;
	if (field->number == 11) /* period_type */
		is_list = true;
	return field->number == CTX_PPROF_COMMENT || field->is_bytes == is_list;
}

bool ctx_pprof_is(const char *path)
{
	uint64_t size = 0;
	int fd CTX_AUTO_CLOSE = ctx_file_open_plain(path, &size);
	uint8_t *bytes CTX_AUTO_FREE = malloc(PROBE_BYTES);
	struct ctx_protobuf in;
	struct ctx_protobuf_field field;
	size_t got = 0;
	bool has_type = false, has_string = false;

	if (fd < 0 || bytes == NULL || size == 0)
		return false;
	if (ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, bytes, PROBE_BYTES, &got, NULL) != CTX_OK &&
	    got == 0)
		return false;
	in = ctx_protobuf_make(bytes, got);
	while (ctx_protobuf_next(&in, &field)) {
		if (!fits(&field))
			return false;
		if (field.number == CTX_PPROF_STRING && !has_string && field.n != 0)
			return false;
		has_string |= field.number == CTX_PPROF_STRING;
		has_type |= field.number == CTX_PPROF_SAMPLE_TYPE;
	}
	/* A field may go on behind the bytes that were looked at. */
	return has_type && (!in.failed || got == PROBE_BYTES);
}

/* --- what is known from the start --- */

static char *text_of(const struct reader *reader, uint64_t number)
{
	struct ctx_pprof_text text = ctx_pprof_string(&reader->profile, number);

	return strndup(text.at, text.n);
}

/* Factor to ns, 0: not a time. */
static uint64_t ns_of_unit(const char *unit)
{
	return strcmp(unit, "nanoseconds") == 0 || strcmp(unit, "ns") == 0    ? 1
	       : strcmp(unit, "microseconds") == 0 || strcmp(unit, "us") == 0 ? 1000
	       : strcmp(unit, "milliseconds") == 0 || strcmp(unit, "ms") == 0 ? 1000000
	       : strcmp(unit, "seconds") == 0 || strcmp(unit, "s") == 0	      ? 1000000000
									      : 0;
}

/* Whether another type has the name of this one, but not its unit: both are in the metric's name then. */
static bool is_ambiguous(const struct ctx_pprof_profile *profile, size_t type)
{
	for (size_t i = 0; i < profile->n_types; i++) {
		if (profile->types[i].name == profile->types[type].name &&
		    profile->types[i].unit != profile->types[type].unit)
			return true;
	}
	return false;
}

static enum ctx_status add_type(struct reader *reader, size_t type, struct ctx_err *err)
{
	char *name CTX_AUTO_FREE = text_of(reader, reader->profile.types[type].name);
	char *unit CTX_AUTO_FREE = text_of(reader, reader->profile.types[type].unit);
	struct ctx_buf both CTX_AUTO_BUF = {0};
	uint64_t factor;
	enum ctx_status status;

	if (name == NULL || unit == NULL)
		return ctx_err_nomem(err);
	factor = ns_of_unit(unit);
	reader->factor_of[type] = factor != 0 ? (int64_t)factor : 1;
	ctx_buf_put_text(&both, name[0] != '\0' ? name : "value");
	if (is_ambiguous(&reader->profile, type))
		ctx_buf_printf(&both, " (%s)", unit);
	ctx_buf_put_u8(&both, 0);
	status = ctx_buf_check(&both, err);
	if (status != CTX_OK)
		return status;
	return ctx_named_metric(&reader->named, (const char *)both.bytes,
				factor != 0		     ? CTX_UNIT_NS
				: strcmp(unit, "bytes") == 0 ? CTX_UNIT_BYTES
							     : CTX_UNIT_EVENTS,
				&reader->metric_of[type], err);
}

/* The default type is the first metric; without one it is the last type, as for pprof. */
static enum ctx_status make_metrics(struct reader *reader, struct ctx_err *err)
{
	const struct ctx_pprof_profile *profile = &reader->profile;
	size_t first = profile->n_types - 1;
	enum ctx_status status;

	if (profile->n_types > CTX_NAMED_METRICS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %u types of values", CTX_NAMED_METRICS_MAX);
	reader->places = ctx_calloc(profile->n_locations + 1, sizeof(*reader->places));
	reader->factor_of = ctx_calloc(profile->n_types, sizeof(*reader->factor_of));
	reader->metric_of = ctx_calloc(profile->n_types, sizeof(*reader->metric_of));
	reader->values = ctx_calloc(profile->n_types, sizeof(*reader->values));
	if (reader->places == NULL || reader->factor_of == NULL || reader->metric_of == NULL ||
	    reader->values == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < profile->n_types && profile->default_type != 0; i++) {
		if (profile->types[i].name == profile->default_type)
			first = i;
	}
	status = add_type(reader, first, err);
	for (size_t i = 0; i < profile->n_types && status == CTX_OK; i++)
		status = add_type(reader, i, err);
	return status;
}

static enum ctx_status describe(struct reader *reader, struct ctx_err *err)
{
	const struct ctx_pprof_profile *profile = &reader->profile;
	enum ctx_status status = CTX_OK;
	char text[CTX_UTC_MAX];

	if (profile->time_ns > 0 && ctx_utc_stamp(profile->time_ns / 1000000000, text))
		status = ctx_named_property(&reader->named, "start", text, err);
	if (status == CTX_OK && profile->duration_ns > 0) {
		snprintf(text, sizeof(text), "%.3f s", (double)profile->duration_ns / 1e9);
		status = ctx_named_property(&reader->named, "recorded for", text, err);
	}
	return status == CTX_OK
		       ? ctx_named_warn(&reader->named, err, "no times in the file: all samples are at 0")
		       : status;
}

/* --- samples --- */

/* Adds a frame to those that are known. */
static enum ctx_status know(struct reader *reader, uint64_t frame, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&reader->known, &reader->known_cap, reader->n_known + 1, err);

	if (status == CTX_OK)
		reader->known[reader->n_known++] = frame;
	return status;
}

static enum ctx_status add_line(struct reader *reader, const struct ctx_pprof_location *location,
				struct ctx_protobuf message, struct ctx_err *err)
{
	const struct ctx_pprof_profile *profile = &reader->profile;
	const struct ctx_pprof_mapping *mapping = ctx_pprof_mapping(profile, location->mapping);
	const struct ctx_pprof_function *function;
	struct ctx_pprof_text name, module, file;
	struct ctx_named_function named;
	struct ctx_protobuf_field field;
	char *path CTX_AUTO_FREE = NULL;
	uint64_t id = 0, line = 0, frame;
	enum ctx_status status;

	while (ctx_protobuf_next(&message, &field)) {
		if (field.number == 1)
			id = field.value;
		else if (field.number == 2)
			line = field.value;
	}
	function = ctx_pprof_function(profile, id);
	if (function == NULL) {
		reader->n_unknown++;
		return know(reader, 0, err);
	}
	name = ctx_pprof_string(profile, function->name != 0 ? function->name : function->system_name);
	module = ctx_pprof_string(profile, mapping != NULL ? mapping->file : 0);
	file = ctx_pprof_string(profile, function->file);
	path = file.n != 0 ? strndup(file.at, file.n) : NULL;
	if (file.n != 0 && path == NULL)
		return ctx_err_nomem(err);
	named = (struct ctx_named_function){
		.name = name.n != 0 ? name.at : "<Unknown>",
		.n_name = name.n != 0 ? name.n : strlen("<Unknown>"),
		.module = module.at,
		.n_module = module.n,
		.file = path,
		.line = function->start_line <= UINT32_MAX ? (uint32_t)function->start_line : 0};
	status = ctx_named_frame(&reader->named, &named, line < CTX_FRAME_POSITIONS ? (uint32_t)line : 0,
				 &frame, err);
	return status == CTX_OK ? know(reader, frame, err) : status;
}

/* Whether the only line of a location is a function that the writer did not know: "<Unknown> [libc.so.6]". */
static bool is_unknown(const struct ctx_pprof_profile *profile, const struct ctx_pprof_location *location)
{
	static const char unknown[] = "<Unknown>";
	struct ctx_protobuf lines = location->lines, line;
	struct ctx_protobuf_field field;
	const struct ctx_pprof_function *function;
	struct ctx_pprof_text name;
	uint64_t id = 0;
	unsigned n = 0;

	while (ctx_protobuf_next(&lines, &field)) {
		if (field.number != 4 || !field.is_bytes)
			continue;
		line = ctx_protobuf_make(field.bytes, field.n);
		while (n == 0 && ctx_protobuf_next(&line, &field))
			id = field.number == 1 ? field.value : id;
		n++;
	}
	function = n == 1 ? ctx_pprof_function(profile, id) : NULL;
	if (function == NULL)
		return false;
	name = ctx_pprof_string(profile, function->name);
	return name.n >= strlen(unknown) && memcmp(name.at, unknown, strlen(unknown)) == 0;
}

/* Whether a location is its address alone: it has no lines, or nothing is known in its mapping there. */
static bool is_address(const struct ctx_pprof_profile *profile, const struct ctx_pprof_location *location)
{
	const struct ctx_pprof_mapping *mapping = ctx_pprof_mapping(profile, location->mapping);

	if (location->lines.at == NULL)
		return true;
	return mapping != NULL && location->address >= mapping->start && location->address < mapping->limit &&
	       is_unknown(profile, location);
}

/* Lines of a location: those that are inlined come first. */
static enum ctx_status read_lines(struct reader *reader, const struct ctx_pprof_location *location,
				  struct ctx_err *err)
{
	struct ctx_protobuf lines = location->lines;
	enum ctx_status status = CTX_OK;
	struct ctx_protobuf_field field;

	if (is_address(&reader->profile,
		       location)) /* callers' addresses are inside the call, as pprof has them */
		return know(reader, ctx_frame_address(location->address), err);
	while (status == CTX_OK && ctx_protobuf_next(&lines, &field)) {
		if (field.number == 4 && field.is_bytes)
			status = add_line(reader, location, ctx_protobuf_make(field.bytes, field.n), err);
	}
	return status;
}

static enum ctx_status add_frames(struct reader *reader, const uint64_t *frames, uint32_t n,
				  struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&reader->frames, &reader->frames_cap, (size_t)reader->n_frames + n + 1, err);

	if (status == CTX_OK)
		memcpy(reader->frames + reader->n_frames, frames, n * sizeof(*frames));
	reader->n_frames += status == CTX_OK ? n : 0;
	return status;
}

/* A location is read at its first use. More frames than a sample has are not needed. */
static enum ctx_status add_location(struct reader *reader, uint64_t id, struct ctx_err *err)
{
	const struct ctx_pprof_location *location = ctx_pprof_location(&reader->profile, id);
	static const uint64_t unknown;
	struct place *place;
	enum ctx_status status = CTX_OK;

	if (location == NULL)
		reader->n_unknown++;
	if (reader->n_frames > CTX_NAMED_FRAMES_MAX)
		return CTX_OK;
	if (location == NULL)
		return add_frames(reader, &unknown, 1, err);
	place = &reader->places[location - reader->profile.locations];
	if (!place->is_known) {
		place->first = reader->n_known;
		status = read_lines(reader, location, err);
		place->n = (uint32_t)(reader->n_known - place->first);
		place->is_known = true;
	}
	return status == CTX_OK && place->n != 0
		       ? add_frames(reader, reader->known + place->first, place->n, err)
		       : status;
}

static enum ctx_status add_locations(struct reader *reader, const struct ctx_protobuf_field *field,
				     struct ctx_err *err)
{
	struct ctx_protobuf packed = ctx_protobuf_make(field->bytes, field->n);
	enum ctx_status status = CTX_OK;

	if (!field->is_bytes)
		return add_location(reader, field->value, err);
	while (status == CTX_OK && packed.at < packed.end) {
		uint64_t id = ctx_protobuf_varint(&packed);

		if (packed.failed)
			break;
		status = add_location(reader, id, err);
	}
	return status;
}

/* Returns how many values there are now. */
static size_t add_values(struct reader *reader, const struct ctx_protobuf_field *field, size_t n)
{
	struct ctx_protobuf packed = ctx_protobuf_make(field->bytes, field->n);

	if (!field->is_bytes && n < reader->profile.n_types)
		reader->values[n++] = (int64_t)field->value;
	while (field->is_bytes && packed.at < packed.end && !packed.failed && n < reader->profile.n_types)
		reader->values[n++] = (int64_t)ctx_protobuf_varint(&packed);
	return n;
}

static enum ctx_status put_values(struct reader *reader, struct ctx_event *event, size_t n,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		int64_t value = reader->values[i], factor = reader->factor_of[i];

		if (value < 0 || value > WEIGHT_MAX / factor) {
			reader->n_negative++;
			continue;
		}
		if (value == 0)
			continue;
		event->sample.metric = reader->metric_of[i];
		event->sample.weight = (uint64_t)(value * factor);
		status = ctx_named_sample(&reader->named, event, reader->frames, reader->n_frames, err);
	}
	return status;
}

static enum ctx_status on_sample(struct reader *reader, struct ctx_protobuf message, struct ctx_err *err)
{
	struct ctx_named_thread thread = {
		.pid = PROCESS, .tid = PROCESS, .process_name = "profile", .thread_name = "profile"};
	struct ctx_event event = {.sample = {.cpu = -1}};
	enum ctx_status status = ctx_named_thread(&reader->named, &thread, &event, err);
	struct ctx_protobuf_field field;
	size_t n_values = 0;

	reader->n_frames = 0;
	while (status == CTX_OK && ctx_protobuf_next(&message, &field)) {
		if (field.number == 1)
			status = add_locations(reader, &field, err);
		else if (field.number == 2)
			n_values = add_values(reader, &field, n_values);
	}
	return status == CTX_OK ? put_values(reader, &event, n_values, err) : status;
}

/* Mappings, for addresses without lines. */
static enum ctx_status put_maps(struct reader *reader, struct ctx_err *err)
{
	struct ctx_named_thread thread = {
		.pid = PROCESS, .tid = PROCESS, .process_name = "profile", .thread_name = "profile"};
	struct ctx_event event = {0};
	enum ctx_status status = ctx_named_thread(&reader->named, &thread, &event, err);

	for (size_t i = 0; i < reader->profile.n_mappings && status == CTX_OK; i++) {
		const struct ctx_pprof_mapping *mapping = &reader->profile.mappings[i];
		struct ctx_pprof_text file = ctx_pprof_string(&reader->profile, mapping->file);
		struct ctx_pprof_text build_id = ctx_pprof_string(&reader->profile, mapping->build_id);

		if (mapping->limit <= mapping->start || file.n == 0)
			continue;
		event.kind = CTX_EV_MAP;
		event.map = (struct ctx_map_event){.address = mapping->start,
						   .size = mapping->limit - mapping->start,
						   .file_offset = mapping->offset};
		status = ctx_named_map(&reader->named, &event,
				       &(struct ctx_named_object){file.at, file.n, build_id.at, build_id.n},
				       err);
	}
	return status;
}

static enum ctx_status end(struct reader *reader, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (reader->ended)
		return CTX_END;
	reader->ended = true;
	if (reader->n_negative != 0)
		status = ctx_named_warn(
			&reader->named, err,
			"%llu values are negative or impossible (a difference of profiles): left out",
			(unsigned long long)reader->n_negative);
	if (status == CTX_OK && reader->n_unknown != 0)
		status = ctx_named_damage(&reader->named, err, "%llu frames refer to what is not in the file",
					  (unsigned long long)reader->n_unknown);
	return status;
}

static enum ctx_status read_on(struct ctx_named *named, struct ctx_err *err)
{
	struct reader *reader = (struct reader *)named;
	struct ctx_protobuf_field field;
	enum ctx_status status = CTX_OK;

	if (!reader->began) {
		reader->began = true;
		status = put_maps(reader, err);
	}
	while (status == CTX_OK && named->n == 0) {
		if (!ctx_protobuf_next(&reader->rest, &field))
			return end(reader, err);
		if (field.number == CTX_PPROF_SAMPLE)
			status = on_sample(reader, ctx_protobuf_make(field.bytes, field.n), err);
	}
	return status;
}

static uint64_t progress(const struct ctx_event_source *source)
{
	const struct reader *reader = source->impl;

	return (uint64_t)(reader->rest.at - reader->bytes.bytes);
}

enum ctx_status ctx_pprof_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct reader *reader = ctx_calloc(1, sizeof(*reader));
	struct ctx_source_info *info;
	enum ctx_status status;

	if (reader == NULL)
		return ctx_err_nomem(err);
	info = &reader->named.source.info;
	reader->named.read = read_on;
	reader->named.destroy = destroy;
	reader->named.source.progress = progress;
	ctx_named_init(&reader->named);
	status = ctx_file_read(path, FILE_BYTES_MAX, &reader->bytes, err);
	if (status == CTX_OK) {
		status = ctx_pprof_profile_read(&reader->profile, reader->bytes.bytes, reader->bytes.n, err);
		if (status == CTX_E_FORMAT)
			ctx_err_prefix(err, status, "%s", path);
	}
	if (status == CTX_OK)
		status = make_metrics(reader, err);
	if (status == CTX_OK)
		status = describe(reader, err);
	if (status != CTX_OK) {
		destroy(&reader->named);
		return status;
	}
	reader->rest = reader->profile.message;
	info->name = ctx_path_base(path);
	info->format = "pprof";
	info->duration_ns = 1;
	info->bytes = reader->bytes.n;
	*ret = &reader->named.source;
	return CTX_OK;
}
