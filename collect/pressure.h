/*
 * What the recorder decides under load. Pure: fill levels and times in, decisions out.
 */
#ifndef CTX_COLLECT_PRESSURE_H
#define CTX_COLLECT_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the recorder came too late: it waited for `waited_ms` where `limit_ms` was the longest, or found a ring more
 * than half full, of which a quarter should have woken it.
 */
bool ctx_pressure_is_late(uint64_t waited_ms, uint64_t limit_ms, unsigned fullest_percent);

/*
 * Whether to skip unwinding from here on. A full ring is no reason alone, for it is emptied faster than stacks arrive
 * as a rule: only one that has become fuller while a part of it was worked through. Skipping goes on until half of the
 * ring is free. `before` and `now`: percent of the fullest ring, an eighth of a ring of work ago and now.
 */
bool ctx_pressure_hurries(bool hurries, unsigned before, unsigned now);

#endif
