/*
 * BPF programs: the code, the functions and the lines of those that ran, from two header features.
 *
 *	BPF_PROG_INFO	u32 n, n * { u32 bytes of info, u32 bytes of data, u64 arrays, struct bpf_prog_info, data }
 *	BPF_BTF		u32 n, n * { u32 id, u32 bytes, BTF }
 *
 * `arrays` has a bit for each array of the program that is in the data, where its address in the struct is an offset in
 * the data. Lines are rows of an array beside one of addresses; their files are texts of the program's BTF. Source:
 * write_bpf_prog_info, write_bpf_btf (tools/perf/util/header.c), tools/perf/util/bpf-utils.h, include/uapi/linux/bpf.h
 * and Documentation/bpf/btf.rst of Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_BPF_H
#define CTX_FORMATS_PERFDATA_PD_BPF_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map64.h"
#include "formats/perfevent/pe_wire.h"
#include "model/event_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_PD_FEATURE_BPF_PROG_INFO 25u
#define CTX_PD_FEATURE_BPF_BTF 26u

struct ctx_pd_bpf_program; /* pd_bpf.c */
struct ctx_pd_bpf_btf;

/* A function of a program, as the kernel compiled it. Strings and code are in the arena. */
struct ctx_pd_bpf_function {
	uint64_t address;
	uint32_t size;
	uint32_t program;	      /* id */
	const char *name;	      /* as the kernel names it: "bpf_prog_b5662fe3ecc28a63_busy" */
	const uint8_t *code;	      /* `size` bytes; NULL unknown */
	struct ctx_jit_places places; /* rows are owned by the settled functions; none: no lines are known */
};

struct ctx_pd_bpf { /* all zero: none */
	struct ctx_pd_bpf_program *programs;
	size_t n_programs, programs_cap;
	struct ctx_pd_bpf_btf *btfs;
	size_t n_btfs, btfs_cap;
	struct ctx_map64 btf_of_id;
	struct ctx_pd_bpf_function *functions; /* owned; by program, then by address */
	size_t n, cap;
};

void ctx_pd_bpf_deinit(struct ctx_pd_bpf *bpf);

/*
 * Reads the body of a feature. Programs and BTF before the damage are kept. Fails with CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_bpf_read(struct ctx_pd_bpf *bpf, struct ctx_arena *arena,
					       uint32_t feature, struct ctx_pe_wire *wire,
					       struct ctx_err *err);

/*
 * Makes the functions of all programs, once all features are read. What is malformed in a program leaves it without
 * functions, or these without lines. Names are cut at 511 bytes, as the kernel cuts them, and files of PATH_MAX bytes
 * and more are not known: memory is in proportion to the features, time too but for sorting. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_bpf_settle(struct ctx_pd_bpf *bpf, struct ctx_arena *arena,
						 struct ctx_err *err);

/* The functions of a program, *ret_n of them, after ctx_pd_bpf_settle. O(log n). */
const struct ctx_pd_bpf_function *ctx_pd_bpf_of(const struct ctx_pd_bpf *bpf, uint32_t program,
						size_t *ret_n);

#endif
