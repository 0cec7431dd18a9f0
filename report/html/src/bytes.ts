/*
 * Reads the binary profile: little-endian base 128 numbers and text, with every read checked. A number is a double here, so nothing beyond 2^53 passes.
 */

/** What is wrong with the profile of this page, in words for its reader. */
export class ProfileError extends Error {
	override name = "ProfileError";
}

const text = new TextDecoder("utf-8", { ignoreBOM: true });

export class ByteReader {
	private at = 0;

	constructor(private readonly bytes: Uint8Array) {}

	/** Bytes not read yet. */
	get left(): number {
		return this.bytes.length - this.at;
	}

	damaged(what: string): never {
		throw new ProfileError(`The profile in this page is damaged: ${what} (byte ${this.at} of ${this.bytes.length}).`);
	}

	byte(what: string): number {
		if (this.at >= this.bytes.length) this.damaged(`it ends within ${what}`);
		return this.bytes[this.at++]!;
	}

	/** An unsigned number. */
	number(what: string): number {
		const { bytes } = this;
		let { at } = this;
		let byte = bytes[at++];
		if (byte !== undefined && byte < 0x80) {
			this.at = at;
			return byte;
		}
		let value = 0;
		for (let scale = 1; ; scale *= 128) {
			if (byte === undefined) {
				this.at = bytes.length;
				this.damaged(`it ends within ${what}`);
			}
			/* 2^49 is the eighth byte's: seven bits of it make 2^56, and the check below is exact up to there. */
			if (scale > 2 ** 49) this.damaged(`a number among ${what} is too large`);
			value += (byte & 0x7f) * scale;
			if (byte < 0x80) break;
			byte = bytes[at++];
		}
		this.at = at;
		if (value > Number.MAX_SAFE_INTEGER) this.damaged(`a number among ${what} is too large`);
		return value;
	}

	/** A signed number, zigzag. */
	signed(what: string): number {
		const value = this.number(what);
		return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
	}

	/** An unsigned number below `end`. */
	below(end: number, what: string): number {
		const value = this.number(what);
		if (value >= end) this.damaged(`${value} among ${what}, of which there are ${end}`);
		return value;
	}

	/** How many things follow that take at least `size` bytes each: never more than the bytes that are left have room for. */
	count(size: number, what: string): number {
		const value = this.number(what);
		if (value * size > this.left) this.damaged(`${value} ${what} in ${this.left} bytes`);
		return value;
	}

	string(what: string): string {
		const length = this.number(what);
		if (length > this.left) this.damaged(`it ends within ${what}`);
		this.at += length;
		return text.decode(this.bytes.subarray(this.at - length, this.at));
	}

	/** The next `length` bytes, to be read by themselves. */
	part(length: number, what: string): ByteReader {
		if (length > this.left) this.damaged(`it ends within ${what}`);
		this.at += length;
		return new ByteReader(this.bytes.subarray(this.at - length, this.at));
	}

	end(): void {
		if (this.left !== 0) this.damaged(`${this.left} bytes follow its end`);
	}
}
