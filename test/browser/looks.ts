import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FULL } from '../scale.ts';
import { type driver, expectAccessible } from './checkout-driver.ts';

const DESKTOP = { width: 1280, height: 900 };
/** A desktop at 400 %. */
const ZOOMED = { width: 320, height: 225 };

/** A page of payers in one state. */
export interface Look {
  /** Begins the names of the pictures. */
  name: string;
  urlOf: (language: string) => string;
  /** What the payer does to bring the page into that state; works in every language and without script. */
  act?: ((page: Page) => Promise<void>) | undefined;
}

/** Runs in the page, as text: no types of browsers here. All that the keyboard has to reach, in the order of the page. */
const REACHABLE = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.type !== 'hidden')`;
/** Of a group of radio buttons Tab reaches one. */
const COUNT_REACHABLE = `(() => {
  const groups = new Set();
  let count = 0;
  for (const one of ${REACHABLE}) {
    if (one.type === 'radio') {
      if (groups.has(one.name)) continue;
      groups.add(one.name);
    }
    count += 1;
  }
  return count;
})()`;
/** What has the focus, and whether one sees that: by a ring of its own or of what stands for it. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return null;
  const ringed = [one, one.closest('label'), one.parentElement, one.nextElementSibling].some((each) => {
    if (each === null || each === undefined) return false;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
  });
  return { what: one.outerHTML.slice(0, 120), ringed };
})()`;
/** Else Tab goes on where the payer typed or clicked last. */
const FROM_THE_TOP = `(() => {
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
})()`;
const TABS_MAX = 60;

/** Tab reaches everything that does something, and shows where it is. */
async function expectKeyboard(page: Page, name: string): Promise<void> {
  const wanted = await page.evaluate<number>(COUNT_REACHABLE);
  await page.evaluate(FROM_THE_TOP);
  const reached = new Set<string>();
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<{ what: string; ringed: boolean } | null>(FOCUSED);
    if (focused === null) break;
    expect(focused.ringed, `${name}: ${focused.what}`).toBe(true);
    await page.evaluate(`document.activeElement.dataset.reached = '${tabs}'`);
    const marked = await page.evaluate<string>('document.activeElement.dataset.reached');
    reached.add(marked);
    if (reached.size === wanted) break;
  }
  expect(reached.size, `${name}: reached by Tab`).toBe(wanted);
}

/**
 * A picture of a state on phone and desktop, light and dark, mirrored and without script; nothing that axe finds, nothing
 * that the keyboard does not reach, nothing wider than the screen at 400 %.
 *
 * @param expected faults that the browser itself reports, such as the 400 of a mistake
 */
export async function expectLooks(
  { open, keep }: ReturnType<typeof driver>,
  { name, urlOf, act = async () => {} }: Look,
  expected: RegExp = /^$/,
): Promise<void> {
  const { page, faults } = await open(urlOf('en'));
  await act(page);
  await page.locator('h1').first().waitFor();
  await keep(page, `looks-${name}-phone`);
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await keep(page, `looks-${name}-phone-dark`);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectKeyboard(page, name);
  await page.setViewportSize(DESKTOP);
  await page.evaluate('document.activeElement?.blur()');
  await keep(page, `looks-${name}-desktop`);
  // The elements are those of the phone: what axe asks of them is asked again before a release alone.
  if (FULL) await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await keep(page, `looks-${name}-desktop-dark`);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(ZOOMED);
  expect(await page.evaluate('document.documentElement.scrollWidth'), '400 %').toBeLessThanOrEqual(320);
  await page.context().close();
  const arabic = await open(urlOf('ar'));
  await act(arabic.page);
  await keep(arabic.page, `looks-${name}-arabic`);
  await arabic.page.setViewportSize(DESKTOP);
  await keep(arabic.page, `looks-${name}-arabic-desktop`);
  await arabic.page.context().close();
  const plain = await open(urlOf('en'), { javaScriptEnabled: false });
  await act(plain.page);
  await keep(plain.page, `looks-${name}-plain`);
  await plain.page.context().close();
  const unexpected = [...faults, ...arabic.faults, ...plain.faults].filter((fault) => !expected.test(fault));
  expect(unexpected, name).toEqual([]);
}
