// draw.js - the drawing: a row for each signal, above it one for each file of marks, below all the axis of time.
"use strict";
const INK = "#222", GRID = "#e6e6e6", TRACE = "#1b3f8b", SHADE = "#9db4dd", GAP = "#e8ddd0", GAP_BAND = "#c46a1a", MARK = "#a3184a", CHOSEN = "#006b2d";
const LEFT = 76, LANE = 18, AXIS = 40, PAD = 6;

// 1, 2 or 5 times a power of ten, or a round part of an hour.
function niceStep(least, isTime) {
  if (isTime && least > 1) {
    const steps = [2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
    return steps.find((s) => s >= least) || 86400 * Math.ceil(least / 86400);
  }
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((f) => f * power >= least * (1 - 1e-9));
}

const digitsOf = (step) => (step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)));

// h:mm:ss with as many digits as the step needs.
function timeText(t, step) {
  const digits = digitsOf(step), unit = 10 ** digits;
  const all = Math.round(Math.abs(t) * unit), s = Math.floor(all / unit), two = (n) => String(n).padStart(2, "0");
  const text = Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) + ":" + two(s % 60);
  return (t < 0 ? "-" : "") + text + (digits ? "." + String(all % unit).padStart(digits, "0") : "");
}

// What the record says of its first sample (weir_record_start), moved by t; "" where it says nothing. A start between two seconds has digits
// whatever the step.
function clockText(start, t, step) {
  if (start.kind === 0) return "";
  const fine = start.us % 1e6 ? Math.min(step, 1e-3) : step, unit = 10 ** (6 - digitsOf(fine)), day = 86400e6;
  const us = Math.round((start.us + t * 1e6) / unit) * unit, within = ((us % day) + day) % day;
  const date = start.kind === 2 ? new Date(Math.floor(us / day) * 86400e3).toISOString().slice(0, 10) + " " : "";
  return date + timeText(within / 1e6, fine);
}

class Drawing {
  constructor(canvas, data, signals, marks) {
    Object.assign(this, { canvas, data, signals, marks, pen: canvas.getContext("2d") });
  }

  size() {
    const ratio = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    this.width = Math.max(LEFT + 40, Math.round(box.width));
    this.height = Math.round(box.height);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.top = LANE * this.marks.length;
    this.row = (this.height - this.top - AXIS) / Math.max(1, this.signals.length);
  }

  x(t) {
    return LEFT + ((t - this.view.t) / this.view.span) * (this.width - LEFT);
  }

  time(x) {
    return this.view.t + ((x - LEFT) / (this.width - LEFT)) * this.view.span;
  }

