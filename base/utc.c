#include "base/utc.h"

#include <time.h>

static bool put(int64_t seconds, const char *format, char out[CTX_UTC_MAX])
{
	time_t time = (time_t)seconds;
	struct tm parts;
	bool done = gmtime_r(&time, &parts) != NULL && strftime(out, CTX_UTC_MAX, format, &parts) != 0;

	if (!done)
		out[0] = '\0';
	return done;
}

bool ctx_utc_text(int64_t seconds, char out[CTX_UTC_MAX])
{
	return put(seconds, "%Y-%m-%d %H:%M:%S", out);
}

bool ctx_utc_stamp(int64_t seconds, char out[CTX_UTC_MAX])
{
	return put(seconds, "%Y-%m-%d %H:%M:%S UTC", out);
}
