/* Reads arbitrary bytes as a text with call stacks: the guarantees of sources hold, and only memory fails. */
#include "formats/stacktext/st_line.h"
#include "formats/stacktext/stacktext.h"
#include "fuzz/source_guarantees.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const char *line, size_t n)
{
	struct ctx_st_sample sample;
	struct ctx_st_text stack;
	struct ctx_st_frame frame;
	uint64_t count;

	if (ctx_st_sample_parse(line, n, &sample))
		require(sample.command.n <= n && sample.event.n <= n && sample.cpu >= -1);
	if (ctx_st_head_parse(line, n, &sample))
		require(sample.command.n <= n && sample.event.n <= n && sample.cpu >= -1);
	if (ctx_st_frame_is_sure(line, n))
		require(ctx_st_frame_parse(line, n, &frame));
	if (ctx_st_frame_parse(line, n, &frame))
		require(frame.name.n + frame.module.n <= n);
	if (ctx_st_folded_parse(line, n, &stack, &count))
		while (ctx_st_folded_next(&stack, &frame))
			require(frame.name.n <= n); /* none: unknown, perhaps of the kernel */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file = make_file(data, size);
	struct ctx_event_source *source;

	check_line((const char *)data, size);
	if (ctx_stacktext_is(file.path) && ctx_stacktext_open(file.path, &source, NULL) == CTX_OK)
		check_source(source);
	close(file.fd);
	return 0;
}
