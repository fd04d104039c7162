import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRiskAddress, removeRiskAddress } from '../../packages/server/src/chains/addresses/index.ts';
import { payoutCommands } from '../../packages/server/src/operator/payouts.ts';
import { connect, type Db } from '../../packages/server/src/platform/db/db.ts';
import { compareBooks } from '../../packages/server/src/reconciliation/verify-books.ts';
import { decodeId } from '../../packages/server/src/tenancy/resource-ids.ts';
import { signedOf } from '../../packages/server/src/transfers/queries.ts';
import { auditOnce } from '../custody/audits.ts';
import { resume, twoApprovers } from '../custody/lost.ts';
import { expectLedgerWhole } from '../ledger.ts';
import { TO } from '../payouts/requests.ts';
import { startService, type TestService } from '../service.ts';
import { newPayout, type Payout } from '../transfers/payouts.ts';
import { Process } from '../transfers/process.ts';

// What a payout goes through after a reorganisation that was deeper than finality, told step by step. The verification
// finds nothing after any of the steps, and finds every change of the books that is planted there.

const NETWORK = 'erc20';
/** More than all blocks of a sandbox. */
const ALL_BLOCKS = 1_000_000;
/** Of `newPayout`, in the smallest unit. */
const FUNDS = 1_000_000_000_000n;
/** Jobs that one step leads to, and some. */
const STEPS_MAX = 10;

let service: TestService;
let owner: Db;
beforeAll(async () => {
  service = await startService();
  owner = connect({ url: service.app.databaseUrl, poolSize: 1 });
});
afterAll(async () => {
  await owner?.destroy();
  await service?.stop();
});

class LostPayout {
  readonly #payout: Payout;
  readonly #process: Process;
  readonly #people: { as: string; token: string }[];
  readonly itemId: string;

  private constructor(
    payout: Payout,
    process: Process,
    people: { as: string; token: string }[],
    itemId: string,
  ) {
    this.#payout = payout;
    this.#process = process;
    this.#people = people;
    this.itemId = itemId;
  }

  static async pay(): Promise<LostPayout> {
    const payout = await newPayout(service, NETWORK, [{ to: 'succeed', amount: '10.00' }]);
    const { merchant, batchId } = payout;
    const process = new Process(service.app, merchant.merchantId);
    await process.finish(NETWORK);
    const { data } = await merchant.sdk.payouts.items(batchId).page();
    return new LostPayout(payout, process, await twoApprovers(service, merchant), data[0]?.item_id ?? '');
  }

  get merchantId(): string {
    return this.#payout.merchant.merchantId;
  }

  async item() {
    return await this.#payout.merchant.sdk.payouts.item(this.#payout.batchId, this.itemId);
  }

  /** All blocks are replaced. The wallet is empty when our bytes are mined anew, so they fail; then its coins come again. */
  async lose(): Promise<void> {
    await this.#payout.chain.reorg(ALL_BLOCKS);
    await this.#settle();
    await this.#payout.chain.fund('USDT', FUNDS, 'once more');
    await this.#settle();
  }

  /** The bytes of the first attempt are mined, whatever was decided of it. */
  async mineFirst(): Promise<void> {
    const { chain } = this.#payout;
    await chain.reorg(ALL_BLOCKS);
    await chain.fund('USDT', FUNDS, 'once more');
    const first = await service.app.db
      .selectFrom('transfer_attempt')
      .selectAll()
      .where('merchant_id', '=', this.merchantId)
      .orderBy('sequence')
      .limit(1)
      .executeTakeFirstOrThrow();
    await chain.broadcast(signedOf(first));
    await chain.mine(4);
    await this.#settle();
  }

  async repay(): Promise<void> {
    await this.orderAnew();
    await this.#run();
  }

  /** Decided, and not sent yet. */
  async orderAnew(): Promise<void> {
    await this.#decide('repay');
  }

  /** The recipient is listed by the time that it is paid anew. */
  async failToRepay(): Promise<void> {
    const { db, clock } = service.app;
    const address = TO[NETWORK].succeed;
    await addRiskAddress(db, { network: NETWORK, address, reason: 'test' }, clock.nowMs());
    await this.repay();
    await removeRiskAddress(db, NETWORK, address);
  }

  async giveBack(): Promise<void> {
    await this.#decide('giveBack');
    await this.#run();
  }

