// The journey over MCP with clients for Node: `clients.mjs NAME WAY ANSWER`; see journey.py.
import assert from "node:assert";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const [name, way, answer] = process.argv.slice(2);
const agreed = answer === "given";
const [command, ...args] = JSON.parse(process.env.FERRY_SERVER);
const stdio = { command, args, env: process.env, stderr: "ignore" };
const headers = { Authorization: `Bearer ${process.env.FERRY_TOKEN}` };
const url = `${process.env.FERRY_BASE_URL}/mcp`;

function* write(tool, given) {
  let found = yield [tool, given];
  if (found.status === "approval_needed") {
    const code = agreed ? found.approval.confirmation_code : "000000";
    found = yield [tool, { ...given, confirmation_code: code }];
  }
  return found;
}

function* journey() {
  const on = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const party = { type: "Adult", gender: "Female", age: 34 };
  const search = { origin: "Tarifa", destination: "Tangier (city)", on, passengers: [party] };
  const { offers } = result(yield ["trips_find", search]);
  const passengers = [{ ...party, first_name: "Ada", last_name: "Reyes" }];
  const [{ offer }] = offers;
  const made = yield* write("bookings_create", { offer, passengers });
  if (!agreed) {
    assert(["declined", "code_invalid"].includes(made.error?.code), JSON.stringify(made));
    return;
  }
  const { booking_id, total_price } = result(made);
  const paid = yield* write("bookings_confirm", { booking_id, expect_total: total_price });
  assert.equal(result(paid).status, "confirmed");
}

function result(found) {
  assert.equal(found.status, "done", JSON.stringify(found));
  return found.result;
}

// A model's part of the journey: its next call, when it is given the last answer.
const steps = journey();
let isOver = false;
function next(text) {
  const step = steps.next(text && JSON.parse(text.slice(text.indexOf('{"status"'))));
  isOver = step.done;
  return step.value;
}

async function walk(call) {
  let step = next();
  while (step) step = next(await call(...step).catch(String));
}

function person({ params }) {
  const [box] = Object.keys(params.requestedSchema.properties);
  return agreed ? { action: "accept", content: { [box]: true } } : { action: "decline" };
}

const capabilities = way === "asks" ? { elicitation: {} } : {};

async function useClient(client, transport) {
  await client.connect(transport);
  if (way === "http") assert.equal((await client.listTools()).tools.length, 5);
  else
    await walk(async (tool, given) => {
      const answered = await client.callTool({ name: tool, arguments: given });
      return answered.content[0].text;
    });
  await client.close();
}

const clients = {
  async sdk() {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const http = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const client = new Client({ name: "test", version: "1" }, { capabilities });
    if (way === "asks") client.setRequestHandler(ElicitRequestSchema, person);
    await useClient(
      client,
      way === "http"
        ? new http.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
        : new StdioClientTransport(stdio),
    );
  },

  async client() {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const client = new Client({ name: "test", version: "1" }, { capabilities });
    if (way === "asks") client.setRequestHandler("elicitation/create", person);
    await useClient(
      client,
      way === "http"
        ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
        : new StdioClientTransport(stdio),
    );
  },

  // In the loop of `generateText`.
  async vercel() {
    const { createMCPClient, ElicitationRequestSchema } = await import("@ai-sdk/mcp");
    const { Experimental_StdioMCPTransport: Stdio } = await import("@ai-sdk/mcp/mcp-stdio");
    const { generateText, stepCountIs } = await import("ai");
    const { MockLanguageModelV3 } = await import("ai/test");
    const transport = way === "http" ? { type: "http", url, headers } : new Stdio(stdio);
    const client = await createMCPClient({ transport, capabilities });
    if (way === "asks") client.onElicitationRequest(ElicitationRequestSchema, person);
    const tools = await client.tools();
    if (way === "http") assert.equal(Object.keys(tools).length, 5);
    else {
      const model = new MockLanguageModelV3({
        doGenerate: async ({ prompt }) => {
          const output = prompt.at(-1).content[0].output?.value;
          const text = output?.content?.[0].text ?? output?.[0]?.text ?? output;
          const step = next(text);
          const content = step
            ? { type: "tool-call", toolCallId: step[0] + prompt.length, toolName: step[0] }
            : { type: "text", text: "Done." };
          if (step) content.input = JSON.stringify(step[1]);
          const finishReason = { unified: step ? "tool-calls" : "stop" };
          const usage = { inputTokens: {}, outputTokens: {} };
          return { content: [content], finishReason, usage, warnings: [] };
        },
      });
      await generateText({ model, tools, prompt: "A ferry, please.", stopWhen: stepCountIs(20) });
    }
    await client.close();
  },

  // A process for each call.
  async inspector() {
    const variables = Object.entries(process.env).filter(([key]) => /^(FERRY|PYTHON)/.test(key));
    const given =
      way === "http"
        ? ["--header", `Authorization: ${headers.Authorization}`, "--", url]
        : [...variables.flatMap(([key, value]) => ["-e", `${key}=${value}`]), "--", command, ...args];
    const inspector = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));
    const inspect = (...options) => {
      const made = [inspector, "--cli", ...options, ...given];
      const { stdout, stderr } = spawnSync(process.execPath, made, { encoding: "utf8" });
      if (!stdout) throw new Error(stderr);
      return stdout;
    };
    inspect("--method", "tools/list", "--strict");
    if (way === "http") return;
    await walk(async (tool, given) => {
      const options = ["--tool-name", tool, "--tool-args-json", JSON.stringify(given)];
      return JSON.parse(inspect("--method", "tools/call", ...options)).content[0].text;
    });
  },
};

await clients[name]();
assert(isOver || way === "http");
