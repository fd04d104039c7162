import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium } from './chromium.ts';
import { PASSWORD, useConsole } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(!hasChromium())('what somebody has typed into the console', () => {
  const at = useConsole();
  const { base, keep, looks, signIn } = at;

  const endSessions = (userId: string) =>
    sql`update console_session set ended_at_ms = created_at_ms where user_id = ${userId}`.execute(
      at.service.app.db,
    );

  /** Answers what browsers ask before something is lost, and writes the questions down. */
  function answer(page: Page) {
    const asked: string[] = [];
    const answers = { isYes: false, asked };
    page.removeAllListeners('dialog');
    page.on('dialog', (dialog) => {
      asked.push(`${dialog.type()}: ${dialog.message()}`);
      void (answers.isYes ? dialog.accept() : dialog.dismiss());
    });
    return answers;
  }

  /** Somebody signs in in the tab that the link opens. */
  async function signInAgain(page: Page, { email, code }: { email: string; code: string }): Promise<void> {
    const opened = page.waitForEvent('popup');
    await page.locator('.connection').getByRole('link', { name: 'Sign in again in a new tab' }).click();
    const tab = await opened;
    const come = tab.locator('#come');
    await come.getByLabel('E-mail address').fill(email);
    await come.getByLabel(/Password/).fill(PASSWORD);
    await come.getByLabel('Code').fill(code);
    await come.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByText(`You are signed in as ${email}`).waitFor();
    expect(await tab.title()).toBe('Your account · Florin');
    await tab.close();
  }

  test('outlives the end of the session, an outage, and somebody else who signs in, and is sent then', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults, userId, email, codes } = await signIn('owner');
    const answers = answer(page);
    await page.goto(`${base()}/home`);
    await page.getByRole('link', { name: 'Payment links' }).click();
    await page.getByRole('button', { name: 'New link' }).click();
    const dialog = page.getByRole('dialog');
    const description = dialog.getByLabel('Description, for the payer');
    await dialog.getByLabel(/^Amount/).fill('12.50');
    await description.fill('Lesson of Tuesday');
    // An accident of the pointer, and what leaves.
    await page.mouse.click(5, 400);
    await page.keyboard.press('Escape');
    await page.goBack();
    await expect.poll(() => answers.asked).toHaveLength(2);
    expect(new Set(answers.asked)).toEqual(new Set(['confirm: Leave this? What you typed is not saved.']));
    expect(new URL(page.url()).pathname).toMatch(/\/payment-links$/);

    await endSessions(userId);
    const send = dialog.getByRole('button', { name: 'Create' });
    await send.click();
    await dialog.getByRole('alert').getByText('Your session has ended.').waitFor();
    const band = page.locator('.connection');
    await band.getByText('Your session has ended.').waitFor();
    await keep(page, 'console-session-ended');
    await signInAgain(page, { email, code: codes[0] ?? '' });
    await band.waitFor({ state: 'detached' });

    await page.route('**/api/**', (route) => route.abort());
    await send.click();
    await band.getByText('The service cannot be reached.').waitFor();
    await keep(page, 'console-away');
    await page.unroute('**/api/**');
    await band.waitFor({ state: 'detached' });

    // Another person comes in by this browser: what stands here is not theirs to send.
    const other = await signIn('admin');
    const own = await page.context().cookies();
    await page.context().addCookies(await other.page.context().cookies());
    await send.click();
    await band.getByText(`This browser is signed in as ${other.email} now.`).waitFor();
    await page.context().addCookies(own);
    await band.waitFor({ state: 'detached' });
    expect(await description.inputValue()).toBe('Lesson of Tuesday');
    expect((await at.merchant.sdk.paymentLinks.list({})).data).toEqual([]);

    await send.click();
    await page.getByRole('row', { name: /Lesson of Tuesday/ }).waitFor();
    expect((await at.merchant.sdk.paymentLinks.list({})).data).toMatchObject([
      { amount: 1_250, currency: 'USD', description: 'Lesson of Tuesday' },
    ]);
    expect(faults.filter((fault) => !/status of 40[13]|ERR_FAILED/.test(fault))).toEqual([]);
    expect(answers.asked).toHaveLength(2);
    for (const one of [page, other.page]) await one.context().close();
  });

  test('is sent once the person has proved who they are, and a wrong password is no end of the session', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults, userId, codes } = await signIn('owner');
    await page.goto(`${base()}/keys`);
    await sql`update console_session set proved_at_ms = created_at_ms - 600000 where user_id = ${userId}`.execute(
      at.service.app.db,
    );
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Web server');
    await page.getByRole('button', { name: 'Create' }).click();
    const proof = page.getByRole('dialog', { name: 'Is it you?' });
    await proof.getByLabel('Password').fill('not the password');
    await proof.getByLabel('Code').fill(codes[0] ?? '');
    await proof.getByRole('button', { name: 'Go on' }).click();
    await proof.getByText('The password or the code is wrong').waitFor();
    await looks(page, 'proof-refused');
    expect(await page.getByText('Your session has ended').count()).toBe(0);
    await proof.getByLabel('Password').fill(PASSWORD);
    await proof.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'I have kept it' }).waitFor();
    expect(faults.filter((fault) => !/status of 40[13]/.test(fault))).toEqual([]);
    await page.context().close();
  });

  test('is asked about before a secret, a mended row or a draft is left, and not once it is kept', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults } = await signIn('owner');
    const answers = answer(page);
    const leave = async (question: string, kept: () => Promise<unknown>) => {
      answers.isYes = false;
      const before = answers.asked.length;
      await page.getByRole('link', { name: 'Balances' }).click();
      await expect.poll(() => answers.asked.slice(before)).toEqual([`confirm: ${question}`]);
      await kept();
      answers.isYes = true;
      await page.getByRole('link', { name: 'Balances' }).click();
      await page.getByRole('heading', { name: 'Balances' }).waitFor();
      expect(answers.asked).toHaveLength(before + 2);
    };
    await page.goto(`${base()}/keys`);
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Web server');
    await page.getByRole('button', { name: 'Create' }).click();
    const kept = page.getByRole('button', { name: 'I have kept it' });
    await kept.waitFor();
    await leave('Leave this? The secret key is not shown again.', () => kept.waitFor());

    await page.goto(`${base()}/team`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('dialog').getByLabel('E-mail address').fill(`${randomUUID()}@example.com`);
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    await page.getByText('The invitation is ready').waitFor();
    await leave('Leave this? The link is not shown again.', () =>
      page.getByText('The invitation is ready').waitFor(),
    );

    await page.goto(`${base()}/branding`);
    await page.getByLabel('Link to your terms').fill('https://shop.example/terms');
    await leave('Leave this? What you typed is not saved.', () =>
      page.getByLabel('Link to your terms').waitFor(),
    );

    const { erc20 } = await at.merchant.sdk.testHelpers.addresses();
    const text = ['address,amount,network', `${erc20.succeed},1.00,erc20`, `${erc20.succeed},x,erc20`].join(
      '\n',
    );
    await page.goto(`${base()}/payouts/import`);
    const file = { name: 'pay.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    await page.getByLabel('CSV file').setInputFiles(file);
    await page.getByLabel('Currency of rows without one').selectOption('USDT');
    const amount = page.getByLabel('Amount of row 3');
    await amount.fill('2.00');
    await amount.press('Enter');
    await leave('Leave this? What you typed is not saved.', () => amount.waitFor());

    await page.goto(`${base()}/payouts/import`);
    await page.getByLabel('CSV file').setInputFiles(file);
    await page.getByLabel('Currency of rows without one').selectOption('USDT');
    await page.getByRole('button', { name: 'Leave out row 3' }).click();
    await page.getByRole('button', { name: 'Make the draft' }).click();
    await page.getByText('1 batch with 1 recipient').waitFor();
    const asked = answers.asked.length;
    await page.getByRole('link', { name: 'Balances' }).click();
    await page.getByRole('heading', { name: 'Balances' }).waitFor();
    expect(answers.asked).toHaveLength(asked);
    expect([faults, await page.title()]).toEqual([[], 'Balances · Florin']);
    await page.context().close();
  });
});