  async #decide(verb: 'repay' | 'giveBack'): Promise<void> {
    await resume(service, this.#payout.merchant, NETWORK);
    for (const person of this.#people)
      await payoutCommands(service.app)[verb]({ item: this.itemId, ...person });
  }

  /** As far as it goes: on a network that is stopped the sender asks again and again. */
  async #run(): Promise<void> {
    for (let step = 0; step < STEPS_MAX && (await this.#process.step()) !== undefined; step++)
      await this.#payout.chain.mine(4);
  }

  async #settle(): Promise<void> {
    for (let scan = 0; scan < 2; scan++) {
      await auditOnce(service, this.merchantId, NETWORK);
      await this.#payout.chain.mine(4);
    }
    await auditOnce(service, this.merchantId, NETWORK);
    await this.#run();
  }
}

type Step = 'lose' | 'mineFirst' | 'repay' | 'orderAnew' | 'failToRepay' | 'giveBack';
type State = 'paid' | 'lost' | 'given back';

/** Steps, each with what the item is then; every one begins with a payout that is paid and lost. */
const HISTORIES: readonly (readonly (readonly [Step, State])[])[] = [
  [['giveBack', 'given back']],
  [['mineFirst', 'paid']],
  [
    ['giveBack', 'given back'],
    ['mineFirst', 'given back'],
  ],
  [
    ['orderAnew', 'lost'],
    ['mineFirst', 'lost'],
  ],
  [
    ['repay', 'paid'],
    ['mineFirst', 'paid'],
    ['lose', 'lost'],
    ['giveBack', 'given back'],
  ],
  [
    ['failToRepay', 'lost'],
    ['giveBack', 'given back'],
    ['mineFirst', 'given back'],
  ],
  [
    ['failToRepay', 'lost'],
    ['failToRepay', 'lost'],
    ['orderAnew', 'lost'],
  ],
  [
    ['failToRepay', 'lost'],
    ['repay', 'paid'],
    ['lose', 'lost'],
    ['repay', 'paid'],
  ],
  [
    ['repay', 'paid'],
    ['lose', 'lost'],
    ['orderAnew', 'lost'],
  ],
  [
    ['repay', 'paid'],
    ['lose', 'lost'],
    ['failToRepay', 'lost'],
    ['mineFirst', 'lost'],
  ],
  [
    ['repay', 'paid'],
    ['lose', 'lost'],
    ['failToRepay', 'lost'],
    ['giveBack', 'given back'],
  ],
];

test.each(HISTORIES.map((steps) => ({ steps, name: steps.map(([step]) => step).join(', ') })))(
  'H1, fault 50: a lost payout: $name: books agree after each step, and each change that is planted is found',
  async ({ steps }) => {
    const payout = await LostPayout.pay();
    await payout.lose();
    await expectBooks(payout, 'lost');
    for (const [step, state] of steps) {
      await payout[step]();
      await expectBooks(payout, state);
    }
  },
  120_000,
);

async function expectBooks(payout: LostPayout, state: State): Promise<void> {
  const { status, lost_at: lostAt } = await payout.item();
  const succeeded = lostAt === null ? 'paid' : 'lost';
  expect(status === 'failed' ? 'given back' : succeeded).toBe(state);
  expect(await deviations(payout, 'select 1')).toEqual([]);
  await expectLedgerWhole(service);
  for (const [what, change] of plants(payout, state))
    expect([what, (await deviations(payout, change)).length > 0]).toEqual([what, true]);
}

/** Changes that make item and transfers disagree, and that no constraint refuses. */
function plants({ merchantId, itemId }: LostPayout, state: State): [string, string][] {
  const id = `'${decodeId('payoutItem', itemId)}'`;
  const ofTransfers = `merchant_id = '${merchantId}' and owner_id = ${id}`;
  const common: [string, string][] = [
    ['another amount', `update transfer set amount = amount + 1 where ${ofTransfers}`],
    ['another network', `update transfer set network = 'spl' where ${ofTransfers}`],
  ];
  if (state !== 'given back')
    return [
      ...common,
      ['no transfer', `delete from transfer where ${ofTransfers}`],
      [
        'another transaction',
        `update payout_item set tx_id = 'another' where merchant_id = '${merchantId}' and item_id = ${id}`,
      ],
    ];
  const withAnother = (change: string) =>
    `insert into transfer select (jsonb_populate_record(t, jsonb_build_object('transfer_id', gen_random_uuid(),
      'place', 99, 'lost_at', null, 'failure_code', null, 'failure_message', null, ${change}))).*
    from transfer t where ${ofTransfers} order by transfer_id limit 1`;
  return [
    ...common,
    ['a payment', withAnother(`'status', 'succeeded', 'tx_id', 'another', 'completed_at', 1`)],
    ['a payment under way', withAnother(`'status', 'queued', 'tx_id', null, 'completed_at', null`)],
  ];
}

class TakenBack extends Error {}

/** What is found once a statement of the owner has changed the books; nothing of it stays. */
async function deviations({ merchantId }: LostPayout, change: string): Promise<string[]> {
  let found: string[] = [];
  const planted = owner.transaction().execute(async (tx) => {
    await sql.raw(change).execute(tx);
    const report = await compareBooks(tx, merchantId);
    found = report.deviations.map(({ what, expected, found: is }) => `${what}: ${is}, not ${expected}`);
    throw new TakenBack();
  });
  await expect(planted).rejects.toThrow(TakenBack);
  return found;
}
