// Every page: keys, news of changes made in other browsers, small comforts. Pages work without it.
document.documentElement.classList.add("scripted");

const typing = (element) => element.closest("input, select, textarea, [contenteditable]") !== null;

// An element with data-key is pressed, opened or followed by that key.
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const name = event.code === "Space" ? "Space" : event.key;
  if (name === "Space" && event.target.closest("button, a, summary, video")) return;
  if (name.startsWith("Arrow") && event.target.matches(".scroll")) return;
  const element = document.querySelector(`[data-key="${CSS.escape(name)}"]`);
  if (!element || element.closest("[hidden]")) return;
  event.preventDefault();
  if (element instanceof HTMLDetailsElement) {
    element.open = true;
    element.scrollIntoView({ block: "nearest" });
    element.querySelector("select, input:not([type=hidden]), button")?.focus();
  } else {
    element.click();
  }
});

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
for (const form of document.querySelectorAll("[data-submit-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
}
// A form is sent once, however often its button is pressed.
addEventListener("submit", (event) => {
  if (event.target.dataset.sent) event.preventDefault();
  else if (event.target.method === "post") event.target.dataset.sent = "yes";
});
addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((f) => delete f.dataset.sent));

// Events that seldom decide anything are shown when asked for.
const all = document.getElementById("all-events");
const showMinor = () => {
  for (const row of document.querySelectorAll("#events .minor")) row.classList.toggle("asked", all.checked);
};
all?.addEventListener("change", showMinor);
if (all) addEventListener("renewed", showMinor);

// One form at a time for what an official enters.
const kinds = document.getElementById("official-kind");
if (kinds) {
  const show = () => {
    for (const form of document.querySelectorAll("form.official")) form.hidden = form.dataset.kind !== kinds.value;
  };
  kinds.addEventListener("change", show);
  show();
}

// Parts marked data-live are fetched anew when the match has changed; what a person is typing into stays.
const { changes } = document.body.dataset;
if (changes) {
  let shown = document.body.dataset.stamp;
  const renew = async (stamp) => {
    const url = new URL(location.href);
    url.searchParams.delete("said");
    const answer = await fetch(url, { headers: { "X-Requested-With": "news" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    shown = page.body.dataset.stamp ?? stamp;
    for (const part of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(part.id);
      if (fresh && !(part.contains(document.activeElement) && typing(document.activeElement))) {
        part.className = fresh.className;
        part.innerHTML = fresh.innerHTML;
      }
    }
    const news = document.getElementById("news");
    news.textContent = news.dataset.text;
    dispatchEvent(new Event("renewed"));
  };
  let busy = Promise.resolve();
  const news = new EventSource(changes);
  news.addEventListener("message", (event) => {
    busy = busy.then(() => (event.data === shown ? undefined : renew(event.data))).catch(() => undefined);
  });
  addEventListener("pagehide", () => news.close());
}
