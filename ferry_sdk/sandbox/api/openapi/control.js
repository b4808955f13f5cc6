"use strict";
const $ = (id) => document.getElementById(id);
let token = "";  // kept in memory only
let kinds = {};
let clock = {};
let correlation = "";

class Denied extends Error {}

async function call(method, path, body) {
  const headers = token ? {authorization: `Bearer ${token}`} : {};
  if (body !== undefined) headers["content-type"] = "application/json";
  const reply = await fetch(path, {method, headers, body: body && JSON.stringify(body), cache: "no-store"});
  const answer = await reply.json();
  if (reply.status === 401) throw new Denied(answer.message);
  if (!reply.ok) throw new Error(answer.field ? `${answer.field}: ${answer.message}` : answer.message);
  return answer;
}

function say(error) {
  $("access").hidden = !(error instanceof Denied);
  $("message").hidden = !error;
  $("message").textContent = !error ? "" : error instanceof TypeError ? "The service does not answer." : error.message;
}

function act(work) {
  return async (event) => {
    event.preventDefault();
    try { await work(event); await refresh(); say(null); } catch (error) { say(error); }
  };
}

function element(name, text, style) {
  const made = document.createElement(name);
  made.textContent = text ?? "";
  if (style) made.className = style;
  return made;
}

function table(target, heads, rows, empty) {
  if (!rows.length) { target.replaceChildren(element("p", empty, "empty")); return; }
  const made = element("table");
  const top = made.createTHead().insertRow();
  for (const head of heads) { const cell = element("th", head); cell.scope = "col"; top.append(cell); }
  const body = made.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const cell of row) line.append(Array.isArray(cell) ? element("td", ...cell) : element("td", cell));
  }
  target.replaceChildren(made);
}

const plain = (moment) => moment.replace("T", " ").replace(/\.\d+/, "").replace("+00:00", " UTC");

function showClock() {
  $("now").textContent = plain(clock.now) + (clock.frozen ? " · frozen" : "");
  $("freeze").textContent = clock.frozen ? "Let it run" : "Freeze";
  if (!$("moment").value) $("moment").value = clock.now.slice(0, 19);
}

function faultRow(state, style) {
  return ({kind, operation, times, after, ...details}) => [
    [state, style], kind, operation, times === null ? "always" : String(times), JSON.stringify(details).slice(1, -1),
  ];
}

async function refresh() {
  const query = correlation ? `?correlation_id=${encodeURIComponent(correlation)}` : "";
  const [moment, faults, log, booked, counters] = await Promise.all([
    call("GET", "clock"), call("GET", "faults"), call("GET", `requests${query}`),
    call("GET", "bookings"), call("GET", "counters?after=1000000000"),
  ]);
  clock = moment;
  showClock();
  const asked = Object.values(counters.requests).reduce((sum, one) => sum + one, 0);
  $("summary").textContent = `${asked} requests · ${booked.total} bookings · ${counters.connections} connections`;
  table($("faults"), ["State", "Kind", "Operation", "Times", "Details"], [
    ...faults.pending.map(faultRow("pending")), ...faults.taken.slice(-20).reverse().map(faultRow("occurred", "good")),
  ], "No faults.");
  table($("requests"), ["Time", "Request", "Operation", "Status", "ms", "Faults", "Correlation id", "Booking id"],
    log.requests.slice(-200).reverse().map((one) => [
      plain(one.at).slice(0, 19), `${one.method} ${one.path}`, one.operation,
      [one.status ?? "–", one.status < 400 ? "good" : "bad"], [one.milliseconds.toFixed(0), "number"],
      [one.faults.join(", "), "bad"], [one.correlation_id, "id"], [one.booking_id ?? "", "id"],
    ]), "No requests yet.");
  table($("bookings"), ["Reference", "Account", "Stage", "Paid", "Total", "Crossings", "Booking id"],
    booked.bookings.map((one) => [
      [one.booking_reference, "id"], one.account, one.stage, one.payment_status, [`${one.total_price.toFixed(2)} ${one.currency}`, "number"],
      one.tickets.map((each) => `${each.company} ${each.depart_code}–${each.arrive_code} ${each.depart_at.slice(0, 10)} (${each.status})`).join(", "),
      [one.booking_id, "id"],
    ]), "No bookings yet.");
  if (!Object.keys(kinds).length) await loadKinds();
}

