// The live page: balls where they are, counts, the camera's state; taps are sent without leaving the page.
const body = document.body;
const words = JSON.parse(body.dataset.words);
const width = Number(body.dataset.width);
const radius = Number(body.dataset.ball);
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const say = (key, values = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
const make = (tag, attributes = {}, parent = null) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent?.append(element);
  return element;
};
const ballName = (shown) => (shown === "cue" ? words.cue : shown.startsWith("u") || !shown ? `${words.unknown} ${shown}` : shown);

// --- the table ---
const table = document.querySelector("#table-now svg.table");
const aims = make("g", {}, table);
const layer = make("g", {}, table);
const drawn = new Map();
let chosen = byId("ball").value;

function drawBalls(balls) {
  const here = new Set();
  for (const [key, label, shown, x, y, moving, seen] of balls) {
    here.add(key);
    let ball = drawn.get(key);
    if (!ball) {
      const group = make("g", {}, layer);
      const title = make("title", {}, group);
      make("circle", { r: radius }, group);
      const text = make("text", { dy: radius * 0.36, "font-size": radius * 1.05 }, group);
      ball = { group, title, text };
      drawn.set(key, ball);
    }
    Object.assign(ball, { label, x, y: width - y });
    const kind = label === "cue" ? "cue" : /^\d+$/.test(shown) ? "object" : "unknown";
    ball.group.setAttribute("class", `ball ${kind}${seen ? "" : " lost"}${label && label === chosen ? " chosen" : ""}`);
    ball.group.setAttribute("transform", `translate(${x} ${width - y})`);
    const text = kind === "object" ? shown : "";
    if (ball.text.textContent !== text) ball.text.textContent = text;
    const name = label ? ballName(shown) : words.nameless;
    if (ball.title.textContent !== name) ball.title.textContent = name;
  }
  for (const [key, ball] of drawn) {
    if (!here.has(key)) {
      ball.group.remove();
      drawn.delete(key);
    }
  }
}

function listBalls(balls) {
  const select = byId("ball");
  if (select === document.activeElement) return;
  const labels = balls.filter((b) => b[1]).map((b) => [b[1], ballName(b[2])]);
  labels.sort((a, b) => (b[0] === "cue") - (a[0] === "cue") || a[1].localeCompare(b[1], undefined, { numeric: true }));
  const wanted = ["", ...labels.map((l) => l.join("|"))].join();
  if (select.dataset.listed === wanted) return;
  select.dataset.listed = wanted;
  select.replaceChildren(new Option("–", ""), ...labels.map(([label, name]) => new Option(name, label)));
  choose(labels.some(([label]) => label === chosen) ? chosen : "");
}

function choose(label) {
  chosen = label;
  byId("ball").value = label;
}
byId("ball").addEventListener("change", (event) => choose(event.target.value));

// A finger is wider than a ball on the screen: the nearest ball is meant, or the pocket that the chosen ball is called to.
const pockets = [];
table.addEventListener("click", (event) => {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(table.getScreenCTM().inverse());
  const nearest = (things) =>
    things.map((thing) => ({ thing, away: Math.hypot(thing.x - at.x, thing.y - at.y) })).sort((a, b) => a.away - b.away)[0];
  const ball = nearest([...drawn.values()].filter((b) => b.label));
  const pocket = nearest(pockets);
  if (ball?.away < 1.5 * radius) choose(ball.thing.label);
  else if (chosen && pocket?.away < 6 * radius) pocket.thing.button.click();
  else if (ball?.away < 6 * radius) choose(ball.thing.label);
});
for (const button of document.querySelectorAll("button.pocket")) {
  const name = button.value.split(":")[1];
  const holes = [...table.querySelectorAll(".hole")];
  const order = ["head_right", "head_left", "middle_right", "middle_left", "foot_right", "foot_left"];
  const hole = holes[order.indexOf(name)];
  if (!hole) continue;
  const tap = make("circle", { class: "tap", cx: hole.getAttribute("cx"), cy: hole.getAttribute("cy"), r: 1.6 * hole.getAttribute("r") }, table);
  make("title", {}, tap).textContent = button.firstChild.textContent.trim();
  pockets.push({ button, x: Number(hole.getAttribute("cx")), y: Number(hole.getAttribute("cy")) });
}

