#include "formats/perfdata/pd_record.h"

/* The event with this id. An id of 0, in records that perf synthesizes, means the first event. */
static const struct ctx_pd_event *event_of_id(const struct ctx_pd_events *events, uint64_t id)
{
	uint32_t index = id != 0 ? ctx_map64_get(&events->by_id, id) : 0;

	return index != CTX_MAP64_NONE ? &events->items[index] : NULL;
}

const struct ctx_pd_event *ctx_pd_sample_event(const struct ctx_pd_events *events, const uint8_t *record,
					       const struct perf_event_header *header)
{
	uint64_t id;

	if (events->n == 1)
		return &events->items[0];
	if (events->n == 0 ||
	    !ctx_pe_word_at(record, header->size, events->sample_id_at, events->items[0].layout.swap, &id))
		return NULL;
	return event_of_id(events, id);
}

/* The same for other kernel records, whose id is in the trailer. */
static const struct ctx_pd_event *event_of_trailer(const struct ctx_pd_events *events, const uint8_t *record,
						   const struct perf_event_header *header)
{
	uint64_t id;

	return ctx_pe_word_back(record, header->size, events->trailer_id_at, events->items[0].layout.swap,
				&id)
		       ? event_of_id(events, id)
		       : NULL;
}

uint64_t ctx_pd_record_time(const struct ctx_pd_events *events, const uint8_t *record,
			    const struct perf_event_header *header)
{
	const struct ctx_pd_event *event;
	uint64_t time;
	bool swap;
	int at;

	if (header->type >= CTX_PD_HEADER_ATTR || events->n == 0)
		return CTX_PD_NO_TIME;
	swap = events->items[0].layout.swap;
	if (header->type != PERF_RECORD_SAMPLE) {
		at = events->has_trailer ? events->trailer_time_at : -1;
		if (at < 0 && events->has_trailer &&
		    (event = event_of_trailer(events, record, header)) != NULL)
			at = ctx_pe_trailer_time_at(event->layout.sample_type);
		return ctx_pe_word_back(record, header->size, at, swap, &time) ? time : CTX_PD_NO_TIME;
	}
	at = events->sample_time_at;
	if (at < 0 && (event = ctx_pd_sample_event(events, record, header)) != NULL)
		at = ctx_pe_sample_time_at(event->layout.sample_type);
	return ctx_pe_word_at(record, header->size, at, swap, &time) ? time : CTX_PD_NO_TIME;
}

bool ctx_pd_trailer_parse(const struct ctx_pd_events *events, const uint8_t *record,
			  const struct perf_event_header *header, struct ctx_pe_trailer *ret)
{
	const struct ctx_pd_event *event;

	if (!events->has_trailer || events->n == 0)
		return false;
	event = events->trailer_id_at >= 0 ? event_of_trailer(events, record, header) : &events->items[0];
	return event != NULL && (event->layout.sample_type & PERF_SAMPLE_TID) != 0 &&
	       ctx_pe_trailer_parse(&event->layout, record, header->size, ret);
}
