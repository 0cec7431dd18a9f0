/*
 * What the two functions of libctxrt.so return that the recorder calls in a running process (collect/attach.h):
 *
 *	int64_t ctx_rt_attach(const char *setting)	"SOCKET:LETTERS", as in CTX_RT_VARIABLE
 *	int64_t ctx_rt_detach(void)
 *
 * Both: how many references to functions were changed, 0 or more, or one of these.
 */
#ifndef CTX_RUNTIME_ATTACH_RESULT_H
#define CTX_RUNTIME_ATTACH_RESULT_H

#define CTX_RT_ATTACH_FUNCTION "ctx_rt_attach"
#define CTX_RT_DETACH_FUNCTION "ctx_rt_detach"

enum ctx_rt_attach {
	CTX_RT_ATTACH_DONE = 0,
	CTX_RT_ATTACH_PRELOADED = -1,	/* the process was started with the library */
	CTX_RT_ATTACH_TRACED = -2,	/* another recorder does */
	CTX_RT_ATTACH_UNREACHABLE = -3, /* the recorder's socket, or no memory */
	CTX_RT_ATTACH_UNFIT = -4,	/* the C library is too old, or the setting is none */
};

#endif