// --- counts, state, what has to be put back ---
function drawCounts(now) {
  const parts = [];
  for (const h of now.hanging) {
    const over = h.left_s <= 0;
    parts.push([over ? "over" : "", h.left_s.toFixed(1), say("hanging", { ball: ballName(h.shown), pocket: words[`pocket.${h.pocket}`] })]);
  }
  if (now.clock) parts.push([now.clock.left_s <= 10 ? "low" : "over", Math.ceil(now.clock.left_s), words.shot_clock]);
  const box = byId("counts");
  while (box.children.length > parts.length) box.lastChild.remove();
  parts.forEach(([kind, number, text], index) => {
    const count = box.children[index] ?? box.appendChild(document.createElement("div"));
    if (!count.firstChild) count.append(document.createElement("b"), document.createElement("span"));
    count.className = `count ${kind}`;
    count.firstChild.textContent = number;
    count.lastChild.textContent = text;
  });
}

function drawState(now) {
  const state = byId("state");
  const { camera } = now;
  const lost = now.phase !== "ended" && !camera.ok;
  state.className = `tag ${lost ? "foul" : now.phase === "running" ? "ok" : "doubt"}`;
  state.textContent = lost ? words.lost : words[now.phase];
  const whole = Math.floor(now.t);
  const time = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  byId("clock").textContent = `${time} · ${say("rate", { rate: Math.round(camera.rate) })} · ${say("delay", { ms: camera.delay_ms })}`;
  byId("clock").title = say("dropped", { count: camera.dropped });
  const trouble = byId("trouble");
  const why = lost ? say("lost_for", { seconds: Math.round(camera.lost_s ?? 0), why: camera.reason }) : now.phase === "searching" ? say("no_table", { why: now.reason }) : "";
  trouble.hidden = !why;
  if (trouble.textContent !== why) trouble.textContent = why;
  const call = now.calls.at(-1);
  byId("called").textContent = call ? say("called", { ball: ballName(call.ball ?? ""), pocket: call.pocket ? words[`pocket.${call.pocket}`] : "" }) : "";
  for (const box of document.querySelectorAll("#score [data-player]")) {
    box.classList.toggle("turn", box.dataset.player === now.turn);
    const points = now.score[box.dataset.player];
    if (points !== undefined) box.querySelector("b").textContent = points;
    box.querySelector(".from").textContent = box.dataset.player === now.turn && now.cue_ball ? words[`next.${now.cue_ball}`] : "";
  }
}

const NEAR_MM = 5;
const wide = Number(byId("over").getAttribute("viewBox").split(" ")[2]);
function drawBack(now) {
  byId("restoration").hidden = now.back.length === 0;
  const list = byId("back");
  list.replaceChildren(...now.back.map((b) => {
    const item = document.createElement("li");
    const near = b.go_mm !== null && b.go_mm <= NEAR_MM;
    item.className = near ? "near" : "";
    const number = document.createElement("b");
    number.textContent = b.go_mm === null ? words.not_there : say("to_go", { mm: b.go_mm });
    item.append(`${ballName(b.shown)} → ${Math.round(b.x)} / ${Math.round(b.y)}: `, number);
    return item;
  }));
  aims.replaceChildren();
  const over = byId("over");
  over.replaceChildren();
  for (const b of now.back) {
    make("circle", { class: "aim", cx: b.x, cy: width - b.y, r: radius * 1.25 }, aims);
    if (b.now) make("line", { class: "aim", x1: b.now[0], y1: width - b.now[1], x2: b.x, y2: width - b.y }, aims);
    if (!b.px) continue;
    const near = b.go_mm !== null && b.go_mm <= NEAR_MM ? " near" : "";
    const [x, y, r] = b.px;
    make("circle", { class: `target${near}`, cx: x, cy: y, r }, over);
    make("line", { class: "target", x1: x - r / 2, x2: x + r / 2, y1: y, y2: y }, over);
    make("line", { class: "target", x1: x, x2: x, y1: y - r / 2, y2: y + r / 2 }, over);
    if (b.now_px) {
      make("circle", { class: "here", cx: b.now_px[0], cy: b.now_px[1], r: b.now_px[2] }, over);
      make("line", { class: "way", x1: x, y1: y, x2: b.now_px[0], y2: b.now_px[1] }, over);
    }
    make("text", { x: x + r + 4, y: y - r, "font-size": wide / 45 }, over).textContent = `${ballName(b.shown)} ${b.go_mm === null ? "" : say("to_go", { mm: b.go_mm })}`;
  }
  if (now.back.length && !opened) {
    opened = true;
    byId("camera-view").open = true;
  }
  if (!now.back.length) opened = false;
}
let opened = false;

