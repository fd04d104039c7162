import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { audited } from '../../packages/server/src/audit/index.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { hostileMarkup } from '../own-cases/text.ts';
import { send } from '../signed-request.ts';
import { addInvoice, addSubscription } from '../subscriptions/rows.ts';
import { hasChromium } from './chromium.ts';
import { useConsole } from './console-driver.ts';

const LONG_MS = 300_000;
/** In every text, so that one sees whether a page shows any. */
const MARK = '<script>window.broken=1</script>';
const TEXT_MAX = 500;
const BODY_MAX = 12_000;

/** All lines in few texts of a length that a field takes; what is longer is cut. */
function packed(lines: readonly string[], max: number): string[] {
  const texts = [MARK];
  for (const line of lines) {
    const longer = `${texts.at(-1)}\n${line}`;
    if (Array.from(longer).length <= max) texts[texts.length - 1] = longer;
    else texts.push(Array.from(`${MARK}\n${line}`).slice(0, max).join(''));
  }
  return texts;
}

const LINES = hostileMarkup();
const ALL = [MARK, ...LINES].join('\n');
const TEXTS = packed(LINES, TEXT_MAX);
/** In one line. */
const NAME = `${MARK}<img src=x onerror="window.broken=1">`;

/** Columns of texts without a bound of their own hold every line. */
const UNBOUNDED = ['description', 'reason', 'real_name', 'memo', 'failure_message', 'error'];

const OPERATOR =
  'health networks treasury stores merchants risk seizures?mode=sandbox jobs settings audit'.split(' ');
/** Pages that show nothing that a stranger wrote, or only what is encoded in a path. */
const WITHOUT = [
  ...'home search approvals payment-methods invoices balances ledger mails requests events deliveries'.split(
    ' ',
  ),
  ...'clock chains wallets inbox branding team roles payouts/import'.split(' '),
  ...['treasury', 'settings'].map((page) => `/console/operator/${page}`),
];

/** What stays the same for so many looks is all that comes. */
const LOOKS = 3;
const SETTLED = `document.querySelector('h1') !== null && document.querySelector('[aria-label="Loading"]') === null`;
/** What the policy of the page refuses, and what a script would have left. */
const WATCH = `window.refused = [];
document.addEventListener('securitypolicyviolation', (event) => window.refused.push(event.violatedDirective));`;

