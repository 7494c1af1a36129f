// The report without this script is complete; this adds filter, sorting, and the player that moves through timelines.
"use strict";

const articles = [...document.querySelectorAll("article")];
const list = document.getElementById("clips");
const form = document.querySelector("form");

function show() {
  const { words, which, run, order } = form.elements;
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const article of articles) {
    const data = article.dataset;
    const rows = [...article.querySelectorAll("tr[data-run], details[data-run]")];
    for (const row of rows) row.hidden = run.value !== "" && row.dataset.run !== run.value;
    const seen = rows.filter((row) => !row.hidden && row.localName === "tr");
    const is = { all: () => true, errors: () => seen.some((row) => row.dataset.errors > 0),
      bad: () => seen.some((row) => row.dataset.bad === "1"),
      differ: () => new Set(seen.map((row) => row.dataset.errors)).size > 1 }[which.value]();
    article.hidden = !is || !seen.length || !wanted.every((word) => data.text.includes(word));
    shown += !article.hidden;
  }
  const key = { worst: (a) => -a.dataset.errors, slowest: (a) => -a.dataset.release, longest: (a) => -a.dataset.seconds,
    id: () => 0 }[order.value];
  const sorted = [...articles].sort((a, b) => key(a) - key(b) || a.dataset.text.localeCompare(b.dataset.text));
  list.append(...sorted);
  document.getElementById("count").textContent = `${shown} of ${articles.length} clips`;
}
form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());

// Tables sort by a click on a column's head
for (const table of document.querySelectorAll("table.overview")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = (row) => row.cells[column].textContent;
      const compare = (a, b) => {
        const [x, y] = [parseFloat(value(a)), parseFloat(value(b))];
        return Number.isNaN(x) || Number.isNaN(y) ? value(a).localeCompare(value(b)) : x - y;
      };
      body.append(...[...body.rows].sort((a, b) => (up ? compare(a, b) : compare(b, a))));
    });
  });
}

// The player: a line through the timelines, and the words as they stood on screen at that time
function wordsAt(article, seconds) {
  const open = article.querySelector("details[data-run][open]:not([hidden])");
  const from = open || article.querySelector("details[data-run]:not([hidden])");
  let found = null;
  for (const item of from ? from.querySelectorAll(".words li") : []) {
    if (parseFloat(item.dataset.at) > seconds) break;
    found = item;
  }
  return found;
}
for (const article of articles) {
  const audio = article.querySelector("audio");
  if (!audio) continue;
  const caption = article.querySelector(".caption");
  const follow = () => {
    for (const svg of article.querySelectorAll("svg.timeline")) {
      const { left, right, seconds } = svg.dataset;
      const x = +left + ((right - left) * audio.currentTime) / seconds;
      const head = svg.querySelector(".head");
      head.removeAttribute("hidden");
      head.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
    }
    const words = wordsAt(article, audio.currentTime);
    caption.replaceChildren(...(words ? [...words.querySelectorAll("b, i")].map((node) => node.cloneNode(true)) : []));
    if (!audio.paused) requestAnimationFrame(follow);
  };
  for (const event of ["play", "seeked", "timeupdate"]) audio.addEventListener(event, follow);
  for (const svg of article.querySelectorAll("svg.timeline")) {
    svg.addEventListener("click", (event) => {
      const place = svg.createSVGPoint();
      [place.x, place.y] = [event.clientX, event.clientY];
      const { left, right, seconds } = svg.dataset;
      const x = place.matrixTransform(svg.getScreenCTM().inverse()).x;
      audio.currentTime = Math.max(0, ((x - left) / (right - left)) * seconds);
    });
  }
}

// On paper everything is open
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of closed) one.open = false;
});
show();
