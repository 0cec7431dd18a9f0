/*
 * Code of a loaded object that is to be changed: where there is room, memory near it, and the right to write.
 */
#ifndef CTX_RUNTIME_RT_TEXT_H
#define CTX_RUNTIME_RT_TEXT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_RT_JUMP_BYTES 5u  /* of a call or jump with a distance of 32 bits */
#define CTX_RT_LOOK_BYTES 16u /* of nops, with one of 11 bytes behind 4 */

struct ctx_rt_text {
	uint64_t base, begin, end; /* of what is loaded */
	const ElfW(Phdr) * segments;
	unsigned n_segments;
};

/* As the loader says it. */
struct ctx_rt_text ctx_rt_text_of(const struct dl_phdr_info *info);

/* Whether `n` bytes are in segments that are executed. */
bool ctx_rt_text_has(const struct ctx_rt_text *text, uint64_t at, size_t n);

/* Makes all code of an object writable, or again what it was. Where there are other threads it stays executable. */
bool ctx_rt_text_open(const struct ctx_rt_text *text, bool opens);

/*
 * Memory that can be written, which jumps of 32 bits reach from all of the object: below it if there is room, since a program's heap
 * grows behind it. NULL: none. Its bytes are whole pages.
 */
uint8_t *ctx_rt_text_near(const struct ctx_rt_text *text, size_t bytes);

/* At an address: bytes up to the end of the nop that the last byte of a jump written there is in. 0: there is no room. */
size_t ctx_rt_text_room(const struct ctx_rt_text *text, uint64_t at);

#endif