describe.skipIf(!hasChromium())('F3, fault 81: texts of strangers in the console', () => {
  const at = useConsole({
    worker: true,
    receive: async () => ({ failure: null, status: 503, response: Buffer.from(TEXTS[1] ?? MARK) }),
  });

  /** One of each resource, whose every text is hostile. @returns their pages */
  async function fill(): Promise<string[]> {
    const { service, merchant } = at;
    const { db } = service.app;
    const { sdk } = merchant;
    for (const table of ['store', 'merchant', 'api_key'])
      await sql`update ${sql.table(table)} set name = ${NAME}`.execute(db);
    const endpoint = await sdk.webhookEndpoints.create({ url: 'https://webhooks.test/x', types: ['*'] });
    const metadataOf = (texts: readonly string[]) =>
      Object.fromEntries(texts.map((text, i) => [`${i}${text.slice(0, 30)}`, text]));
    const payments: string[] = [];
    for (let i = 0; i < TEXTS.length; i += 50) {
      const session = await sdk.checkout.sessions.create({
        amount: 1_250n,
        currency: 'USD',
        customer: MARK,
        customer_email: 'payer@example.com',
        description: TEXTS[i] ?? MARK,
        metadata: metadataOf(TEXTS.slice(i, i + 50)),
        order_id: `${i}${MARK}`,
      });
      await sdk.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'erc20' });
      payments.push(session.payment_id);
    }
    const { erc20 } = await sdk.testHelpers.addresses();
    const refund = await sdk.refunds.create({
      refund_id: 'r-1',
      payment_id: payments[0] ?? '',
      reason: TEXTS[0] ?? MARK,
      address: erc20.succeed,
    });
    const batch = await sdk.payouts.create(
      {
        currency: 'USDT',
        description: MARK,
        items: TEXTS.slice(0, 45).map((text) => ({
          network: 'erc20' as const,
          address: erc20.succeed,
          amount: '1.00',
          real_name: text,
          memo: text.slice(0, 128),
        })),
      },
      { idempotencyKey: randomUUID() },
    );
    await sdk.paymentLinks.create({ amount: 1_250, currency: 'USD', description: MARK });
    const item = {
      id: randomUUID(),
      product: TEXTS[0],
      unit_amount: '1999',
      quantity: 1,
      metadata: metadataOf(TEXTS.slice(0, 50)),
    };
    const subscription = await addSubscription(service, merchant, {
      customer: MARK,
      description: ALL,
      items: JSON.stringify([item]),
    });
    await addInvoice(service, subscription.row);
    for (const [i, text] of TEXTS.slice(0, 20).entries())
      await sdk.customers.create({
        external_customer_id: `c-${i}`,
        name: text.slice(0, 200),
        phone: text.slice(0, 50),
        description: text,
      });
    const { rows: columns } = await sql<{ table: string; column: string }>`
      select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' and data_type = 'text' and column_name = any(${UNBOUNDED})
        and table_name not in ('job', 'audit_entry', 'migration')`.execute(db);
    for (const { table, column } of columns)
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${ALL} where ${sql.ref(column)} is not null`.execute(
        db,
      );
    const tried = async () =>
      (await sdk.deliveries.list({})).data.find(({ attempts }) => attempts.length > 0);
    await expect.poll(tried).toBeDefined();
    const delivery = await tried();
    await sql`update delivery set attempts = (
      select jsonb_agg(one || jsonb_build_object('response', ${ALL}::text)) from jsonb_array_elements(attempts) one
    ) where jsonb_array_length(attempts) > 0`.execute(db);
    const bodies = packed(LINES, BODY_MAX);
    const refuseAll = () =>
      Promise.all(
        bodies.map((body) =>
          send(`${service.baseUrl}/api/v1/customers/create?${encodeURIComponent(MARK)}`, merchant, {
            body: JSON.stringify({ name: body }),
          }),
        ),
      );
    const refused = async () =>
      (
        await sql<{
          id: string;
        }>`select request_id as id from request_log where status = 400 limit 3`.execute(db)
      ).rows;
    // Nothing waits for the log: on a machine that is busy it leaves some out.
    const isLogged = async () => {
      await refuseAll();
      return (await refused()).length;
    };
    await expect.poll(isLogged, { interval: 1_000 }).toBe(3);
    await fillInstallation();
    const ids = async (path: string) => {
      const { json } = await send(`${service.baseUrl}/api/v1/${path}`, merchant);
      return (json.data as { id: string }[]).slice(0, 3).map(({ id }) => `${path}/${id}`);
    };
    return [
      ...payments.map((id) => `payments/${id}`),
      `refunds/${refund.refund_id}`,
      `payouts/${batch.batch_id}`,
      `webhooks/${endpoint.id}`,
      `deliveries/${delivery?.id}`,
      `subscriptions/${subscription.id}`,
      ...(await refused()).map(({ id }) => `requests/req_${id.replaceAll('-', '')}`),
      ...(await ids('events')),
      ...(await ids('invoices')),
      ...(await ids('mails')),
    ];
  }

  /** What operators see: a stopped network, a failing job, a listed address, seized money, and what was changed. */
  async function fillInstallation(): Promise<void> {
    const { service, merchant } = at;
    const { db } = service.app;
    const { merchantId, sdk } = merchant;
    const session = await sdk.checkout.sessions.create({ amount: 1_250n, currency: 'USD' });
    const option = { currency: 'USDT', network: 'trc20', from: 'sanctioned' } as const;
    await sdk.testHelpers.checkout.sessions.pay(session.id, option);
    await sql`insert into network_stop (merchant_id, network, reason, stopped_at) values (${merchantId}, 'spl', ${ALL}, 1)`.execute(
      db,
    );
    await sql`insert into risk_address (network, address, reason, created_at_ms) values ('erc20', 'nobody', ${ALL}, 1)`.execute(
      db,
    );
    // The one that is due last: others succeed while pages are looked at.
    await sql`update job set attempts = 4, last_error = ${ALL}
      where job_id = (select job_id from job order by due_at_ms desc limit 1)`.execute(db);
    for (const of of [merchantId, NIL_ID])
      await audited(
        service.app,
        { merchantId: of, actor: { kind: 'user', id: MARK }, origin: ALL, action: MARK },
        { input: { reason: ALL }, read: undefined, work: async () => undefined },
      );
  }

  /** Until another page than that of this title stands there, and stays as it is. @returns what it shows */
  async function settled(page: Page, before: string): Promise<string> {
    const shown: string[] = [];
    const look = async () => {
      shown.push(await page.locator('main').innerText());
      const isThere = await page.evaluate(`document.title !== ${JSON.stringify(before)} && ${SETTLED}`);
      if (isThere !== true) shown.length = 0;
      return shown.length >= LOOKS && new Set(shown.slice(-LOOKS)).size === 1;
    };
    await expect.poll(look, { message: before }).toBe(true);
    return shown.at(-1) ?? '';
  }

  /** Goes there as a link of the application would. @returns the title, and whether a hostile text is shown */
  async function visit(page: Page, path: string): Promise<{ title: string; isHostile: boolean }> {
    const before = await page.title();
    await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
    const text = await settled(page, before);
    return { title: await page.title(), isHostile: text.includes(MARK) };
  }

  test('stay texts: no script runs, the policy refuses nothing, nobody is asked', {
    timeout: LONG_MS,
  }, async () => {
    const { page, faults, userId } = await at.signIn('owner');
    const pages = await fill();
    await sql`update console_user set installation_role = 'operator' where user_id = ${userId}`.execute(
      at.service.app.db,
    );
    await page.addInitScript(WATCH);
    await page.goto(`${at.base()}/home`);
    await settled(page, '');
    const menu = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const folders = await menu.evaluateAll((links) => links.map((link) => String(link.getAttribute('href'))));
    const own = new URL(at.base()).pathname;
    const all = [
      ...folders,
      ...[...pages, 'balances/statement', 'payouts/import'].map((one) => `${own}/${one}`),
      ...OPERATOR.map((one) => `/console/operator/${one}`),
    ];
    const titles: string[] = [];
    await page.goto(`${at.base()}/payouts/import`);
    await settled(page, '');
    const without: string[] = [];
    for (const path of all) {
      const { title, isHostile } = await visit(page, path);
      titles.push(title);
      if (!isHostile) without.push(path.replace(`${own}/`, ''));
      expect(await page.evaluate('window.broken ?? null'), path).toBeNull();
    }
    expect(new Set(titles).size).toBe(all.length);
    expect(titles.filter((title) => !title.endsWith(' · Florin'))).toEqual([]);
    expect(await page.evaluate('window.refused')).toEqual([]);
    expect(faults).toEqual([]);
    // The endpoint's address is its own; an event and an invoice have what they are about.
    const others = without.filter((path) => !/^(?:webhooks|events|invoices)\//.test(path));
    expect(others).toEqual(WITHOUT);
    await page.context().close();
  });
});
