#include "formats/perfevent/pe_record.h"

#include <sys/mman.h>

#define OBJECT_ID_BYTES (4 + CTX_PE_BUILD_ID_BYTES)
#define KSYMBOL_RELEASED 1u /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */

bool ctx_pe_trailer_parse(const struct ctx_pe_layout *layout, const void *record, size_t size,
			  struct ctx_pe_trailer *ret)
{
	size_t bytes = (size_t)layout->n_trailer_words * 8;
	uint64_t type = layout->sample_type;
	struct ctx_pe_wire wire;

	if (bytes + CTX_PE_HEADER_BYTES > size)
		return false;
	wire = ctx_pe_wire_make((const uint8_t *)record + size - bytes, bytes, layout->swap);
	*ret = (struct ctx_pe_trailer){.pid = -1, .tid = -1, .cpu = -1};
	if (type & PERF_SAMPLE_TID) {
		ret->pid = (int32_t)ctx_pe_wire_u32(&wire);
		ret->tid = (int32_t)ctx_pe_wire_u32(&wire);
	}
	if (type & PERF_SAMPLE_TIME)
		ret->time_ns = ctx_pe_wire_u64(&wire);
	if (type & PERF_SAMPLE_ID)
		ctx_pe_wire_u64(&wire);
	if (type & PERF_SAMPLE_STREAM_ID)
		ctx_pe_wire_u64(&wire);
	if (type & PERF_SAMPLE_CPU)
		ret->cpu = (int32_t)ctx_pe_wire_u32(&wire);
	return true;
}

void ctx_pe_build_id_text(const uint8_t *bytes, size_t n, char ret[CTX_BUILDID_TEXT])
{
	ctx_buildid_format(bytes, n < CTX_PE_BUILD_ID_BYTES ? n : CTX_PE_BUILD_ID_BYTES, ret);
	if (ret[strspn(ret, "0")] == '\0')
		ret[0] = '\0';
}

/*
 * OBJECT_ID_BYTES hold either size, three zeros, build id, zeros up to the end; or major, minor,
 * inode, generation.
 */
static bool is_build_id(const uint8_t *bytes)
{
	static const uint8_t zeros[OBJECT_ID_BYTES];
	size_t end = 4 + (size_t)bytes[0];

	return end > 4 && end <= OBJECT_ID_BYTES && memcmp(bytes + 1, zeros, 3) == 0 &&
	       memcmp(bytes + end, zeros, OBJECT_ID_BYTES - end) == 0;
}

/* Major, minor, inode in the record's byte order. */
static void take_inode(struct ctx_pe_wire id, struct ctx_pe_mmap *ret)
{
	ret->major = ctx_pe_wire_u32(&id);
	ret->minor = ctx_pe_wire_u32(&id);
	ret->inode = ctx_pe_wire_u64(&id);
}

