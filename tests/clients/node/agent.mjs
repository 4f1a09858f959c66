// One user message through the Vercel AI SDK, with tools that this process runs. Prints one JSON line.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [spoken, gate, mode, ...messages] = process.argv.slice(2);
// Without `store` the history comes whole; with it, which is the default, by references to what the provider keeps.
const [dialect, refers] = [spoken.replace(/-by-reference$/, ""), spoken.endsWith("-by-reference")];
const model = {
  "anthropic-messages": () => createAnthropic({ baseURL: `${gate}/v1`, apiKey: "sk-test" })("scripted"),
  "openai-chat": () => createOpenAI({ baseURL: `${gate}/v1`, apiKey: "sk-test" }).chat("scripted"),
  "openai-responses": () => createOpenAI({ baseURL: `${gate}/v1`, apiKey: "sk-test" }).responses("scripted"),
}[dialect]();

const ran = [];
const run = (name, answer) => async (input) => {
  ran.push([name, input]);
  return answer;
};
const tools = {
  lookup_order: tool({ inputSchema: z.object({ order_id: z.string() }), execute: run("lookup_order", { status: "shipped" }) }),
  process_refund: tool({
    inputSchema: z.object({ order_id: z.string(), amount: z.number() }),
    execute: run("process_refund", { status: "refunded" }),
  }),
};

let history = [];
const shown = [];
for (const content of messages) {
  history = [...history, { role: "user", content }];
  const providerOptions = refers ? {} : { openai: { store: false } };
  const asked = { model, tools, messages: history, stopWhen: stepCountIs(5), maxRetries: 0, providerOptions };
  let text = "";
  let added;
  if (mode === "streamed") {
    const result = streamText({ ...asked, onError: ({ error }) => { throw error; } });
    for await (const part of result.fullStream) if (part.type === "text-delta") text += part.text;
    added = await result.responseMessages;
  } else {
    const result = await generateText(asked);
    text = result.steps.map((step) => step.text).join("");
    added = result.responseMessages;
  }
  history = [...history, ...added];
  shown.push(text);
}
console.log(JSON.stringify({ shown, ran }));
