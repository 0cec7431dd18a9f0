/*
 * State of the writer, shared by exp_create.c, exp_processes.c, exp_samples.c and exp_events.c
 * (input), exp_brief.c (short lives), exp_flush.c and exp_output.c (output), exp_archiving.c and
 * exp_sources.c (copies).
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_STATE_H
#define CTX_FORMATS_EXPERIMENT_EXP_STATE_H

#include "base/compress.h"
#include "base/map64.h"
#include "base/strtab.h"
#include "formats/experiment/exp_block.h"
#include "formats/experiment/exp_callevents.h"
#include "formats/experiment/exp_heap_code.h"
#include "formats/experiment/exp_io_block.h"
#include "formats/experiment/exp_keep.h"
#include "formats/experiment/exp_kernel.h"
#include "formats/experiment/exp_maps.h"
#include "formats/experiment/exp_numbers.h"
#include "formats/experiment/exp_places.h"
#include "formats/experiment/exp_stacks.h"
#include "formats/experiment/exp_writer.h"

#define CTX_EXP_METRIC_FILES_MAX 8u
#define CTX_EXP_FILES_MAX (CTX_EXP_METRIC_FILES_MAX + CTX_EXP_RECORD_FILES)
#define CTX_EXP_FILE_NAME_MAX 32u
#define CTX_EXP_LINEAGE_MAX 200u /* longer lineages restart, to stay within the length of a file name */
#define CTX_EXP_DIR_NAME_MAX (CTX_EXP_LINEAGE_MAX + 32u)
#define CTX_EXP_BLOCK_PACKETS 2048u
#define CTX_EXP_BUFFER_BYTES ((size_t)64 * 1024)
#define CTX_EXP_PACKED_BYTES ((size_t)512 * 1024) /* of call stacks that are packed */
#define CTX_EXP_SECOND_NS 1000000000u

struct ctx_exp_packet_buf {
	struct ctx_exp_packet *packets;
	size_t n, cap;
	bool unsorted;
};

/* Operations of a buffer at which it is written. */
static inline size_t ctx_exp_packets_max(bool is_heap)
{
	return is_heap ? CTX_EXP_HEAP_MAX : CTX_EXP_BLOCK_PACKETS;
}

/*
 * State of a process with buffered samples: created by a sample, released at exit and when memory
 * is short.
 */
struct ctx_exp_live {
	uint32_t process;
	uint32_t place;	    /* in writer->live.items */
	uint64_t oldest_ns; /* of the buffered records, absolute; UINT64_MAX: nothing buffered */
	uint64_t first_ns;  /* of the first record, absolute; UINT64_MAX: none yet */
	struct ctx_exp_stacks stacks;
	struct ctx_buf frames;	  /* payload of the next frames block */
	uint32_t n_frames;	  /* nodes in it */
	uint64_t last_address;	  /* in it */
	struct ctx_buf map_lines; /* for its own map.xml, if it has a directory */
	struct ctx_buf kept;	  /* payload of the next block of kept stacks */
	uint32_t n_kept;
	uint64_t kept_first_ns, kept_last_ns, kept_previous_ns; /* relative */
	size_t accounted; /* bytes of this struct and all it owns, as counted in limits.memory_used */
	struct ctx_exp_packet_buf bufs[CTX_EXP_FILES_MAX];
	struct ctx_exp_heap_addresses *heap_addresses; /* of the packets for `heaptrace`, by order */
	size_t heap_cap;
	struct ctx_exp_sync_rest *sync_rests; /* of the packets for `synctrace`, by order */
	size_t sync_cap;
	struct ctx_exp_io_packets io;	    /* the same of the packets for `iotrace` */
	struct ctx_exp_io_packets marks;    /* and for `marktrace` */
	struct ctx_exp_io_packets accesses; /* and for `accesses` */
	struct ctx_exp_call_bufs calls;
};

/* Where the data of a process is. */
enum ctx_exp_home {
	CTX_EXP_HOME_ROOT, /* in the files of the root process */
	CTX_EXP_HOME_DIR,  /* in a directory that is to be made */
	CTX_EXP_HOME_MADE, /* in a directory */
};

