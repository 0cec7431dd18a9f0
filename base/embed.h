/*
 * Embedding: a file of the source tree becomes a constant of the program.
 *
 *	CTX_EMBED(ctx_manual, CTX_SOURCE_FOLDER "/manual.txt");		then: extern const char ctx_manual[];
 *
 * The assembler reads the file when the source is compiled; a zero byte ends it. The path is
 * absolute, and the file is named as a dependency (OBJECT_DEPENDS) in the folder's CMakeLists.txt.
 */
#ifndef CTX_BASE_EMBED_H
#define CTX_BASE_EMBED_H

#define CTX_EMBED(name, path)                                                                                \
	__asm__(".section .rodata\n"                                                                         \
		".global " #name "\n" #name ":\n"                                                            \
		".incbin \"" path "\"\n"                                                                     \
		".byte 0\n"                                                                                  \
		".previous\n")

#endif
