// viewer.js - what the page does with keys, mouse and buttons. Its address says what it shows: #t=SECONDS&span=SECONDS&file=INDEX&mark=INDEX.
"use strict";
const viewer = (() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const signals = data.signals.map((s) => new Signal(s)), marks = data.marks.map((m) => new Marks(m));
  const drawing = new Drawing($("view"), data, signals, marks);
  const ends = signals.map((s) => s.slots / s.fs).concat(marks.map((m) => (m.items.length ? m.seconds(m.items.length - 1) : 0)));
  const duration = Math.max(1e-3, ...ends), leastSpan = Math.min(duration, 10 / Math.max(1e-3, ...signals.map((s) => s.fs)));
  const view = { t: 0, span: Math.min(duration, 10), whole: false, cursor: 0, file: marks.length ? 0 : -1, mark: -1 };
  let waiting = false, written = "";

  const file = () => marks[view.file];
  const clamp = (v, lo, hi) => Math.max(lo, Math.min(hi, v));
  const say = (text) => { $("state").textContent = text; };

  function show(t, span) {
    view.span = clamp(span, leastSpan, duration);
    view.t = clamp(t, 0, duration - view.span);
    redraw();
  }

  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      drawing.draw(view);
      describe();
    });
  }

  // What the drawing shows, in words.
  function describe() {
    const { t, span } = view, step = span / 1000, m = file();
    const date = clockText(data.start, t, step), pixel = span / Math.max(1, drawing.width - LEFT);
    let text = timeText(t, step) + " to " + timeText(t + span, step) + (date ? " (" + date + ")" : "");
    const coarse = signals.filter((s) => s.bin > 1 && !s.sparse && pixel * s.fs < s.bin);
    if (coarse.length) {
      text += "; bars: range of " + coarse.map((s) => s.bin + " samples (" + Number((s.bin / s.fs).toPrecision(3)) + " s) of " + s.name).join(", ") +
        "; the page has no finer level there";
    }
    if (m && view.mark >= 0) {
      text += "; chosen: " + drawing.label(m.items[view.mark]) + " at " + timeText(m.seconds(view.mark), 1e-3) + ", " + (view.mark + 1) + " of " + m.items.length;
    }
    $("shown").textContent = text;
    const address = "#t=" + Number(t.toFixed(6)) + "&span=" + Number(span.toFixed(6)) + (m ? "&file=" + view.file : "") + (view.mark >= 0 ? "&mark=" + view.mark : "");
    clearTimeout(describe.timer);
    describe.timer = setTimeout(() => {
      written = address;
      try {
        history.replaceState(null, "", address);
      } catch (e) { /* a browser that refuses it for files: the page works without */ }
    }, 300);
  }

  function follow() {
    if (location.hash === written) return;
    const words = new URLSearchParams(location.hash.slice(1)), number = (key, otherwise) => {
      const v = parseFloat(words.get(key));
      return Number.isFinite(v) ? v : otherwise;
    };
    const f = number("file", view.file), m = number("mark", -1);
    if (marks[f]) view.file = f;
    $("marks").value = view.file;
    $("file").value = file() ? file().name : "";
    show(number("t", view.t), number("span", view.span));
    if (marks[f] && marks[f].items[m]) choose(m, !words.has("t"));
  }

  const zoom = (factor, at = view.t + view.span / 2) => {
    const span = clamp(view.span * factor, leastSpan, duration);
    show(at - ((at - view.t) * span) / view.span, span);
  };
  const pan = (part) => show(view.t + part * view.span, view.span);

  function choose(i, center) {
    const m = file();
    view.mark = m && m.items[i] ? i : -1;
    if (view.mark >= 0) {
      view.cursor = m.seconds(i);
      $("code").value = m.items[i].code;
      $("text").value = fieldText(m.items[i].aux);
    }
    if (center && view.mark >= 0) show(view.cursor - view.span / 2, view.span);
    else redraw();
  }

  function next(forward) {
    const m = file();
    if (!m) return;
    const i = view.mark >= 0 ? view.mark + (forward ? 1 : -1) : forward ? m.after(view.cursor) : m.after(view.cursor) - 1;
    if (m.items[i]) choose(i, true);
    else say("no mark of " + m.name + (forward ? " after this time" : " before this time"));
  }

  function edit(act) {
    const m = file();
    try {
      if (!m) throw new RangeError("there is no file of annotations");
      act(m);
    } catch (e) {
      say(e.message);
    }
    if (m) $("marks").options[view.file].textContent = m.name + " (" + m.items.length + ")";
    redraw();
  }
  const add = () => edit((m) => {
    const i = m.add(view.cursor, Number($("code").value), $("text").value);
    choose(i, false);
    say("added: " + drawing.label(m.items[i]) + " at " + timeText(m.seconds(i), 1e-3));
  });
  const relabel = () => edit((m) => {
    if (view.mark < 0) throw new RangeError("no mark is chosen");
    m.relabel(view.mark, Number($("code").value), $("text").value);
    say("changed to " + drawing.label(m.items[view.mark]));
  });
  const remove = () => edit((m) => {
    if (view.mark < 0) throw new RangeError("no mark is chosen");
    say("deleted: " + drawing.label(m.items[view.mark]) + " at " + timeText(m.seconds(view.mark), 1e-3));
    m.remove(view.mark);
    view.mark = -1;
  });
  const undo = () => edit((m) => {
    say(m.undo() ? "undone" : "there is nothing to undo");
    view.mark = -1;
  });
  const save = () => edit((m) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([m.bytes()], { type: "application/octet-stream" }));
    link.download = $("file").value || m.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    m.keep();
    say("saved " + m.items.length + " annotations as " + link.download);
  });

  function go() {
    const words = $("place").value.trim().split(":").map(Number), t = words.reduce((all, w) => all * 60 + w, 0);
    if (words.length > 3 || !Number.isFinite(t)) return say("a time is written as seconds, mm:ss or h:mm:ss");
    view.cursor = clamp(t, 0, duration);
    view.mark = -1;
    return show(t - view.span / 2, view.span);
  }

  function moveCursor(direction, far) {
    const m = file(), tick = 1 / (m ? m.fs : signals.length ? signals[0].fs : 1);
    view.cursor = clamp(view.cursor + direction * (far ? view.span / 20 : Math.max(tick, view.span / drawing.width)), 0, duration);
    view.mark = -1;
    if (view.cursor < view.t || view.cursor > view.t + view.span) show(view.cursor - view.span / 2, view.span);
    else redraw();
  }

  const acts = {
    back: () => pan(-0.8), forward: () => pan(0.8), in: () => zoom(0.5), out: () => zoom(2), all: () => show(0, duration),
    previous: () => next(false), next: () => next(true), go, add, relabel, remove, undo, save,
  };
  const keys = {
    ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1), PageUp: acts.back, PageDown: acts.forward, ArrowUp: acts.in, ArrowDown: acts.out, "+": acts.in,
    "-": acts.out, Home: () => show(0, view.span), End: () => show(duration, view.span), "0": acts.all, n: acts.next, p: acts.previous,
    ",": () => moveCursor(-1, false), ".": () => moveCursor(1, false), "<": () => moveCursor(-1, true), ">": () => moveCursor(1, true),
    a: add, r: relabel, Delete: remove, u: undo,
  };

  function listen() {
    const canvas = $("view");
    let drag = null;
    for (const [id, act] of Object.entries(acts)) $("do_" + id).addEventListener("click", act);
    canvas.addEventListener("keydown", (e) => {
      const act = e.ctrlKey || e.metaKey || e.altKey ? undefined : keys[e.key];
      if (act) {
        act();
        e.preventDefault();
      }
    });
    canvas.addEventListener("wheel", (e) => {
      if (e.shiftKey) pan(Math.sign(e.deltaY || e.deltaX) * 0.1);
      else zoom(e.deltaY > 0 ? 1.25 : 0.8, drawing.time(Math.max(LEFT, e.offsetX)));
      e.preventDefault();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => {
      drag = { x: e.offsetX, t: view.t, moved: false };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag) return;
      drag.moved = drag.moved || Math.abs(e.offsetX - drag.x) > 3;
      if (drag.moved) show(drag.t - ((e.offsetX - drag.x) * view.span) / (drawing.width - LEFT), view.span);
    });
    canvas.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved) pick(e.offsetX, e.offsetY);
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    $("marks").addEventListener("change", () => {
      view.file = Number($("marks").value);
      view.mark = -1;
      $("file").value = file() ? file().name : "";
      redraw();
    });
    $("whole").addEventListener("change", () => {
      view.whole = $("whole").checked;
      redraw();
    });
    $("place").addEventListener("keydown", (e) => { if (e.key === "Enter") go(); });
    window.addEventListener("resize", redraw);
    window.addEventListener("hashchange", follow);
    window.addEventListener("beforeunload", (e) => {
      if (!marks.some((m) => m.edited())) return;
      e.preventDefault();
      e.returnValue = "unsaved"; // for older browsers
    });
  }

  // A click sets the cursor, and chooses a mark that is close to it.
  function pick(x, y) {
    const lane = Math.floor(y / LANE);
    if (marks[lane]) {
      view.file = lane;
      $("marks").value = lane;
      $("file").value = marks[lane].name;
    }
    view.cursor = clamp(drawing.time(x), 0, duration);
    const m = file(), i = m ? m.nearest(view.cursor) : -1;
    if (m && m.items[i] && Math.abs(drawing.x(m.seconds(i)) - x) <= 6) choose(i, false);
    else {
      view.mark = -1;
      redraw();
    }
  }

  function begin() {
    const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
    marks.forEach((m, i) => $("marks").append(option(i, m.name + " (" + m.items.length + ")")));
    // Codes that files define, or have without a definition, are codes like those of the standard.
    const define = (code, mnemonic, text) => data.codes.some((c) => c[0] === code) || data.codes.push([code, mnemonic, text]);
    for (const m of marks) {
      for (const [code, mnemonic, text] of m.types) define(code, textOf(mnemonic), textOf(text));
      for (const item of m.items) define(item.code, "[" + item.code + "]", "not defined");
    }
    for (const [code, mnemonic, text] of data.codes) $("code").append(option(code, mnemonic + " " + text));
    $("file").value = file() ? file().name : "";
    $("view").style.height = Math.max(320, Math.min(900, 130 * signals.length + LANE * marks.length + AXIS)) + "px";
    listen();
    follow();
    redraw();
  }

  begin();
  return { data, signals, marks, view, drawing, duration, show, choose };
})();
