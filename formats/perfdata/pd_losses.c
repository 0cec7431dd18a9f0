#include "formats/perfdata/pd_losses.h"

#include "base/mem.h"
#include "formats/perfevent/pe_record.h"

#define CPUS_MAX 65536

void ctx_pd_losses_deinit(struct ctx_pd_losses *losses)
{
	free(losses->last_of_cpu);
	*losses = (struct ctx_pd_losses){0};
}

enum ctx_status ctx_pd_losses_see(struct ctx_pd_losses *losses, int32_t cpu, uint64_t time,
				  struct ctx_err *err)
{
	enum ctx_status status;

	if (cpu < 0 || cpu >= CPUS_MAX || time == 0)
		return CTX_OK;
	if ((size_t)cpu >= losses->n) {
		status = ctx_grow(&losses->last_of_cpu, &losses->cap, (size_t)cpu + 1, err);
		if (status != CTX_OK)
			return status;
		while (losses->n <= (size_t)cpu)
			losses->last_of_cpu[losses->n++] = 0;
	}
	losses->last_of_cpu[cpu] = time;
	return CTX_OK;
}

static enum ctx_status put_located(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				   uint64_t count, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_LOST, .time_ns = ctx_pd_reader_relative(reader, item->time)};
	struct ctx_loss *loss = &event.lost.loss;
	struct ctx_pe_trailer trailer;
	uint64_t since = item->time;
	enum ctx_status status = CTX_OK;

	*loss = (struct ctx_loss){.located = item->time != 0, .cpu = -1, .count = count};
	if (ctx_pd_trailer_parse(&reader->file.events, item->record.bytes, &item->record.header, &trailer) &&
	    trailer.cpu >= 0 && trailer.cpu < CPUS_MAX)
		loss->cpu = trailer.cpu;
	/* The processor's first record: since the begin. */
	if (loss->cpu >= 0)
		since = (size_t)loss->cpu < reader->losses.n ? reader->losses.last_of_cpu[loss->cpu] : 0;
	if (loss->located) {
		/* A record out of order: later ones of its processor were read already. */
		loss->time.begin_ns = ctx_pd_reader_relative(reader, since < item->time ? since : item->time);
		loss->time.end_ns = event.time_ns > loss->time.begin_ns ? event.time_ns : event.time_ns + 1;
		status = ctx_pd_losses_see(&reader->losses, loss->cpu, item->time, err);
	}
	return status == CTX_OK ? ctx_pd_reader_put(reader, &event, err) : status;
}

enum ctx_status ctx_pd_losses_take(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				   struct ctx_err *err)
{
	const struct perf_event_header *header = &item->record.header;
	struct ctx_pe_wire body = ctx_pe_body(item->record.bytes, header->size, reader->file.swap);
	struct ctx_err why = {0};
	uint64_t count;

	if (ctx_pe_lost_parse(body, header, &count, &why) != CTX_OK)
		return ctx_pd_reader_damage(reader, item->record.offset, why.msg, err);
	if (header->type == PERF_RECORD_LOST) {
		if (count == 0 && item->time == 0)
			return CTX_OK; /* neither what was lost nor when */
		reader->losses.located += count;
		return put_located(reader, item, count, err);
	}
	if (!(header->misc & CTX_PD_MISC_LOST_SAMPLES_BPF)) /* dropped by a filter: not lost */
		reader->losses.totals += count;
	return CTX_OK;
}

enum ctx_status ctx_pd_losses_end(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_LOST, .time_ns = reader->source.info.duration_ns - 1};
	const struct ctx_pd_losses *losses = &reader->losses;

	/* The totals have the located ones, too. */
	if (losses->totals <= losses->located)
		return CTX_OK;
	event.lost.loss = (struct ctx_loss){.cpu = -1, .count = losses->totals - losses->located};
	return ctx_pd_reader_put(reader, &event, err);
}
