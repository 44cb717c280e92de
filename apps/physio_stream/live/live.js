// live.js - asks for the newest data every second and draws them, with signal.js, marks.js and draw.js.
"use strict";
const live = (() => {
  const $ = (id) => document.getElementById(id);
  const none = { start: { kind: 0, us: 0 }, codes: [], signals: [], marks: [], begin: 0, end: 0 };
  const drawing = new Drawing($("view"), none, [], []);
  let paused = false, answered = 0, changed = 0, newest = -1;

  function draw() {
    const d = drawing.data, wanted = Number($("span").value), all = Math.max(1, d.end - d.begin), span = wanted > 0 ? Math.min(wanted, all) : all;
    drawing.draw({ t: d.end - span, span, whole: false, cursor: -1, file: -1, mark: -1 });
  }

  function say() {
    const now = performance.now(), d = drawing.data, silent = Math.round((now - changed) / 1000);
    let text = d.end > 0 ? "newest sample at " + timeText(d.end, 0.1) + (d.start.kind ? " (" + clockText(d.start, d.end, 1) + ")" : "") : "no samples yet";
    if (now - answered > 3000) text += "; no answer from the run: it has ended, or stands still";
    else if (changed && silent > 3) text += "; no new samples for " + silent + " s";
    if (paused) text += "; paused";
    $("state").textContent = text;
  }

  async function ask() {
    try {
      const answer = await fetch("data", { cache: "no-store", signal: AbortSignal.timeout(3000) });
      const data = await answer.json();
      answered = performance.now();
      if (data.signals && data.end !== newest) {
        changed = answered;
        newest = data.end;
      }
      if (data.signals && !paused) {
        $("title").textContent = "physio_stream: live, " + textOf(data.record);
        Object.assign(drawing, { data, signals: data.signals.map((s) => new Signal(s)), marks: data.marks.map((m) => new Marks(m)) });
        $("view").style.height = Math.max(320, Math.min(900, 130 * data.signals.length + LANE * data.marks.length + AXIS)) + "px";
        draw();
      }
    } catch (e) { /* said below */ }
    say();
    setTimeout(ask, 1000);
  }

  $("pause").addEventListener("click", () => {
    paused = !paused;
    $("pause").textContent = paused ? "continue" : "pause";
    say();
  });
  $("span").addEventListener("change", draw);
  window.addEventListener("resize", draw);
  ask();
  return { drawing };
})();
