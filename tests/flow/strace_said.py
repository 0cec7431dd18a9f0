#!/usr/bin/env python3
"""Holds input and output that ctxrec --io recorded against what strace saw of the same command.

    strace_said.py OPERATIONS BELOW STRACE...

OPERATIONS: tab-separated call, size, error, file (ctxan --sql). STRACE: files of `strace -ff -y`, one a process. Compared is what was done on
files below the directories BELOW (separated by colons), on pipes and on sockets: how often, how often in vain, and bytes, by kind of call and
file. Of files that stdio reads or writes, bytes: one call of it may be two system calls; of pipes that are read, too. Prints the differences; status 1 if there are any.
"""
import collections
import os
import re
import sys

KINDS = {
    'read': 'read pread64 readv preadv preadv2 recvfrom recvmsg',
    'write': 'write pwrite64 writev pwritev pwritev2 sendto sendmsg',
    'copy': 'sendfile splice copy_file_range',
    'open': 'open openat creat',
    'close': 'close',
    'fsync': 'fsync',
    'fdatasync': 'fdatasync',
    'stat': 'stat lstat fstat newfstatat statx',
}
KIND_OF_SYSCALL = {name: kind for kind, names in KINDS.items() for name in names.split()}
KIND_OF_CALL = {
    'pread': 'read', 'preadv': 'read', 'recv': 'read', 'stdio read': 'read', 'pwrite': 'write', 'pwritev': 'write', 'send': 'write',
    'stdio write': 'write', 'stdio at exit': 'write', 'stdio open': 'open', 'opendir': 'open', 'stdio close': 'close', 'closedir': 'close',
    'fstatat': 'stat', 'aio read': 'read', 'aio write': 'write',
}
RANDOM = re.compile(r'(tmp_(?:obj|pack|idx|rev)_|\.git/t(?=\w{6}$))[A-Za-z0-9]*')
# What the loader opens, and what the C library closes by itself or a child of vfork in its own name.
NOT_COMPARED = re.compile(r'\.so(\.[0-9.]*)?$')
# A descriptor with its name, or a name below a directory.
DESCRIPTOR = re.compile(r'^(?:AT_FDCWD|\d+)<((?:[^<>]|<[^<>]*>)*)>')
LINE = re.compile(r'^(\w+)\((.*)\)\s+= (-?\d+|\?)(?:<((?:[^<>]|<[^<>]*>)*)>)?(?: (\w+))?')


def normal(name):
    """A name of which only what both sides know is left."""
    name = re.sub(r' \(deleted\)$|\(deleted\)$', '', name)
    if re.match(r'pipe(:|$)', name):
        return 'pipe'
    if re.match(r'socket(:|pair)|inet |unix |TCP|UDP|UNIX', name):
        return 'socket'
    return RANDOM.sub(r'\1', os.path.normpath(name)) if name else ''


def quoted(text):
    """The first string of the arguments."""
    found = re.search(r'"((?:[^"\\]|\\.)*)"', text)
    return found.group(1).encode().decode('unicode_escape') if found else ''


def file_of_syscall(kind, name, arguments, result_file):
    """The file that a system call is on."""
    directory = DESCRIPTOR.match(arguments)
    if kind == 'copy':
        descriptors = re.findall(r'(?:^|, )\d+<((?:[^<>]|<[^<>]*>)*)>', arguments)
        return descriptors[0] if name == 'sendfile' else descriptors[1]
    if kind == 'open' and result_file:
        return result_file
    if kind in ('open', 'stat') and name != 'fstat':
        path = quoted(arguments)
        return os.path.join(directory.group(1) if directory else '', path) if path else directory.group(1)
    return directory.group(1) if directory else ''


def read_strace(paths):
    for path in paths:
        with open(path, errors='surrogateescape') as lines:
            for line in lines:
                found = LINE.match(line)
                if not found or found.group(1) not in KIND_OF_SYSCALL or found.group(3) == '?':
                    continue
                name, arguments, result, result_file, error = found.groups()
                kind = KIND_OF_SYSCALL[name]
                moved = int(result) if kind in ('read', 'write', 'copy') and int(result) > 0 else 0
                yield kind, False, file_of_syscall(kind, name, arguments, result_file), moved, int(result) < 0


def read_operations(path):
    with open(path, errors='surrogateescape') as lines:
        next(lines)
        for line in lines:
            call, size, error, file = line.rstrip('\n').split('\t')
            kind = KIND_OF_CALL.get(call) or KIND_OF_SYSCALL.get(call) or next((k for k, n in KINDS.items() if call in n.split()), None)
            if kind:
                yield kind, call.startswith('stdio'), file, int(size), bool(error)
            if call == 'opendir' and not error:
                yield 'stat', False, file, 0, False  # the C library's own


def add_up(operations, below):
    sums = collections.defaultdict(lambda: [0, 0, 0, False])
    for kind, is_stream, file, size, failed in operations:
        file = normal(file)
        if NOT_COMPARED.search(file) or (kind == 'close' and file in ('pipe', 'socket')):
            continue
        if file in ('pipe', 'socket') or any(file == path or file.startswith(path + '/') for path in below):
            entry = sums[kind, file]
            entry[0] += 1
            entry[1] += failed
            entry[2] += size
            entry[3] |= is_stream
    return sums


def main():
    below = [os.path.realpath(path) for path in sys.argv[2].split(':')]
    ours, theirs = add_up(read_operations(sys.argv[1]), below), add_up(read_strace(sys.argv[3:]), below)
    streams = {file for (_, file), entry in ours.items() if entry[3]}
    bad = 0
    for key in sorted(set(ours) | set(theirs)):
        a, b = ours.get(key, [0, 0, 0, False]), theirs.get(key, [0, 0, 0, False])
        if key[1] in streams and key[0] in ('read', 'write', 'stat'):
            same = a[2] == b[2] and (key[0] == 'stat' or a[0] <= b[0])
        elif key == ('read', 'pipe'):
            same = a[2] == b[2]  # how many reads it takes depends on who comes first
        else:
            same = a[:3] == b[:3]
        if not same:
            bad += 1
            print('%s of %s: %s calls, %s failed, %s bytes; strace: %s, %s, %s' % (*key, *a[:3], *b[:3]))
    calls, moved = sum(e[0] for e in ours.values()), sum(e[2] for e in ours.values())
    print('%u operations, %u bytes on %u files: %u differences' % (calls, moved, len({f for _, f in ours}), bad))
    return bad != 0


sys.exit(main())
