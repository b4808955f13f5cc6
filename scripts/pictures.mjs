// Draw pages as pictures: node pictures.mjs MODULES CHROMIUM JOBS. JOBS is a JSON file, which
// pictures.py writes: for each page its address, the theme, the window, and what is drawn.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, executablePath, jobs] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const puppeteer = require("puppeteer-core");

const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
for (const job of JSON.parse(await readFile(jobs, "utf8"))) {
  const tab = await browser.newPage();
  await tab.emulateTimezone("Europe/Rome");
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: job.theme }]);
  await tab.setViewport({ width: job.width, height: job.height, deviceScaleFactor: 2 });
  // The card of an approval expires.
  await tab.evaluateOnNewDocument((moment) => (Date.now = () => moment), job.moment);
  await tab.goto(job.url, { waitUntil: "networkidle0" });
  await tab.waitForSelector(job.ready, { timeout: 20_000 });
  const drawn = job.part ? await tab.$(job.part) : tab;
  await drawn.screenshot({ path: job.file });
  await tab.close();
}
await browser.close();
