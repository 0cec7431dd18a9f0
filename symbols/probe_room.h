/*
 * Entries of functions with room for a jump of 5 bytes (x86-64), where the runtime in the target can count executions (runtime/rt_count.h):
 * one instruction of at least 5 bytes that does nothing (gcc -mnop-mcount, clang -fpatchable-function-entry), several of them where
 * the object says that they are there to be changed (gcc -fpatchable-function-entry), or a sled of XRay; perhaps behind an endbr64.
 */
#ifndef CTX_SYMBOLS_PROBE_ROOM_H
#define CTX_SYMBOLS_PROBE_ROOM_H

#include "elf/elf_file.h"

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdint.h>

struct ctx_probe_room {
	const struct ctx_elf_file *image; /* borrowed */
	csh handle;
	cs_insn *instruction; /* NULL: there is no room anywhere */
	bool has_entries;     /* __patchable_function_entries */
};

void ctx_probe_room_init(struct ctx_probe_room *room, const struct ctx_elf_file *image);
void ctx_probe_room_deinit(struct ctx_probe_room *room);

/* Whether it is at the first instruction of a function, whose address this is. */
bool ctx_probe_room_is_at(struct ctx_probe_room *room, uint64_t address);

#endif
