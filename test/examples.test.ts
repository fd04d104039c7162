import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type WebhookEvent, webhooks } from '@florin/sdk';
import fastify from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const EXAMPLES = path.join(ROOT, 'examples');
/** What only the examples depend on: found as they find it, and of no type here. */
const requireAsExample = createRequire(path.join(EXAMPLES, 'package.json'));
const SECRET = 'fls_test_examples';

const event = (id: string) => ({ id, type: 'invoice.paid', sequence: 1, data: { object: { id: 'in_1' } } });
const bytes = (value: unknown) => JSON.stringify(value);
type WebHandler = (request: Request) => Response | Promise<Response>;

/** A node:http server in front of a handler of the web's standard requests, as Next.js and Hono have on Node. */
function bridge(handler: WebHandler): RequestListener {
  const answer = async (...[incoming, response]: Parameters<RequestListener>) => {
    const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const init = { method: incoming.method ?? 'GET', headers, duplex: 'half' as const };
    const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
    const given = await handler(new Request(`http://localhost${incoming.url}`, { ...init, body }));
    response.writeHead(given.status, Object.fromEntries(given.headers)).end(await given.text());
  };
  return (incoming, response) => void answer(incoming, response);
}

async function serve(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, server };
}

async function deliver(url: string, body: string, headers: Record<string, string>) {
  const answer = await fetch(url, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
async function served(listener: RequestListener): Promise<string> {
  const { url, server } = await serve(listener);
  closing.push(() => server.close());
  return url;
}

test('the examples are sound by type', { timeout: 120_000 }, async () => {
  const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
  const { stdout } = await promisify(execFile)(tsc, ['--noEmit', '-p', EXAMPLES], { cwd: ROOT });
  expect(stdout).toBe('');
});

interface Running {
  url: string;
  /** Everything that the example has logged so far. */
  log: () => string;
  stop: () => Promise<unknown>;
}

/** An example that is a server of its own. */
async function startProcess(file: string): Promise<Running> {
  const env = { ...process.env, FLORIN_SECRET_KEY: SECRET, PORT: '0' };
  const child: ChildProcess = spawn(process.execPath, [path.join(EXAMPLES, file)], { env });
  const exited = once(child, 'exit');
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const listening = () => /listening .*port: (\d+)/s.exec(output)?.[1];
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await vi.waitFor(() => expect(listening()).toBeDefined(), { timeout: 30_000 });
  } catch (error) {
    await stop();
    throw new Error(`the example does not listen: ${output}`, { cause: error });
  }
  return { url: `http://localhost:${listening()}/webhooks`, log: () => output, stop };
}

/** An example that another server loads. */
async function startLoaded(file: string, handlerOf: (loaded: never) => WebHandler): Promise<Running> {
  vi.stubEnv('FLORIN_SECRET_KEY', SECRET);
  const output: string[] = [];
  const keep = (...words: unknown[]) => void output.push(words.join(' '));
  const spies = (['log', 'warn'] as const).map((name) => vi.spyOn(console, name).mockImplementation(keep));
  const loaded = (await import(pathToFileURL(path.join(EXAMPLES, file)).href)) as never;
  const { url, server } = await serve(bridge(handlerOf(loaded)));
  const stop = async () => {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
    await new Promise((closed) => server.close(closed));
  };
  return { url, log: () => output.join('\n'), stop };
}

const STARTS: Record<string, () => Promise<Running>> = {
  'webhooks-node-http.ts': () => startProcess('webhooks-node-http.ts'),
  'webhooks-express.ts': () => startProcess('webhooks-express.ts'),
  'webhooks-fastify.ts': () => startProcess('webhooks-fastify.ts'),
  'webhooks-hono.ts': () =>
    startLoaded('webhooks-hono.ts', (loaded: { default: { fetch: WebHandler } }) => loaded.default.fetch),
  'webhooks-next': () =>
    startLoaded('webhooks-next/app/webhooks/route.ts', (loaded: { POST: WebHandler }) => loaded.POST),
};

describe.each(Object.entries(STARTS))('examples/%s', (_name, start) => {
  let example: Running;
  beforeAll(async () => {
    example = await start();
  });
  afterAll(() => example?.stop());

  test('a signed event is handled and acknowledged', async () => {
    const body = bytes(event('evt_genuine'));
    const headers = webhooks.generateTestHeaders(body, SECRET);
    expect(await deliver(example.url, body, headers)).toEqual({ status: 200, text: 'ok' });
    await expect.poll(example.log, { timeout: 30_000 }).toContain('received invoice.paid evt_genuine');
  });

  test('a wrong signature, another body and a replayed old stamp are refused with the reason', async () => {
    const body = bytes(event('evt_refused'));
    const refused = async (headers: Record<string, string>, sent = body) => {
      const { status, text } = await deliver(example.url, sent, headers);
      expect(status).toBe(400);
      expect(text).not.toContain(SECRET);
      return text.split(':')[0];
    };
    expect(await refused(webhooks.generateTestHeaders(body, 'other'))).toBe('signature_mismatch');
    const headers = webhooks.generateTestHeaders(body, SECRET);
    expect(await refused(headers, JSON.stringify(event('evt_refused'), null, 1))).toBe('signature_mismatch');
    const timestamp = String(Math.floor(Date.now() / 1000) - 3_600);
    expect(await refused(webhooks.generateTestHeaders(body, SECRET, { timestamp }))).toBe('timestamp_skew');
    expect(await refused({ 'Content-Type': 'application/json' })).toBe('missing_header');
    expect(example.log()).not.toContain('received invoice.paid evt_refused');
  });

  test('a body of more than 1 MiB is refused', async () => {
    const body = ' '.repeat(1_048_577);
    const { status } = await deliver(example.url, body, webhooks.generateTestHeaders(body, SECRET));
    expect(status).toBe(413);
  });
});

describe('a body that was parsed before the receiver', () => {
  const body = bytes(event('evt_parsed'));
  const onEvent = vi.fn<(event: WebhookEvent) => void>();
  const receiver = webhooks.receiver({ secret: SECRET, onEvent, onError: () => {} });
  const sent = (url: string) => deliver(url, body, webhooks.generateTestHeaders(body, SECRET));
  const mistake = { status: 500, text: expect.stringMatching(/^body_not_raw: .*before any body parser$/) };
  afterEach(() => onEvent.mockClear());

  test('Express after express.json() says so, after express.raw() takes the bytes', async () => {
    const express = requireAsExample('express');
    const parsed = express().use(express.json()).post('/webhooks', receiver.node);
    expect(await sent(await served(parsed))).toEqual(mistake);
    expect(onEvent).not.toHaveBeenCalled();
    const raw = express().post('/webhooks', express.raw({ type: '*/*' }), receiver.node);
    expect(await sent(await served(raw))).toEqual({ status: 200, text: 'ok' });
    expect(onEvent).toHaveBeenCalledOnce();
  });

  test('Hono and Next.js after json() say so', async () => {
    const { Hono } = requireAsExample('hono');
    const hono = new Hono();
    hono.post('/webhooks', async ({ req }: { req: { raw: Request; json(): Promise<unknown> } }) => {
      await req.json();
      return await receiver.fetch(req.raw);
    });
    expect(await sent(await served(bridge(hono.fetch)))).toEqual(mistake);
    const route: WebHandler = async (request) => {
      await request.json();
      return await receiver.fetch(request);
    };
    expect(await sent(await served(bridge(route)))).toEqual(mistake);
    expect(onEvent).not.toHaveBeenCalled();
  });

  test('Fastify cannot make the mistake, and its other routes still get parsed JSON', async () => {
    const app = fastify();
    app.post('/orders', async ({ body: order }) => ({ got: order }));
    app.register(receiver.fastify, { prefix: '/webhooks' });
    await app.listen({ host: '127.0.0.1', port: 0 });
    closing.push(() => app.close());
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    expect(await sent(`${url}/webhooks`)).toEqual({ status: 200, text: 'ok' });
    expect(onEvent).toHaveBeenCalledOnce();
    const order = await deliver(`${url}/orders`, '{"a":1}', { 'Content-Type': 'application/json' });
    expect(order).toEqual({ status: 200, text: '{"got":{"a":1}}' });
    const empty = await fetch(`${url}/webhooks`, { method: 'POST' });
    expect(await empty.text()).toMatch(/^missing_header: /);
  });
});
