// Draws the bars of a timeline on a canvas: zoom, move, point. DATA comes before.
(() => {
  const box = document.querySelector(".viewer");
  const canvas = box.querySelector("canvas");
  const tip = box.querySelector(".tip");
  const context = canvas.getContext("2d");
  const ROW = 26, GAP = 4, AXIS = 24, LEFT = 166;
  const TRACK = 0, KIND = 1, NAME = 2, LINE = 3, DETAIL = 4, SPAN = 5, BEGIN = 6, TIME = 7;
  const rows = DATA.tracks.map(() => []);
  for (const bar of DATA.bars) rows[bar[TRACK]].push(bar);
  for (const row of rows) row.sort((a, b) => a[BEGIN] - b[BEGIN]);
  const full = Math.max(DATA.duration, 1);
  let view = [-full * 0.01, full * 1.01];
  let marked = null;
  let width = 0;
  const height = AXIS + rows.length * (ROW + GAP) + GAP;

  // The longest bar of each row: how far left of the view a visible bar may begin.
  const longest = rows.map((row) => row.reduce((m, b) => Math.max(m, b[TIME]), 0));

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const colours = () =>
    DATA.kinds.map((_, i) => getComputedStyle(box.querySelector(`[data-kind="${i}"]`)).fill);

  // The colour of a text on a bar: the one of ink and paper that differs more.
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
    return 0.3 * r + 0.59 * g + 0.11 * b > 150;
  };

  const timeText = (ns) => {
    const size = Math.abs(ns);
    if (size < 1e3) return `${ns.toFixed(0)} ns`;
    if (size < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
    if (size < 1e9) return `${(ns / 1e6).toFixed(2)} ms`;
    return `${(ns / 1e9).toFixed(3)} s`;
  };
  const x = (t) => LEFT + ((t - view[0]) / (view[1] - view[0])) * (width - LEFT);
  const timeAt = (px) => view[0] + ((px - LEFT) / (width - LEFT)) * (view[1] - view[0]);
  const top = (track) => AXIS + GAP + track * (ROW + GAP);

  // The first bar of a row that may end after a moment.
  const first = (row, moment) => {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[middle][BEGIN] < moment) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  function drawAxis(ink, line) {
    const span = view[1] - view[0];
    let step = 10 ** Math.floor(Math.log10(span / 8));
    while (span / step > 10) step *= span / step > 20 ? 5 : 2;
    context.strokeStyle = line;
    context.fillStyle = ink;
    context.textAlign = "center";
    for (let t = Math.ceil(view[0] / step) * step; t < view[1]; t += step) {
      const at = Math.round(x(t)) + 0.5;
      if (at < LEFT + 20 || at > width - 24) continue;
      context.beginPath();
      context.moveTo(at, AXIS - 4);
      context.lineTo(at, height);
      context.stroke();
      context.fillText(timeText(t), at, 14);
    }
  }

  function drawRow(row, track, colour) {
    const y = top(track);
    let covered = -1;
    for (let i = first(row, view[0] - longest[track]); i < row.length; i++) {
      const bar = row[i];
      if (bar[BEGIN] > view[1]) break;
      const begin = Math.max(x(bar[BEGIN]), LEFT);
      const end = Math.min(x(bar[BEGIN] + bar[TIME]), width);
      if (end < LEFT || end - covered < 0.5 && end - begin < 1) continue;
      const size = Math.max(end - begin, 1);
      covered = begin + size;
      context.fillStyle = colour[bar[KIND]];
      context.fillRect(begin, y, size > 3 ? size - 0.5 : size, ROW);
      if (size > 34) {
        context.save();
        context.beginPath();
        context.rect(begin, y, size - 3, ROW);
        context.clip();
        context.fillStyle = light(colour[bar[KIND]]) ? "#14171b" : "#fff";
        context.textAlign = "left";
        context.fillText(DATA.names[bar[NAME]], begin + 5, y + 17);
        context.restore();
      }
    }
  }

  function drawMarks(ink) {
    if (marked === null) return;
    context.strokeStyle = ink;
    context.lineWidth = 2;
    const parts = DATA.bars.filter((bar) => bar[SPAN] === marked[SPAN]);
    for (const bar of parts) {
      const begin = Math.max(x(bar[BEGIN]), LEFT), end = x(bar[BEGIN] + bar[TIME]);
      if (end < LEFT || begin > width) continue;
      context.strokeRect(begin - 1, top(bar[TRACK]) - 1, Math.max(end - begin, 1) + 2, ROW + 2);
    }
    context.lineWidth = 1;
  }

  function draw() {
    const scale = window.devicePixelRatio || 1;
    width = box.clientWidth;
    canvas.style.height = `${height}px`;
    canvas.width = width * scale;
    canvas.height = height * scale;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
    const ink = style("--ink"), soft = style("--soft"), line = style("--line");
    const paper = style("--paper"), panel = style("--panel");
    context.fillStyle = paper;
    context.fillRect(0, 0, width, height);
    for (let track = 0; track < rows.length; track++) {
      context.fillStyle = panel;
      context.fillRect(LEFT, top(track), width - LEFT, ROW);
    }
    drawAxis(soft, line);
    const colour = colours();
    rows.forEach((row, track) => drawRow(row, track, colour));
    drawMarks(ink);
    context.fillStyle = paper;
    context.fillRect(0, AXIS, LEFT - 4, height);
    context.fillStyle = soft;
    context.textAlign = "left";
    DATA.tracks.forEach((title, i) => context.fillText(title, 12, top(i) + 17, LEFT - 20));
  }

  function find(px, py) {
    const track = Math.floor((py - AXIS - GAP) / (ROW + GAP));
    if (track < 0 || track >= rows.length || px < LEFT) return null;
    const slack = timeAt(px + 2) - timeAt(px);
    const moment = timeAt(px);
    let best = null;
    for (let i = first(rows[track], moment - longest[track] - slack); ; i++) {
      const bar = rows[track][i];
      if (bar === undefined || bar[BEGIN] > moment + slack) return best;
      if (bar[BEGIN] + bar[TIME] >= moment - slack) best = bar;
    }
  }

  const element = (tag, text) => {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  };

  function point(px, py) {
    const bar = find(px, py);
    if (bar !== marked) {
      marked = bar;
      draw();
    }
    tip.style.display = bar ? "block" : "none";
    if (!bar) return;
    tip.replaceChildren(
      element("b", DATA.names[bar[NAME]]),
      element("span", `${DATA.kinds[bar[KIND]]}, ${timeText(bar[TIME])}, at ${timeText(bar[BEGIN])}`),
      element("span", DATA.lines[bar[LINE]]),
      element("span", DATA.details[bar[DETAIL]])
    );
    const left = Math.min(px + 14, width - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${top(bar[TRACK]) + ROW + 6}px`;
  }

  function zoom(factor, at) {
    if (factor === 0) view = [-full * 0.01, full * 1.01];
    else {
      const size = Math.min(Math.max((view[1] - view[0]) * factor, 50), full * 1.2);
      const share = (at - view[0]) / (view[1] - view[0]);
      view = [at - share * size, at + (1 - share) * size];
    }
    draw();
  }

  let held = null;
  canvas.addEventListener("pointerdown", (e) => {
    held = { x: e.offsetX, view: [...view] };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointermove", (e) => {
    if (held === null) return point(e.offsetX, e.offsetY);
    const shift = ((held.x - e.offsetX) / (width - LEFT)) * (held.view[1] - held.view[0]);
    view = held.view.map((t) => t + shift);
    draw();
  });
  canvas.addEventListener("pointerleave", () => point(-1, -1));
  canvas.addEventListener("dblclick", () => zoom(0, 0));
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    zoom(Math.exp(e.deltaY * 0.0015), timeAt(e.offsetX));
  }, { passive: false });
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom), (view[0] + view[1]) / 2));
  }
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
