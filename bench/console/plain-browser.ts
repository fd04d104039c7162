import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

export const EXECUTABLE = '/usr/bin/chromium';
const ARGUMENTS = [
  '--headless=new',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--remote-debugging-port=0',
];
const WIDTH = 1440;
const HEIGHT = 900;
const PAGE_MS = 30_000;
/** Seldom enough not to take a core from the page that is measured. */
const LOOK_MS = 300;

/** A cookie as it stands in a request. */
export interface Cookie {
  name: string;
  value: string;
}

interface Answer {
  id?: number;
  result?: Record<string, unknown>;
  error?: { message: string };
}

/**
 * Chromium by its own protocol. A test library watches the network, and for that Chromium parses the scripts a second time to
 * say which line sent each request. That took 56 ms of a page here; a person's browser does not do it.
 */
export interface PlainBrowser {
  /**
   * Opens a page in a new browser context, whose cache is empty, and waits until the script has set `window.noted`.
   *
   * @param script runs in the page before its own; it sets `window.noted`
   * @returns the figure
   */
  note(url: string, script: string, cookie: Cookie): Promise<number>;
  close(): Promise<void>;
}

export async function openPlainBrowser(): Promise<PlainBrowser> {
  const profile = await mkdtemp(path.join(tmpdir(), 'florin-bench-browser-'));
  // Chromium has no sandbox for root.
  const own = [`--user-data-dir=${profile}`, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  const child = spawn(EXECUTABLE, [...ARGUMENTS, ...own, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const close = async () => {
    child.kill();
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const send = await connect(await addressIn(child.stderr));
    return { note: (url, script, cookie) => note(send, { url, script, cookie }), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const address = /ws:\/\/\S+/.exec(line)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error('Chromium ended before it listened');
}

/** Runs a command of the protocol, of the browser or of one page. */
type Send = (
  method: string,
  params: Record<string, unknown>,
  sessionId?: string,
) => Promise<Record<string, unknown>>;

async function connect(address: string): Promise<Send> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener('message', ({ data }) => {
    const answer: Answer = JSON.parse(String(data));
    if (answer.id === undefined) return;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('Chromium does not answer')));
  });
  let count = 0;
  return async (method, params, sessionId) => {
    const id = ++count;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error } = await promise;
    if (result === undefined) throw new Error(`${method}: ${error?.message}`);
    return result;
  };
}

async function note(
  send: Send,
  { url, script, cookie }: { url: string; script: string; cookie: Cookie },
): Promise<number> {
  const { browserContextId } = await send('Target.createBrowserContext', {});
  try {
    await send('Storage.setCookies', { browserContextId, cookies: [{ ...cookie, url }] });
    const size = { width: WIDTH, height: HEIGHT };
    const target = { url: 'about:blank', browserContextId, ...size };
    const { targetId } = await send('Target.createTarget', target);
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    const inPage: Send = (method, params) => send(method, params, String(sessionId));
    await inPage('Page.enable', {});
    await inPage('Page.addScriptToEvaluateOnNewDocument', { source: script });
    await inPage('Page.navigate', { url });
    for (let waitedMs = 0; waitedMs < PAGE_MS; waitedMs += LOOK_MS) {
      await sleep(LOOK_MS);
      const { result } = await inPage('Runtime.evaluate', { expression: 'window.noted' });
      const noted = (result as { value?: unknown }).value;
      if (typeof noted === 'number') return noted;
    }
    throw new Error(`nothing is noted on ${url}`);
  } finally {
    await send('Target.disposeBrowserContext', { browserContextId });
  }
}
