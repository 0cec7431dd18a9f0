/*
 * The memory in which traced processes and the recorder share the sites of coverage: which instructions were executed at all.
 *
 *	one memory file for all processes of a recording:
 *	  struct ctx_rt_once_header
 *	  struct ctx_rt_once_object [n_objects]
 *	  struct ctx_rt_once_site [n_sites]       by object, then ascending by address
 *	  _Atomic uint32_t [n_sites]              the log: numbers of the sites that were executed, + 1, in this order; 0: not yet written
 *
 * The recorder fills it in before the first process has it, and reads the log. A process asks for it by the number CTX_RT_ASK_ONCE
 * in the place of its number of segments (runtime/shared_layout.h), puts a trap instruction at the sites of objects that it has loaded,
 * and takes it out when it is met: then the site, if it is the first process that meets it, is written and appended to the log.
 */
#ifndef CTX_RUNTIME_ONCE_LAYOUT_H
#define CTX_RUNTIME_ONCE_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#define CTX_RT_ONCE_MAGIC UINT64_C(0x3145434e4f5854ff)
#define CTX_RT_ONCE_VERSION 1u
#define CTX_RT_ASK_ONCE 0xefu

struct ctx_rt_once_header {
	_Alignas(8) uint64_t magic;
	uint32_t version;
	uint32_t n_objects, n_sites;
	_Atomic uint32_t n_hits;    /* entries of the log that are taken */
	_Alignas(8) uint64_t bytes; /* of all */
};

struct ctx_rt_once_object {
	_Alignas(8) uint64_t device, inode; /* of its file, as stat says */
	uint32_t first, n;		    /* of its sites */
	/* Of the first process that has it: where it is loaded, who that is, and when. */
	_Alignas(8) _Atomic uint64_t base, armed_ns; /* armed_ns 0: nobody has */
	_Atomic uint32_t pid, is_taken;
	_Alignas(8) _Atomic uint64_t refused; /* sites, of all processes, that could not be armed */
};

struct ctx_rt_once_site {
	_Alignas(8) uint64_t address;		  /* in the object's own address space */
	_Alignas(8) _Atomic uint64_t ip, time_ns; /* of the first execution; CLOCK_MONOTONIC */
	_Atomic uint32_t pid, tid;		  /* as the target has them */
	_Atomic uint32_t is_taken;		  /* 1: somebody has executed it */
	uint32_t unused;
};

_Static_assert(sizeof(struct ctx_rt_once_header) == 32 && sizeof(struct ctx_rt_once_object) == 56 &&
		       sizeof(struct ctx_rt_once_site) == 40,
	       "the same in programs of 32 and 64 bits");

static inline struct ctx_rt_once_object *ctx_rt_once_objects(struct ctx_rt_once_header *header)
{
	return (struct ctx_rt_once_object *)(header + 1);
}

static inline struct ctx_rt_once_site *ctx_rt_once_sites(struct ctx_rt_once_header *header)
{
	return (struct ctx_rt_once_site *)(ctx_rt_once_objects(header) + header->n_objects);
}

static inline _Atomic uint32_t *ctx_rt_once_log(struct ctx_rt_once_header *header)
{
	return (_Atomic uint32_t *)(ctx_rt_once_sites(header) + header->n_sites);
}

static inline uint64_t ctx_rt_once_bytes(uint32_t n_objects, uint32_t n_sites)
{
	return sizeof(struct ctx_rt_once_header) + n_objects * sizeof(struct ctx_rt_once_object) +
	       (uint64_t)n_sites * (sizeof(struct ctx_rt_once_site) + sizeof(uint32_t));
}

#endif
