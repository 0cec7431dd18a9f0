/*
 * One recording with a bit of everything, for the tests of the whole source: two events with
 * different sample types, two rings in three rounds, a fork, an exec, a thread, an end, maps,
 * losses.
 */
#ifndef CTX_TESTS_UNIT_PERFDATA_USUAL_H
#define CTX_TESTS_UNIT_PERFDATA_USUAL_H

#include "tests/unit/perfdata_reading.h"

#define USUAL_SAMPLES 11u
#define USUAL_BEGIN UINT64_C(5000000001000) /* time of the first sample */
#define USUAL_END UINT64_C(5000000003300)   /* of the last */

/* Without CPU: its fields have other positions, which only the id determines. */
#define USUAL_OTHER_TYPE                                                                                     \
	((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |           \
		    PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN))

/* A time of the recording: `t` from 0 on. */
static inline struct pd_place usual_place(int32_t pid, int32_t tid, uint64_t t, uint32_t cpu)
{
	return (struct pd_place){.pid = pid, .tid = tid, .time = USUAL_BEGIN + t, .cpu = cpu};
}

static inline void usual_sample(struct pd_recording *recording, size_t attr, const struct pd_place *place)
{
	uint64_t ip = 0x401000 + place->time % 100000;
	struct pd_sample sample = {.attr = attr, .place = *place, .ip = ip, .period = 1000 + place->cpu};

	sample.frames[0] = (uint64_t)PERF_CONTEXT_USER;
	sample.frames[1] = ip;
	sample.frames[2] = 0x402001;
	sample.n_frames = 3;
	pd_sample(recording, &sample);
}

/* What perf writes first of what was there before: without time. */
static inline void usual_before(struct pd_recording *recording)
{
	struct pd_place shell = {.pid = 100, .tid = 100};

	pd_comm(recording, &shell, "sh", false);
	pd_mmap2(recording, &shell, &(struct pd_map){.address = 0x400000, .size = 0x4000, .path = "/bin/sh"});
}

static inline void usual_ring_0(struct pd_recording *recording, int round)
{
	struct pd_place place;

	switch (round) {
	case 0:
		place = usual_place(100, 100, 0, 0);
		usual_sample(recording, 0, &place);
		place = usual_place(200, 200, 20, 0);
		pd_task(recording, PERF_RECORD_FORK, 0, &place, 100);
		place = usual_place(200, 200, 50, 0);
		usual_sample(recording, 0, &place);
		break;
	case 1:
		place = usual_place(200, 200, 900, 0);
		pd_comm(recording, &place, "app", true);
		place = usual_place(200, 200, 910, 0);
		pd_mmap2(recording, &place,
			 &(struct pd_map){
				 .address = 0x400000, .size = 0x8000, .path = "/bin/app", .build_id = 0x10});
		place = usual_place(200, 200, 920, 0);
		pd_mmap2(
			recording, &place,
			&(struct pd_map){.address = 0x500000, .size = 0x1000, .path = "/data", .data = true});
		place = usual_place(200, 200, 1000, 0);
		usual_sample(recording, 0, &place);
		place = usual_place(200, 200, 1100, 0);
		pd_throttle(recording, &place, false);
		place = usual_place(200, 200, 1200, 0);
		usual_sample(recording, 1, &place);
		break;
	default:
		place = usual_place(200, 200, 2100, 0);
		usual_sample(recording, 0, &place);
		place = usual_place(200, 200, 2200, 0);
		pd_lost(recording, &place, 7);
		place = usual_place(200, 200, 2300, 0);
		usual_sample(recording, 0, &place);
	}
}

static inline void usual_ring_1(struct pd_recording *recording, int round)
{
	struct pd_place place;

	switch (round) {
	case 0:
		place = usual_place(100, 100, 10, 1);
		usual_sample(recording, 1, &place);
		place = usual_place(200, 201, 950, 1); /* newer than what the other ring brings next */
		pd_task(recording, PERF_RECORD_FORK, 0, &place, 200);
		place = usual_place(200, 201, 960, 1);
		usual_sample(recording, 0, &place);
		break;
	case 1:
		place = usual_place(200, 201, 970, 1);
		pd_comm(recording, &place, "worker", false);
		place = usual_place(200, 201, 1010, 1);
		usual_sample(recording, 0, &place);
		place = usual_place(200, 201, 1020, 1);
		pd_task(recording, PERF_RECORD_EXIT, 0, &place, 200);
		place = usual_place(200, 201, 1030, 1);
		usual_sample(recording, 0, &place);
		break;
	default:
		place = usual_place(0, 0, 2010, 1);
		pd_ksymbol(recording, &place, UINT64_C(0xffffffffc0000000), 256, "bpf_prog_1", false);
		place = usual_place(200, 200, 2150, 1);
		usual_sample(recording, 1, &place);
		place = usual_place(200, 200, 2205, 1);
		pd_switch(recording, &place);
	}
}

