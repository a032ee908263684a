/** The size of a picture, read from its first bytes: PNG, JPEG, GIF, WebP, BMP. Pure. */

type Size = [width: number, height: number];

const NONE: Size = [0, 0];
/** Pixels: what says that it is longer is no picture. */
const LONGEST_SIDE = 1_000_000;
/** Bytes in which the size is found. */
const ENOUGH = 192 * 1024;

/** Width and height; zeros where they cannot be read. */
export function pixels(data: Buffer): Size {
  try {
    const [width, height] = read(data.subarray(0, ENOUGH));
    return isSide(width) && isSide(height) ? [width, height] : NONE;
  } catch (error) {
    if (error instanceof RangeError) return NONE; // it ends before its size
    throw error;
  }
}

const isSide = (side: number) => side > 0 && side <= LONGEST_SIDE;

function read(data: Buffer): Size {
  const begins = (text: string, at = 0) => data.toString("latin1", at, at + text.length) === text;
  if (begins("\x89PNG\r\n\x1a\n")) return [data.readUInt32BE(16), data.readUInt32BE(20)];
  if (begins("GIF87a") || begins("GIF89a")) return [data.readUInt16LE(6), data.readUInt16LE(8)];
  if (begins("\xff\xd8")) return ofJpeg(data);
  if (begins("RIFF") && begins("WEBP", 8)) return ofWebp(data);
  if (begins("BM")) return [Math.abs(data.readInt32LE(18)), Math.abs(data.readInt32LE(22))];
  return NONE;
}

/** The size is in the frame's header, behind any number of other segments. */
function ofJpeg(data: Buffer): Size {
  for (let at = data.indexOf(0xff, 2); at >= 0; at = data.indexOf(0xff, at)) {
    while (data[at] === 0xff) at += 1;
    const marker = data.readUInt8(at);
    at += 1;
    if (marker === 0xd9 || marker === 0xda) return NONE;
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) continue;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return [data.readUInt16BE(at + 5), data.readUInt16BE(at + 3)];
    }
    at += data.readUInt16BE(at);
  }
  return NONE;
}

function ofWebp(data: Buffer): Size {
  switch (data.toString("latin1", 12, 16)) {
    case "VP8 ":
      return [data.readUInt16LE(26) & 0x3fff, data.readUInt16LE(28) & 0x3fff];
    case "VP8L": {
      const bits = data.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case "VP8X":
      return [data.readUIntLE(24, 3) + 1, data.readUIntLE(27, 3) + 1];
    default:
      return NONE;
  }
}
