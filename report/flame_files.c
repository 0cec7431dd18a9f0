#include "report/flame_files.h"

/* The assembler reads the files; CTX_FLAME_FOLDER is the path of their folder. */
#define EMBED(name, file)                                                                                    \
	__asm__(".section .rodata\n"                                                                         \
		".global " #name "\n" #name ":\n"                                                            \
		".incbin \"" CTX_FLAME_FOLDER file "\"\n"                                                    \
		".byte 0\n"                                                                                  \
		".previous\n")

EMBED(ctx_flame_style, "/style.css");
EMBED(ctx_flame_script, "/script.js");