/* As many descendants with data have a directory, the first ones. */
#define CTX_EXP_DIRECTORIES_MAX 4u
/* Unless they end so soon after their first data, and nothing of it was written before. */
#define CTX_EXP_DIRECTORY_NS UINT64_C(100000000)
/* Once so many have, no process gets a directory: to keep data apart costs more than to write it together. */
#define CTX_EXP_DIRECTORY_TRIES 64u

struct ctx_exp_proc {
	int64_t pid;
	char *lineage; /* "", "_f1_x2"; owned */
	uint32_t n_forks, n_execs;
	uint32_t epoch; /* of its dictionary, from 1 */
	uint8_t home;	/* enum ctx_exp_home; decided when has_samples is set */
	bool is_root_process;
	bool has_ended;
	uint32_t n_map_lines;
	bool is_described; /* it has a line in the log */
	bool has_samples;  /* its maps were written or buffered: later ones are appended */
	/*
	 * Its maps are still those that this process had when it was forked from it, and whose lines
	 * are written; CTX_NONE: no longer, or the lines of its own are written.
	 */
	uint32_t maps_of;
	uint64_t forked_ns; /* relative */
	uint64_t heap_ns;   /* relative; of its last heap operation */
	uint64_t title;	    /* hash of its command line as last written; a fork has its parent's */
	uint64_t titled_ns; /* relative; when that was */
	uint32_t n_titles;
	struct ctx_exp_map_list *maps;
	struct ctx_exp_live *live;   /* NULL without buffered data */
	struct ctx_exp_brief *brief; /* its lines are not in the log yet; NULL: they are */
};

/* Processes whose lines wait, in the order of their begins. */
struct ctx_exp_briefs {
	struct ctx_exp_brief *first, *last;
	uint32_t n;
};

struct ctx_exp_last_stack { /* of a thread */
	uint32_t process;   /* of the leaf */
	uint32_t epoch;
	uint32_t leaf; /* of its last stack */
	uint16_t n_names;
	bool is_described; /* it has a line in the log */
	bool has_ended;
};

/* The data files for packets: one or more metrics each, and thread states. */
struct ctx_exp_data_files {
	uint64_t periods[UINT8_MAX + 1]; /* by metric */
	uint8_t file_of[UINT8_MAX + 1];	 /* by metric */
	uint32_t n_metrics, n_files;
	uint32_t states;   /* file of thread states; CTX_NONE: not recorded */
	uint32_t heap;	   /* file of heap operations; the same */
	uint32_t sync;	   /* file of synchronisation; the same */
	uint32_t io;	   /* file of input and output; the same */
	uint32_t marks;	   /* file of what programs say; the same */
	uint32_t calls;	   /* file of calls; the same */
	uint32_t omp;	   /* file of OpenMP; the same */
	uint32_t accesses; /* file of accesses to memory; the same */
	char names[CTX_EXP_FILES_MAX][CTX_EXP_FILE_NAME_MAX];
};

struct ctx_exp_limits {
	uint64_t disk_bytes; /* 0: no limit */
	uint64_t disk_used;  /* as du counts; archives not counted */
	bool reached;	     /* disk_bytes reached: data files are not written any more */
	size_t memory_bytes, memory_used;
	uint64_t text_bytes, text_used; /* of lines that targets cause */
	bool text_reached;
	uint64_t flushing_ns; /* relative: oldest record of the process being written */
};

/* The next block of the file `overview`. */
struct ctx_exp_overview {
	struct ctx_buf records;
	uint32_t n;
	uint64_t oldest_ns;	    /* absolute; UINT64_MAX: nothing buffered */
	uint64_t first_ns, last_ns; /* relative */
};

/* For one block at a time. */
struct ctx_exp_block_scratch {
	struct ctx_compressor compressor;
	struct ctx_buf raw, block;
	struct ctx_exp_heap_coder *heap; /* NULL before the first heap operations */
	struct ctx_exp_heap_parts parts; /* of raw, if it has heap operations or packed call stacks */
};

