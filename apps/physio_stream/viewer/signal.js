// signal.js - signals of the page: least and greatest samples of bins at all levels, and samples around events.
"use strict";
const ABSENT = 65535, TILE = 4096;
const NOTHING = 0, PART = 1, ALL = 2; // how many slots of a bin have a sample

// Texts of the data have a character for each byte.
const bytesOf = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const textOf = (text) => new TextDecoder().decode(bytesOf(text)).replace(/\0+$/, "");
const bytesOfBase64 = (text) => bytesOf(atob(text));

function codesOf(text) {
  const b = bytesOfBase64(text), codes = new Uint16Array(b.length / 2);
  for (let i = 0; i < codes.length; i++) codes[i] = b[2 * i] | (b[2 * i + 1] << 8);
  return codes;
}

class Signal {
  constructor(from) {
    this.name = textOf(from.name);
    this.unit = textOf(from.unit);
    this.fs = from.fs[0] / from.fs[1];
    this.begin = (from.first || 0) / this.fs; // time of its first slot (s)
    this.bin = from.bin;
    this.slots = from.slots;
    this.sparse = from.sparse; // values of few slots: points, not gaps
    this.levels = [this.decode(from.tiles)];
    while (this.levels[this.levels.length - 1].state.length > 1) this.levels.push(this.coarser(this.levels[this.levels.length - 1]));
    this.spans = from.samples.map(([slot, offset, step, codes]) => ({
      slot, value: Float32Array.from(codesOf(codes), (c) => (c === ABSENT ? NaN : offset + c * step)),
    }));
  }

  // The bins of the page.
  decode(tiles) {
    const n = Math.ceil(this.slots / this.bin), width = this.bin === 1 ? 1 : 2;
    const level = { least: new Float32Array(n), most: new Float32Array(n), state: new Uint8Array(n) };
    tiles.forEach((tile, number) => {
      if (tile === 0) return;
      const [offset, step, text, gaps] = tile, codes = codesOf(text), bits = bytesOfBase64(gaps), first = number * TILE;
      for (let k = 0; k < codes.length / width; k++) {
        if (codes[width * k] === ABSENT) continue;
        level.least[first + k] = offset + codes[width * k] * step;
        level.most[first + k] = offset + codes[width * k + width - 1] * step;
        level.state[first + k] = bits.length > 0 && (bits[k >> 3] >> (k & 7)) & 1 ? PART : ALL;
      }
    });
    return level;
  }

  // Pairs of bins as one.
  coarser(fine) {
    const n = Math.ceil(fine.state.length / 2);
    const level = { least: new Float32Array(n), most: new Float32Array(n), state: new Uint8Array(n) };
    for (let i = 0; i < n; i++) {
      const a = 2 * i, b = Math.min(a + 1, fine.state.length - 1), first = fine.state[a] ? a : b, second = fine.state[b] ? b : a;
      level.least[i] = Math.min(fine.least[first], fine.least[second]);
      level.most[i] = Math.max(fine.most[first], fine.most[second]);
      level.state[i] = fine.state[a] === fine.state[b] ? fine.state[a] : PART;
    }
    return level;
  }

  // Least and greatest value of the bins that slots [lo, hi) lie in, and how many of their slots have a sample.
  range(lo, hi) {
    let a = Math.max(0, Math.floor(lo / this.bin)), b = Math.min(this.levels[0].state.length, Math.ceil(hi / this.bin));
    let least = Infinity, most = -Infinity, some = false, lacks = false;
    const take = (level, i) => {
      if (level.state[i] !== ALL) lacks = true;
      if (level.state[i] === NOTHING) return;
      some = true;
      least = Math.min(least, level.least[i]);
      most = Math.max(most, level.most[i]);
    };
    for (let k = 0; a < b; k++, a >>= 1, b >>= 1) {
      if (a & 1) take(this.levels[k], a++);
      if (b & 1) take(this.levels[k], --b);
    }
    return { least, most, state: !some ? NOTHING : lacks ? PART : ALL };
  }

  // The same of n columns of equal width from time t0 to t1 (s).
  columns(t0, t1, n) {
    const at = (k) => Math.ceil((t0 + ((t1 - t0) * k) / n - this.begin) * this.fs - 1e-9);
    return Array.from({ length: n }, (_, k) => this.range(at(k), at(k + 1)));
  }

  // Runs of samples that meet slots [lo, hi): [slot, values].
  runs(lo, hi) {
    if (this.bin > 1) return this.spans.filter((s) => s.slot < hi && s.slot + s.value.length > lo).map((s) => [s.slot, s.value]);
    const a = Math.max(0, lo), b = Math.min(this.slots, hi), level = this.levels[0], value = new Float32Array(Math.max(0, b - a));
    for (let i = a; i < b; i++) value[i - a] = level.state[i] ? level.least[i] : NaN;
    return [[a, value]];
  }
}
