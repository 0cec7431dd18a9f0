/*
 * The kernel's records other than samples: header, body, trailer.
 *
 *	header (type, misc, size) | body | trailer: [pid tid] [time] [id] [stream id] [cpu -] [identifier]
 *
 * Each parser takes a cursor on the body, which may include the trailer: no body runs to the end of
 * its record. Every length is checked. Strings are borrowed from the record. All parsers fail with
 * CTX_E_FORMAT, and then *ret is undefined. O(body). Source: enum perf_event_type in
 * include/uapi/linux/perf_event.h.
 */
#ifndef CTX_FORMATS_PERFEVENT_PE_RECORD_H
#define CTX_FORMATS_PERFEVENT_PE_RECORD_H

#include "base/buildid.h"
#include "base/err.h"
#include "formats/perfevent/pe_layout.h"
#include "formats/perfevent/pe_wire.h"

/* The header at `bytes` (8 bytes, any alignment) in our byte order. */
static inline struct perf_event_header ctx_pe_header_read(const void *bytes, bool swap)
{
	struct perf_event_header header;

	memcpy(&header, bytes, sizeof(header));
	if (swap) {
		header.type = __builtin_bswap32(header.type);
		header.misc = __builtin_bswap16(header.misc);
		header.size = __builtin_bswap16(header.size);
	}
	return header;
}

/* Everything after the header of a whole record of `size` bytes, at least 8. */
static inline struct ctx_pe_wire ctx_pe_body(const void *record, size_t size, bool swap)
{
	return ctx_pe_wire_make((const uint8_t *)record + CTX_PE_HEADER_BYTES, size - CTX_PE_HEADER_BYTES,
				swap);
}

struct ctx_pe_trailer { /* -1 or 0 where the layout has no such field */
	int32_t pid, tid, cpu;
	uint64_t time_ns;
};

/* Parses the trailer of a record of `size` bytes; false: the record is too short. */
bool ctx_pe_trailer_parse(const struct ctx_pe_layout *layout, const void *record, size_t size,
			  struct ctx_pe_trailer *ret);

/* MMAP, MMAP2 */
struct ctx_pe_mmap {
	int32_t pid, tid;		     /* pid -1: the kernel */
	uint64_t address, size, file_offset; /* address + size does not wrap */
	uint32_t protection;		     /* PROT_*; MMAP has no such field: PROT_EXEC or 0 */
	const char *path;
	/*
	 * Lower-case hex; "": none, or not trustworthy. The header's bit is not enough: when
	 * several events record the same mapping and one of them asks for build ids, the kernel (as
	 * of 6.18) sets the bit for all of them.
	 */
	char build_id[CTX_BUILDID_TEXT];
	uint32_t major, minor; /* MMAP2 without a build id: the file's device */
	uint64_t inode;	       /* 0: not reported, or no file */
};

CTX_MUST_CHECK enum ctx_status ctx_pe_mmap_parse(struct ctx_pe_wire body,
						 const struct perf_event_header *header,
						 struct ctx_pe_mmap *ret, struct ctx_err *err);

/*
 * A build id of `n` bytes as perf stores it, in hex: at most 20 bytes are used, all zeros give "".
 */
void ctx_pe_build_id_text(const uint8_t *bytes, size_t n, char ret[CTX_BUILDID_TEXT]);

#define CTX_PE_BUILD_ID_BYTES 20u

struct ctx_pe_comm {
	int32_t pid, tid;
	const char *name;
};

CTX_MUST_CHECK enum ctx_status ctx_pe_comm_parse(struct ctx_pe_wire body, struct ctx_pe_comm *ret,
						 struct ctx_err *err);

struct ctx_pe_task { /* FORK, EXIT */
	int32_t pid, parent_pid, tid, parent_tid;
};

CTX_MUST_CHECK enum ctx_status ctx_pe_task_parse(struct ctx_pe_wire body, struct ctx_pe_task *ret,
						 struct ctx_err *err);

/* LOST, LOST_SAMPLES: the number of lost records or samples. */
CTX_MUST_CHECK enum ctx_status ctx_pe_lost_parse(struct ctx_pe_wire body,
						 const struct perf_event_header *header, uint64_t *ret,
						 struct ctx_err *err);

/* KSYMBOL: code that the kernel generated (BPF programs, trampolines) or released. */
struct ctx_pe_ksymbol {
	uint64_t address; /* 0: hidden from users (kptr_restrict) */
	uint32_t size;	  /* 0: of a program without code of its own */
	bool is_released;
	const char *name;
};

CTX_MUST_CHECK enum ctx_status ctx_pe_ksymbol_parse(struct ctx_pe_wire body, struct ctx_pe_ksymbol *ret,
						    struct ctx_err *err);

/* BPF_EVENT: a BPF program was loaded or unloaded. */
struct ctx_pe_bpf {
	uint32_t program; /* id */
	bool is_loaded, is_unloaded;
};

CTX_MUST_CHECK enum ctx_status ctx_pe_bpf_parse(struct ctx_pe_wire body, struct ctx_pe_bpf *ret,
						struct ctx_err *err);

/* CGROUP: the path of a control group, relative to the root of its file system. */
struct ctx_pe_cgroup {
	uint64_t id;
	const char *path;
};

CTX_MUST_CHECK enum ctx_status ctx_pe_cgroup_parse(struct ctx_pe_wire body, struct ctx_pe_cgroup *ret,
						   struct ctx_err *err);

#endif
