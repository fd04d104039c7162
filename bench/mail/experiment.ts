import { setTimeout as sleep } from 'node:timers/promises';
import type { MailView } from '@florin/pages';
import { openApp } from '../../packages/server/src/app.ts';
import { queueMail } from '../../packages/server/src/mail/index.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import * as stores from '../../packages/server/src/stores/index.ts';
import { merchantTime } from '../../packages/server/src/tenancy/index.ts';
import { type Child, startChild } from '../child.ts';
import { load } from '../create/load.ts';
import { furnish, type Premises } from '../create/merchant.ts';
import { buildRequests } from '../create/requests.ts';
import { type BenchServer, execute } from '../database.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { startService } from '../service.ts';
import { median, ratios, short } from '../statistics.ts';

const CONNECTIONS = 5;
const LOAD_CONNECTIONS = 20;
const SESSIONS = '/api/v1/checkout/sessions/create';
const BODY = Buffer.from(JSON.stringify({ amount: 12_500_000, currency: 'USDT', order_id: 'A-1' }));

/** Copies of the one mail that is there, each with its job. */
const COPIES = (count: number) => `
  with copies as (
    insert into mail (merchant_id, mail_id, kind, cause, about, recipient, language, view, status, created_at)
    select merchant_id, gen_random_uuid(), kind, gen_random_uuid()::text, about, recipient, language, view, 'pending', created_at
    from (select * from mail where cause = 'template') as template, generate_series(1, ${count})
    returning merchant_id, mail_id
  )
  insert into job (merchant_id, job_id, kind, unique_key, due_at_ms, follows_clock, payload)
  select merchant_id, gen_random_uuid(), 'mail.send', mail_id::text, (extract(epoch from now()) * 1000)::bigint, false,
    jsonb_build_object('mailId', mail_id) from copies`;
/** What is on its way ends by itself. */
const REST = `delete from job where kind = 'mail.send' and lease_owner is null`;
const LEFT = `select count(*)::int as n from job where kind = 'mail.send'`;

/** One mail of a live merchant that no job sends, to copy. @returns what it says */
async function writeTemplate({ databaseUrl, masterKey }: Premises): Promise<MailView> {
  const app = await openApp({ databaseUrl, masterKey, log: createLogger('silent'), poolSize: 2 });
  try {
    const { merchantId } = await stores.createMerchant(app, { name: 'Mail', mode: 'live' });
    const storeId = await stores.createStore(app, { merchantId, name: 'Honey', channelType: 'api' });
    const time = merchantTime(app, await stores.getMerchant(app.db, merchantId));
    await transact(app.db, (tx) =>
      queueMail(tx, { merchantId, storeId }, time, {
        kind: 'receipt',
        about: 'pay_bench',
        cause: 'template',
        to: 'payer@bench.example',
        values: { amount: '5.00 USDT' },
        rows: { amount: '5.00 USDT', description: 'Two pots of honey', network: 'Ethereum' },
        link: { to: 'payment', path: '/checkout/x' },
      }),
    );
    const { view } = await app.db.selectFrom('mail').select('view').executeTakeFirstOrThrow();
    return view;
  } finally {
    await app.close();
  }
}

async function untilNoneIsLeft(databaseUrl: string): Promise<void> {
  for (;;) {
    const [left] = await execute(databaseUrl, LEFT);
    if (left?.rows[0]?.n === 0) return;
    await sleep(100);
  }
}

/** How many mails a second the mail server took since it was last asked. */
async function rateOf(smtp: Child): Promise<number> {
  smtp.send('count');
  const { count, seconds } = await smtp.next<{ count: number; seconds: number }>();
  return (count - 1) / seconds;
}

/** Row 19: mails of a worker, and what they cost the API beside it. */
export async function runMail(server: BenchServer, options: RunOptions): Promise<Findings> {
  const premises = await furnish(await server.createDatabase(), 'sandbox');
  const { databaseUrl, env } = premises;
  const view = await writeTemplate(premises);
  const smtp = startChild('mail/smtp-server.ts');
  const { port } = await smtp.next<{ port: number }>();
  await execute(databaseUrl, REST);
  const worker = startChild('checkout/worker.ts', {
    profileDir: options.profileDir,
    env: {
      ...env,
      FLORIN_SMTP_URL: `smtp://127.0.0.1:${port}`,
      FLORIN_MAIL_FROM: 'Florin <no-reply@bench.example>',
      FLORIN_PUBLIC_URL: 'https://bench.example',
    },
  });
  const service = await startService(premises, options);
  const count = options.quick ? 500 : 2_000;
  const mails = async () => {
    await execute(databaseUrl, COPIES(count));
    await untilNoneIsLeft(databaseUrl);
    return await rateOf(smtp);
  };
  const bare = async () => {
    const config = {
      host: '127.0.0.1',
      port,
      isTls: false,
      from: { name: 'Florin', address: 'no-reply@bench.example' },
      publicUrl: 'https://bench.example',
    };
    const argument = { server: config, view, count, connections: CONNECTIONS };
    await startChild('mail/bare.ts', { argument }).next();
    return await rateOf(smtp);
  };
  const sessions = async () => {
    const requests = buildRequests(premises, count * 2, () => BODY, SESSIONS);
    return (await load(service.baseUrl, requests, LOAD_CONNECTIONS)).perSecond;
  };
  let mailsBeside: number[] = [];
  const sessionsBesideMails = async () => {
    await execute(databaseUrl, COPIES(count * 10));
    await sleep(1_000);
    const perSecond = await sessions();
    await execute(databaseUrl, REST);
    await untilNoneIsLeft(databaseUrl);
    mailsBeside.push(await rateOf(smtp));
    return perSecond;
  };
  try {
    await worker.next();
    await mails();
    await sessionsBesideMails();
    mailsBeside = [];
    const sent = await interleave(
      [
        { name: 'mails', run: mails },
        { name: 'bare', run: bare },
      ],
      options,
    );
    const created = await interleave(
      [
        { name: 'beside', run: sessionsBesideMails },
        { name: 'alone', run: sessions },
      ],
      options,
    );
    const [ours = [], theirs = []] = [sent.mails, sent.bare];
    const [beside = [], alone = []] = [created.beside, created.alone];
    return {
      results: [
        { row: '19a', values: ratios(ours, theirs), raw: { 'mails/s': ours, 'bare mails/s': theirs } },
        {
          row: '19b',
          values: ratios(beside, alone),
          raw: { 'sessions/s beside mails': beside, 'sessions/s alone': alone },
        },
      ],
      remarks: [
        `Mails: ${short(median(ours))} a second by one worker, ${short(median(theirs))} without rows and jobs, over ` +
          `${CONNECTIONS} connections; beside ${short(median(mailsBeside))} mails a second one API node creates ` +
          `${short(median(beside))} sessions a second, alone ${short(median(alone))}.`,
      ],
    };
  } finally {
    await Promise.all([worker.stop(), service.stop(), smtp.stop()]);
  }
}
