import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
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

const EXECUTABLE = '/usr/bin/chromium';
const PAYMENTS = 10_000;
const PASSWORD = 'gravel-otter-lantern';
const LOADS = 5;
const PAGE_MS = 30_000;

/** Notes when the first row of a list stands on the page, in milliseconds after its navigation began. */
const NOTE_FIRST_ROW = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('[data-row]') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => { window.firstRowMs = performance.now(); });
  }).observe(document, { childList: true, subtree: true });`;

/** Row 22c: what somebody waits who opens the console with nothing in the browser's cache. */
export async function runConsole(server: BenchServer, options: RunOptions): Promise<Findings> {
  if (!existsSync(EXECUTABLE)) return { results: [{ row: '22c', missing: `no ${EXECUTABLE}` }], remarks: [] };
  const premises = await furnish(await server.createDatabase());
  await fillPayments(premises.databaseUrl, premises, PAYMENTS);
  const token = await inviteViewer(premises);
  const service = await startService(premises, options);
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    args: ['--disable-gpu', '--no-first-run', '--disable-background-networking'],
    chromiumSandbox: process.getuid?.() !== 0,
  });
  try {
    const cookie = await signIn(service.baseUrl, token);
    const place = `${encodeId('merchant', premises.merchantId)}/${encodeId('store', premises.storeId)}`;
    const url = `${service.baseUrl}/console/${place}/payments`;
    // The first one starts the browser's processes.
    const paintMs = await firstPaint(browser, url, cookie);
    const run = async () => {
      const seconds: number[] = [];
      for (let i = 0; i < LOADS; i++) seconds.push((await firstPaint(browser, url, cookie)) / 1_000);
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
async function signIn(baseUrl: string, token: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/console/api/links/redeem`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: baseUrl },
    body: JSON.stringify({ token, password: PASSWORD }),
  });
  const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0];
  if (cookie === undefined)
    throw new Error(`the invitation answers ${answer.status}: ${await answer.text()}`);
  return cookie;
}

async function firstPaint(browser: Browser, url: string, cookie: string): Promise<number> {
  const [name = '', value = ''] = cookie.split('=');
  const context = await browser.newContext();
  try {
    await context.addCookies([{ name, value, url: new URL('/', url).href }]);
    const page = await context.newPage();
    await page.addInitScript({ content: NOTE_FIRST_ROW });
    await page.goto(url);
    await page.locator('[data-row]').first().waitFor({ timeout: PAGE_MS });
    // The frame in which it stands there may follow.
    const noted = () => page.evaluate(() => Number(Reflect.get(globalThis, 'firstRowMs')));
    for (let ms = await noted(); ; ms = await noted()) if (!Number.isNaN(ms)) return ms;
  } finally {
    await context.close();
  }
}
