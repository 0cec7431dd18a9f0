#include "collect/trace_omp.h"

#include "model/event_source.h"

#include <string.h>

bool ctx_trace_omp_read(const struct ctx_trace_record *record, struct ctx_trace_omp *room,
			struct ctx_exp_omp *ret)
{
	uint64_t event = record->words[1] & 0xff, value = record->words[1] >> 8;

	if (event >= CTX_OMP_EVENT_N || !ctx_omp_is_value((unsigned)event, value))
		return false;
	ret->time_ns = record->words[0];
	ret->event = (uint8_t)event;
	ret->value = (uint32_t)value;
	ret->frames = record->frames;
	ret->n_frames = record->n_frames;
	if (record->kind != CTX_RT_OMP_BODY || record->words[2] == 0 || record->words[2] >= CTX_KERNEL_START)
		return true;
	room->frames[0] = record->words[2];
	if (ret->n_frames != 0)
		memcpy(room->frames + 1, ret->frames, ret->n_frames * sizeof(*ret->frames));
	ret->frames = room->frames;
	ret->n_frames++;
	ret->has_body = true;
	return true;
}
