// Scores samples with a saved model, without edgesvm: StreamSVM, alone or in Standardized, of two classes.
//
//   node read_snapshot.js model.esvm samples.csv
//
// The CSV has the features of one sample per line. Printed are decision values: positive stands for the larger label. The
// layout is that of FORMATS.md, "Snapshots"; a learner more is a function more in SCORERS.
"use strict";
const fs = require("fs");

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

// Values one after the other, each array on a multiple of 8.
class Bytes {
  constructor(data) { this.data = data; this.at = 0; }
  take(size, read) { this.at += size; return read.call(this.data, this.at - size); }
  u8() { return this.take(1, this.data.readUInt8); }
  u16() { return this.take(2, this.data.readUInt16LE); }
  f32() { return this.take(4, this.data.readFloatLE); }
  f64() { return this.take(8, this.data.readDoubleLE); }
  i64() { return Number(this.take(8, this.data.readBigInt64LE)); }
  text(n) { this.at += n; return this.data.subarray(this.at - n, this.at); }
  array(type, n) {
    this.at = Math.ceil(this.at / 8) * 8;
    return Array.from({ length: n }, () => this[type]());
  }
}

// One parameter or label.
function value(source) {
  const kind = source.u8();
  switch (kind) {
    case 0: return null;
    case 1: return source.u8() === 1;
    case 2: return source.i64();
    case 3: return source.f64();
    case 4: return source.text(source.u16()).toString("utf8");
    case 6: return learner(source.text(source.u16()));
    default: throw new Error(`a value of kind ${kind}, which this reader does not know`);
  }
}

function values(section) {
  const source = new Bytes(section), found = [];
  while (source.at < section.length) found.push(value(source));
  return found;
}

function learner(section) {
  const [name, ...rest] = values(section), params = {};
  for (let i = 0; i < rest.length; i += 2) params[rest[i]] = rest[i + 1];
  return { name, params };
}

const dot = (x, z) => x.reduce((sum, a, i) => sum + a * z[i], 0);
const real = (params) => (params.dtype === "float32" ? "f32" : "f64");
const round = (params) => (params.dtype === "float32" ? Math.fround : (a) => a);

const SCORERS = {
  StreamSVM(arena, params, width, n) {
    arena.array("f64", 4);
    const constant = params.fit_intercept ? [1] : [];
    let w = arena.array(real(params), width + constant.length);
    if (params.average) {
      const [s] = arena.array("i64", 1);
      const average = arena.array(real(params), w.length), error_rates = arena.array("f64", 2);
      const b = ((n - s) * (n + s + 1)) / (n * (n + 1));
      if (error_rates[1] <= error_rates[0]) w = w.map((last, i) => (1 - b) * average[i] + b * last);
    }
    return (x) => {
      const z = [...x.map(round(params)), ...constant];
      return dot(w, z) / ((params.normalize && Math.sqrt(dot(z, z))) || 1);
    };
  },

  Standardized(arena, params, width, n) {
    const inner = params.learner;
    if (!(inner.name in SCORERS)) throw new Error(`a ${inner.name}, which this reader does not know`);
    const mean = arena.array("f64", width), spread = arena.array("f64", width);
    const clip = params.clip ?? Infinity; // files of earlier releases have none
    if (clip < Infinity) arena.array("i64", 1);
    arena.array(real(inner.params), width);
    const score = SCORERS[inner.name](arena, inner.params, width, n);
    const scale = spread.map((s) => Math.sqrt(s / n));
    const scaled = (a, i) => (scale[i] ? (a - mean[i]) / scale[i] : 0);
    return (x) => score(x.map((a, i) => Math.min(Math.max(scaled(a, i), -clip), clip)));
  },
};

// The function that scores one sample.
function read(data) {
  if (data.toString("latin1", 0, 8) !== "ESVMSNAP" || crc32(data.subarray(0, -4)) !== data.readUInt32LE(data.length - 4))
    throw new Error("not a snapshot, or a damaged one");
  const begin = data.readUInt16LE(10), width = data.readUInt32LE(12);
  const arenaBytes = Number(data.readBigUInt64LE(24));
  const labelsAt = begin + data.readUInt32LE(32), arenaAt = labelsAt + data.readUInt32LE(36);
  if (data.readUInt16LE(8) !== 1 || arenaAt + arenaBytes + 4 !== data.length)
    throw new Error("a snapshot of another version, or its lengths are wrong");
  const { name, params } = learner(data.subarray(begin, labelsAt));
  const labels = values(data.subarray(labelsAt + 1, arenaAt));
  if (labels.length !== 2) throw new Error("a model of fewer or more than two labels");
  if (!(name in SCORERS)) throw new Error(`a ${name}, which this reader does not know`);
  const arena = new Bytes(data.subarray(arenaAt, -4));
  arena.array("i64", 2);
  const n = dot(arena.array("i64", 2), [1, 1]);
  const score = SCORERS[name](arena, params, width, n);
  return (x) => (labels[0] < labels[1] ? score(x) : -score(x));
}

const [model, samples] = process.argv.slice(2);
try {
  const score = read(fs.readFileSync(model));
  for (const line of fs.readFileSync(samples, "utf8").trim().split("\n"))
    console.log(score(line.split(",").map(Number)).toPrecision(9));
} catch (error) {
  console.error(`read_snapshot.js: ${error.message}`);
  process.exitCode = 1;
}
