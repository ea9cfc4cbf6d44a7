// Prints the samples of a binary link, read from standard input: sequence, label (or nothing), features.
//
//   node read_frames.js < captured.bin
//
// The layout is that of FORMATS.md, "Frame". Bytes before the first zero are discarded, and so is every frame whose CRC is wrong.
"use strict";
const SAMPLE_F32 = 0x10, HAS_LABEL = 1, HAS_TIME = 2, HEADER = 8, CRC = 4;

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

// The raw frame of the bytes between two zeros; null if they are no COBS.
function uncobs(run) {
  const raw = [];
  for (let at = 0; at < run.length; ) {
    const code = run[at];
    if (at + code > run.length) return null;
    raw.push(...run.slice(at + 1, at + code));
    at += code;
    if (code < 255 && at < run.length) raw.push(0);
  }
  return Buffer.from(raw);
}

function print(raw) {
  const flags = raw[1] & 15;
  let at = HEADER + (flags & HAS_TIME ? 4 : 0), label = "";
  if (flags & HAS_LABEL) { label = raw.readInt16LE(at); at += 4; }
  const features = [];
  for (; at < raw.length - CRC; at += 4) features.push(raw.readFloatLE(at));
  console.log([raw.readUInt32LE(4), label, ...features].join(","));
}

let run = null; // null: in the middle of something, until the first zero
process.stdin.on("data", (chunk) => {
  for (const byte of chunk) {
    if (byte !== 0) { if (run !== null) run.push(byte); continue; }
    const raw = run && uncobs(run);
    if (raw && raw.length >= HEADER + CRC && crc32(raw.subarray(0, -CRC)) === raw.readUInt32LE(raw.length - CRC)
        && raw[0] === SAMPLE_F32 && raw[1] >> 4 === 1) print(raw);
    run = [];
  }
});
