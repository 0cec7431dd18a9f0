#include "collect/losses.h"

#include "base/mem.h"
#include "collect/lost_counts.h"

#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define LINES_MAX 16u		    /* of a ring in a second */
#define EVENTS_MAX 64u		    /* of a ring: with more their counts are read at the end only */
#define READ_NS UINT64_C(100000000) /* between two readings of a ring's counts */

/* What the events of a ring counted, and LOST records have not said yet. */
struct counted {
	uint64_t read[CTX_LOSS_KIND_N];	 /* by the last reading, since the begin */
	uint64_t kinds[CTX_LOSS_KIND_N]; /* of `waiting` and of the losses that were said meanwhile */
	uint64_t waiting;
	uint64_t unread; /* said since the last reading */
	uint64_t read_ns;
	bool mixed; /* kinds has losses that were said already */
};

struct ring {
	size_t first_fd, end_fd;     /* its events */
	size_t first_copy, end_copy; /* of session->copies: the same with copies of other sizes */
	struct counted counted;
	struct ctx_loss joined; /* count 0: none */
	uint64_t second_ns;	/* in which `lines` were written */
	unsigned lines;
};

struct ctx_losses {
	const struct ctx_session *session;
	struct ctx_exp_writer *writer;
	uint64_t start_ns, total;
	struct ring *rings; /* owned */
	uint32_t n_rings;
};

/* The events of a ring follow the one that it belongs to; copies are in the same order. */
static void find_events(const struct ctx_session *session, struct ring *rings)
{
	const struct ctx_ids *usual = &session->copies.fds[CTX_COPY_USUAL];
	uint32_t next = 0;
	size_t copy = 0;

	for (size_t i = 0; i < session->n_fds; i++) {
		if (next < session->n_rings && session->fds[i] == session->ring_fds[next])
			rings[next++] = (struct ring){.first_fd = i, .first_copy = copy, .end_copy = copy};
		if (next == 0)
			continue;
		rings[next - 1].end_fd = i + 1;
		if (copy < usual->n && usual->items[copy] == session->fds[i])
			rings[next - 1].end_copy = ++copy;
	}
}

enum ctx_status ctx_losses_create(const struct ctx_session *session, struct ctx_exp_writer *writer,
				  uint64_t start_ns, struct ctx_losses **ret, struct ctx_err *err)
{
	struct ctx_losses *losses = ctx_calloc(1, sizeof(*losses));

	if (losses == NULL)
		return ctx_err_nomem(err);
	*losses = (struct ctx_losses){
		.session = session, .writer = writer, .start_ns = start_ns, .n_rings = session->n_rings};
	losses->rings = ctx_calloc(session->n_rings, sizeof(*losses->rings));
	if (losses->rings == NULL) {
		free(losses);
		return ctx_err_nomem(err);
	}
	find_events(session, losses->rings);
	*ret = losses;
	return CTX_OK;
}

void ctx_losses_destroy(struct ctx_losses *losses)
{
	if (losses == NULL)
		return;
	free(losses->rings);
	free(losses);
}

static enum ctx_loss_kind kind_of(const struct ctx_losses *losses, uint64_t id)
{
	uint32_t event = ctx_map64_get(&losses->session->event_of_id, id);

	if (event == CTX_MAP64_NONE)
		return CTX_LOSS_OTHERS; /* of the side band */
	return event < losses->session->events->n ? CTX_LOSS_SAMPLES : CTX_LOSS_CHANGES;
}

static void add_count(const struct ctx_losses *losses, int64_t fd, uint64_t sums[CTX_LOSS_KIND_N])
{
	struct ctx_lost_count count;

	if (fd >= 0 && ctx_lost_count_read((int)fd, &count))
		sums[kind_of(losses, count.id)] += count.lost;
}

/* Reads the counts of a ring's events. */
static void read_counts(const struct ctx_losses *losses, struct ring *ring)
{
	struct counted *counted = &ring->counted;
	uint64_t sums[CTX_LOSS_KIND_N] = {0};

	for (size_t i = ring->first_fd; i < ring->end_fd; i++)
		add_count(losses, losses->session->fds[i], sums);
	for (unsigned c = 0; c < CTX_COPY_N; c++) {
		for (size_t i = ring->first_copy; c != CTX_COPY_USUAL && i < ring->end_copy; i++)
			add_count(losses, losses->session->copies.fds[c].items[i], sums);
	}
	for (int i = 0; i < CTX_LOSS_KIND_N; i++) {
		counted->kinds[i] += sums[i] - counted->read[i];
		counted->waiting += sums[i] - counted->read[i];
		counted->read[i] = sums[i];
	}
}

/* The kinds of `loss`, which is the last one of `unread`: known if all are, or if there is one kind. */
static void set_kinds(struct counted *counted, struct ctx_loss *loss)
{
	int n = 0, last = 0;

	for (int i = 0; i < CTX_LOSS_KIND_N; i++) {
		if (counted->kinds[i] != 0) {
			last = i;
			n++;
		}
	}
	if (counted->waiting < counted->unread)
		return; /* this kernel does not count */
	loss->has_kinds = n == 1 || (!counted->mixed && counted->unread == loss->count &&
				     counted->waiting == loss->count);
	if (loss->has_kinds && n == 1)
		loss->kinds[last] = loss->count;
	else if (loss->has_kinds)
		memcpy(loss->kinds, counted->kinds, sizeof(loss->kinds));
}