function drawLast(now) {
  const last = byId("last");
  if (!now.last || last.dataset.shown === `${now.last.id} ${now.last.text[body.dataset.lang]}`) return;
  last.dataset.shown = `${now.last.id} ${now.last.text[body.dataset.lang]}`;
  // The words at once; the whole card follows with the page's parts.
  const text = last.querySelector(".words");
  if (text) text.textContent = now.last.text[body.dataset.lang] ?? "";
}

// A number typed is a ball chosen; two digits soon after each other are one number.
let digits = "";
let typed = 0;
addEventListener("keydown", (event) => {
  if (!/^\d$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  digits = Date.now() - typed < 900 ? `${digits}${event.key}`.slice(-2) : event.key;
  typed = Date.now();
  const shown = digits === "0" ? ["cue"] : [String(Number(digits)), event.key];
  const options = [...byId("ball").options];
  for (const number of shown) {
    const option = options.find((o) => o.value === number || o.text === number);
    if (option) return choose(option.value);
  }
});

// --- the picture ---
const picture = byId("picture");
const view = byId("camera-view");
function nextPicture() {
  if (view.open && !document.hidden) picture.src = `${picture.dataset.src}?${Date.now()}`;
}
const soon = (after) => setTimeout(nextPicture, after);
picture.addEventListener("load", () => soon(200));
picture.addEventListener("error", () => soon(1500));
view.addEventListener("toggle", nextPicture);
document.addEventListener("visibilitychange", nextPicture);

// --- news ---
let stamp = body.dataset.stamp;
let busy = false;
async function renew() {
  if (busy) return;
  busy = true;
  try {
    const answer = await fetch(location.pathname, { headers: { "X-Requested-With": "news" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    stamp = page.body.dataset.stamp;
    for (const part of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(part.id);
      if (fresh) {
        part.className = fresh.className;
        part.innerHTML = fresh.innerHTML;
      }
    }
  } finally {
    busy = false;
  }
}

function show(now) {
  if (now.table !== body.dataset.table) {
    location.reload();
    return;
  }
  drawBalls(now.balls);
  listBalls(now.balls);
  drawCounts(now);
  drawState(now);
  drawBack(now);
  drawLast(now);
  body.dataset.t = now.t;
  if (now.stamp && now.stamp !== stamp) renew().catch(() => undefined);
}
show(JSON.parse(body.dataset.now));

const news = new EventSource(body.dataset.liveNews);
let told = Date.now();
news.addEventListener("message", (event) => {
  told = Date.now();
  show(JSON.parse(event.data));
});
setInterval(() => {
  if (Date.now() - told < 3000) return;
  const trouble = byId("trouble");
  trouble.hidden = false;
  trouble.textContent = words.gone;
}, 1000);
addEventListener("pagehide", () => news.close());

// --- taps ---
const form = byId("say");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  event.stopPropagation();
  const data = new URLSearchParams(new FormData(form));
  if (event.submitter?.name) data.set(event.submitter.name, event.submitter.value);
  const note = byId("told");
  const line = document.createElement("span");
  line.textContent = words.failed;
  let bad = true;
  let undo = null;
  try {
    const answer = await fetch(form.action, { method: "POST", body: data, redirect: "follow" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    bad = !answer.ok;
    const told = page.getElementById("told");
    if (bad) line.textContent = page.querySelector('.notice.bad[role="alert"]:not([hidden])')?.textContent ?? words.failed;
    else line.textContent = told?.querySelector("span")?.textContent ?? "";
    undo = bad ? null : told?.querySelector("form");
  } catch {
    // The app is gone or the network is: said as it is.
  }
  note.hidden = false;
  note.className = bad ? "notice told bad" : "notice told";
  note.replaceChildren(line, ...(undo ? [undo] : []));
  renew().catch(() => undefined);
});
