"use strict";
// Asks for the status once a second and draws it. What comes from the node is only ever text.

const EVERY_MS = 1000;
const PATIENCE_MS = 8000;
const LATE_S = 5; // seconds without a new status until the page says so
const MOST_THRESHOLDS = 4; // shown of the curve of a watch
const MOST_CLASSES = 12; // shown as a table
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);
let status = null;
let token = "";

// Text.

const whole = (n) => Math.round(n).toLocaleString("en");
const percent = (share) => (share === null ? "–" : (100 * share).toFixed(1) + " %");
const short = (x) => (x === null ? "–" : Number(x.toPrecision(3)).toString());
const atTime = (seconds) => new Date(1000 * seconds).toLocaleTimeString("en-GB");
function bytes(n) {
  return n < 1024 ? `${n} B` : n < 1048576 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1048576).toFixed(1)} MiB`;
}
function lasted(seconds) {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  return s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
}

// Elements.

function made(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
const el = (tag, attributes = {}, ...children) => made(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => made(document.createElementNS(SVG, tag), attributes, children);
const show = (id, ...children) => $(id).replaceChildren(...children);

// Charts.

const SERIES = ["first", "second", "third"];

function path(times, values, x, y) {
  let d = "";
  let pen = "M";
  values.forEach((value, i) => {
    if (value === null) { pen = "M"; return; }
    d += `${pen}${x(times[i]).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
  });
  return d;
}

function steps(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const marks = [];
  for (let at = Math.ceil(low / step) * step; at <= high + 1e-9 * step; at += step) marks.push(at);
  return marks.length || most > 16 ? marks : steps(low, high, 2 * most); // none is a multiple of so wide a step
}

