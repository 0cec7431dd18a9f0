# Who calls whom is known: each of these functions has one chain of callers. Each burns so many seconds of its thread's time.
import os
import sys
import threading
import time

SECONDS = float(sys.argv[1])


def burn():
    begin = time.thread_time()
    while time.thread_time() - begin < SECONDS:
        for i in range(200):
            i * i


def outer():
    middle()


def middle():
    inner()


def inner():
    burn()


def key(item):
    keyed()
    return item


def keyed():
    burn()


def sorts():
    sorted([1], key=key)


def produce():
    burn()
    yield 1


def consume():
    for item in produce():
        pass


class Work:
    def run(self):
        self.step()

    @staticmethod
    def step():
        burn()


def thread_work():
    burn()


def child_work():
    burn()


def caught():
    try:
        raises()
    except ValueError:
        handles()


def raises():
    raise ValueError


def handles():
    burn()


outer()
sorts()
consume()
Work().run()
caught()
thread = threading.Thread(target=thread_work)
thread.start()
thread.join()
pid = os.fork()
if pid == 0:
    child_work()
    os._exit(0)
os.waitpid(pid, 0)
try:
    import _xxsubinterpreters as interpreters

    sub = interpreters.create()
    interpreters.run_string(sub, "import time\ndef sub_work():\n begin = time.thread_time()\n while time.thread_time() - begin < %r: pass\nsub_work()\n" % SECONDS)
    interpreters.destroy(sub)
except ImportError:
    pass