enum ctx_status ctx_pe_mmap_parse(struct ctx_pe_wire body, const struct perf_event_header *header,
				  struct ctx_pe_mmap *ret, struct ctx_err *err)
{
	ret->pid = (int32_t)ctx_pe_wire_u32(&body);
	ret->tid = (int32_t)ctx_pe_wire_u32(&body);
	ret->address = ctx_pe_wire_u64(&body);
	ret->size = ctx_pe_wire_u64(&body);
	ret->file_offset = ctx_pe_wire_u64(&body);
	ret->build_id[0] = '\0';
	ret->major = ret->minor = 0;
	ret->inode = 0;
	if (header->type == PERF_RECORD_MMAP2) {
		struct ctx_pe_wire inode = body;
		const uint8_t *id = ctx_pe_wire_bytes(&body, OBJECT_ID_BYTES);

		if (id != NULL && (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0 && is_build_id(id))
			ctx_pe_build_id_text(id + 4, id[0], ret->build_id);
		else if (id != NULL)
			take_inode(inode, ret);
		ret->protection = ctx_pe_wire_u32(&body);
		ctx_pe_wire_u32(&body); /* flags */
		/*
		 * Not filled in by simpleperf, nor by perf for [vdso]. What the kernel maps without
		 * rights is data.
		 */
		if ((ret->protection & (PROT_READ | PROT_WRITE | PROT_EXEC)) == 0 &&
		    (header->misc & PERF_RECORD_MISC_MMAP_DATA) == 0)
			ret->protection = PROT_EXEC;
	} else {
		ret->protection = (header->misc & PERF_RECORD_MISC_MMAP_DATA) == 0 ? PROT_EXEC : 0;
	}
	ret->path = ctx_pe_wire_text(&body, ctx_pe_wire_left(&body));
	if (body.failed)
		return ctx_err_set(err, CTX_E_FORMAT, "a map that is shorter than it must be");
	if (ret->size > UINT64_MAX - ret->address)
		return ctx_err_set(err, CTX_E_FORMAT, "a map past the end of the address space");
	return CTX_OK;
}

enum ctx_status ctx_pe_comm_parse(struct ctx_pe_wire body, struct ctx_pe_comm *ret, struct ctx_err *err)
{
	ret->pid = (int32_t)ctx_pe_wire_u32(&body);
	ret->tid = (int32_t)ctx_pe_wire_u32(&body);
	ret->name = ctx_pe_wire_text(&body, ctx_pe_wire_left(&body));
	return body.failed ? ctx_err_set(err, CTX_E_FORMAT, "a name without its end") : CTX_OK;
}

enum ctx_status ctx_pe_task_parse(struct ctx_pe_wire body, struct ctx_pe_task *ret, struct ctx_err *err)
{
	ret->pid = (int32_t)ctx_pe_wire_u32(&body);
	ret->parent_pid = (int32_t)ctx_pe_wire_u32(&body);
	ret->tid = (int32_t)ctx_pe_wire_u32(&body);
	ret->parent_tid = (int32_t)ctx_pe_wire_u32(&body);
	return body.failed ? ctx_err_set(err, CTX_E_FORMAT, "a task record that is cut") : CTX_OK;
}

enum ctx_status ctx_pe_lost_parse(struct ctx_pe_wire body, const struct perf_event_header *header,
				  uint64_t *ret, struct ctx_err *err)
{
	if (header->type == PERF_RECORD_LOST)
		ctx_pe_wire_u64(&body); /* id */
	*ret = ctx_pe_wire_u64(&body);
	return body.failed ? ctx_err_set(err, CTX_E_FORMAT, "a record of losses that is cut") : CTX_OK;
}

enum ctx_status ctx_pe_ksymbol_parse(struct ctx_pe_wire body, struct ctx_pe_ksymbol *ret, struct ctx_err *err)
{
	ret->address = ctx_pe_wire_u64(&body);
	ret->size = ctx_pe_wire_u32(&body);
	ctx_pe_wire_u16(&body); /* type */
	ret->is_released = (ctx_pe_wire_u16(&body) & KSYMBOL_RELEASED) != 0;
	ret->name = ctx_pe_wire_text(&body, ctx_pe_wire_left(&body));
	if (body.failed || ret->size > UINT64_MAX - ret->address)
		return ctx_err_set(err, CTX_E_FORMAT, "a kernel symbol that cannot be");
	return CTX_OK;
}

enum ctx_status ctx_pe_bpf_parse(struct ctx_pe_wire body, struct ctx_pe_bpf *ret, struct ctx_err *err)
{
	uint16_t type = ctx_pe_wire_u16(&body);

	ctx_pe_wire_u16(&body); /* flags */
	ret->program = ctx_pe_wire_u32(&body);
	ctx_pe_wire_u64(&body); /* tag */
	if (body.failed)
		return ctx_err_set(err, CTX_E_FORMAT, "an event of a BPF program that is cut short");
	ret->is_loaded = type == PERF_BPF_EVENT_PROG_LOAD;
	ret->is_unloaded = type == PERF_BPF_EVENT_PROG_UNLOAD;
	return CTX_OK;
}

enum ctx_status ctx_pe_cgroup_parse(struct ctx_pe_wire body, struct ctx_pe_cgroup *ret, struct ctx_err *err)
{
	ret->id = ctx_pe_wire_u64(&body);
	ret->path = ctx_pe_wire_text(&body, ctx_pe_wire_left(&body));
	if (body.failed || ret->path == NULL || ret->id == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "a control group that cannot be");
	return CTX_OK;
}
