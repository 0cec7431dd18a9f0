#include "formats/gprofng/gp_event.h"

#include <string.h>

#define CPUS_MAX 65536u /* a higher number is not a processor */

struct decoding {
	const struct ctx_gp_layout *layout;
	const struct ctx_gp_record *record;
	bool big_endian;
};

static inline uint64_t get(const struct decoding *decoding, enum ctx_gp_field field)
{
	return ctx_gp_layout_get(decoding->layout, field, decoding->record->bytes, decoding->big_endian);
}

static void decode_io(const struct decoding *decoding, struct ctx_gp_event *ret)
{
	ret->io.kind = (uint32_t)get(decoding, CTX_GP_IOTYPE);
	ret->io.fd = (int32_t)get(decoding, CTX_GP_IOFD);
	ret->io.old_fd = (int32_t)get(decoding, CTX_GP_IOOFD);
	ret->io.bytes = (int64_t)get(decoding, CTX_GP_IONBYTE);
	ret->io.request_ns = (int64_t)get(decoding, CTX_GP_IORQST);
	ret->io.fs_type = (uint32_t)get(decoding, CTX_GP_IOFSTYPE);
	ret->io.file = ctx_gp_layout_text(decoding->layout, CTX_GP_IOFNAME, decoding->record->bytes,
					  decoding->record->n, &ret->io.file_bytes);
}

static void decode_kind(const struct decoding *decoding, struct ctx_gp_event *ret)
{
	switch (ret->type) {
	case CTX_GP_CLOCK:
		ret->clock.state = (uint32_t)get(decoding, CTX_GP_MSTATE);
		ret->clock.ticks = (uint32_t)get(decoding, CTX_GP_NTICK);
		ret->clock.is_exact = ctx_gp_layout_has(decoding->layout, CTX_GP_WEIGHT);
		ret->clock.weight_ns = get(decoding, CTX_GP_WEIGHT);
		break;
	case CTX_GP_STATES_CLOCK:
		for (uint32_t i = 0; i < CTX_GP_OLD_STATES; i++)
			ret->ticks[i] = (uint32_t)get(decoding, (enum ctx_gp_field)(CTX_GP_UCPU + i));
		break;
	case CTX_GP_HEAP:
		ret->heap.kind = (uint32_t)get(decoding, CTX_GP_HTYPE);
		ret->heap.size = get(decoding, CTX_GP_HSIZE);
		ret->heap.address = get(decoding, CTX_GP_HVADDR);
		ret->heap.old_address = get(decoding, CTX_GP_HOVADDR);
		break;
	case CTX_GP_SYNC:
		ret->sync.request_ns = (int64_t)get(decoding, CTX_GP_SRQST);
		ret->sync.object = get(decoding, CTX_GP_SOBJ);
		break;
	case CTX_GP_IO:
		decode_io(decoding, ret);
		break;
	case CTX_GP_HWC:
	case CTX_GP_MHWC:
		ret->hwc.tag = (uint32_t)get(decoding, CTX_GP_HWCTAG);
		ret->hwc.count = get(decoding, CTX_GP_HWCINT);
		ret->hwc.address = get(decoding, CTX_GP_VADDR);
		break;
	default:
		break;
	}
}

bool ctx_gp_event_decode(const struct ctx_gp_layout *layout, const struct ctx_gp_record *record,
			 bool big_endian, struct ctx_gp_event *ret)
{
	struct decoding decoding = {.layout = layout, .record = record, .big_endian = big_endian};
	uint64_t cpu;
	int64_t time_ns;

	if (!ctx_gp_event_time(layout, record, big_endian, &time_ns))
		return false;
	*ret = (struct ctx_gp_event){.type = record->type, .cpu = -1};
	ret->time_ns = time_ns;
	ret->lwp = (int64_t)get(&decoding, CTX_GP_LWPID);
	ret->thread = (int64_t)get(&decoding, CTX_GP_THRID);
	cpu = get(&decoding, CTX_GP_CPUID);
	if (ctx_gp_layout_has(layout, CTX_GP_CPUID) && cpu < CPUS_MAX)
		ret->cpu = (int32_t)cpu;
	ret->stack = get(&decoding, CTX_GP_FRINFO);
	decode_kind(&decoding, ret);
	return true;
}
