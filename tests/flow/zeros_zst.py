"""zeros_zst.py MIB: zeros, as zstd packs them: a frame of blocks of one repeated byte, 128 KiB each."""
import struct
import sys

blocks = int(sys.argv[1]) * 8
frame = bytes.fromhex("28b52ffd0058")  # magic number, no size, a window of 2 MiB
for i in range(blocks):
    frame += struct.pack("<I", 131072 << 3 | 1 << 1 | (i == blocks - 1))[:3] + b"\0"
sys.stdout.buffer.write(frame)
