"""How the runtime in a target waits for the memory that it has asked for, with a recorder made here.

	python3 runtime_waits.py LIBRARY HEAP VERSION

VERSION is CTX_RT_VERSION. Each part is a process that allocates five blocks of 11 bytes (testdata/targets/heap.c). What is waited for here is that something happens; nothing
depends on how long it takes, but that the target would have given up after a second."""

import mmap
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import time

# runtime/shared_layout.h
MAGIC, PAGE, RING = 0x31305254584354FF, 4096, 1 << 16
ALLOCATE = 3
LEFT = 0xF1
LIBRARY, HEAP, VERSION = sys.argv[1], sys.argv[2], int(sys.argv[3])


def listen():
    name = "ctxrec-test-%032x" % random.getrandbits(128)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("\0" + name)
    listener.listen(16)
    return name, listener


def start(name):
    return subprocess.Popen([HEAP, "child", "5"], env={"LD_PRELOAD": LIBRARY, "CTXREC_RUNTIME": name + ":h0"})


def accept(listener):
    connection, _ = listener.accept()
    assert connection.recv(1) == b"\0"
    return connection


def make_memory():
    fd = os.memfd_create("test")
    os.ftruncate(fd, 2 * PAGE + RING)
    memory = mmap.mmap(fd, 2 * PAGE + RING)
    memory[:24] = struct.pack("=QIIQ", MAGIC, VERSION, 1, RING)
    return fd, memory


def allocations(memory):
    words = struct.unpack_from(f"={RING // 8}Q", memory, 2 * PAGE)
    head = struct.unpack_from("=Q", memory, PAGE)[0] // 8
    at, sizes = 0, []
    while at < head:
        if words[at] >> 40 & 0xFF == ALLOCATE:
            sizes.append(words[at + 2])
        at += words[at] >> 48
    return sizes


def check_recorded(target, connection):
    fd, memory = make_memory()
    socket.send_fds(connection, [b"s"], [fd])
    assert target.wait() == 0
    pid = struct.unpack_from("=I", memory, 24)[0]
    assert pid == target.pid, (pid, target.pid)
    assert allocations(memory).count(11) == 5, allocations(memory)


def late():
    """A recorder that runs is waited for, also by a process that is stopped meanwhile."""
    name, listener = listen()
    target = start(name)
    connection = accept(listener)
    os.kill(target.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, target.pid, os.WSTOPPED)
    os.kill(target.pid, signal.SIGCONT)
    time.sleep(2)
    assert target.poll() is None, "it has not waited"
    check_recorded(target, connection)


def dead():
    """One that ends is not."""
    name, listener = listen()
    target = start(name)
    accept(listener).close()
    assert target.wait() == 0
    listener.close()
    assert start(name).wait() == 0


def stopped():
    """One that is stopped is not, and is told so."""
    reading, writing = os.pipe()
    recorder = os.fork()
    if recorder == 0:
        name, listener = listen()
        os.write(writing, name.encode())
        os.kill(os.getpid(), signal.SIGSTOP)
        first, second = accept(listener), listener.accept()[0]
        right = first.recv(1) == b"" and second.recv(2) == bytes([LEFT]) and second.recv(1) == b""
        os._exit(0 if right and not select.select([listener], [], [], 0)[0] else 1)
    name = os.read(reading, 100).decode()
    os.waitid(os.P_PID, recorder, os.WSTOPPED)
    assert start(name).wait() == 0
    os.kill(recorder, signal.SIGCONT)
    assert os.waitstatus_to_exitcode(os.waitpid(recorder, 0)[1]) == 0, "it was not told"


late()
dead()
stopped()
