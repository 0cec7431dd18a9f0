# ctxrec --io: every operation of a program whose numbers are known, with names of files over dup, fork and exec; and what it does is the same as without.
kind=${CTX_KIND:-} # 32, 32_wide: the program of 32 bits (record_32.sh)
export kind
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_runtime

mkdir bare traced
io$kind all bare >bare.txt
[ $? = 7 ] || fail "the program alone: $(cat bare.txt)"
ctxrec -q -o run.er --io --trace-full wait -- io$kind all traced >traced.txt 2>err.txt
[ $? = 7 ] || fail "exit status: $(cat err.txt)"
cmp bare.txt traced.txt || fail "another output: $(cat traced.txt)"
[ -s err.txt ] && fail "messages: $(cat err.txt)"
for file in x text bytes copied; do cmp bare/$file traced/$file || fail "another file: $file"; done

# By function: how often, how many of them failed, bytes.
cat >wanted.txt <<'END'
accept 1 0 0
bind 1 0 0
chdir 2 0 0
close 25 1 0
connect 2 1 0
copy_file_range 1 0 300
dup 1 0 0
dup2 1 0 0
epoll_wait 1 0 0
fchdir 1 0 0
fcntl 1 0 0
fdatasync 1 0 0
fstat 1 0 0
fstatat 2 0 0
fsync 1 0 0
lstat 1 0 0
open 8 2 0
openat 1 0 0
pipe 3 0 0
poll 1 0 0
ppoll 1 0 0
pread 5 0 207
pwrite 5 0 500
pwritev 3 0 90
read 21 1 2640
recv 20 0 200
recvfrom 20 0 100
select 1 0 0
send 20 0 100
sendfile 1 0 1000
sendmsg 20 0 200
socket 2 0 0
socketpair 1 0 0
splice 1 0 600
stat 4 1 0
statx 2 1 0
stdio at exit 2 0 24
stdio close 5 0 0
stdio open 5 1 0
stdio read 11 0 22780
stdio write 5 0 13890
write 8 1 507
END
ctxan run.er --sql "select call || ' ' || count(*) || ' ' || sum(failed) || ' ' || sum(size) from traced group by call order by call" | tail -n +2 >got.txt
diff wanted.txt got.txt || fail "operations by function"

# Where they were: the leaf of the stack is the function that called, its root main; and the file's name.
at=$work/traced
cat >wanted.txt <<END
answers recv inet 200
answers send inet 100
asks fstatat $at -
asks fstatat $at/x -
asks lstat $at/x -
asks stat $at/below/../x -
asks stat $at/x -
asks stat $at/x -
asks statx $at/x -
child read $at/x 1090
forks read $at/x 60
passes_over copy_file_range $at/copied 300
passes_over read pipe 400
passes_over sendfile pipe 1000
passes_over splice $at/copied 600
puts_bytes_5000 stdio read $at/bytes 5000
puts_bytes_5000 stdio write $at/bytes 5000
reads pread $at/x 207
reads read $at/x 1090
streams stdio read $at/text 17780
streams stdio write $at/text 8890
talks recvfrom inet 100
talks sendmsg inet 200
writes_18 fdatasync $at/x -
writes_18 fstat $at/x -
writes_18 fsync $at/x -
writes_18 pwrite $at/x 500
writes_18 pwritev $at/x 90
writes_18 write $at/x 500
END
ctxan run.er --sql "select f.name || ' ' || t.call || ' ' || case when n.name like 'inet 127.0.0.1:%' then 'inet' else coalesce(n.name, '-') end || ' ' ||
	case when t.operation = 'other' then '-' else sum(t.size) end from traced t join stack l on l.id = t.stack join function g on g.id = l.function
	join stack s on s.id = case when g.inlined then l.parent else l.id end join function f on f.id = s.function left join traced_file n on n.id = t.file where not t.failed and t.operation in ('read', 'write', 'other') and
	f.name in ('answers', 'asks', 'child', 'forks', 'passes_over', 'puts_bytes_5000', 'reads', 'streams', 'talks', 'writes_18') and
	t.call not in ('bind', 'connect', 'chdir', 'fchdir') group by f.name, t.call, t.file, case when t.operation = 'other' then t.time_ns end order by 1" | tail -n +2 >got.txt
diff wanted.txt got.txt || fail "operations by place and file"
# What failed: its error number, and the name as it was given; of a name that cannot be read none.
ctxan run.er --sql "select t.call || ' ' || t.error || ' ' || coalesce(n.name, '-') from traced t left join traced_file n on n.id = t.file where t.failed order by 1" | tail -n +2 >got.txt
printf '%s\n' "close 9 -" "connect 9 -" "open 14 -" "open 2 $at/missing" "read 9 -" "stat 2 $at/missing" "statx 22 -" "stdio open 2 $at/missing" "write 9 -" | diff - got.txt || fail "errors"
# The child of vfork closes its own descriptor 0: the parent's stays open.
ctxan run.er --sql "select count(*) from traced where call = 'close' and descriptor is null and not failed" | tail -n 1 | grep -qx 1 || fail "close by a child of vfork"
# The report has the same sums, the metrics too.
ctxan run.er -r io --format json >io.json || fail "report"
jq -e '.rows[0] | .operations == 219 and .reads == 76 and .read_bytes == 25927 and .writes == 65 and .write_bytes == 17211 and .errors == 9' io.json >/dev/null || fail "report: $(jq -c '.rows[0]' io.json)"
jq -e '.rows[] | select(.section == "call" and .call == "stdio write") | .writes == 5 and .write_bytes == 13890' io.json >/dev/null || fail "report by function"
[ "$(ctxan run.er -r functions --metric ioreadbytes --format json | jq '.rows[0].inclusive')" = 25927 ] || fail "metric ioreadbytes"
[ "$(ctxan run.er -r functions --metric iowritebytes --filter 'IOFNAME==".*/copied"' --format json | jq '.rows[0].inclusive')" = 900 ] || fail "filter by file"
ctxan run.er -r io | grep -q Truncated && fail "truncated stacks"

# With the heap beside it; and without, no allocation is recorded.
mkdir both
ctxrec -q --no-archive -o both.er --trace heap,io --trace-full wait -- io$kind all both >traced.txt || [ $? = 7 ] || fail "heap and io"
ctxan both.er --sql "select kind || ' ' || min(1, count(*)) from traced group by kind order by kind" | tail -n +2 >got.txt
printf 'heap 1\nio 1\n' | diff - got.txt || fail "kinds of operations"
[ "$(ctxan both.er -r io --format json | jq '.rows[0].operations')" = 219 ] || fail "operations beside those of the heap"
[ "$(ctxan run.er --sql "select count(*) from traced where kind != 'io'" | tail -n 1)" = 0 ] || fail "other operations"
expect 1 'io needs a command' ctxrec --io -a
finish
