"use strict";
// What the page does beyond being read: filter, sort, save tables, change the theme, enlarge figures. It asks for nothing.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Filters: a form hides the items of its section that do not match all of its fields.
function applyFilter(form) {
  const items = all("[data-item]", document.getElementById(form.dataset.for));
  const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const choices = all("select", form).filter((select) => select.value);
  let shown = 0;
  for (const item of items) {
    item.searched ??= `${item.id} ${item.textContent}`.toLowerCase();
    const fits = words.every((word) => item.searched.includes(word))
      && choices.every((select) => item.dataset[select.name] === select.value);
    item.hidden = !fits;
    shown += fits;
  }
  form.querySelector("output").value = `${shown} of ${items.length} shown`;
}
for (const form of all("form.filters")) {
  form.addEventListener("input", () => applyFilter(form));
  form.addEventListener("submit", (event) => event.preventDefault());
  applyFilter(form);
}
for (const link of all("a[data-filter]")) {
  link.addEventListener("click", () => {
    const form = document.querySelector(`form[data-for="${link.dataset.filter}"]`);
    form.reset();
    form.elements.verdict.value = link.dataset.value;
    applyFilter(form);
  });
}

// Sorting: numbers by value, words by the alphabet; once more turns the order round.
function sortBy(header) {
  const table = header.closest("table");
  const body = table.tBodies[0];
  const column = header.cellIndex;
  const turn = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const compare = (one, other) => {
    const [a, b] = [key(one), key(other)].map((value) => (value === "inf" ? Infinity : value));
    if (a === "nan" || b === "nan") return (a === "nan") - (b === "nan");
    const difference = a === b ? 0 : a - b;
    return turn * (Number.isNaN(difference) ? String(a).localeCompare(String(b)) : difference);
  };
  body.append(...[...body.rows].sort(compare));
  for (const other of all("th", table)) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", turn === 1 ? "ascending" : "descending");
}
for (const header of all("table.sortable th")) {
  header.querySelector("button").addEventListener("click", () => sortBy(header));
}

// Files: their copies in the page are packed; a click unpacks and saves one.
const files = JSON.parse(document.getElementById("files").textContent);
async function unpacked(name) {
  const packed = Uint8Array.from(atob(files[name]), (character) => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-file]");
  if (!link || !window.DecompressionStream) return;
  event.preventDefault();
  const saved = document.createElement("a");
  saved.href = URL.createObjectURL(await unpacked(link.dataset.file));
  saved.download = link.getAttribute("download");
  saved.click();
  setTimeout(() => URL.revokeObjectURL(saved.href), 10000);
});

// Commands can be copied.
for (const button of all("button.copy")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
}
if (!navigator.clipboard) for (const button of all("button.copy")) button.hidden = true;

// The theme follows the system until the button is used; the choice is kept where the browser lets a page keep anything.
const theme = document.getElementById("theme");
const kept = { get: () => { try { return localStorage.theme; } catch { return undefined; } },
               set: (value) => { try { localStorage.theme = value; } catch { /* then it lasts as long as the page */ } } };
const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
function setTheme(value) {
  if (value) document.documentElement.dataset.theme = value;
  theme.textContent = isDark() ? "Light theme" : "Dark theme";
}
setTheme(kept.get());
theme.hidden = false;
theme.addEventListener("click", () => { const value = isDark() ? "light" : "dark"; kept.set(value); setTheme(value); });

// Figures that a phone shows too small can be seen at their own size.
const large = document.getElementById("large");
for (const button of all("button.enlarge")) {
  button.addEventListener("click", () => {
    large.querySelector("div").replaceChildren(button.parentElement.querySelector("svg").cloneNode(true));
    large.showModal();
  });
}
large.querySelector("button").addEventListener("click", () => large.close());

// A link to a card opens it, and shows what a filter had hidden.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const form = target.closest("section") && document.querySelector(`form[data-for="${target.closest("section").id}"]`);
  if (target.hidden && form) { form.reset(); applyFilter(form); }
  if (target.matches("details")) target.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();
