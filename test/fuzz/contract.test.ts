import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NETWORKS } from '@florin/contract/money';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/ids.ts';
import { writeSetting } from '../../packages/server/src/tenancy/settings/settings.ts';
import { WEBHOOK_SETTINGS } from '../../packages/server/src/webhooks/index.ts';
import { HAS_CORPORA } from '../corpora.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { receiptOf } from '../mail/receipt.ts';
import { caller } from '../payouts/requests.ts';
import { FULL, scaled } from '../scale.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { type Contract, readContract } from './document.ts';
import { describeFinding, type FuzzOptions, type FuzzReport, fuzz, type Merchant } from './run.ts';

/** Cases that run at once, each as a merchant of its own. */
const LANES = 4;
/** How often a run that came to too few calls goes on. */
const MORE_RUNS_MAX = 4;
const {
  FLORIN_FUZZ_SEED: SEED,
  FLORIN_FUZZ_REQUESTS: REQUESTS,
  FLORIN_FUZZ_INDEX: INDEX,
  FLORIN_FUZZ_REPORT: REPORT,
} = process.env;
const seed = SEED === undefined ? randomInt(2 ** 31) : Number(SEED);
const requests = REQUESTS === undefined ? scaled(200_000, 600) : Number(REQUESTS);
/** Ten requests a second are what a machine does that others load; at rest it does a hundred. */
const timeoutMs = 60_000 + requests * 150 * (1 + MORE_RUNS_MAX);

/** What a run may leave behind in this process: compiled code, caches, connections. */
const MEMORY_BYTES_MAX = 96 * 1024 * 1024;

let service: TestService;
let merchants: TestMerchant[];
let lanes: Merchant[];
let addresses: Record<string, Record<string, string>>;

/** Something of each kind that belongs to somebody else. */
async function foreignIds(): Promise<Record<string, string>> {
  const other = await service.createMerchant();
  const calls = caller(service, other);
  const address = addresses.erc20?.succeed;
  const { json } = await calls.create({
    currency: 'USDT',
    items: [{ network: 'erc20', address, amount: '1.00' }],
  });
  const batchId = String(json.batch_id);
  const [item] = await calls.items(batchId);
  const events = await calls.call(`/events?resource=${batchId}`);
  const [event] = events.json.data as { id: string }[];
  if (item === undefined || event === undefined) throw new Error('the other merchant has no batch');
  const endpoint = await other.sdk.webhookEndpoints.create({ url: 'https://shop.invalid/other' });
  const delivery = await other.sdk.webhookEndpoints.test(endpoint.id);
  return {
    batch_id: batchId,
    item_id: item.item_id,
    event_id: event.id,
    store_id: other.storeId,
    endpoint_id: endpoint.id,
    delivery_id: delivery.id,
    mail_id: (await receiptOf(other, 'bob@example.com')).id,
  };
}

beforeAll(async () => {
  // Deliveries end at their first attempt, so that they can be asked for again.
  const receive = async () => ({ failure: null, status: 410, response: Buffer.from('gone') });
  service = await startService({ worker: true, receive });
  await writeSetting(service.app.db, NIL_ID, WEBHOOK_SETTINGS.endpointsMax, 100_000);
  merchants = await Promise.all(Array.from({ length: LANES }, () => service.createMerchant()));
  const [first] = merchants;
  if (first === undefined) throw new Error('there are no merchants');
  addresses = (await caller(service, first).call('/test_helpers/addresses')).json as typeof addresses;
  const foreign = await foreignIds();
  lanes = await Promise.all(
    merchants.map(async (merchant) => {
      const { apiKey, secretKey } = merchant;
      const mail = await receiptOf(merchant, 'ada@example.com');
      return { apiKey, secretKey, foreign, own: { mail_id: mail.id } };
    }),
  );
});
afterAll(() => service.stop());

const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const prototypeKeys = () => PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype));

/** Bytes in use after everything that nobody holds is gone. */
function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Ends what the requests provoked on the simulated chains, and lets work come to its end but for what hangs for an hour. */
async function settle(merchant: TestMerchant): Promise<void> {
  const { post } = caller(service, merchant);
  for (const network of NETWORKS) {
    await post(`/test_helpers/chains/${network}`, { outage_seconds: 0, drop_next: 0, mine: 10 });
  }
  await expect
    .poll(async () => (await post('/test_helpers/clock/advance', { seconds: 60 })).json.done, {
      timeout: 60_000,
    })
    .toBe(true);
}

test(
  `I15 25 26 27 30: what the OpenAPI document says holds for ${requests} requests (seed ${seed})`,
  async () => {
    const contract = await readContract(service.baseUrl);
    const options = { seed, requests, merchants: lanes, addresses };
    const before = prototypeKeys();
    const warm = Math.ceil(requests / 4);
    if (INDEX === undefined) await run(contract, { ...options, seed: (seed ^ 1) >>> 0, requests: warm });
    const memory = memoryInUse();
    const report = await run(contract, {
      ...options,
      index: INDEX === undefined ? undefined : Number(INDEX),
    });
    expect(memoryInUse() - memory).toBeLessThan(MEMORY_BYTES_MAX);
    expect(prototypeKeys()).toEqual(before);
    await Promise.all(merchants.map(settle));
    await expectLedgerWhole(service);
    if (INDEX === undefined && requests >= 600) await expectReach(contract, options, report);
  },
  timeoutMs,
);

async function run(...[contract, options]: [Contract, FuzzOptions]): Promise<FuzzReport> {
  const report = await fuzz(contract, service.baseUrl, options);
  if (REPORT !== undefined) writeFileSync(REPORT, JSON.stringify({ ...report, corpora: HAS_CORPORA }));
  expect(report.findings.map(describeFinding).join('\n\n'), `seed ${seed}`).toBe('');
  return report;
}

/**
 * A run that only ever meets refusals would prove little. A short one does not come to all that takes several steps,
 * and chance decides to how much: it goes on, each time as long again, until only few calls were never answered with 200.
 */
async function expectReach(contract: Contract, options: FuzzOptions, first: FuzzReport): Promise<void> {
  const never = new Set(contract.operations.map(({ id }) => id));
  const forget = ({ answers }: FuzzReport) => {
    for (const id of never) if (answers[`${id} 200`] !== undefined) never.delete(id);
  };
  forget(first);
  const few = FULL ? 0 : contract.operations.length / 8;
  for (let more = 1; never.size > few && more <= MORE_RUNS_MAX; more++)
    forget(await run(contract, { ...options, seed: (options.seed ^ (more + 1)) >>> 0 }));
  expect(never.size, [...never].join(', ')).toBeLessThanOrEqual(few);
}