static void tell_kinds(const struct ctx_losses *losses, struct ring *ring, struct ctx_loss *loss, bool always)
{
	struct counted *counted = &ring->counted;

	counted->unread += loss->count;
	if (losses->session->read_format == 0 ||
	    (!always && (ring->end_fd - ring->first_fd > EVENTS_MAX ||
			 (counted->read_ns != 0 && loss->time.end_ns < counted->read_ns + READ_NS))))
		return;
	read_counts(losses, ring);
	set_kinds(counted, loss);
	counted->read_ns = loss->time.end_ns;
	counted->waiting -= counted->waiting < counted->unread ? counted->waiting : counted->unread;
	counted->unread = 0;
	counted->mixed = counted->waiting != 0;
	if (!counted->mixed)
		memset(counted->kinds, 0, sizeof(counted->kinds));
}

static enum ctx_status put_joined(struct ctx_losses *losses, struct ring *ring, struct ctx_err *err)
{
	struct ctx_loss joined = ring->joined;

	ring->joined.count = 0;
	return joined.count != 0 ? ctx_exp_lost(losses->writer, &joined, err) : CTX_OK;
}

static void join(struct ctx_loss *joined, const struct ctx_loss *loss)
{
	if (joined->count == 0) {
		*joined = *loss;
		return;
	}
	if (loss->cpu != joined->cpu)
		joined->cpu = -1;
	ctx_loss_join(joined, loss);
}

static enum ctx_status put(struct ctx_losses *losses, struct ring *ring, const struct ctx_loss *loss,
			   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	losses->total += loss->count;
	if (loss->time.end_ns - ring->second_ns >= SECOND_NS) {
		ring->second_ns = loss->time.end_ns;
		ring->lines = 0;
		status = put_joined(losses, ring, err);
	}
	if (status != CTX_OK)
		return status;
	if (ring->lines++ < LINES_MAX)
		return ctx_exp_lost(losses->writer, loss, err);
	join(&ring->joined, loss);
	return CTX_OK;
}

enum ctx_status ctx_losses_record(struct ctx_losses *losses, uint32_t ring,
				  const struct ctx_perf_record *record, uint64_t previous_ns,
				  struct ctx_err *err)
{
	uint64_t since_ns = previous_ns != 0 ? previous_ns : losses->start_ns;
	struct ctx_loss loss = {.located = true, .cpu = record->cpu, .count = record->lost};

	loss.time.end_ns = record->time_ns;
	loss.time.begin_ns = since_ns < record->time_ns ? since_ns : record->time_ns - 1;
	if (record->type == PERF_RECORD_LOST_SAMPLES) { /* by the hardware: they never came to the ring */
		loss.has_kinds = true;
		loss.kinds[CTX_LOSS_SAMPLES] = loss.count;
	} else {
		tell_kinds(losses, &losses->rings[ring], &loss, false);
	}
	return put(losses, &losses->rings[ring], &loss, err);
}

enum ctx_status ctx_losses_unusable(struct ctx_losses *losses, uint64_t time_ns, enum ctx_loss_kind kind,
				    struct ctx_err *err)
{
	struct ctx_loss loss = {.located = true,
				.cpu = -1,
				.count = 1,
				.time = {time_ns, time_ns + 1},
				.has_kinds = kind != CTX_LOSS_KIND_N};

	if (loss.has_kinds)
		loss.kinds[kind] = 1;
	return put(losses, &losses->rings[0], &loss, err);
}

enum ctx_status ctx_losses_tick(struct ctx_losses *losses, uint64_t now_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < losses->n_rings && status == CTX_OK; i++) {
		struct ring *ring = &losses->rings[i];

		if (ring->joined.count != 0 && now_ns - ring->second_ns >= SECOND_NS)
			status = put_joined(losses, ring, err);
	}
	return status;
}

/* What was lost when no later record found room. */
static enum ctx_status put_rest(struct ctx_losses *losses, uint32_t i, uint64_t now_ns, struct ctx_err *err)
{
	struct ring *ring = &losses->rings[i];
	struct counted *counted = &ring->counted;
	struct ctx_loss rest = {.located = true, .cpu = losses->session->ring_cpus[i]};
	uint64_t last_ns = losses->session->rings[i].last_ns;

	read_counts(losses, ring);
	if (counted->waiting <= counted->unread)
		return CTX_OK;
	rest.count = counted->waiting - counted->unread;
	rest.time.end_ns = now_ns;
	rest.time.begin_ns = last_ns != 0 ? last_ns : losses->start_ns;
	if (rest.time.begin_ns >= now_ns)
		rest.time.begin_ns = now_ns - 1;
	tell_kinds(losses, ring, &rest, true);
	return put(losses, ring, &rest, err);
}

enum ctx_status ctx_losses_finish(struct ctx_losses *losses, uint64_t now_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < losses->n_rings && status == CTX_OK; i++) {
		if (losses->session->read_format != 0)
			status = put_rest(losses, i, now_ns, err);
		if (status == CTX_OK)
			status = put_joined(losses, &losses->rings[i], err);
	}
	return status;
}

uint64_t ctx_losses_total(const struct ctx_losses *losses)
{
	return losses != NULL ? losses->total : 0;
}