  // view: t, span (s), whole (scale of the whole recording), cursor (s), file, mark (indices; -1: none).
  draw(view) {
    this.view = view;
    this.size();
    const pen = this.pen;
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, this.width, this.height);
    pen.font = "12px sans-serif";
    pen.lineWidth = 1;
    this.axis();
    this.signals.forEach((s, i) => this.signal(s, this.top + i * this.row));
    this.marks.forEach((m, i) => this.lane(m, i));
    pen.strokeStyle = CHOSEN;
    this.vertical(this.x(view.cursor), 0, this.height - AXIS);
  }

  vertical(x, y0, y1) {
    if (x < LEFT) return;
    this.pen.beginPath();
    this.pen.moveTo(Math.round(x) + 0.5, y0);
    this.pen.lineTo(Math.round(x) + 0.5, y1);
    this.pen.stroke();
  }

  axis() {
    const { t, span } = this.view, pen = this.pen, step = niceStep((span * 110) / (this.width - LEFT), true);
    pen.textAlign = "center";
    for (let k = Math.ceil(t / step); k * step <= t + span; k++) {
      const x = this.x(k * step);
      pen.strokeStyle = GRID;
      this.vertical(x, 0, this.height - AXIS);
      pen.fillStyle = INK;
      pen.fillText(timeText(k * step, step), x, this.height - AXIS + 15);
      pen.fillText(clockText(this.data.start, k * step, step).split(" ").pop(), x, this.height - AXIS + 31);
    }
  }

  // Scale of a row: value to y.
  scale(s, top) {
    const { span, whole } = this.view, t = this.view.t - s.begin;
    const r = whole ? s.range(0, s.slots) : s.range(Math.floor(t * s.fs), Math.ceil((t + span) * s.fs));
    const some = r.state !== NOTHING, middle = some ? (r.least + r.most) / 2 : 0;
    const half = some && r.most > r.least ? (r.most - r.least) / 2 : Math.abs(middle) / 10 || 1;
    return { least: middle - half, most: middle + half, y: (v) => top + PAD + ((middle + half - v) / (2 * half)) * (this.row - 2 * PAD) };
  }

  signal(s, top) {
    const pen = this.pen, scale = this.scale(s, top), step = niceStep(((scale.most - scale.least) * 34) / Math.max(34, this.row));
    pen.textAlign = "right";
    for (let k = Math.ceil(scale.least / step); k * step <= scale.most; k++) {
      const y = Math.round(scale.y(k * step)) + 0.5;
      pen.strokeStyle = GRID;
      pen.beginPath();
      pen.moveTo(LEFT, y);
      pen.lineTo(this.width, y);
      pen.stroke();
      pen.fillStyle = INK;
      pen.fillText(Number((k * step).toPrecision(9)), LEFT - 4, y + 4);
    }
    pen.strokeStyle = INK;
    pen.strokeRect(LEFT - 0.5, Math.round(top) + 0.5, this.width - LEFT, Math.round(this.row));
    pen.textAlign = "left";
    pen.fillStyle = INK;
    pen.fillText(s.name, 2, top + 14, LEFT - 6);
    pen.fillText(s.unit, 2, top + 28, LEFT - 40);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, top, this.width - LEFT, this.row);
    pen.clip();
    const perPixel = (this.view.span * s.fs) / (this.width - LEFT);
    if (perPixel >= s.bin && perPixel > 1) this.columns(s, top, scale);
    else this.fine(s, top, scale);
    pen.restore();
  }

  gap(s, x0, x1, top, all) {
    const pen = this.pen;
    if (s.sparse) return;
    if (all) {
      pen.fillStyle = GAP;
      pen.fillRect(x0, top + 1, x1 - x0, this.row - 1);
    }
    pen.fillStyle = GAP_BAND;
    pen.fillRect(x0, top + this.row - 3, x1 - x0, 3);
  }

  // A pixel is several bins: from the least to the greatest sample, joined to the pixel before where neither lacks a sample.
  columns(s, top, scale) {
    const pen = this.pen, n = this.width - LEFT, end = s.begin + s.slots / s.fs;
    let before = null;
    s.columns(this.view.t, this.view.t + this.view.span, n).forEach((c, k) => {
      if (c.state !== ALL && this.time(LEFT + k) >= s.begin && this.time(LEFT + k) < end) this.gap(s, LEFT + k, LEFT + k + 1, top, c.state === NOTHING);
      if (c.state === NOTHING) {
        before = null;
        return;
      }
      const joined = before && before.state === ALL && c.state === ALL;
      const least = joined ? Math.min(c.least, before.most) : c.least, most = joined ? Math.max(c.most, before.least) : c.most;
      const y0 = scale.y(most), y1 = scale.y(least);
      pen.fillStyle = TRACE;
      if (s.sparse) pen.fillRect(LEFT + k - 1, y0 - 1, 3, y1 - y0 + 2);
      else pen.fillRect(LEFT + k, y0 - 0.5, 1, y1 - y0 + 1);
      before = c;
    });
  }

  // Several pixels are a bin: the bins as bars, unless a bin is a sample, and the samples that there are as a line.
  fine(s, top, scale) {
    const t = this.view.t - s.begin, lo = Math.max(0, Math.floor(t * s.fs)), hi = Math.min(s.slots, Math.ceil((t + this.view.span) * s.fs) + 1);
    const pen = this.pen, bins = s.levels[0], place = (slot) => this.x(s.begin + slot / s.fs);
    for (let b = Math.floor(lo / s.bin); b * s.bin < hi; b++) {
      // A sample of which there is none takes the place half way to its neighbours.
      const shift = s.bin === 1 ? 0.5 : 0, x0 = place(b * s.bin - shift), x1 = place(Math.min(s.slots, (b + 1) * s.bin) - shift);
      if (bins.state[b] !== ALL) this.gap(s, x0, x1, top, bins.state[b] === NOTHING);
      if (s.bin > 1 && bins.state[b] !== NOTHING) {
        const y0 = scale.y(bins.most[b]), y1 = scale.y(bins.least[b]);
        pen.fillStyle = s.sparse ? TRACE : SHADE;
        if (s.sparse) pen.fillRect((x0 + x1) / 2 - 1.5, y0 - 1.5, 3, y1 - y0 + 3);
        else pen.fillRect(x0, y0 - 0.5, x1 - x0, y1 - y0 + 1);
      }
    }
    pen.strokeStyle = pen.fillStyle = TRACE;
    pen.beginPath();
    for (const [slot, value] of s.runs(lo - 1, hi + 1)) {
      let open = false;
      for (let i = Math.max(0, lo - 1 - slot); i < value.length && slot + i <= hi; i++) {
        if (Number.isNaN(value[i])) {
          open = false;
          continue;
        }
        const x = place(slot + i), y = scale.y(value[i]);
        if (open) pen.lineTo(x, y);
        else pen.moveTo(x, y);
        if (!open && !(value[i + 1] === value[i + 1] && i + 1 < value.length)) pen.rect(x - 1, y - 1, 2, 2); // alone
        open = true;
      }
    }
    pen.stroke();
  }

  lane(m, number) {
    const pen = this.pen, y = number * LANE, { t, span } = this.view, first = m.after(t), last = m.after(t + span);
    const crowded = (last - first) * 14 > this.width - LEFT;
    pen.textAlign = "left";
    pen.fillStyle = INK;
    pen.fillText(m.name, 2, y + 13, LEFT - 6);
    let column = -1;
    for (let i = first; i < last; i++) {
      const x = this.x(m.seconds(i)), chosen = number === this.view.file && i === this.view.mark;
      if (!chosen && Math.floor(x) === column) continue; // drawn already
      column = Math.floor(x);
      pen.strokeStyle = pen.fillStyle = chosen ? CHOSEN : MARK;
      pen.globalAlpha = chosen || crowded ? 1 : 0.5;
      this.vertical(x, y, crowded && !chosen ? y + LANE : this.height - AXIS);
      pen.globalAlpha = 1;
      const text = this.label(m.items[i]), room = i + 1 < last ? this.x(m.seconds(i + 1)) - x : this.width;
      if (chosen || (!crowded && pen.measureText(text).width < room - 2)) pen.fillText(text, x + 2, y + 13);
    }
  }

  label(item) {
    const code = this.data.codes.find((c) => c[0] === item.code), text = item.aux === null ? "" : textOf(item.aux);
    return (item.code === NOTE && text ? "" : code ? code[1] : "[" + item.code + "]") + (text ? " " + text : "");
  }
}
