"""bpf_run.py OBJECT PROGRAM N: loads a BPF program with libbpf, runs it N times, and prints what the kernel says of its functions as JSON:

	{"functions": [[address, size, name], ...], "lines": [[address, file, line], ...]}
"""
import ctypes
import json
import struct
import sys

bpf = ctypes.CDLL('libbpf.so.1', use_errno=True)
for name in ('bpf_object__open_file', 'bpf_object__find_program_by_name', 'btf__load_from_kernel_by_id', 'btf__type_by_id'):
    getattr(bpf, name).restype = ctypes.c_void_p
bpf.btf__name_by_offset.restype = ctypes.c_char_p


class Run(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('data_in', ctypes.c_void_p), ('data_out', ctypes.c_void_p), ('size_in', ctypes.c_uint32),
                ('size_out', ctypes.c_uint32), ('ctx_in', ctypes.c_void_p), ('ctx_out', ctypes.c_void_p), ('ctx_size_in', ctypes.c_uint32),
                ('ctx_size_out', ctypes.c_uint32), ('retval', ctypes.c_uint32), ('repeat', ctypes.c_int), ('duration', ctypes.c_uint32),
                ('flags', ctypes.c_uint32), ('cpu', ctypes.c_uint32), ('batch', ctypes.c_uint32)]


def check(what, result):
    if not result:
        sys.exit(f'{what}: error {ctypes.get_errno()}')
    return result


program = check('open', bpf.bpf_object__open_file(sys.argv[1].encode(), None))
check('load', bpf.bpf_object__load(ctypes.c_void_p(program)) == 0)
fd = bpf.bpf_program__fd(ctypes.c_void_p(check('find', bpf.bpf_object__find_program_by_name(ctypes.c_void_p(program), sys.argv[2].encode()))))
packet = ctypes.create_string_buffer(64)
run = Run(ctypes.sizeof(Run), ctypes.addressof(packet), size_in=64, repeat=int(sys.argv[3]))
check('run', bpf.bpf_prog_test_run_opts(fd, ctypes.byref(run)) == 0)

INFO = 256


def ask(**fields):
    info = bytearray(INFO)
    for at, (form, value) in fields.values():
        struct.pack_into(form, info, at, value)
    buffer = ctypes.create_string_buffer(bytes(info), INFO)
    size = ctypes.c_uint32(INFO)
    check('info', bpf.bpf_obj_get_info_by_fd(fd, buffer, ctypes.byref(size)) == 0)
    return buffer.raw


# Numbers at their places in struct bpf_prog_info (include/uapi/linux/bpf.h): first how many, then the arrays.
counts = ask()
btf_id, = struct.unpack_from('<I', counts, 128)
n_ksyms, n_functions, n_lines = (struct.unpack_from('<I', counts, at)[0] for at in (104, 144, 148))
ksyms, lengths = ctypes.create_string_buffer(8 * n_ksyms), ctypes.create_string_buffer(4 * n_ksyms)
functions = ctypes.create_string_buffer(8 * n_functions)
lines, addresses = ctypes.create_string_buffer(16 * n_lines), ctypes.create_string_buffer(8 * n_lines)
place = ctypes.addressof
ask(n_ksyms=(104, ('<I', n_ksyms)), n_lengths=(108, ('<I', n_ksyms)), ksyms=(112, ('<Q', place(ksyms))), lengths=(120, ('<Q', place(lengths))),
    row=(132, ('<I', 8)), functions=(136, ('<Q', place(functions))), n_functions=(144, ('<I', n_functions)), n_lines=(148, ('<I', n_lines)),
    lines=(152, ('<Q', place(lines))), addresses=(160, ('<Q', place(addresses))), n_addresses=(168, ('<I', n_lines)),
    line_row=(172, ('<I', 16)), address_row=(176, ('<I', 8)))
btf = ctypes.c_void_p(check('BTF', bpf.btf__load_from_kernel_by_id(btf_id)))


def text(offset):
    return bpf.btf__name_by_offset(btf, offset).decode()


def function_name(type_id):
    return text(ctypes.cast(bpf.btf__type_by_id(btf, type_id), ctypes.POINTER(ctypes.c_uint32))[0])


rows = struct.iter_unpack('<IIII', lines.raw)
print(json.dumps({
    'functions': [[address, size, function_name(kind)] for (address,), (size,), (_, kind) in
                  zip(struct.iter_unpack('<Q', ksyms.raw), struct.iter_unpack('<I', lengths.raw), struct.iter_unpack('<II', functions.raw))],
    'lines': [[address, text(file), column >> 10] for (address,), (_, file, _, column) in zip(struct.iter_unpack('<Q', addresses.raw), rows)]}))