function chart(id, times, series, { low = null, high = null, text = short, ago = true } = {}) {
  const box = $(id);
  const [width, height] = [box.clientWidth, box.clientHeight];
  const known = series.flat().filter((value) => value !== null);
  if (!known.length || !width) { show(id, el("p", { class: "hint" }, "Nothing to show yet.")); return; }
  let bottom = low ?? Math.min(...known);
  let top = high ?? Math.max(...known);
  if (bottom === top) { bottom -= 0.5 * (Math.abs(bottom) || 1); top += 0.5 * (Math.abs(top) || 1); }
  const marks = steps(bottom, top, height > 120 ? 5 : 2);
  const left = 8 + 7 * Math.max(0, ...marks.map((mark) => text(mark).length));
  const foot = ago ? 18 : 6;
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const x = (t) => left + (width - left - 4) * (last > first ? (t - first) / (last - first) : 1);
  const y = (v) => 6 + (height - foot - 6) * (1 - Math.min(1, (v - bottom) / (top - bottom)));
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const mark of marks) {
    drawing.append(
      svg("line", { class: "grid", x1: left, x2: width, y1: y(mark), y2: y(mark) }),
      svg("text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, text(mark)));
  }
  if (ago) {
    drawing.append(
      svg("text", { x: left, y: height - 2 }, `${lasted(last - first)} ago`),
      svg("text", { x: width, y: height - 2, "text-anchor": "end" }, "now"));
  }
  series.forEach((values, i) => {
    drawing.append(svg("path", { class: `line ${SERIES[i]}`, d: path(times, values, x, y) }));
  });
  show(id, drawing);
}

function legend(id, entries) {
  show(id, ...entries.map((text, i) => el("li", {},
    svg("svg", { viewBox: "0 0 28 10", "aria-hidden": "true" }, svg("path", { class: `line ${SERIES[i]}`, d: "M1 5L27 5" })), text)));
}

// A run.

function drawRun(s) {
  const score = s.score;
  const seen = Math.min(score.window, score.predicted);
  if (score.mae !== undefined) { drawErrors(s, seen); return; }
  show("accuracy", percent(score.rolling_accuracy), " ", el("small", {}, `of the last ${whole(seen)} right, each predicted before it was learned`));
  const h = s.history;
  const known = [...h.accuracy, ...h.larger_class, ...h.label_before].filter((v) => v !== null);
  const low = Math.max(0, Math.floor(10 * Math.min(1, ...known) - 0.5) / 10);
  chart("accuracy-chart", h.time, [h.accuracy, h.larger_class, h.label_before], { low, high: 1, text: (v) => `${Math.round(100 * v)} %` });
  legend("accuracy-legend", [
    `this model, ${percent(score.accuracy)} of all`,
    `always the larger class, ${percent(score.majority)}`,
    `the label before, ${percent(score.label_before)}`]);
  drawConfusion(s.confusion);
  drawClasses(s.classes);
}

function drawErrors(s, seen) {
  const { score, history: h } = s;
  const covered = `${percent(score.coverage)} of the targets within their interval` + (score.coverage_asked ? `, ${percent(score.coverage_asked)} asked` : "");
  $("accuracy-title").textContent = "Error";
  show("accuracy", short(score.rolling_mae), " ", el("small", {}, `mean absolute error of the last ${whole(seen)}, each predicted before it was learned; ${covered}`));
  chart("accuracy-chart", h.time, [h.mae, h.mean_so_far, h.value_before], { low: 0 });
  legend("accuracy-legend", [
    `this model, ${short(score.mae)} of all, R2 ${short(score.r2)}`,
    `the mean so far, ${short(score.mae_mean_so_far)}`,
    `the target before, ${short(score.mae_value_before)}`]);
  $("what").textContent = "target";
}

function drawConfusion({ labels, counts }) {
  if (!labels.length) { show("confusion", el("p", { class: "hint" }, "Nothing was predicted and labelled yet.")); return; }
  if (labels.length > MOST_CLASSES) {
    const missed = counts.map((row, i) => [labels[i], row.reduce((a, b) => a + b, 0), row[i]]).filter(([, n]) => n);
    show("confusion", el("table", {}, el("tr", {}, el("th", {}, "class"), el("th", {}, "right")),
      ...missed.map(([label, n, hits]) => el("tr", {}, el("td", {}, String(label)), el("td", {}, percent(hits / n))))));
    return;
  }
  const head = el("tr", {}, el("th", { scope: "col" }, "true \\ predicted"), ...labels.map((label) => el("th", { scope: "col" }, String(label))));
  const rows = counts.map((row, i) => {
    const total = row.reduce((a, b) => a + b, 0) || 1;
    return el("tr", {}, el("th", { scope: "row" }, String(labels[i])), ...row.map((n, j) => {
      const cell = el("td", i === j ? { class: "hit" } : {}, whole(n));
      cell.style.backgroundColor = `rgba(var(--tint), ${(0.45 * n / total).toFixed(2)})`;
      return cell;
    }));
  });
  show("confusion", el("table", {}, head, ...rows));
}

function drawDrift(drift) {
  const last = drift.last.slice(-5).reverse();
  show("drift", el("p", {}, `${whole(drift.drifts)} found` + (drift.resets ? `, the learner started over ${whole(drift.resets)} times` : "")),
    ...last.map((d) => el("p", { class: "hint" }, `at sample ${whole(d.sample)}: errors ${percent(d.before)} before, ${percent(d.now)} since`)));
}

function drawClasses(classes) {
  const now = classes.join();
  if ($("classes").dataset.now === now) return;
  $("classes").dataset.now = now;
  show("classes", ...classes.map((label) => pressed(String(label), () => teach(label), { "data-label": label })));
}

// Labels.

function pressed(text, act, attributes = {}) {
  const button = el("button", { type: "button", ...attributes }, text);
  button.addEventListener("click", act);
  return button;
}

// A number is one, as on the wire; anything else is a word.
function labelOf(text) {
  return text === "" || isNaN(text) ? text : Number(text);
}

function teach(label) {
  if ($("span").value === "stopped") { post({ label, until: "stopped" }); return; }
  const seconds = Number($("span").value);
  const last = status.predictions[0];
  if (!seconds && !last) { say("There is no row yet.", true); return; }
  post(seconds ? { label, seconds } : { label, sequence: last.sequence, place: last.place });
}

async function post(body) {
  if (!token) { say("This needs the token that was printed at the start.", true); $("token").focus(); return; }
  say("…");
  try {
    const response = await fetch("label", {
      method: "POST", cache: "no-store", signal: AbortSignal.timeout(30000),
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` }, body: JSON.stringify(body) });
    const told = await response.json();
    if (response.status === 401) useToken("");
    if (!response.ok) { say(`Nothing was changed: ${told.error}.`, true); return; }
    say(done(told, body.label));
  } catch (error) {
    say(`No answer: ${error.message}`, true);
  }
}

const rowsOf = (n) => `${whole(n)} ${n === 1 ? "row" : "rows"}`;

function done(told, label) {
  if (told.from_now_on !== undefined) return label === null ? "Stopped." : `All samples are learned as ${label} from now on.`;
  if (told.undone !== undefined) {
    return `${rowsOf(told.undone)} forgotten again` + (told.forgotten ? `, and ${rowsOf(told.forgotten)} learned since.` : ".");
  }
  const others = Object.values(told.refused).reduce((a, b) => a + b, 0);
  return `${rowsOf(told.taught)} learned as ${label}` + (others ? `, ${whole(others)} not: ${Object.keys(told.refused)[0]}.` : ".");
}

function drawHand(s) {
  for (const option of $("span").options) {
    const n = s.open_rows?.[option.value];
    if (n !== undefined) option.textContent = `${option.textContent.split(" (")[0]} (${rowsOf(n)})`;
  }
  $("teach").hidden = s.undo === null && s.word === null && !Object.values(s.open_rows).some(Boolean);
  $("classes").hidden = $("other").hidden = s.open_rows[$("span").value] === 0;
  $("stop").hidden = s.word === null;
  $("stop").textContent = `Stop: all samples are learned as ${s.word}`;
  $("undo").hidden = s.undo === null;
  if (s.undo) $("undo").textContent = `Undo: forget ${rowsOf(s.undo)} again`;
}

function say(text, bad = false) {
  $("answer").textContent = text;
  $("answer").className = bad ? "bad" : "";
}

function useToken(text) {
  token = text.trim();
  sessionStorage.setItem("token", token);
  $("token-form").hidden = token !== "";
}

// A watch.

function drawWatch(s) {
  const on = s.alarm ? "Alarm" : s.watching ? "Watching" : "Learning what is normal";
  const rows = s.is_window ? "windows" : "rows";
  const seen = s.watching ? `score ${short(s.last_score)} of ${short(s.threshold)}, ${whole(s.counters.strange)} of all ${rows} strange` : `${Math.floor(100 * s.learning)} % done`;
  show("phase", on, " ", el("small", {}, seen));
  $("learning").hidden = s.watching;
  const done = el("i");
  done.style.width = `${100 * s.learning}%`;
  show("learning", done);
  const h = s.history;
  const scores = h.score.filter((v) => v !== null);
  const most = MOST_THRESHOLDS * (s.threshold || Infinity); // the first scores are far higher
  const high = Math.min(Math.max(s.threshold, ...scores), most) || 1;
  chart("watch-chart", h.time, [h.score, h.threshold], { low: Math.min(0, ...scores), high });
  legend("watch-legend", ["highest score", "threshold: strange above it"]);
  drawAlarms(s);
}

function drawAlarms(s) {
  const now = JSON.stringify([s.counters.alarms, s.alarms.map((alarm) => [alarm.on, alarm.highest])]);
  if ($("alarms").dataset.now === now) return;
  $("alarms").dataset.now = now;
  show("alarms", el("p", {}, `${whole(s.counters.alarms)} so far`), ...s.alarms.map((alarm) => el("div", { class: alarm.on ? "alarm-card on" : "alarm-card" },
    el("b", {}, `${atTime(alarm.time)}, ${alarm.kind}, ${alarm.on ? "still on" : `over after ${lasted(alarm.seconds)}`}`),
    ...(alarm.kind === "stale" ? [el("div", {}, "no samples")] : [el("div", {}, `score up to ${short(alarm.highest)}, threshold ${short(alarm.threshold)}`),
    el("div", {}, "stands out: " + alarm.features.map((f) => `${f.name} ${Math.round(100 * f.share)} %`).join(", "))]))));
}

// The last minute of a signal, or the last samples of a look.

function drawChannels(s) {
  const { channels = [], traces = [], trace_times: times } = s;
  const more = channels.length > traces.length ? `; the first ${traces.length} of ${channels.length} channels` : "";
  $("channels-about").textContent = (times ? "the last minute" : "the last samples, the newest at the right") + more;
  $("channels").className = times ? "bands" : "";
  if ($("channels").childElementCount !== traces.length) {
    show("channels", ...traces.map((_, i) => el("div", {}, el("p", { id: `about-${i}` }), el("div", { class: "chart", id: `channel-${i}` }))));
  }
  traces.forEach((values, i) => {
    const c = channels[i];
    const range = times ? "" : `${short(c.low)} to ${short(c.high)}, mean ${short(c.mean)}, spread ${short(c.std)} `;
    show(`about-${i}`, el("b", {}, c.name), ` ${range}`, el("b", {}, c.remark ?? ""));
    chart(`channel-${i}`, times ?? values.map((_, at) => at), [values], { ago: false });
  });
}

function drawLook(s) {
  const { frequencies, levels } = s.spectrum ?? { frequencies: [], levels: [] };
  chart("spectrum-chart", frequencies, [levels], { ago: false, low: Math.min(-20, ...levels), high: Math.max(10, ...levels) });
  $("spectrum-hint").textContent = levels.length ? `Decibels above white noise of the same power, all channels, from 0 to ${short(frequencies.at(-1))} Hz.` : "";
  show("why", ...(s.why ?? []).map((text) => el("li", {}, text)));
  $("options").textContent = s.options ? `edgesvm watch ${s.port} ${s.options}` : "";
}

// All.

function drawMemory({ model, link, page }) {
  show("memory", bytes(model), " ", el("small", {}, `link ${bytes(link)}, this page ${bytes(page)}; taken at the start, and none since`));
}

function drawPredictions(s) {
  const last = s.kind === "run" && s.score.mae !== undefined ? "interval" : "score";
  const names = s.kind === "run" ? ["time", "number", "predicted", last === "interval" ? "target" : "label", last] : ["time", "number", "answer", "score"];
  const answers = { 1: "normal", "-1": "strange" };
  const rows = s.predictions.map((p) => {
    const cells = [el("td", {}, atTime(p.time)), el("td", {}, whole(p.sequence))];
    if (s.kind === "run") {
      const verdict = p.label === null || p.predicted === null ? "" : p.label === p.predicted ? "right" : "wrong";
      if (s.score.mae !== undefined) {
        const interval = p.low === null ? "–" : `${short(p.low)} to ${short(p.high)}`;
        cells.push(el("td", {}, p.refused ? "refused" : short(p.predicted)), el("td", {}, short(p.label)), el("td", {}, interval));
        return el("tr", {}, ...cells);
      }
      cells.push(el("td", {}, p.refused ? "refused" : String(p.predicted ?? "–")), el("td", { class: verdict }, String(p.label ?? "–")));
    } else {
      cells.push(el("td", { class: p.predicted === -1 ? "wrong" : "" }, p.refused ? "refused" : answers[p.predicted] ?? "learning"));
    }
    return el("tr", {}, ...cells, el("td", {}, short(p.score)));
  });
  show("predictions", el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name))), ...rows);
}

function draw() {
  const s = status;
  const kinds = [s.kind, ...(s.confusion ? ["classes"] : []), ...(s.drift ? ["drift"] : [])];
  for (const section of document.querySelectorAll("[data-kind]")) section.hidden = !section.dataset.kind.split(" ").some((kind) => kinds.includes(kind));
  document.title = `${s.kind === "watch" && s.alarm ? "ALARM " : ""}edgesvm ${s.kind} ${s.port}`;
  $("kind").textContent = s.kind;
  const stale = s.stale_seconds === null ? [] : [`No sample for ${lasted(s.stale_seconds)}: is the sensor off, or its cable out?`];
  show("remarks", ...[...stale, ...Object.values(s.remarks)].map((text) => el("li", {}, text)));
  $("port").textContent = `${s.port}, for ${lasted(s.seconds)}`;
  $("learner").textContent = s.learner ?? "";
  $("version").textContent = `edgesvm ${s.version}`;
  show("rate", s.rate === null ? "–" : whole(s.rate));
  show("lost", ...s.lost.map((one) => el("li", {}, el("b", {}, whole(one.count)), el("span", {}, one.why))));
  if (!s.lost.length) show("lost", el("li", {}, "Nothing is missing."));
  drawMemory(s.memory);
  drawChannels(s);
  if (s.kind === "look") { $("samples").textContent = `${whole(s.samples)} samples`; drawLook(s); return; }
  if (s.kind === "run") { drawRun(s); drawHand(s); } else drawWatch(s);
  if (s.drift) drawDrift(s.drift);
  chart("rate-chart", s.history.time, [s.history.rate], { low: 0 });
  $("samples").textContent = `${whole(s.samples)} samples, ${whole(s.counters.learned)} rows learned` + (s.counters.taught ? `, ${whole(s.counters.taught)} of them with a label given here` : "");
  drawPredictions(s);
}

function tell(text, kind = "") {
  $("state").textContent = text;
  $("state").className = kind;
}

async function ask() {
  if (!document.hidden) {
    try {
      const response = await fetch("status.json", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
      const told = await response.json();
      if (!response.ok) throw new Error(told.error);
      const age = Number(response.headers.get("X-Age-Seconds"));
      status = told;
      draw();
      if (age > LATE_S) tell(`no news for ${lasted(age)}: is the port gone?`, "late");
      else if (status.stale_seconds !== null) tell("no samples", "late");
      else tell(status.alarm ? "alarm" : "live", status.alarm ? "alarm" : "");
    } catch (error) {
      tell(`no answer: ${error.message}`, "late");
    }
  }
  setTimeout(ask, EVERY_MS);
}

if (location.hash.length > 1) {
  useToken(decodeURIComponent(location.hash.slice(1)));
  history.replaceState(null, "", location.pathname); // not left in the address, where it may be copied
} else {
  useToken(sessionStorage.getItem("token") ?? "");
}
$("token-form").addEventListener("submit", (event) => { event.preventDefault(); useToken($("token").value); say("Token noted."); });
$("stop").addEventListener("click", () => post({ label: null, until: "stopped" }));
$("undo").addEventListener("click", () => post({ undo: true }));
$("other").addEventListener("submit", (event) => { event.preventDefault(); teach(labelOf($("label").value.trim())); });
window.addEventListener("resize", () => { if (status) draw(); });
ask();
