import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import * as jsqr from 'jsqr';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { tellOnFailure } from '../tell-on-failure.ts';

/** What a shop asks for in the tests of the payer's page. */
export const ORDER = {
  amount: 2_499,
  currency: 'USD',
  description: 'Two notebooks and a pencil',
  order_id: 'A-17',
  success_url: 'https://shop.example/thanks',
  cancel_url: 'https://shop.example/cart',
};

/** A CommonJS module: Node and bundlers put its function in different places. */
const decodeQr = jsqr.default as unknown as typeof jsqr.default.default;

/** Where a run keeps its pictures: they are for people to look at, so a run that nobody looks at makes none. */
const SCREENSHOTS =
  process.env.FLORIN_SCREENSHOTS && path.resolve(process.env.FLORIN_SCREENSHOTS, 'checkout');

const PHONE = { width: 390, height: 844 };
/** What comes in seconds takes longer on a machine that does much else; the state of an installation is read again the later the slower it is. */
const WAIT_MS = 120_000;
const GRAVE = new Set(['serious', 'critical']);
/** What depends on the colours of a page, which are all that dark mode changes. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** A payer at a page, who writes down what the page must not do: requests to others, refusals, errors, dialogs. */
export interface Payer {
  page: Page;
  faults: string[];
}

interface Preparation {
  initScript?: string;
  prepare?: (page: Page) => Promise<void>;
}

export function driver(browser: () => Browser) {
  if (SCREENSHOTS) mkdirSync(SCREENSHOTS, { recursive: true });
  console.log(
    SCREENSHOTS
      ? `screenshots: ${SCREENSHOTS}`
      : 'no screenshots: name a folder for them with FLORIN_SCREENSHOTS',
  );

  /**
   * @param more.initScript runs before the page's own
   * @param more.prepare is given the page before it loads
   */
  const open = async (
    url: string,
    { initScript, prepare, ...options }: BrowserContextOptions & Preparation = {},
  ): Promise<Payer> => {
    const context = await browser().newContext({ viewport: PHONE, locale: 'en-US', ...options });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    await prepare?.(page);
    if (initScript !== undefined) await page.addInitScript(initScript);
    const faults: string[] = [];
    const { origin: own } = new URL(url);
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== own && protocol !== 'data:') faults.push(request.url());
    });
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    tellOnFailure(() => whatIsShown({ page, faults }));
    await page.goto(url);
    return { page, faults };
  };

  const keep = async (page: Page, name: string) => {
    if (SCREENSHOTS) await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`), fullPage: true });
  };

  return { open, keep, isKept: Boolean(SCREENSHOTS) };
}

async function whatIsShown({ page, faults }: Payer): Promise<string> {
  if (page.isClosed()) return '';
  const text = await page.innerText('body', { timeout: 1_000 }).catch(String);
  return `${page.url()} shows "${text.slice(0, 600)}"; faults: ${faults.join(', ') || 'none'}`;
}

interface Violation {
  id: string;
  impact?: string | null | undefined;
  nodes: { html: string }[];
}

/** Axe is evaluated once for each document: its 600 kB take longer than a run of its rules. */
async function hasAxe(page: Page): Promise<boolean> {
  const kinds = page.frames().map((frame) => frame.evaluate<string>('typeof axe').catch(() => 'undefined'));
  return (await Promise.all(kinds)).every((kind) => kind === 'object');
}

/** A page that waits loads itself again, perhaps while axe reads it. */
async function analyze(page: Page, rules?: string[], tries = 5): Promise<Violation[]> {
  // What is right with a page is not described.
  const options = { resultTypes: ['violations' as const], ...(rules && { runOnly: rules }) };
  try {
    if (await hasAxe(page)) {
      return await page.evaluate<Violation[]>(
        `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
      );
    }
    // These pages have no frames of other origins, which is all that the other mode is for; it takes twice the time.
    return (await new AxeBuilder({ page }).setLegacyMode().options(options).analyze()).violations;
  } catch (error) {
    if (tries === 1 || !String(error).includes('Execution context was destroyed')) throw error;
    return await analyze(page, rules, tries - 1);
  }
}

/** What axe finds that keeps people out of a page as it is shown. */
export async function graveFaults(page: Page, rules?: string[]): Promise<string[]> {
  const violations = await analyze(page, rules);
  const grave = violations.filter(({ impact }) => GRAVE.has(impact ?? ''));
  return grave.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).join(' ')}`);
}

const BEYOND_THE_SCREEN = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth).map((element) => element.outerHTML.slice(0, 200))`;

/** What axe finds that keeps people out, in light and in dark; and that nothing is wider than a small phone. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await graveFaults(page, RULES_OF_COLOURS), 'dark').toEqual([]);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  expect(await graveFaults(page), 'light').toEqual([]);
  const before = page.viewportSize() ?? PHONE;
  if (before.width > PHONE.width) await expectAccessibleOnPhone(page);
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate(BEYOND_THE_SCREEN), 'wider than a small phone').toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  await page.setViewportSize(before);
}

/** A phone folds the menu and scrolls what is wide, so all rules count again, in dark too. */
async function expectAccessibleOnPhone(page: Page): Promise<void> {
  await page.setViewportSize(PHONE);
  expect(await graveFaults(page), 'phone, light').toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await graveFaults(page), 'phone, dark').toEqual([]);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
}

interface Pixels {
  data: number[];
  width: number;
  height: number;
}

/** Runs in a page of its own, as text: no types of browsers here. */
const DECODE = `async (source) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + source;
  await image.decode();
  const { width, height } = image;
  const drawing = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
  drawing.drawImage(image, 0, 0);
  return { data: Array.from(drawing.getImageData(0, 0, width, height).data), width, height };
}`;

/** The text in the QR code as a camera reads it off the screen. */
export async function readQr(page: Page): Promise<string | undefined> {
  const picture = (await page.locator('.qr').filter({ visible: true }).first().screenshot()).toString(
    'base64',
  );
  const reader = await page.context().newPage();
  const { data, width, height } = await reader.evaluate<Pixels>(`(${DECODE})('${picture}')`);
  await reader.close();
  return decodeQr(Uint8ClampedArray.from(data), width, height)?.data;
}
