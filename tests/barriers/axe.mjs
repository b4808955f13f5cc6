// Looks with axe-core for serious violations in the pages of the built site, in two themes and two
// widths, and for pages and tables that scroll sideways: node axe.mjs MODULES SITE CHROMIUM.
import { readFile, readdir, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, sep } from "node:path";

const [modules, site, executablePath] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const puppeteer = require("puppeteer-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");

const TYPES = { ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml" };
const server = createServer(async (request, reply) => {
  try {
    let path = join(site, decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    if ((await stat(path)).isDirectory()) path = join(path, "index.html");
    reply.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream");
    reply.end(await readFile(path));
  } catch {
    reply.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const base = `http://127.0.0.1:${server.address().port}/`;
const pages = [];
for (const path of (await readdir(site, { recursive: true })).sort()) {
  if (!path.endsWith("index.html")) continue;
  // The page of an earlier address leaves at once.
  if ((await readFile(join(site, path), "utf8")).includes('http-equiv="refresh"')) continue;
  pages.push(path.split(sep).join("/").replace(/index\.html$/, ""));
}

// axe needs minutes for a long page on a busy machine.
const patience = { protocolTimeout: 900_000 };
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"], ...patience });
let found = 0;
const report = (...words) => {
  found += 1;
  console.log(...words);
};
for (const theme of ["light", "dark"]) {
  for (const width of [1440, 390]) {
    const tab = await browser.newPage();
    await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    await tab.setViewport({ width, height: 900 });
    for (const page of pages) {
      await tab.goto(base + page, { waitUntil: "load", timeout: 300_000 });
      const wide = await tab.evaluate(() =>
        [document.documentElement, ...document.querySelectorAll(".md-typeset__scrollwrap")]
          .filter((one) => one.scrollWidth > one.clientWidth + 1).length,
      );
      if (wide) report(page, theme, width, "scrolls sideways");
      await tab.evaluate(axe);
      const { violations } = await tab.evaluate(() => axe.run({ resultTypes: ["violations"] }));
      for (const { id, impact, nodes } of violations) {
        if (["serious", "critical"].includes(impact)) {
          report(page, theme, width, id, nodes.length, nodes[0].target);
        }
      }
    }
    await tab.close();
  }
}
await browser.close();
server.close();
console.log(`${pages.length} pages in two themes and two widths: ${found} findings`);
process.exitCode = found || !pages.length ? 1 : 0;