async function loadKinds() {
  kinds = await call("GET", "faults/kinds");
  $("kind").replaceChildren(...Object.keys(kinds).map((kind) => element("option", kind)));
  showDetails();
}

function typeOf(schema) {
  const types = [schema.type, ...(schema.anyOf ?? []).map((one) => one.type)];
  return types.find((one) => one && one !== "null") ?? "string";
}

function showDetails() {
  const {properties = {}} = kinds[$("kind").value] ?? {};
  $("details").replaceChildren(...Object.entries(properties).map(([name, schema]) => {
    const label = element("label", name.replaceAll("_", " "));
    const choices = schema.enum;
    const type = typeOf(schema);
    const input = document.createElement(choices ? "select" : "input");
    if (choices) input.append(...choices.map((one) => element("option", String(one))));
    else input.type = type === "boolean" ? "checkbox" : type === "string" ? "text" : "number";
    if (input.type === "number") input.step = type === "integer" ? "1" : "any";
    if (input.type === "checkbox") { input.checked = schema.default === true; label.className = "flag"; }
    else if (schema.default !== null && schema.default !== undefined) input.value = String(schema.default);
    input.dataset.name = name;
    input.dataset.type = type;
    input.dataset.default = input.type === "checkbox" ? String(input.checked) : input.value;
    label.append(input);
    return label;
  }));
}

function chosenDetails() {
  const chosen = {};
  for (const input of $("details").querySelectorAll("[data-name]")) {
    const value = input.type === "checkbox" ? input.checked : input.value;
    if (String(value) === input.dataset.default) continue;
    const isNumber = input.dataset.type === "number" || input.dataset.type === "integer";
    chosen[input.dataset.name] = isNumber ? Number(value) : value;
  }
  return chosen;
}

$("kind").addEventListener("change", showDetails);
$("access-form").addEventListener("submit", act(() => { token = $("token").value; $("token").value = ""; }));
$("steps").addEventListener("click", act((event) => {
  const {seconds} = event.target.dataset;
  return seconds && call("POST", "clock", {advance: Number(seconds)});
}));
$("clock-form").addEventListener("submit", act(() => call("POST", "clock", {travel_to: `${$("moment").value.padEnd(19, ":00")}Z`})));
$("freeze").addEventListener("click", act(() => call("POST", "clock", {frozen: !clock.frozen})));
$("clock-reset").addEventListener("click", act(() => call("DELETE", "clock")));
$("fault-form").addEventListener("submit", act(() => call("POST", "faults", {
  kind: $("kind").value, operation: $("operation").value || "*",
  times: Number($("times").value) || null, after: Number($("after").value), ...chosenDetails(),
})));
$("faults-clear").addEventListener("click", act(() => call("DELETE", "faults")));
$("filter-form").addEventListener("submit", act(() => { correlation = $("correlation").value.trim(); }));
$("requests-clear").addEventListener("click", act(() => call("DELETE", "requests")));
$("reset").addEventListener("click", act(async () => {
  if (confirm("Delete every booking and start over?")) await call("POST", "reset", {});
}));

let isBroken = false;  // the message of an action stays until the next one

async function keepFresh() {
  if (!document.hidden && $("access").hidden) {
    try {
      await refresh();
      if (isBroken) say(null);
      isBroken = false;
    } catch (error) {
      isBroken = true;
      say(error);
    }
  }
  setTimeout(keepFresh, 2000);
}
keepFresh();
