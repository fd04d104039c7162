import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approvalCommands } from '../../packages/server/src/operator/approvals.ts';
import { configure } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { hasChromium, openBrowser } from './chromium.ts';
import { addPasskeyDevice, consoleDriver, HOSTILE, PASSWORD } from './console-driver.ts';

const LONG_MS = 300_000;

describe.skipIf(!hasChromium())('payouts in the console', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let browser: Browser;
  const { keep, base, signIn, looks } = consoleDriver(() => ({ service, merchant, browser }));

  beforeAll(async () => {
    service = await startService({ worker: true });
    merchant = await service.createMerchant();
    browser = await openBrowser();
  }, LONG_MS);
  afterAll(async () => {
    await browser?.close();
    await service.stop();
  });

  test('payouts: a batch is submitted after the password was given again; a viewer cannot', {
    timeout: LONG_MS,
  }, async () => {
    const { erc20 } = await merchant.sdk.testHelpers.addresses();
    const made = await merchant.sdk.payouts.create(
      {
        currency: 'USDT',
        description: HOSTILE,
        items: [{ network: 'erc20', address: erc20.succeed, amount: '12.34' }],
      },
      { idempotencyKey: randomUUID() },
    );
    const { page, faults, userId, codes } = await signIn('finance');
    await page.goto(`${base()}/payouts`);
    await page.getByRole('link', { name: '12.34 USDT' }).click();
    await page.getByRole('heading', { name: '12.34 USDT' }).waitFor();
    await looks(page, 'payout');
    await sql`update console_session set proved_at_ms = proved_at_ms - 300000 where user_id = ${userId}`.execute(
      service.app.db,
    );
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Submit' }).click();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByLabel('Code').fill(codes[0] ?? '');
    await keep(page, 'console-proof');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    expect((await merchant.sdk.payouts.retrieve(made.batch_id)).status).toBe('completed');
    await page.getByRole('link', { name: 'Balances' }).click();
    await page
      .getByRole('table', { name: 'USDT' })
      .getByRole('row', { name: /Reserved by payouts 0/ })
      .waitFor();
    await looks(page, 'balances');
    await page
      .getByRole('table', { name: 'USDT' })
      .getByRole('link', { name: 'payout_hold', exact: true })
      .click();
    await page.getByRole('link', { name: made.batch_id }).first().waitFor();
    await looks(page, 'ledger');
    expect(faults.filter((fault) => !fault.includes('status of 403'))).toEqual([]);
    await page.context().close();
    const viewer = await signIn('viewer');
    await viewer.page.goto(`${base()}/payouts/${made.batch_id}`);
    await viewer.page.getByRole('heading', { name: '12.34 USDT' }).waitFor();
    expect(await viewer.page.getByRole('button', { name: /Submit|Cancel/ }).count()).toBe(0);
    await viewer.page.goto(`${base()}/payouts/pb_unknown`);
    await viewer.page.getByRole('alert').getByText('There is no such payout batch.').waitFor();
    await viewer.page.getByRole('alert').getByText(/^req_/).waitFor();
    await viewer.page.getByRole('button', { name: 'Sign out' }).click();
    await viewer.page.getByLabel('E-mail address').waitFor();
    await viewer.page.goto(`${base()}/payouts`);
    await viewer.page.getByLabel('E-mail address').waitFor();
    await viewer.page.context().close();
  });

  test('payouts from a file: rows are mended beside their cells, drafts made once, mended, submitted and paid', {
    timeout: LONG_MS,
  }, async () => {
    const { erc20 } = await merchant.sdk.testHelpers.addresses();
    const line = (i: number, changed: { address?: string; amount?: string; name?: string } = {}) =>
      [
        changed.address ?? erc20.succeed,
        changed.amount ?? `${i}.00`,
        'erc20',
        changed.name ?? `Person ${i}`,
      ].join(',');
    const rows = Array.from({ length: 58 }, (_, i) => line(i + 1));
    const text = [
      'address,amount,network,real_name',
      ...rows,
      line(59, { amount: '1.234', name: HOSTILE }),
      line(60, { address: '' }),
      line(61, { address: `${erc20.succeed.slice(0, -1)}z` }),
      line(62, { name: '=1+1' }),
    ].join('\n');
    const file = { name: 'salaries.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    const { page, faults } = await signIn('finance');
    const choose = async () => {
      await page.goto(`${base()}/payouts`);
      await page.getByRole('link', { name: 'Pay from a file' }).click();
      await page.getByLabel('CSV file').setInputFiles(file);
      await page.getByLabel('Currency of rows without one').selectOption('USDT');
    };
    await page.goto(`${base()}/payouts/import`);
    await page.getByLabel('CSV file').setInputFiles({ ...file, buffer: Buffer.from('name,sum\nA,1\n') });
    await page
      .getByRole('alert')
      .getByText(/^row 1, column 1: "name" is none of/)
      .waitFor();
    await looks(page, 'payout-file');
    await choose();
    await page.getByText('3 rows with errors').waitFor();
    await page.getByText('"1.234" is not an amount such as 1200.50').waitFor();
    await looks(page, 'payout-rows');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download these rows' }).click();
    expect((await download).suggestedFilename()).toBe('salaries-errors.csv');
    await page.getByLabel('Amount of row 60').fill('59.00');
    await page.getByLabel('Address of row 61').fill(erc20.succeed);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Leave out row 63' }).click();
    await page.getByRole('button', { name: 'Make the draft' }).click();
    const mend = page.getByRole('region', { name: /^To mend in pb_/ });
    await mend.getByText('invalid', { exact: true }).waitFor();
    await looks(page, 'payout-drafts');
    await mend.getByRole('button', { name: 'Mend', exact: true }).click();
    const address = page.getByRole('dialog').getByLabel('Address');
    expect(await address.getAttribute('aria-invalid')).toBe('true');
    await address.fill(erc20.succeed);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: /^Submit the batch: .* USDT with fees$/ }).click();
    await page
      .getByRole('table', { name: 'Batches' })
      .getByText(/pending|processing|completed/)
      .waitFor();
    const { data } = await merchant.sdk.payouts.list({});
    expect([data[0]?.description, data[0]?.total_count, data[0]?.total_amount]).toEqual([
      'salaries',
      61,
      '1891.00',
    ]);
    await choose();
    await page.getByRole('button', { name: 'Leave all of them out' }).click();
    await page.getByRole('button', { name: 'Make the draft' }).click();
    await page
      .getByRole('alert')
      .getByText(/was made under this reference with other rows/)
      .waitFor();
    await page.getByRole('button', { name: 'Back to the rows' }).click();
    await page.getByLabel('Reference').fill('salaries, the rest');
    await page.getByRole('button', { name: 'Make the draft' }).click();
    await page.getByText(/^1 batch with 59 recipients/).waitFor();
    const pair = async (second: string) => {
      const two = [line(1), line(2, { amount: second })];
      const buffer = Buffer.from(['address,amount,network,real_name', ...two].join('\n'));
      await page.goto(`${base()}/payouts/import`);
      await page.getByLabel('CSV file').setInputFiles({ ...file, name: 'pair.csv', buffer });
      await page.getByLabel('Currency of rows without one').selectOption('USDT');
      await page.getByRole('button', { name: 'Make the draft' }).click();
    };
    await pair('2.00');
    await page.getByText(/^1 batch with 2 recipients/).waitFor();
    await pair('2.01');
    await page
      .getByRole('alert')
      .getByText(/was made under this reference with other rows/)
      .waitFor();
    await pair('2.00');
    await page.getByText('Made before').waitFor();
    expect((await merchant.sdk.payouts.list({})).data.map(({ status }) => status).includes('draft')).toBe(
      true,
    );
    expect([faults, await page.title()]).toEqual([[], 'From a CSV · Payouts · Florin']);
    await page.context().close();
    const viewer = await signIn('viewer');
    await viewer.page.goto(`${base()}/payouts/import`);
    await viewer.page.getByText('Owners, admins and finance may create payouts.').waitFor();
    await viewer.page.context().close();
  });

  /** A batch that waits for approval. */
  async function submitted(amount: string): Promise<string> {
    const { erc20 } = await merchant.sdk.testHelpers.addresses();
    const { batch_id } = await merchant.sdk.payouts.create(
      {
        currency: 'USDT',
        description: HOSTILE,
        items: [{ network: 'erc20', address: erc20.succeed, amount, real_name: HOSTILE }],
      },
      { idempotencyKey: randomUUID() },
    );
    return (await merchant.sdk.payouts.submit(batch_id)).batch_id;
  }

  test('an approver finds what waits, sees whom it pays and decides; finance may not', {
    timeout: LONG_MS,
  }, async () => {
    await configure(service, merchant, { approvalAbove: '1.00' });
    const { page, faults } = await signIn('approver');
    await page.goto(`${base()}/approvals`);
    await page.getByText('Nothing waits for approval.').waitFor();
    await submitted('12.35');
    const rejected = await submitted('12.36');
    await page.reload();
    await page.getByRole('link', { name: '12.35 USDT' }).waitFor();
    await looks(page, 'approvals');
    await page.getByRole('link', { name: '12.35 USDT' }).click();
    await page.getByText('Waits for approval').waitFor();
    await page.getByText('Your session decides, which is weaker').waitFor();
    await looks(page, 'approval');
    // As if something else were paid by now, and the page read it again as somebody came back to it.
    await page.route('**/decision', async (route) => {
      const response = await route.fetch();
      const shown: object = await response.json();
      await route.fulfill({ response, json: { ...shown, digest: `0x${'00'.repeat(32)}` } });
    });
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await page.getByText('Changed since you opened it').waitFor();
    expect(await page.getByRole('button', { name: /^(Approve|Reject)$/ }).count()).toBe(0);
    await page.unroute('**/decision');
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').getByText('Approve 12.35 USDT to 1 recipient').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    await page.goto(`${base()}/payouts/${rejected}`);
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await page.getByText('rejected', { exact: true }).waitFor();
    expect([faults, await page.title()]).toEqual([[], `${rejected} · Payouts · Florin`]);
    await page.context().close();
    await twoSignByPasskey();
    const finance = await signIn('finance');
    await finance.page.goto(`${base()}/payouts/${await submitted('12.37')}`);
    await finance.page.getByText('Waits for approval').waitFor();
    expect(await finance.page.getByRole('link', { name: 'Approvals' }).count()).toBe(0);
    expect(await finance.page.getByRole('button', { name: /Approve|Reject/ }).count()).toBe(0);
    await finance.page.context().close();
  });

  /** A browser with a passkey of somebody who approves. */
  async function withPasskey(role: string) {
    const person = await signIn(role);
    const { page } = person;
    await addPasskeyDevice(page);
    await page.goto(new URL('/console/account', base()).href);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('Your passkey is set up.').waitFor();
    await sql`update console_session set proved_at_ms = 0 where user_id = ${person.userId}`.execute(
      service.app.db,
    );
    return person;
  }

  /** Another change wants a proof, which a passkey gives too. */
  async function proveByPasskey(page: Page): Promise<void> {
    await page.goto(`${base()}/stores`);
    await page.getByRole('button', { name: 'New store' }).click();
    await page.getByLabel(/Name, as payers/).fill('Asked by passkey');
    await page.getByRole('button', { name: 'Ask for review' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('row', { name: /Asked by passkey pending/ }).waitFor();
  }

  /** Two people in two browsers approve one batch, each asked once, by the passkey. */
  async function twoSignByPasskey(): Promise<void> {
    await configure(service, merchant, { approvals: '2' });
    const batch = await submitted('12.38');
    const { erc20 } = await merchant.sdk.testHelpers.addresses();
    const alike = `${erc20.succeed.slice(0, 6)}${'1'.repeat(32)}${erc20.succeed.slice(-4)}`;
    await sql`update payout_item set address = ${alike.toLowerCase()}
      where status = 'succeeded' and address = ${erc20.succeed}`.execute(service.app.db);
    for (const role of ['approver', 'owner']) {
      const { page, faults, email } = await withPasskey(role);
      await page.goto(`${base()}/payouts/${batch}`);
      await page.getByText('What you sign').waitFor();
      await page.getByText(`looks like ${alike.toLowerCase()}`).waitFor();
      if (role === 'owner') await looks(page, 'approval-passkey');
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const { approvals } = await approvalCommands(service.app, service.baseUrl).verify({ id: batch });
      expect(approvals.find(({ name }) => name === email)).toMatchObject({
        signer: email,
        by: 'passkey',
        counts_today: true,
      });
      expect(faults).toEqual([]);
      if (role === 'owner') {
        await page.getByText('completed', { exact: true }).waitFor();
        await proveByPasskey(page);
      }
      await page.context().close();
    }
    await configure(service, merchant, { approvals: '1' });
  }

  test('what somebody signed counts no more once it is under way: the page says so, and they sign by another passkey', {
    timeout: LONG_MS,
  }, async () => {
    await configure(service, merchant, { approvalAbove: '1.00' });
    const outage = (seconds: number) =>
      merchant.sdk.testHelpers.controlChain('erc20', { outage_seconds: seconds });
    const { page, faults, email } = await withPasskey('approver');
    const batch = await submitted('12.39');
    await outage(10_000);
    await page.goto(`${base()}/payouts/${batch}`);
    const confirm = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await confirm('Approve');
    await page.getByText('processing', { exact: true }).first().waitFor();
    expect(await page.getByText('What you sign').count()).toBe(0);
    await page.goto(new URL('/console/account', base()).href);
    await page.locator('#passkeys').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('The passkey is removed.').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${base()}/payouts/${batch}`);
    await other.getByText('You cannot sign it').waitFor();
    expect(await other.getByRole('button', { name: 'Sign', exact: true }).count()).toBe(0);
    await other.close();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('Your passkey is set up.').waitFor();
    await page.goto(`${base()}/payouts/${batch}`);
    await page.getByText(`${email} has to sign again`).waitFor();
    await looks(page, 'sign-late');
    await confirm('Sign');
    await page.getByText(`${email} has to sign again`).waitFor({ state: 'detached' });
    const { approvals } = await approvalCommands(service.app, service.baseUrl).verify({ id: batch });
    expect(approvals).toMatchObject([{ name: email, by: 'passkey', counts_today: true }]);
    await outage(0);
    await page.getByText('completed', { exact: true }).first().waitFor();
    // The removal asked for a proof first.
    expect(faults.filter((fault) => !fault.includes('status of 403'))).toEqual([]);
    await page.context().close();
  });
});
