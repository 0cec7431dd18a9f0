/*
 * Tracing data of arbitrary bytes: formats of tracepoints. Each field that was parsed is found in
 * raw data of exactly the size that it needs, and not in shorter data.
 */
#include "formats/perfdata/pd_tracing.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_format(const struct ctx_pd_format *format, const uint8_t *raw)
{
	for (int field = 0; field < CTX_PD_FIELD_N; field++) {
		const struct ctx_pe_field *place = &format->fields[field];
		size_t end = (size_t)place->offset + place->size;
		int64_t value;

		if (place->size == 0)
			continue;
		if (!format->found || !ctx_pe_field_read(place, raw, end, false, &value) ||
		    ctx_pe_field_read(place, raw, end - 1, true, &value))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t raw[UINT16_MAX + 8];
	struct ctx_pd_tracing tracing;
	struct ctx_err err = {0};
	enum ctx_status status = ctx_pd_tracing_parse(data, size, &tracing, &err);

	if (status != CTX_OK && (status != CTX_E_FORMAT || err.msg[0] == '\0'))
		abort();
	for (int i = 0; i < CTX_PD_TP_N; i++) {
		if (status != CTX_OK && tracing.formats[i].found)
			abort();
		if (tracing.formats[i].found)
			check_format(&tracing.formats[i], raw);
	}
	if (tracing.formats[CTX_PD_TP_SWITCH].found &&
	    (tracing.prev_states.dead | tracing.prev_states.stopped | tracing.prev_states.waits) == 0)
		abort();
	ctx_pd_tracing_find(&tracing, size);
	return 0;
}
