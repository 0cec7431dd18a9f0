#include "formats/perfdata/pd_reader.h"

#include <stdio.h>

enum ctx_status ctx_pd_reader_damage(struct ctx_pd_reader *reader, uint64_t offset, const char *what,
				     struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_DAMAGE, .text = reader->text};

	snprintf(reader->text, sizeof(reader->text), "%s: offset %llu: %s",
		 reader->queues[reader->current].stream.name, (unsigned long long)offset, what);
	return ctx_pd_reader_put(reader, &event, err);
}
