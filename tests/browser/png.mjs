// Pictures in fewer bytes. Pages have large plain areas, for which browsers choose the wrong filters.
import { deflateSync, inflateSync } from "node:zlib";

/** The same picture, without filters and well packed. */
export function packed(png) {
  const chunks = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    chunks.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at))]);
  }
  const header = chunks[0][1];
  const bytesPerPixel = header[9] === 6 ? 4 : 3;
  const data = inflateSync(Buffer.concat(chunks.filter(([kind]) => kind === "IDAT").map(([, bytes]) => bytes)));
  plain(data, header.readUInt32BE(0) * bytesPerPixel, bytesPerPixel);
  const kept = [["IHDR", header], ["IDAT", deflateSync(data, { level: 9, memLevel: 9 })], ["IEND", Buffer.alloc(0)]];
  return Buffer.concat([png.subarray(0, 8), ...kept.map(([kind, bytes]) => chunk(kind, bytes))]);
}

/** Takes the filters of PNG back, in place. */
function plain(data, width, bytesPerPixel) {
  for (let row = 0; row * (width + 1) < data.length; row += 1) {
    const start = row * (width + 1) + 1;
    const filter = data[start - 1];
    data[start - 1] = 0;
    for (let at = 0; at < width; at += 1) {
      const left = at < bytesPerPixel ? 0 : data[start + at - bytesPerPixel];
      const up = row === 0 ? 0 : data[start + at - width - 1];
      const corner = row === 0 || at < bytesPerPixel ? 0 : data[start + at - width - 1 - bytesPerPixel];
      data[start + at] += [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
    }
  }
}

function paeth(left, up, corner) {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function chunk(kind, bytes) {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), bytes]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(bytes.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