/* Files of the root process, by number, in the order of writing. */
#define CTX_EXP_FILE_FRAMES 0u
#define CTX_EXP_FILE_DATA 1u /* and the numbers after it: data.names */
#define CTX_EXP_FILE_KEPT (CTX_EXP_FILE_DATA + CTX_EXP_FILES_MAX)
#define CTX_EXP_SHARED_FILES (CTX_EXP_FILE_KEPT + 1)

/*
 * What is to be appended to the root process's files, besides the log: data of itself and of all
 * processes without a directory.
 */
struct ctx_exp_shared {
	struct ctx_buf map_lines;
	struct ctx_buf blocks[CTX_EXP_SHARED_FILES]; /* encoded; the file header before the first one */
	uint64_t oldest_ns;			     /* absolute; UINT64_MAX: nothing waits */
};

/* Processes with a live part. */
struct ctx_exp_lives {
	struct ctx_exp_live **items;
	size_t n, cap;
};

/* Of others to the experiment. */
struct ctx_exp_access {
	int lock;   /* log.xml, locked while it is recorded; -1: not yet */
	bool share; /* they may read it */
};

/* The page of last words. */
struct ctx_exp_last {
	int fd;			   /* -1: none */
	uint64_t alive_ns, put_ns; /* relative: the last sign of life, and the last that was written */
	bool has_failed;
	char reason[CTX_ERR_MAX];
};

/* What decides about copies at the end. */
struct ctx_exp_copying {
	struct ctx_exp_kernel kernel; /* what was seen of it */
	const char *store;	      /* borrowed: where copies are kept; NULL: none, "" the usual place */
	uint32_t n_sources;	      /* copied so far */
};

struct ctx_exp_writer {
	char *path;
	int dir;
	struct ctx_exp_access access;
	uint64_t start_ns;
	struct ctx_exp_limits limits;
	struct ctx_exp_data_files data;
	struct ctx_exp_numbers procs;	/* struct ctx_exp_proc */
	struct ctx_exp_numbers threads; /* struct ctx_exp_last_stack */
	struct ctx_exp_lives live;
	uint32_t n_shared;	  /* processes that ended soon, and have given back a place of a directory */
	struct ctx_map64 present; /* pids with a lineage _p<pid> */
	struct ctx_exp_objects objects;
	bool keep_places;
	struct ctx_exp_places places; /* if keep_places */
	struct ctx_exp_copying copying;
	struct ctx_strtab external_wakers; /* names by number */
	struct ctx_strtab functions;	   /* likewise; exp_functions.c has the keys */
	struct ctx_buf log;		   /* lines not yet written */
	uint64_t log_oldest_ns;
	struct ctx_exp_briefs briefs; /* the log has their lines before it is written */
	struct ctx_exp_shared shared;
	struct ctx_exp_overview overview;
	struct ctx_exp_block_scratch scratch;
	struct ctx_exp_last last;
	struct ctx_exp_stats stats;
	bool has_root_process;
	struct ctx_err failed; /* status CTX_OK: none */
};

/* A process, a thread; NULL: it ended a while ago. */
static inline struct ctx_exp_proc *ctx_exp_proc(const struct ctx_exp_writer *writer, uint32_t process)
{
	return ctx_exp_numbers_get(&writer->procs, process);
}

static inline struct ctx_exp_last_stack *ctx_exp_thread_row(const struct ctx_exp_writer *writer,
							    uint32_t thread)
{
	return ctx_exp_numbers_get(&writer->threads, thread);
}

/* Releases what ended before the last call. Called by the tick. */
CTX_MUST_CHECK enum ctx_status ctx_exp_forget_ended(struct ctx_exp_writer *writer, struct ctx_err *err);

/* Releases all processes and threads. */
void ctx_exp_forget_all(struct ctx_exp_writer *writer);

/* Returns the sticky failure. */
CTX_MUST_CHECK enum ctx_status ctx_exp_check(const struct ctx_exp_writer *writer, struct ctx_err *err);

