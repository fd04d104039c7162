import { existsSync } from 'node:fs';
import { openApp } from '../../packages/server/src/app.ts';
import { users } from '../../packages/server/src/console/accounts/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { furnish, type Premises } from '../create/merchant.ts';
import type { BenchServer } from '../database.ts';
import { fillPayments } from '../payments/fill.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { startService } from '../service.ts';
import { median, short } from '../statistics.ts';
import { type Cookie, EXECUTABLE, openPlainBrowser } from './plain-browser.ts';

const PAYMENTS = 10_000;
const PASSWORD = 'gravel-otter-lantern';
const LOADS = 5;

/** Notes when the first row of a list stands on the page, in milliseconds after its navigation began. */
const NOTE_FIRST_ROW = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('[data-row]') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => { window.noted = performance.now(); });
  }).observe(document, { childList: true, subtree: true });`;

/** Row 22c: what somebody waits who opens the console with nothing in the browser's cache. */
export async function runConsole(server: BenchServer, options: RunOptions): Promise<Findings> {
  if (!existsSync(EXECUTABLE)) return { results: [{ row: '22c', missing: `no ${EXECUTABLE}` }], remarks: [] };
  const premises = await furnish(await server.createDatabase());
  await fillPayments(premises.databaseUrl, premises, PAYMENTS);
  const token = await inviteViewer(premises);
  const service = await startService(premises, options);
  const browser = await openPlainBrowser();
  try {
    const cookie = await signIn(service.baseUrl, token);
    const place = `${encodeId('merchant', premises.merchantId)}/${encodeId('store', premises.storeId)}`;
    const url = `${service.baseUrl}/console/${place}/payments`;
    // The first one starts the browser's processes.
    const paintMs = await browser.note(url, NOTE_FIRST_ROW, cookie);
    const run = async () => {
      const seconds: number[] = [];
      for (let i = 0; i < LOADS; i++) seconds.push((await browser.note(url, NOTE_FIRST_ROW, cookie)) / 1_000);
      return median(seconds);
    };
    const { page = [] } = await interleave([{ name: 'page', run }], options);
    const remark = `The first page of a new browser showed its list after ${short(paintMs)} ms.`;
    return { results: [{ row: '22c', values: page }], remarks: [remark] };
  } finally {
    await browser.close();
    await service.stop();
  }
}

async function inviteViewer({ databaseUrl, masterKey, merchantId }: Premises): Promise<string> {
  const app = await openApp({ databaseUrl, masterKey, log: createLogger('silent'), poolSize: 2 });
  try {
    const who = { merchantId, email: 'viewer@example.com', role: 'viewer' };
    return (await users.inviteUser(app, who)).token;
  } finally {
    await app.close();
  }
}

/** @returns the cookie of the session */
async function signIn(baseUrl: string, token: string): Promise<Cookie> {
  const answer = await fetch(`${baseUrl}/console/api/links/redeem`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: baseUrl },
    body: JSON.stringify({ token, password: PASSWORD }),
  });
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
  if (name === undefined || value === undefined)
    throw new Error(`the invitation answers ${answer.status}: ${await answer.text()}`);
  return { name, value };
}
