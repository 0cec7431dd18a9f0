/*
 * References to the functions that the runtime stands in for, in all loaded objects: for a library that comes too late
 * for the loader to resolve them to it.
 *
 *	object --PT_DYNAMIC--> relocations with a symbol --name--> our function of that name --> the slot
 *
 * Slots are those of calls (R_X86_64_JUMP_SLOT), of addresses (R_X86_64_GLOB_DAT), and pointers in data
 * (R_X86_64_64). One is changed only if it has the function that the program would have without the runtime, or, of a
 * call, if it is not bound yet. Pages that the loader has protected after relocation are writable meanwhile. A slot is
 * written in one piece: other threads go on.
 */
#ifndef CTX_RUNTIME_RT_SLOTS_H
#define CTX_RUNTIME_RT_SLOTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Directs them to the functions of these kinds (enum ctx_rt_what), and what is executed, and returns how many were
 * changed. From then on dlsym directs those of objects that were loaded since. Takes the loader's lock; 0.1 us a
 * relocation. errno is changed.
 */
size_t ctx_rt_slots_redirect(uint32_t what);

/* The other way, those in pointers that the program has copied meanwhile excepted. Returns how many were changed. */
size_t ctx_rt_slots_restore(void);

/* Redirects those of objects that were loaded since the last time. errno is kept. */
void ctx_rt_slots_look(void);

#endif
