// A small host of MCP Apps: it calls tools over HTTP, shows their cards in a frame as the
// specification of 2026-01-26 says, and presses the buttons as a person does:
// node approval_card.mjs MODULES MCP_URL SERVICE_URL CHROMIUM PICTURES.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, url, service, executablePath, pictures] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const puppeteer = require("puppeteer-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");

const PAGE = "ui://ferry-sdk/approval-card.html";
const VERSION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "small-host", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {
    extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
  },
};
// What hosts allow a page that asks for nothing, by the specification.
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; connect-src 'none'; object-src 'none'";

let lastId = 0;
async function mcp(method, params = {}) {
  lastId += 1;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
    "mcp-method": method,
  };
  const name = params.name ?? params.uri;
  if (name) headers["mcp-name"] = name;
  const body = { jsonrpc: "2.0", id: lastId, method, params: { ...params, _meta: META } };
  const reply = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await reply.text();
  const data = text.split("\n").find((line) => line.startsWith("data: "));
  const { result, error } = JSON.parse(data ? data.slice("data: ".length) : text);
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

const callTool = (name, args) => mcp("tools/call", { name, arguments: args });
const answerOf = (result) => JSON.parse(result.content[0].text);

let faults = 0;
function expect(isRight, ...words) {
  if (isRight) return;
  faults += 1;
  console.log("wrong:", ...words);
}

const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
const { contents } = await mcp("resources/read", { uri: PAGE });
const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
const html = contents[0].text.replace("<head>", `<head>${policy}`);

/** Show the page for a result of a tool; return its frame, and what it has told the model. */
async function show(result, { theme, width }) {
  const tab = await browser.newPage();
  await tab.setViewport({ width, height: 760 });
  const told = [];
  const failures = [];
  tab.on("console", (message) => message.type() === "error" && failures.push(message.text()));
  tab.on("pageerror", (error) => failures.push(error.message));
  await tab.exposeFunction("hostRequest", async (method, params) => {
    if (method === "ui/initialize") {
      return {
        protocolVersion: "2026-01-26",
        hostInfo: { name: "small-host", version: "1" },
        hostCapabilities: { serverTools: {}, updateModelContext: { text: {} }, message: { text: {} } },
        hostContext: { theme, displayMode: "inline", containerDimensions: { width } },
      };
    }
    if (method === "tools/call") return callTool(params.name, params.arguments);
    told.push([method, params]);
    return {};
  });
  await tab.setContent(
    `<!doctype html><html lang="en"><title>Host</title><style>body { margin: 0 } iframe { display: block; border: 0; width: 100%; height: 20px }</style>
     <iframe title="Card" sandbox="allow-scripts"></iframe></html>`,
  );
  await tab.evaluate(
    (source, toolResult) => {
      const frame = document.querySelector("iframe");
      const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
      window.post = post;
      window.addEventListener("message", async ({ data }) => {
        if (data.method === "ui/notifications/size-changed") {
          frame.style.height = `${data.params.height}px`;
        } else if (data.method === "ui/notifications/initialized") {
          post({ method: "ui/notifications/tool-input", params: { arguments: {} } });
          post({ method: "ui/notifications/tool-result", params: toolResult });
        } else if (data.id !== undefined && data.method) {
          try {
            post({ id: data.id, result: await window.hostRequest(data.method, data.params) });
          } catch (error) {
            post({ id: data.id, error: { code: -32000, message: error.message } });
          }
        }
      });
      frame.srcdoc = source;
    },
    html,
    result,
  );
  const handle = await tab.waitForSelector("iframe");
  const frame = await handle.contentFrame();
  const title = async (word) => {
    await frame
      .waitForFunction((text) => document.getElementById("title")?.textContent.includes(text), { timeout: 20_000 }, word)
      .catch(async () => {
        const shown = await frame.evaluate(() => document.body.innerText);
        expect(false, "expected", word, "but", shown, failures);
      });
  };
  const look = async (name) => {
    const box = await frame.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    expect(box[0] <= box[1], name, theme, width, "scrolls sideways");
    const fits = () => document.body.offsetHeight <= window.innerHeight && window.innerHeight < 700;
    await frame.waitForFunction(fits, { timeout: 5000 }).catch(() => expect(false, name, "height"));
    await frame.evaluate(axe);
    const { violations } = await frame.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
    for (const { id, nodes } of violations) expect(false, name, theme, width, id, nodes[0].target);
    await tab.screenshot({ path: join(pictures, `${name}-${theme}-${width}.png`), fullPage: true });
  };
  const close = async () => {
    expect(failures.length === 0, "errors of the page", failures);
    await tab.close();
  };
  return { tab, frame, told, title, look, close };
}

