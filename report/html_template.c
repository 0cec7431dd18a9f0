#include "report/html_template.h"

/* The assembler reads the files; CTX_HTML_PAGE and CTX_HTML_DIFF are their paths, in quotes. */
__asm__(".section .rodata\n"
	".global ctx_html_template_begin\n"
	".global ctx_html_template_end\n"
	".global ctx_html_diff_template_begin\n"
	".global ctx_html_diff_template_end\n"
	"ctx_html_template_begin:\n"
	".incbin " CTX_HTML_PAGE "\n"
	"ctx_html_template_end:\n"
	".byte 0\n"
	"ctx_html_diff_template_begin:\n"
	".incbin " CTX_HTML_DIFF "\n"
	"ctx_html_diff_template_end:\n"
	".byte 0\n"
	".previous\n");

extern const char ctx_html_template_begin[], ctx_html_template_end[];
extern const char ctx_html_diff_template_begin[], ctx_html_diff_template_end[];

struct ctx_html_template ctx_html_template(void)
{
	return (struct ctx_html_template){ctx_html_template_begin,
					  (size_t)(ctx_html_template_end - ctx_html_template_begin)};
}

struct ctx_html_template ctx_html_diff_template(void)
{
	return (struct ctx_html_template){
		ctx_html_diff_template_begin,
		(size_t)(ctx_html_diff_template_end - ctx_html_diff_template_begin)};
}
