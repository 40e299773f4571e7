"use strict";
// Whole numbers alone, of any size: BigInt everywhere.
const form = document.getElementById("trying");
const data = JSON.parse(document.getElementById("points").textContent);
const place = (id) => document.getElementById(id);
const shown = (number) => number.toLocaleString("en");

// The place of the class of a tuple, given as codes, and the totals; of equal totals the later class wins.
function decide(codes, stratum) {
  const rule = data.rules[stratum || 0];
  const totals = rule.starts.map((number) => BigInt(number));
  codes.forEach((code, attribute) => {
    const points = rule.points[attribute][code];
    totals.forEach((total, c) => { totals[c] = total + BigInt(points[c]); });
  });
  let best = 0;
  if (rule.threshold !== null) {
    best = totals[0] >= BigInt(rule.threshold) ? 0 : 1;
  } else {
    totals.forEach((total, c) => { if (total >= totals[best]) best = c; });
  }
  return { best, totals };
}

// A decimal text as digits and the power of ten that they are divided by; null where it is none.
function decimal(text) {
  const found = /^([+-]?)([0-9]{0,40})(?:\.([0-9]{0,40}))?$/.exec(text.trim());
  const digits = found ? found[2] + (found[3] || "") : "";
  if (digits === "") return null;
  const number = BigInt(digits);
  return [found[1] === "-" ? -number : number, 10n ** BigInt((found[3] || "").length)];
}

// Whether a number is less than an end, which is a quotient of two integers.
const less = ([up, down], [over, under]) => up * BigInt(under) < BigInt(over) * down;

// The code of the value that a number has: of an interval that holds it, its upper end left out.
function found(number, ends) {
  return ends.findIndex((pair) => {
    if (pair === null) return false;
    const [low, high] = pair;
    return (low === null || !less(number, low)) && (high === null || less(number, high));
  });
}

const names = data.ends.map((_, attribute) => `a${attribute}`);
const chosen = (name) => new FormData(form).get(name);

function choose(name, code) {
  const of = form.elements[name];
  if (of.options) of.value = code < 0 ? "" : String(code);
  else for (const one of form.querySelectorAll(`[name="${name}"]`)) one.checked = one.value === String(code);
}

function typed(field) {
  const attribute = Number(field.dataset.of), text = field.value;
  const number = decimal(text);
  const code = number === null ? -1 : found(number, data.ends[attribute]);
  const wrong = text.trim() !== "" && code < 0;
  choose(names[attribute], code);
  field.setAttribute("aria-invalid", String(wrong));
  place(`w${attribute}`).textContent = !wrong ? ""
    : number === null ? "no number: write it as 12.5" : "no published value has this number";
}

function show() {
  const answers = names.map(chosen);
  const stratum = data.rules.length > 1 ? chosen("by") : "0";
  const missing = form.querySelectorAll("[data-asks]").length
    - answers.filter((one) => one !== null).length - (data.rules.length > 1 && stratum !== null ? 1 : 0);
  const isWhole = missing === 0;
  place("open").textContent = isWhole ? "The answer is" : missing === 1 ? "1 answer is missing" : `${missing} answers are missing`;
  place("class").textContent = "";
  place("sum").textContent = "";
  if (place("bar")) place("bar").setAttribute("width", "0");
  for (const cell of form.querySelectorAll("[data-total]")) cell.textContent = "";
  if (!isWhole) return;
  const rule = data.rules[Number(stratum)];
  const { best, totals } = decide(answers.map(Number), Number(stratum));
  place("class").textContent = data.classes[best];
  for (const cell of form.querySelectorAll("[data-total]")) cell.textContent = shown(totals[Number(cell.dataset.total)]);
  if (rule.threshold === null) return;
  const most = rule.points.reduce((sum, rows) => sum + rows.map(([n]) => BigInt(n)).reduce((a, b) => a > b ? a : b), 0n);
  const scale = most > BigInt(rule.threshold) ? most : BigInt(rule.threshold) || 1n;
  place("bar").setAttribute("width", `${Number(totals[0] * 1000n / scale) / 10}%`);
  const at = Number(BigInt(rule.threshold) * 1000n / scale) / 10;
  for (const end of ["x1", "x2"]) place("needed").setAttribute(end, `${at}%`);
  place("sum").textContent = `${shown(totals[0])} points; ${data.classes[0]} from ${shown(BigInt(rule.threshold))} on`;
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", (event) => {
  if (event.target.dataset.of !== undefined) typed(event.target);
  else {
    const field = place(`n${event.target.name.slice(1)}`);
    if (field) { field.value = ""; typedAway(field); }
  }
  show();
});
function typedAway(field) {
  field.setAttribute("aria-invalid", "false");
  place(`w${field.dataset.of}`).textContent = "";
}
place("clear").addEventListener("click", () => {
  form.reset();
  for (const field of form.querySelectorAll("[data-of]")) typedAway(field);
  show();
});
addEventListener("pageshow", show);
