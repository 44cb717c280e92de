// marks.js - annotations: what is shown, edited, undone and saved as a file in the MIT format, annot(5) of the WFDB Applications Guide.
"use strict";
const SKIP = 59, NUM = 60, SUB = 61, CHN = 62, AUX = 63, NOTE = 22, MAX_AUX = 255;

class Marks {
  constructor(from) {
    this.name = textOf(from.name);
    this.fs = from.fs[0] / from.fs[1];
    this.resolution = from.resolution;
    this.types = from.types;
    this.items = from.t.map(() => null);
    let time = 0;
    from.t.forEach((step, i) => {
      time += step;
      this.items[i] = { time, code: from.code[i], subtype: 0, channel: 0, number: 0, aux: null };
    });
    for (const field of ["subtype", "channel", "number", "aux"]) for (const [i, value] of from[field]) this.items[i][field] = value;
    this.items.sort((a, b) => a.time - b.time); // stable: those of one time keep their order
    this.done = []; // how each change is undone
    this.saved = undefined; // the last change that a file has
  }

  seconds(i) {
    return this.items[i].time / this.fs;
  }

  // The first mark at or after a time (s).
  after(t) {
    let lo = 0, hi = this.items.length;
    while (lo < hi) {
      const middle = (lo + hi) >> 1;
      if (this.seconds(middle) < t) lo = middle + 1;
      else hi = middle;
    }
    return lo;
  }

  nearest(t) {
    const i = this.after(t);
    return i > 0 && (i === this.items.length || t - this.seconds(i - 1) < this.seconds(i) - t) ? i - 1 : i;
  }

  change(act, undo) {
    act();
    this.done.push(undo);
  }

  // Adds a mark at a time (s); returns its index.
  add(t, code, text) {
    const item = { time: Math.max(0, Math.round(t * this.fs)), code, subtype: 0, channel: 0, number: 0, aux: auxOf(text) };
    const i = this.items.findIndex((other) => other.time > item.time), at = i < 0 ? this.items.length : i;
    this.change(() => this.items.splice(at, 0, item), () => this.items.splice(this.items.indexOf(item), 1));
    return at;
  }

  remove(i) {
    const item = this.items[i];
    this.change(() => this.items.splice(i, 1), () => this.items.splice(i, 0, item));
  }

  relabel(i, code, text) {
    const item = this.items[i], before = { code: item.code, aux: item.aux };
    const aux = text === fieldText(item.aux) ? item.aux : auxOf(text);
    this.change(() => Object.assign(item, { code, aux }), () => Object.assign(item, before));
  }

  undo() {
    const last = this.done.pop();
    if (last) last();
    return last !== undefined;
  }

  edited() {
    return this.done[this.done.length - 1] !== this.saved;
  }

  keep() {
    this.saved = this.done[this.done.length - 1];
  }

  // The file.
  bytes() {
    const out = [];
    let time = 0, channel = 0, number = 0;
    const word = (kind, value) => {
      const w = (kind << 10) | (value & 1023);
      out.push(w & 255, w >> 8);
    };
    const skip = (step) => {
      word(SKIP, 0);
      out.push((step >> 16) & 255, (step >> 24) & 255, step & 255, (step >> 8) & 255); // the high word first
    };
    const aux = (text) => {
      word(AUX, text.length);
      for (const b of bytesOf(text)) out.push(b);
      if (text.length & 1) out.push(0);
    };
    const note = (text) => {
      word(NOTE, 0);
      aux(text);
    };
    if (this.resolution) note("## time resolution: " + this.resolution);
    if (this.types.length > 0) {
      note("## annotation type definitions");
      for (const [code, mnemonic, text] of this.types) note((code + " " + mnemonic + " " + text).slice(0, MAX_AUX));
      note("## end of definitions");
    }
    if (this.resolution || this.types.length > 0) { // one step back and an empty word one step on end these notes
      skip(-1);
      word(0, 1);
    }
    for (const item of this.items) {
      let step = item.time - time;
      while (step < 0 || step > 1023) {
        const part = Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, step));
        skip(part);
        step -= part;
      }
      word(item.code, step);
      time = item.time;
      if (item.subtype !== 0) word(SUB, item.subtype);
      if (item.channel !== channel) word(CHN, (channel = item.channel));
      if (item.number !== number) word(NUM, (number = item.number));
      if (item.aux !== null) aux(item.aux);
    }
    word(0, 0);
    return Uint8Array.from(out);
  }
}

// A text as the field of the page has it, which takes no line ends.
function fieldText(aux) {
  return textOf(aux || "").replace(/[\r\n]/g, "");
}

// A text that a user wrote, as bytes of UTF-8; null for none. Throws where a file cannot hold it.
function auxOf(text) {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_AUX) throw new RangeError("the text has " + bytes.length + " bytes, and an annotation takes " + MAX_AUX);
  return bytes.length > 0 ? Array.from(bytes, (b) => String.fromCharCode(b)).join("") : null;
}
