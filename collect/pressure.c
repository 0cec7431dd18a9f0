#include "collect/pressure.h"

#define LATE_MS 50u
#define LATE_PERCENT 50u
#define HURRY_PERCENT 75u
#define CALM_PERCENT 50u

bool ctx_pressure_is_late(uint64_t waited_ms, uint64_t limit_ms, unsigned fullest_percent)
{
	return waited_ms > limit_ms + LATE_MS || fullest_percent > LATE_PERCENT;
}

bool ctx_pressure_hurries(bool hurries, unsigned before, unsigned now)
{
	if (hurries)
		return now >= CALM_PERCENT;
	return now >= HURRY_PERCENT && now >= before;
}
