import { transact } from '../../packages/server/src/platform/db/transact.ts';
import type { Job, JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { billSubscription } from '../../packages/server/src/subscriptions/bill-subscription.ts';
import { settleCharge } from '../../packages/server/src/subscriptions/settle-charge.ts';
import { sendTransfers } from '../../packages/server/src/transfers/index.ts';
import { record, type Statement } from '../create/recording.ts';
import { type Script, scriptOf } from '../create/script.ts';
import type { BenchServer } from '../database.ts';
import { Company } from './company.ts';

const BLOCKS_TO_FINAL = 5;
const RECORDINGS_MAX = 5;
/** Rows for so many renewals of each client of pgbench. */
const PREPARED = 1_000;

/** The SQL of renewals, with the rows that pgbench renews by it. */
export interface Limit {
  script: Script;
  databaseUrl: string;
  close(): Promise<void>;
}

/**
 * Records what two renewals send, the queue's own statements and the chain's aside, and prepares rows for many more.
 */
export async function recordRenewals(server: BenchServer, clients: number): Promise<Limit> {
  const company = await Company.open(server, 1, 1);
  try {
    const script = await recordScript(company);
    await prepareRows(company, script, clients);
    return { script, databaseUrl: company.app.databaseUrl, close: () => company.close() };
  } catch (error) {
    await company.close();
    throw error;
  }
}

async function recordScript(company: Company): Promise<Script> {
  await company.subscribe(2 * RECORDINGS_MAX + 1);
  const ids = (
    await company.query<{ id: string }>('select subscription_id as id from subscription order by 1')
  ).map(({ id }) => id);
  // The first renewal opens connections and has them prepare what is kept.
  await renew(company, ids.pop() ?? '');
  for (let i = 0; ; i++) {
    const [first, second] = [await renew(company, ids.pop() ?? ''), await renew(company, ids.pop() ?? '')];
    try {
      return scriptOf({ first, second });
    } catch (error) {
      // What a process does now and then came in between.
      if (i === RECORDINGS_MAX - 1) throw error;
    }
  }
}

/** One renewal from its due time to the payment of its invoice, as workers run it. */
async function renew(company: Company, subscriptionId: string): Promise<Statement[]> {
  const { app, owners } = company;
  const [owner] = owners;
  if (owner === undefined) throw new Error('a company has a merchant');
  const { merchantId } = owner;
  const change: JobRun['step'] = (work) => transact(app.db, work);
  const run: JobRun = {
    step: change,
    finish: change,
    onRevision: () => {},
    signal: new AbortController().signal,
  };
  const job = (payload: Record<string, unknown>): Job => {
    return { merchantId, jobId: '', kind: '', attempts: 0, dueAtMs: app.clock.nowMs(), trace: null, payload };
  };
  const statements: Statement[] = [];
  const keep = async (work: () => Promise<unknown>) => {
    const from = (statements.at(-1)?.trip ?? -1) + 1;
    const database = new URL(app.databaseUrl).pathname.slice(1);
    const all = await record(async () => void (await work()));
    statements.push(
      ...all.filter((one) => one.database === database).map((one) => ({ ...one, trip: one.trip + from })),
    );
  };
  await keep(() => billSubscription(app, job({ subscriptionId }), run));
  const [charge] = await company.query<{ id: string }>(
    `select charge_payment_id as id from invoice where subscription_id = $1 and status = 'open'`,
    [subscriptionId],
  );
  if (charge === undefined) throw new Error('a renewal orders a charge');
  const sent = job({ groupId: charge.id });
  await keep(() => sendTransfers(app, sent, run));
  await company.chain(owner).mine(BLOCKS_TO_FINAL);
  await keep(() => sendTransfers(app, sent, run));
  await keep(() => settleCharge(app, sent, run));
  const [paid] = await company.query<{ status: string }>(
    'select status from invoice where subscription_id = $1',
    [subscriptionId],
  );
  if (paid?.status !== 'paid') throw new Error(`a renewal ended as ${paid?.status}`);
  return statements;
}

/** Copies of the recorded subscription and its mandate, under the ids by which pgbench asks for them. */
async function prepareRows(company: Company, { seeds }: Script, clients: number): Promise<void> {
  const [recorded] = await company.query<{ subscription_id: string; payment_method_id: string }>(
    'select subscription_id, payment_method_id from subscription where subscription_id = any($1::uuid[])',
    [Object.keys(seeds).filter((text) => text.length === 36)],
  );
  if (recorded === undefined) throw new Error('the recorded renewal is of no subscription');
  const { subscription_id: subscription, payment_method_id: method } = recorded;
  const id = (of: string) => `lpad(to_hex((n::bigint * 64 + c) * 64 + ${seeds[of]}), 32, '0')::uuid`;
  const each = `generate_series(1, ${PREPARED}) n, generate_series(0, ${clients - 1}) c`;
  await company.query(
    `insert into payment_method
     select (jsonb_populate_record(m, jsonb_build_object('payment_method_id', ${id(method)}, 'mandate_id', ${id(method)}))).*
     from payment_method m, ${each} where m.payment_method_id = $1`,
    [method],
  );
  await company.query(
    `insert into subscription
     select (jsonb_populate_record(s, jsonb_build_object('subscription_id', ${id(subscription)}))).*
     from subscription s, ${each} where s.subscription_id = $1`,
    [subscription],
  );
  await company.query('analyze');
}
