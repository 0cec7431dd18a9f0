#include "report/embedded.h"

/* The assembler reads the files; CTX_REPORT_FOLDER is the path of this folder. */
#define EMBED(name, file)                                                                                    \
	__asm__(".section .rodata\n"                                                                         \
		".global " #name "\n" #name ":\n"                                                            \
		".incbin \"" CTX_REPORT_FOLDER file "\"\n"                                                   \
		".byte 0\n"                                                                                  \
		".previous\n")

EMBED(ctx_flame_style, "/flamegraph/style.css");
EMBED(ctx_flame_script, "/flamegraph/script.js");
EMBED(ctx_static_style, "/html_static/style.css");