/* The same, and checks that the process or thread was started; it may have ended. */
CTX_MUST_CHECK enum ctx_status ctx_exp_check_process(const struct ctx_exp_writer *writer, uint32_t process,
						     struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_check_thread(const struct ctx_exp_writer *writer, uint32_t thread,
						    struct ctx_err *err);

/* Begins an <event> in the log, to which attributes can be added. ctx_exp_log_end ends the line. */
struct ctx_buf *ctx_exp_log_event(struct ctx_exp_writer *writer, const char *kind, uint64_t time_ns);
CTX_MUST_CHECK enum ctx_status ctx_exp_log_end(struct ctx_exp_writer *writer, struct ctx_err *err);

/*
 * Whether a line of this kind may be added, of `count` so far that may be `max` (of one process or
 * thread); if not, it is counted, and the first time a warning is added. ctx_exp_describes counts the
 * bytes of a line that begins at `from` in its buffer.
 */
bool ctx_exp_may_describe(struct ctx_exp_writer *writer, enum ctx_exp_described what, uint64_t count,
			  uint64_t max);
static inline void ctx_exp_describes(struct ctx_exp_writer *writer, const struct ctx_buf *lines, size_t from)
{
	writer->limits.text_used += lines->n > from ? lines->n - from : 0;
}

/* The counts of what was left out, at the end. */
void ctx_exp_put_left_out(struct ctx_exp_writer *writer, uint64_t time_ns);

/*
 * Lines that wait (exp_brief.c). The first four and brief_end note what happens to a process or a
 * thread; true: nothing is to be written of it now (brief_end: an element was begun in the log). The
 * others put the usual lines in the log, if they are not there yet: before anything else is written
 * of the process, and of all before the log is written.
 */
bool ctx_exp_brief_begin(struct ctx_exp_writer *writer, uint32_t process,
			 const struct ctx_exp_process *start);
bool ctx_exp_brief_thread(struct ctx_exp_writer *writer, uint32_t number,
			  const struct ctx_exp_thread *thread);
bool ctx_exp_brief_thread_exit(struct ctx_exp_writer *writer, uint32_t thread, uint64_t time_ns);
bool ctx_exp_brief_maps(struct ctx_exp_writer *writer, uint32_t process, uint32_t of);
bool ctx_exp_brief_end(struct ctx_exp_writer *writer, uint32_t process, const struct ctx_exp_exit *how);
void ctx_exp_brief_tell(struct ctx_exp_writer *writer, uint32_t process);
void ctx_exp_brief_tell_thread(struct ctx_exp_writer *writer, uint32_t thread);
void ctx_exp_brief_tell_all(struct ctx_exp_writer *writer);

/* Tells all if one has begun at that time or later: what begins at one time stands in its order. */
void ctx_exp_brief_tell_since(struct ctx_exp_writer *writer, uint64_t time_ns);

/* Parts of lines: what is known of a process but its number and origin, of a thread but its ids; the line <maps>. */
void ctx_exp_put_process_attributes(struct ctx_buf *out, const struct ctx_exp_process *process,
				    const char *lineage);

/* Cut after 4 KiB unless `whole`. */
void ctx_exp_put_command(struct ctx_buf *out, const char *command, bool whole);
void ctx_exp_put_thread_attributes(struct ctx_buf *out, const struct ctx_exp_thread *thread);
void ctx_exp_put_maps_of(struct ctx_buf *out, uint64_t time_ns, uint32_t process, uint32_t of);

#define CTX_EXP_NAMES_OF_THREAD_MAX 1000u
/* Titles of a process: after each 64 the least distance between two is doubled, from two seconds on. */
#define CTX_EXP_TITLES_OF_INTERVAL 64u
#define CTX_EXP_MAPS_OF_PROCESS_MAX 65536u /* that readers take */

/* The live part of a process; created if there is none. */
CTX_MUST_CHECK enum ctx_status ctx_exp_get_live(struct ctx_exp_writer *writer, uint32_t process,
						struct ctx_exp_live **ret, struct ctx_err *err);

/* Relative time; times before the start become 0. */
static inline uint64_t ctx_exp_relative(const struct ctx_exp_writer *writer, uint64_t time_ns)
{
	return time_ns > writer->start_ns ? time_ns - writer->start_ns : 0;
}

/*
 * Encodes the buffers of a live part (frames, samples), for the root process's files; of a process
 * with a directory it writes the log, then these buffers. After CTX_E_NOMEM unwritten data is kept.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_flush_process(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
						     struct ctx_err *err);
/* The call stacks alone, which stand before what refers to them. */
CTX_MUST_CHECK enum ctx_status ctx_exp_flush_frames(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
						    struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_flush_log(struct ctx_exp_writer *writer, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_flush_overview(struct ctx_exp_writer *writer, struct ctx_err *err);

/* Permissions of what is created: the user's own, or with `share` what the umask leaves. */
#define CTX_EXP_DIR_MODE(writer) ((writer)->access.share ? 0755u : 0700u)
#define CTX_EXP_FILE_MODE(writer) ((writer)->access.share ? 0644u : 0600u)

/* A file takes a multiple of this on most file systems, a directory as much. */
#define CTX_EXP_DISK_BLOCK 4096u

/* Of the limit of bytes, what lines about processes may take after it was reached: a 32nd. */
#define CTX_EXP_TEXT_BEYOND 32u

/*
 * Is the limit of bytes reached, with so many `more`? The first time the log says so, and that
 * records are missing from then on (relative), or from the oldest buffered one.
 */
bool ctx_exp_is_full(struct ctx_exp_writer *writer, size_t more, uint64_t time_ns);

/*
 * Whether what a process has buffered should be written now, because of the room that the limit of
 * bytes leaves: a block that is larger than that is lost whole.
 */
bool ctx_exp_nears_limit(const struct ctx_exp_writer *writer, size_t buffered);

/* Creates a directory in that of the root process. */
CTX_MUST_CHECK enum ctx_status ctx_exp_make_folder(struct ctx_exp_writer *writer, const char *name,
						   struct ctx_err *err);

/*
 * Appends lines to a file and empties the buffer, also after an I/O error: failed lines must not be
 * written after later ones.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_append_lines(struct ctx_exp_writer *writer, const char *name,
						    struct ctx_buf *lines, struct ctx_err *err);

/*
 * Makes a block of writer->scratch.raw and appends it to the file `name`, or (NULL) to what waits
 * for the root process's file `file`. CTX_E_LIMIT: the limit of bytes is reached.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_put_block(struct ctx_exp_writer *writer, uint32_t file,
						 const char *name, struct ctx_exp_block_header *header,
						 struct ctx_err *err);
const char *ctx_exp_name_of_file(const struct ctx_exp_writer *writer, uint32_t file);

/*
 * Something waits for the root process's files, its oldest record is of that time: all is written
 * if it is much, else by the tick. write_shared writes the log, then what waits.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_note_shared(struct ctx_exp_writer *writer, uint64_t oldest_ns,
						   struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_exp_write_shared(struct ctx_exp_writer *writer, struct ctx_err *err);

/* Creates a file of the root process with these bytes. */
CTX_MUST_CHECK enum ctx_status ctx_exp_make_file(struct ctx_exp_writer *writer, const char *name,
						 const void *bytes, size_t n, struct ctx_err *err);

#define CTX_EXP_LAST_FILE "last.xml"

/*
 * Reserves the page; notes a sign of life; writes it once a second, to be called when what is old at
 * that time has been written; removes the page unless it is needed.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_last_begin(struct ctx_exp_writer *writer, struct ctx_err *err);
void ctx_exp_last_alive(struct ctx_exp_writer *writer, uint64_t now_ns);
void ctx_exp_last_tick(struct ctx_exp_writer *writer);
void ctx_exp_last_end(struct ctx_exp_writer *writer);

/* A line of losses that have no time of their own; none for a count of 0. */
CTX_MUST_CHECK enum ctx_status ctx_exp_put_late(struct ctx_exp_writer *writer, uint64_t time_ns,
						const char *reason, uint64_t count, struct ctx_err *err);

/* Flushes and releases a live part; its dictionary continues in a new epoch. */
CTX_MUST_CHECK enum ctx_status ctx_exp_retire(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
					      struct ctx_err *err);

/* Updates the memory accounted for a live part. */
void ctx_exp_account(struct ctx_exp_writer *writer, struct ctx_exp_live *live);

#endif
