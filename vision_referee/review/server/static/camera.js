// The camera's set-up: what was found, drawn over the live picture; corners are dragged by pointer or arrow keys.
const words = JSON.parse(document.body.dataset.words);
const SVG = "http://www.w3.org/2000/svg";
const over = document.getElementById("over");
const field = document.getElementById("corners");
const make = (tag, attributes, parent) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent.append(element);
  return element;
};
const points = (list) => list.map((p) => p.join(",")).join(" ");
const wide = Number(over.getAttribute("viewBox").split(" ")[2]);
const lines = make("g", {}, over);
const handles = make("g", {}, over);
let corners = [];
let marked = false;

function draw(drawing) {
  lines.replaceChildren();
  if (drawing.found) {
    make("polygon", { class: "rail", points: points(drawing.rails) }, lines);
    make("polygon", { class: "nose", points: points(drawing.cushions) }, lines);
    make("polyline", { class: "house", points: points(drawing.house) }, lines);
    make("polyline", { class: "headline", points: points(drawing.head) }, lines);
    for (const pocket of drawing.pockets) make("polyline", { class: "mouth", points: points(pocket.mouth) }, lines);
    for (const [x, y] of drawing.spots) make("circle", { class: "spot", cx: x, cy: y, r: wide / 250 }, lines);
    for (const [x, y, r] of drawing.patches) make("circle", { class: "patch", cx: x, cy: y, r }, lines);
    const [a, b] = drawing.head;
    make("text", { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2, "font-size": wide / 45 }, lines).textContent = words.head;
  }
  if (marked) return;
  corners = drawing.corners.map((p) => [...p]);
  handles.replaceChildren();
  corners.forEach((corner, index) => handle(corner, index));
}

function handle(corner, index) {
  const circle = make("circle", { class: "corner", cx: corner[0], cy: corner[1], r: wide / 70, tabindex: 0, role: "slider", "aria-label": `${words.corner} ${index + 1}`, "aria-valuetext": corner.join(", "), "aria-valuenow": Math.round(corner[0]) }, handles);
  const move = (x, y) => {
    const [, , w, h] = over.getAttribute("viewBox").split(" ").map(Number);
    corner[0] = Math.round(10 * Math.min(Math.max(x, -w / 2), 1.5 * w)) / 10;
    corner[1] = Math.round(10 * Math.min(Math.max(y, -h / 2), 1.5 * h)) / 10;
    circle.setAttribute("cx", corner[0]);
    circle.setAttribute("cy", corner[1]);
    circle.setAttribute("aria-valuetext", corner.join(", "));
    circle.setAttribute("aria-valuenow", Math.round(corner[0]));
    marked = true;
    field.value = points(corners);
  };
  circle.addEventListener("pointerdown", (event) => {
    circle.setPointerCapture(event.pointerId);
    event.preventDefault();
    circle.focus();
  });
  circle.addEventListener("pointermove", (event) => {
    if (!circle.hasPointerCapture(event.pointerId)) return;
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(over.getScreenCTM().inverse());
    move(place.x, place.y);
  });
  circle.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 10 : 1;
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (!by) return;
    event.preventDefault();
    move(corner[0] + by[0], corner[1] + by[1]);
  });
}

draw(JSON.parse(document.body.dataset.drawing));

const picture = document.getElementById("picture");
const next = () => {
  if (!document.hidden) picture.src = `${picture.dataset.src}?${Date.now()}`;
};
picture.addEventListener("load", () => setTimeout(next, 250));
picture.addEventListener("error", () => setTimeout(next, 1500));
document.addEventListener("visibilitychange", next);
setTimeout(next, 300);
// What is found changes while one turns the camera, the lens and the lamp.
setInterval(async () => {
  if (document.hidden) return;
  const answer = await fetch(location.pathname).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  draw(JSON.parse(page.body.dataset.drawing));
  for (const part of document.querySelectorAll("[data-live]")) part.innerHTML = page.getElementById(part.id).innerHTML;
}, 2000);
