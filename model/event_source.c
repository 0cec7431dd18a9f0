#include "model/event_source.h"

static const char *const texts[CTX_TRUNCATED_N] = {
	[CTX_TRUNCATED_NOT] = "complete",
	[CTX_TRUNCATED_UNKNOWN] = "end of frame pointers",
	[CTX_TRUNCATED_NO_TABLE] = "no call frame information",
	[CTX_TRUNCATED_NO_MAP] = "nothing mapped at the caller",
	[CTX_TRUNCATED_COPY] = "copied stack too short",
	[CTX_TRUNCATED_BAD_CFA] = "call frame information does not fit",
	[CTX_TRUNCATED_DEPTH] = "too deep",
	[CTX_TRUNCATED_SKIPPED] = "recorder too slow",
	[CTX_TRUNCATED_BUDGET] = "not copied, to be fast",
	[CTX_TRUNCATED_COUNTED] = "counted",
};

const char *ctx_truncation_text(enum ctx_truncation reason)
{
	return (unsigned)reason < CTX_TRUNCATED_N ? texts[reason] : "unknown reason";
}
