// The clip and the diagram: speeds, frame steps, and balls that move with the picture.
const video = document.getElementById("clip");
const figure = document.getElementById("diagram");
const clock = document.getElementById("clock");
const transport = document.querySelector(".transport");
const position = document.getElementById("position");
const SVG = "http://www.w3.org/2000/svg";

let motion = null;

// What is played: the clip, or, where there is none, time itself, so that the diagram moves all the same.
let film = video;

class Timekeeper extends EventTarget {
  constructor(duration) {
    super();
    Object.assign(this, { duration, paused: true, playbackRate: 1, held: 0 });
  }
  get currentTime() {
    return this.held;
  }
  set currentTime(seconds) {
    this.held = Math.min(Math.max(seconds, 0), this.duration);
    draw();
  }
  play() {
    if (this.held >= this.duration) this.held = 0;
    this.paused = false;
    this.dispatchEvent(new Event("play"));
    let last = performance.now();
    const step = (now) => {
      if (this.paused) return;
      this.currentTime = this.held + ((now - last) / 1000) * this.playbackRate;
      last = now;
      if (this.held >= this.duration) this.pause();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
  pause() {
    this.paused = true;
    this.dispatchEvent(new Event("pause"));
  }
}

// Where a ball is at match time t, or null when it is not on the bed.
function placeAt(ball, t) {
  const { t: times, x, y } = ball;
  const last = times.length - 1;
  if (t < times[0] - 0.06 || t > times[last] + 0.06) return null;
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  if (low === last) return [x[last], y[last]];
  const share = Math.min(1, Math.max(0, (t - times[low]) / (times[low + 1] - times[low])));
  return [x[low] + (x[low + 1] - x[low]) * share, y[low] + (y[low + 1] - y[low]) * share];
}

function draw() {
  if (!motion) return;
  const t = motion.start + film.currentTime;
  for (const [label, ball] of Object.entries(motion.balls)) {
    const element = ballElement(label);
    const place = placeAt(ball, t);
    element.toggleAttribute("hidden", place === null);
    if (place) element.setAttribute("transform", `translate(${place[0].toFixed(1)} ${(motion.width - place[1]).toFixed(1)})`);
  }
  for (const mark of figure.querySelectorAll(".mark")) {
    mark.style.opacity = Number(mark.dataset.t) <= t + 0.02 ? 1 : 0.25;
  }
  showEvent(t);
  if (film.duration && document.activeElement !== position) position.value = (1000 * film.currentTime) / film.duration;
  const minutes = Math.floor(t / 60);
  clock.textContent = `${minutes}:${(t - 60 * minutes).toFixed(2).padStart(5, "0")}`;
}

// The event that the clip has come to is marked in the list.
function showEvent(t) {
  let now = null;
  for (const row of document.querySelectorAll("#events tr[data-t]")) {
    if (Number(row.dataset.t) <= t + 0.02 && row.offsetParent !== null) now = row;
  }
  if (now?.classList.contains("now")) return;
  document.querySelector("#events tr.now")?.classList.remove("now");
  now?.classList.add("now");
}

function ballElement(label) {
  const svg = figure.querySelector("svg");
  let element = svg.querySelector(`.ball[data-ball="${CSS.escape(label)}"]`);
  if (!element) {
    // A ball that came onto the bed later: drawn like any other.
    const like = svg.querySelector(".ball circle");
    element = document.createElementNS(SVG, "g");
    element.setAttribute("class", label === "cue" ? "ball cue" : "ball object");
    element.dataset.ball = label;
    const circle = document.createElementNS(SVG, "circle");
    circle.setAttribute("r", like ? like.getAttribute("r") : 34);
    element.append(circle);
    svg.append(element);
  }
  return element;
}

function nearestFrame() {
  const t = motion.start + film.currentTime;
  let best = 0;
  motion.frames.forEach((time, index) => {
    if (Math.abs(time - t) < Math.abs(motion.frames[best] - t)) best = index;
  });
  return best;
}

function seek(t) {
  // A hair after the frame's own time, so that rounding never shows the one before.
  film.currentTime = Math.max(0, t - motion.start + 0.001);
}

const actions = {
  play: () => (film.paused ? film.play() : film.pause()),
  frame: (button) => {
    film.pause();
    const index = nearestFrame() + Number(button.dataset.step);
    seek(motion.frames[Math.min(motion.frames.length - 1, Math.max(0, index))]);
  },
  speed: (button) => {
    film.playbackRate = Number(button.dataset.speed);
    for (const other of transport.querySelectorAll("[data-speed]")) other.setAttribute("aria-pressed", other === button);
  },
  now: (button) => {
    button.form.elements.t.value = (motion.start + film.currentTime).toFixed(2);
  },
};

addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (button && motion) actions[button.dataset.do]?.(button);
  const time = event.target.closest("[data-seek]");
  // Pressed with a pointer it gives the focus back, so that the space bar plays rather than presses it again.
  if (event.detail > 0) (button ?? time)?.blur();
  if (time && motion) {
    film.pause();
    seek(Number(time.dataset.seek));
  }
});

position.addEventListener("input", () => {
  film.pause();
  film.currentTime = (film.duration * position.value) / 1000;
});
video.addEventListener("click", () => motion && actions.play());

const play = transport.querySelector('[data-do="play"]');
const words = { play: play.textContent, pause: play.dataset.pause };
const follow = (played) => {
  played.addEventListener("play", () => (play.textContent = words.pause));
  played.addEventListener("pause", () => (play.textContent = words.play));
};
follow(video);
for (const name of ["seeked", "timeupdate", "loadeddata"]) video.addEventListener(name, draw);
const everyFrame = () => {
  draw();
  if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(everyFrame);
  else requestAnimationFrame(everyFrame);
};
everyFrame();

// A clip that nobody has looked at yet is made at this moment: an empty picture would not say so.
const making = document.getElementById("making");
const patience = setTimeout(() => (making.hidden = video.readyState > 0 || video.error !== null), 600);
const ready = () => {
  clearTimeout(patience);
  making.hidden = true;
};
video.addEventListener("loadedmetadata", ready);

const explain = async () => {
  ready();
  const answer = await fetch(video.src).catch(() => null);
  const note = document.getElementById("no-clip");
  note.textContent = answer && !answer.ok ? await answer.text() : (video.error?.message ?? "");
  note.hidden = false;
  video.hidden = true;
  playWithoutClip();
};
// The answer may have come before this script ran.
if (video.error) explain();
else video.addEventListener("error", explain);

const playWithoutClip = () => {
  if (!motion || !video.hidden || film !== video) return;
  film = new Timekeeper(motion.end - motion.start);
  follow(film);
  draw();
};

const answer = await fetch(figure.dataset.motion);
if (answer.ok) {
  motion = await answer.json();
  // Our own controls do all that the browser's do, and never lie over the picture.
  video.controls = false;
  transport.hidden = position.hidden = false;
  for (const button of document.querySelectorAll('[data-do="now"]')) button.hidden = false;
  playWithoutClip();
  draw();
}
