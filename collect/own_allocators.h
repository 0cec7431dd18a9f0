/*
 * Allocators that programs and libraries have inside, under names of their own: what they hand out does not pass by
 * the functions that the runtime stands in for.
 *
 * They are found by the symbols that the file defines (.symtab, .dynsym): je_malloc, _rjem_malloc of Rust, tc_malloc, mi_malloc and some
 * more, and a malloc that the file does not export. A file that exports malloc is none of them: it is one of those that stand behind the
 * runtime's. A file without symbols is not recognised.
 */
#ifndef CTX_COLLECT_OWN_ALLOCATORS_H
#define CTX_COLLECT_OWN_ALLOCATORS_H

/* The name of the allocator in an ELF file, which is read; NULL: there is none, or it cannot be read. O(symbols). */
const char *ctx_own_allocator_find(int fd);

#endif