async function press(frame, id) {
  await frame.click(`#${id}`);
}

async function offer(number) {
  const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const found = await callTool("trips_find", {
    origin: "Tarifa",
    destination: "MATNG",
    on: day,
    flexible: 3,
    passengers: [{ type: "Adult", gender: "Female", age: 34 }],
  });
  return answerOf(found).result.offers[number].offer;
}

const LOOKS = [];
for (const theme of ["light", "dark"]) for (const width of [320, 640]) LOOKS.push({ theme, width });
for (const [number, look] of LOOKS.entries()) {
  const passengers = [{ type: "Adult", first_name: "Zoë", last_name: `Müller-Łuk ${"abcd"[number]}` }];
  const order = { offer: await offer(number), passengers };

  // Declined: nothing is changed.
  let card = await show(await callTool("bookings_create", order), look);
  await card.title("Do you approve this?");
  await press(card.frame, "decline");
  await card.title("Declined");
  await card.look("declined");
  await card.close();

  // Approved by the keyboard; a second press has nothing to answer.
  card = await show(await callTool("bookings_create", order), look);
  await card.title("Do you approve this?");
  await card.look("booking");
  await card.frame.focus("#approve");
  await card.tab.keyboard.press("Enter");
  await card.tab.keyboard.press("Enter");
  await card.title("Done");
  await card.look("done");
  const methods = card.told.map(([method]) => method).join(" ");
  expect(methods === "ui/update-model-context ui/message", "told the model", methods);
  const outcome = card.told[0][1].content[0].text;
  const bookingId = JSON.parse(outcome.slice(outcome.indexOf("{"))).result.booking_id;
  await card.close();

  // The same card is shown again, as after a reload of the conversation.
  card = await show(await callTool("bookings_create", order), look);
  await card.title("Not done");
  await card.close();

  // Expired while it is shown.
  const shown = await callTool("bookings_confirm", { booking_id: bookingId });
  const data = shown._meta["ferry-sdk/card"];
  const soon = new Date(Date.now() + 1500).toISOString();
  const brief = { ...shown, _meta: { "ferry-sdk/card": { ...data, expires_at: soon } } };
  card = await show(brief, look);
  await card.title("Do you approve this?");
  await card.title("Expired");
  await card.look("expired");
  await card.close();

  card = await show(shown, look);
  await card.title("Do you approve this?");
  await press(card.frame, "approve");
  await card.title("Done");
  await card.close();

  // The fee rises while the card is shown: the person is asked again.
  await callTool("bookings_get", { booking_id: bookingId, wait: 20 });
  card = await show(await callTool("bookings_cancel", { booking_id: bookingId }), look);
  await card.title("Do you approve this?");
  await card.look("cancellation");
  const fault = { kind: "unknown_enum", operation: "bookings.cancel_fee", field: "penalty_amount", value: "1.23", times: 1 };
  const reply = await fetch(`${service}/_sandbox/faults`, { method: "POST", body: JSON.stringify(fault), headers: { "content-type": "application/json" } });
  expect(reply.ok, "fault", reply.status, await reply.text());
  await press(card.frame, "approve");
  await card.title("This has changed");
  await card.look("changed");
  await press(card.frame, "approve");
  // The fee has fallen again, which is another change.
  await card.frame.waitForFunction(() => !document.body.innerText.includes("1.23"));
  await press(card.frame, "approve");
  await card.title("Done");
  await card.close();
}
await browser.close();
process.exit(faults ? 1 : 0);
