import { readFileSync } from 'node:fs';
import { parseTokens } from '@florin/contract/money';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { auditCommands } from '../../packages/server/src/operator/audit.ts';
import { listStores } from '../../packages/server/src/stores/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { configure } from '../payouts/requests.ts';
import { type Credentials, send } from '../signed-request.ts';
import { hasChromium } from './chromium.ts';
import { byKeys, HOSTILE, useConsole } from './console-driver.ts';

const LONG_MS = 600_000;
const PAYER = 'payer@example.com';
const TEAM = ['developer', 'finance', 'approver', 'support'] as const;

/** A store of a fresh sandbox, from the invitation of its people to the statement of its month. */
describe.skipIf(!hasChromium())('the people of a store and what each of them does', () => {
  const at = useConsole({ worker: true });
  const { base, comeBy, keep, looks, signIn } = at;
  type Person = Awaited<ReturnType<typeof comeBy>>;

  const confirm = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  /** What the service answers to somebody's session, whatever their page offers. */
  async function refusal(page: Page, shop: string, [method, path, body]: [string, string, object]) {
    const [, , merchant, store] = new URL(shop).pathname.split('/');
    const answer: unknown = await page.evaluate(`(async () => {
      const me = await (await fetch('/console/api/me')).json();
      const headers = {
        'content-type': 'application/json',
        'x-csrf-token': me.csrf_token,
        'x-service-merchant': '${merchant}',
        'x-service-store': '${store}',
      };
      const body = ${JSON.stringify(JSON.stringify(body))};
      const answer = await fetch('${path}', { method: '${method}', headers, body });
      return answer.status + ' ' + (await answer.text());
    })()`);
    return String(answer);
  }

  /** The owner invites the people, who come in by their links at once, each in a browser of their own. */
  async function invite(page: Page): Promise<Record<(typeof TEAM)[number], Person>> {
    await page.goto(`${base()}/team`);
    const links: string[] = [];
    for (const role of TEAM) {
      await page.getByRole('button', { name: 'Invite' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('E-mail address').fill(`${role}@shop.example`);
      await dialog.getByLabel('Role').selectOption(role);
      await dialog.getByRole('button', { name: 'Invite' }).click();
      const link = page.getByRole('status').locator('code');
      links.push((await link.getAttribute('title')) ?? '');
      await page.getByRole('button', { name: 'Done' }).click();
    }
    const [developer, finance, approver, support] = await Promise.all(
      TEAM.map((role, i) => comeBy(links[i] ?? '', role, { isPhone: role === 'approver' })),
    );
    if (!developer || !finance || !approver || !support) throw new Error('everybody was invited');
    return { developer, finance, approver, support };
  }

  /** The owner asks for a store, and the operator reviews and enables it. @returns its pages */
  async function openStore(owner: Page, operator: Page): Promise<string> {
    await owner.goto(`${base()}/stores`);
    await owner.getByRole('button', { name: 'New store' }).click();
    await owner.getByLabel(/Name, as payers/).fill(HOSTILE);
    await owner.getByLabel('Channel').selectOption('api');
    await owner.getByRole('button', { name: 'Ask for review' }).click();
    await owner.getByText('pending', { exact: true }).waitFor();
    await looks(owner, 'stores');
    await operator.getByRole('heading', { name: 'Money under way' }).waitFor();
    await looks(operator, 'operator-health');
    await operator.getByRole('link', { name: 'Stores' }).click();
    await operator.getByLabel('Status').selectOption('pending');
    await operator.getByText(HOSTILE).waitFor();
    await looks(operator, 'operator-stores');
    await confirm(operator, 'Approve');
    await operator.getByText('No store has this status.').waitFor();
    await owner.getByText('enabled', { exact: true }).nth(1).waitFor({ timeout: 30_000 });
    const stores = await listStores(at.service.app, at.merchant.merchantId);
    const made = stores.find(({ name }) => name === HOSTILE);
    return base().replace(/[^/]+$/, encodeId('store', made?.store_id ?? ''));
  }

  /** A key is made, and a signature over other bytes than were sent is explained. @returns the key */
  async function develop(page: Page, shop: string): Promise<Credentials> {
    await page.goto(`${shop}/keys`);
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Server of the shop');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    const lines = await page.getByRole('status').getByText('FLORIN_BASE_URL').innerText();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    const lineOf = (name: string) => new RegExp(`${name}=(\\S+)`).exec(lines)?.[1] ?? '';
    const key = { apiKey: lineOf('FLORIN_API_KEY'), secretKey: lineOf('FLORIN_SECRET_KEY') };
    const body = JSON.stringify({ amount: 1_250, currency: 'USD' });
    const signedBody = JSON.stringify(JSON.parse(body), null, 2);
    const sessions = `${at.service.baseUrl}/api/v1/checkout/sessions/create`;
    expect((await send(sessions, key, { body, signedBody })).status).toBe(401);
    await page.goto(`${shop}/requests`);
    await page.getByLabel('Refused for').selectOption('signature');
    await page.getByRole('row', { name: /401/ }).getByRole('link').click();
    await page.getByText(/Step 5 of 7: signed bytes/).waitFor();
    await page
      .getByText(/indented by two spaces/)
      .first()
      .waitFor();
    return key;
  }

  /** Sixty salaries with three bad rows are mended and submitted, with the keyboard alone but for the file. @returns the batch */
  async function pay(page: Page, shop: string): Promise<string> {
    const { erc20 } = await at.merchant.sdk.testHelpers.addresses();
    const rows = Array.from({ length: 60 }, (_, i) => [
      erc20.succeed,
      `${i + 1}.00`,
      'erc20',
      `Person ${i + 1}`,
    ]);
    for (const [row, column, text] of [
      [7, 1, '7.001'],
      [23, 0, ''],
      [41, 2, 'erc02'],
    ] as const) {
      const cells = rows[row - 1];
      if (cells !== undefined) cells[column] = text;
    }
    const text = ['address,amount,network,real_name', ...rows.map((cells) => cells.join(','))].join('\n');
    await page.goto(`${shop}/payouts`);
    await byKeys.press(page, page.getByRole('link', { name: 'Pay from a file' }));
    const buffer = Buffer.from(text);
    await page.getByLabel('CSV file').setInputFiles({ name: 'november.csv', mimeType: 'text/csv', buffer });
    await byKeys.type(page, page.getByLabel('Currency of rows without one'), 'USDT');
    await page.getByText('3 rows with errors').waitFor();
    await byKeys.type(page, page.getByLabel('Amount of row 8'), '7.00');
    await byKeys.type(page, page.getByLabel('Address of row 24'), erc20.succeed);
    await byKeys.type(page, page.getByLabel('Network of row 42'), 'erc20');
    await page.keyboard.press('Enter');
    await byKeys.press(page, page.getByRole('button', { name: 'Make the draft' }));
    await page.getByText(/^1 batch with 60 recipients/).waitFor();
    await byKeys.press(page, page.getByRole('button', { name: /^Submit the batch: .* USDT with fees$/ }));
    const table = page.getByRole('table', { name: 'Batches' });
    await table.getByText('pending approval').waitFor();
    return (await table.innerText()).match(/pb_\w+/)?.[0] ?? '';
  }

  /** The approver signs once with a passkey, on a screen of a phone, and uses the keyboard alone. */
  async function approve(page: Page, shop: string): Promise<void> {
    await page.goto(`${shop}/approvals`);
    await byKeys.press(page, page.getByRole('link', { name: '1830.00 USDT' }));
    await page.getByText('What you sign').waitFor();
    expect(await page.getByText('Your session decides, which is weaker').count()).toBe(0);
    await keep(page, 'console-journey-approval');
    const dialog = page.getByRole('dialog');
    await byKeys.press(page, page.getByRole('button', { name: 'Approve', exact: true }));
    await byKeys.press(page, dialog.getByRole('button', { name: 'Approve', exact: true }));
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('completed', { exact: true }).first().waitFor({ timeout: 60_000 });
  }

  /** A payer writes from their address: support finds the payment, and gives a part of it back. */
  async function refund(page: Page, shop: string): Promise<void> {
    await page.goto(`${shop}/search`);
    await page.getByRole('searchbox').fill(PAYER);
    await page.keyboard.press('Enter');
    await page
      .getByRole('row', { name: /payment/ })
      .getByRole('link')
      .click();
    await page.getByRole('button', { name: 'Refund…' }).click();
    const dialog = page.getByRole('dialog');
    const { erc20 } = await at.merchant.sdk.testHelpers.addresses();
    await dialog.getByLabel('Amount in USDT (optional)').fill('2.50');
    await dialog.getByLabel('Address (optional)').fill(erc20.succeed);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '2.50 USDT' }).waitFor();
    await page.getByText('succeeded', { exact: true }).waitFor();
  }

  /** The statement of the month as a file, whose movements lead from one balance to the other. */
  async function readStatement(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Merchants' }).click();
    await page.getByRole('link', { name: 'Statement' }).click();
    await page.getByText('Not final').waitFor();
    await looks(page, 'statement');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^statement-mer_\w+-\d{4}-\d\d-01-\d{4}-\d\d-\d\d\.csv$/);
    const text = readFileSync(await file.path(), 'utf8');
    expect(text).toMatch(/,closing,.*\r\n# \d+ rows\r\n$/);
    const [head = '', ...lines] = text.trimEnd().split('\r\n');
    const names = head.split(',');
    const sums = new Map<string, bigint>();
    let isOver = 0;
    for (const line of lines.filter((one) => !one.startsWith('#'))) {
      const cells = Object.fromEntries(line.split(',').map((cell, i) => [names[i] ?? '', cell]));
      const { account, currency, kind, increase = '', decrease = '', balance = '' } = cells;
      const before = sums.get(`${account} ${currency}`) ?? 0n;
      const units = (given: string) => (given === '' ? 0n : parseTokens(given));
      if (kind === 'closing') {
        expect([line, before]).toEqual([line, units(balance)]);
        isOver += 1;
      } else sums.set(`${account} ${currency}`, before + units(balance) + units(increase) - units(decrease));
    }
    expect(isOver).toBeGreaterThan(3);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('link', { name: 'Merchants' }).isVisible()).toBe(false);
    await keep(page, 'console-statement-print');
    await page.emulateMedia({ media: 'screen' });
    await page.getByRole('button', { name: 'Month before' }).click();
    await page.getByText('No account held or moved anything').waitFor();
    await page.getByLabel('From (UTC)').fill('2026-01-02');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('from=2026-01-02');
    await page.goto(page.url().replace('2026-01-02', '2000-01-02'));
    await page.getByText('at most 366 days').waitFor();
    await page.goBack();
  }

  test('a store is opened, paid, pays its people and gives money back; each may do their own part alone', {
    timeout: LONG_MS,
  }, async () => {
    const { service, merchant } = at;
    await configure(service, merchant, { approvalAbove: '1.00' });
    const [owner, operator] = [await signIn('owner'), await signIn('operator')];
    const team = await invite(owner.page);
    const shop = await openStore(owner.page, operator.page);
    const key = await develop(team.developer.page, shop);
    const sdk = service.sdkFor(key);
    const order = { amount: 12_500_000n, currency: 'USDT', customer_email: PAYER };
    const session = await sdk.checkout.sessions.create(order);
    await sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
    const batch = await pay(team.finance.page, shop);
    const own = `/console/api/merchants/${encodeId('merchant', merchant.merchantId)}`;
    const decision = `${own}/payout-batches/${batch}/decision`;
    const ownRole = `${own}/users/${encodeId('user', owner.userId)}`;
    const toRefund = { refund_id: 'r-1', payment_id: session.payment_id };
    const auditor = await signIn('auditor');
    const refused: [who: Page, call: [string, string, object], why: string][] = [
      [owner.page, ['PUT', ownRole, { role: 'viewer' }], 'Nobody changes their own role'],
      [operator.page, ['POST', '/api/v1/refunds/create', toRefund], 'does not permit this (refund)'],
      [team.developer.page, ['POST', '/api/v1/refunds/create', toRefund], 'does not permit this (refund)'],
      [team.finance.page, ['POST', decision, { decision: 'approved' }], 'does not permit this (approve)'],
      [
        team.approver.page,
        ['POST', `/api/v1/payout-batches/${batch}/cancel`, {}],
        'does not permit this (create_payouts)',
      ],
      [team.support.page, ['POST', decision, { decision: 'approved' }], 'does not permit this (approve)'],
      [auditor.page, ['POST', '/api/v1/refunds/create', toRefund], 'does not permit this (refund)'],
    ];
    for (const [page, call, why] of refused) {
      const answer = await refusal(page, shop, call);
      expect(answer).toMatch(/^403 /);
      expect(answer).toContain(why);
    }
    await approve(team.approver.page, shop);
    await refund(team.support.page, shop);
    await readStatement(auditor.page);
    const verified = await auditCommands(service.app).verify({});
    expect(verified.length).toBeGreaterThan(1);
    expect(verified.filter(({ faults }) => faults.length > 0)).toEqual([]);
    const people = [owner, operator, auditor, ...Object.values(team)];
    // What was refused above, and a period that is none.
    const found = people.flatMap((one) => one.faults).filter((fault) => !/status of 40[03]/.test(fault));
    expect(found).toEqual([]);
    for (const { page } of people) {
      expect(await page.title()).not.toContain('taken');
      await page.context().close();
    }
  });
});