/* Attrs and features. */
static inline void usual_head(struct pd_recording *recording)
{
	struct pd_attr *clock = pd_add_attr(recording, PD_USUAL_TYPE, 10);
	struct pd_attr *other = pd_add_attr(recording, USUAL_OTHER_TYPE, 20);

	clock->ids[clock->n_ids++] = 11;
	clock->name = "cpu-clock:u";
	other->type = PERF_TYPE_HARDWARE;
	other->config = PERF_COUNT_HW_INSTRUCTIONS;
	other->period = 5000;
	other->name = "instructions";
	pd_add_text(recording, CTX_PD_FEATURE_HOSTNAME, "target1");
	pd_add_text(recording, CTX_PD_FEATURE_OSRELEASE, "6.1.0");
	pd_add_event_names(recording);
	pd_add_sample_times(recording, USUAL_BEGIN, USUAL_END);
}

static inline void usual(struct pd_recording *recording, bool swap)
{
	*recording = (struct pd_recording){.swap = swap};
	usual_head(recording);
	usual_before(recording);
	for (int round = 0; round < 3; round++) {
		usual_ring_0(recording, round);
		usual_ring_1(recording, round);
		pd_round(recording);
	}
}

/* The expected events, checked by hand: order of time over both rings, tasks without a sample are
 * not emitted, frames above the leaf are return addresses - 1, ends come late. */
static const char usual_events[] =
	"0 process 0 pid 100 of -1 sh []\n"
	"0 map 0 400000+4000 /bin/sh@0 id= f=\n"
	"0 thread 0 tid 100 of 0 sh\n"
	"0 sample 0/0 metric 0 weight 1000 cpu 0: 4013e8 402000\n"
	"10 sample 0/0 metric 1 weight 5000 cpu -1: 4013f2 402000\n"
	"20 process 1 pid 200 of 0 sh [_f1]\n"
	"50 map 1 400000+4000 /bin/sh@0 id= f=\n"
	"20 thread 1 tid 200 of 1 sh\n"
	"50 sample 1/1 metric 0 weight 1000 cpu 0: 40141a 402000\n"
	"900 process 2 pid 200 of 1 app [_f1_x1]\n"
	"960 map 2 400000+8000 /bin/app@0 id=101112131415161718191a1b1c1d1e1f20212223 f=\n"
	"960 unmap 2 500000+1000\n"
	"950 thread 2 tid 201 of 2 app\n"
	"960 sample 2/2 metric 0 weight 1001 cpu 1: 4017a8 402000\n"
	"970 name of 2: worker\n"
	"900 thread 3 tid 200 of 2 app\n"
	"1000 sample 2/3 metric 0 weight 1000 cpu 0: 4017d0 402000\n"
	"1010 sample 2/2 metric 0 weight 1001 cpu 1: 4017da 402000\n"
	"1030 sample 2/2 metric 0 weight 1001 cpu 1: 4017ee 402000\n"
	"1100 throttle 1\n"
	"1200 sample 2/3 metric 1 weight 5000 cpu -1: 401898 402000\n"
	"2010 map -1 ffffffffc0000000+100 [bpf]@b00000000 id= f=bpf_prog_1\n"
	"2100 sample 2/3 metric 0 weight 1000 cpu 0: 401c1c 402000\n"
	"2150 sample 2/3 metric 1 weight 5000 cpu -1: 401c4e 402000\n"
	"2200 lost 7, on 0 in 2100-2200\n"
	"2300 sample 2/3 metric 0 weight 1000 cpu 0: 401ce4 402000\n"
	"900 end of thread 1\n"
	"900 end of process 1\n"
	"1030 end of thread 2\n";

static const enum pd_kind usual_kinds[] = {PD_FILE, PD_PIPE, PD_COMPRESSED, PD_COMPRESSED2};

#endif
