import assert from 'node:assert/strict';
import { type Asset, NETWORKS, type Network } from '@florin/contract/money';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nextSigning } from '../../../../../test/chains/next-signing.ts';
import { openTestChain, type TestChain } from '../../../../../test/chains/open-test-chain.ts';
import { scaled } from '../../../../../test/scale.ts';
import { type ChainTransfer, ChainUnavailable } from '../port/port.ts';
import type { PaidTransfer } from './receive.ts';
import type { SimulatedChain, SimulatedTransfer } from './simulated-chain.ts';

const CONFIRMATIONS = 3;
const WATCHED = 4;
const UNWATCHED = 2;
const LATE_SECONDS = 20;
const RUNS = scaled(1_000, 12);
const PATIENCE_MS = RUNS * 5_000;

const base = new Map<Network, TestChain>();

beforeAll(async () => {
  for (const network of NETWORKS) base.set(network, await openTestChain(network));
});
afterAll(() => Promise.all([...base.values()].map((chain) => chain.close())));

function open(network: Network): TestChain {
  const opened = base.get(network);
  if (opened === undefined) throw new Error(`no ${network} chain is open`);
  return opened.openSibling();
}

/** What happens to a chain, to its node and to the one who reads it. */
type Step =
  | { kind: 'pay'; late: boolean; parts: { to: number; asset: Asset | null; amount: bigint }[] }
  | { kind: 'send'; late: boolean; to: number }
  | { kind: 'mine' | 'wait' | 'lag' | 'outage' | 'back'; count: number }
  | { kind: 'reorg'; depth: number; remine: boolean }
  | { kind: 'page'; limit: number }
  | { kind: 'tip' };

const part = fc.record({
  to: fc.nat(WATCHED + UNWATCHED - 1),
  asset: fc.constantFrom<Asset | null>('USDT', 'USDC', null),
  amount: fc.bigInt(0n, 5n),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pay'),
      late: fc.boolean(),
      parts: fc.array(part, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('send'), late: fc.boolean(), to: fc.nat(5) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('mine', 'wait', 'back'),
      count: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('lag', 'outage'), count: fc.nat(6) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('reorg'),
      depth: fc.integer({ min: 1, max: CONFIRMATIONS - 1 }),
      remine: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('page'), limit: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tip') }) },
);

const keyOf = ({ txId, index }: { txId: string; index: number }): string => `${txId}:${index}`;

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** A reader that keeps every transfer that was reported as final. */
class Reader {
  readonly final = new Map<string, ChainTransfer>();
  readonly chain: SimulatedChain;
  readonly watch: string[];
  #cursor: string | null = null;
  /** All blocks up to it were read. */
  #readHeight = 0n;
  /** Reported since the cursor was last moved back. */
  #sinceBack = new Set<string>();

  constructor(chain: SimulatedChain, watch: string[]) {
    this.chain = chain;
    this.watch = watch;
  }

  async page(limit?: number): Promise<boolean> {
    const bounds = limit === undefined ? {} : { limit };
    const answer = await this.chain.scan({
      level: 'final',
      cursor: this.#cursor,
      watch: this.watch,
      ...bounds,
    });
    this.#cursor = answer.cursor;
    const last = answer.transfers.at(-1)?.height;
    if (answer.complete) this.#readHeight = max(this.#readHeight, answer.head.finalHeight);
    else if (last !== undefined) this.#readHeight = max(this.#readHeight, last - 1n);
    for (const transfer of answer.transfers) this.#take(transfer);
    return answer.complete;
  }

  async toEnd(): Promise<void> {
    while (!(await this.page()));
  }

  async back(blocks: number): Promise<void> {
    this.#readHeight -= BigInt(blocks);
    this.#cursor = await this.chain.cursorAt(this.#readHeight);
    this.#sinceBack = new Set();
  }

  tip(): ReturnType<SimulatedChain['scan']> {
    return this.chain.scan({ level: 'tip', cursor: this.#cursor, watch: this.watch });
  }

  #take(transfer: ChainTransfer): void {
    const key = keyOf(transfer);
    if (this.#sinceBack.has(key)) throw new Error(`${key} was reported twice`);
    this.#sinceBack.add(key);
    const before = this.final.get(key);
    if (before !== undefined) assert.deepEqual(transfer, before);
    this.final.set(key, transfer);
  }
}

/** One world: a chain, a process whose clock is late, a reader, and the addresses that payers know. */
class World {
  readonly chain: SimulatedChain;
  readonly late: SimulatedChain;
  readonly reader: Reader;
  readonly addresses: string[];
  readonly #fresh: TestChain;
  #sent = 0;

  private constructor(fresh: TestChain, late: SimulatedChain, addresses: string[]) {
    this.#fresh = fresh;
    this.chain = fresh.chain;
    this.late = late;
    this.addresses = addresses;
    this.reader = new Reader(fresh.chain, addresses.slice(0, WATCHED));
  }

  static async open(network: Network): Promise<World> {
    const fresh = open(network);
    await fresh.chain.fund('USDT', 1_000n);
    const deposits = await Promise.all(
      Array.from({ length: WATCHED + UNWATCHED }, (_, index) => fresh.chain.depositAddress({ index })),
    );
    return new World(
      fresh,
      fresh.openLate(LATE_SECONDS),
      deposits.map(({ address }) => address),
    );
  }

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'pay':
        await (one.late ? this.late : this.chain).pay({
          transfers: one.parts.map((each) => this.#transfer(each)),
        });
        return;
      case 'send':
        return this.#send(one.late ? this.late : this.chain, this.addresses[one.to] ?? '');
      case 'wait':
        this.#fresh.time.now += one.count;
        return;
      case 'reorg':
        await this.chain.reorg(one.depth, { remine: one.remine });
        return;
      case 'page':
        await this.reader.page(one.limit);
        return;
      case 'back':
        return this.reader.back(one.count);
      case 'tip':
        return this.#compareTip();
      case 'mine':
      case 'lag':
      case 'outage':
        await this.chain[one.kind](one.count);
    }
  }

  #transfer({ to, asset, amount }: { to: number; asset: Asset | null; amount: bigint }): PaidTransfer {
    const place = { from: this.#fresh.recipient(60), to: this.addresses[to] ?? '', amount };
    return asset === null ? { ...place, asset, token: 'fake' } : { ...place, asset };
  }

  async #send(chain: SimulatedChain, to: string): Promise<void> {
    const sequence = await chain.nextSequence(await chain.sender('hot'));
    this.#sent += 1;
    const tx = await chain.buildTransfer({
      signing: nextSigning(),
      keyRef: 'hot',
      asset: 'USDT',
      groupId: `item-${this.#sent}`,
      items: [{ itemId: `item-${this.#sent}`, place: 0, to, amount: 1n }],
      ...(sequence === null ? {} : { sequence }),
    });
    await chain.broadcast(tx);
  }

  /** The watched addresses' transfers in the chain's own list. */
  async held(): Promise<SimulatedTransfer[]> {
    const all: SimulatedTransfer[] = [];
    for (let more = true; more; ) {
      const after = all.at(-1)?.id;
      const page = await this.chain.transfers({ limit: 100, ...(after === undefined ? {} : { after }) });
      all.push(...page.data);
      more = page.hasMore;
    }
    return all.filter(({ to, amount }) => amount > 0n && this.reader.watch.includes(to));
  }

  /** Final scans up to their end and then the tip together return everything in the node's blocks. */
  async #compareTip(): Promise<void> {
    const reader = new Reader(this.chain, this.reader.watch);
    await reader.toEnd();
    const { transfers, head, complete } = await reader.tip();
    const held = (await this.held()).filter(({ height }) => height <= head.height).toReversed();
    const [final, tip] = [[...reader.final.values()], transfers];
    assert.ok(complete);
    assert.deepEqual(
      new Set(final.map(keyOf)),
      new Set(held.filter(({ height }) => height <= head.finalHeight).map(keyOf)),
    );
    assert.deepEqual(
      new Set(tip.map(keyOf)),
      new Set(held.filter(({ height }) => height > head.finalHeight).map(keyOf)),
    );
  }

  /** Lets everything become final and reads to the end. */
  async finish(): Promise<void> {
    await this.chain.outage(0);
    await this.chain.lag(0);
    await this.chain.mine(CONFIRMATIONS);
    await this.reader.toEnd();
  }
}

const shapeOf = (one: ChainTransfer | SimulatedTransfer) =>
  [keyOf(one), one.from, one.to, one.amount, one.height, 'asset' in one ? one.asset : one.currency].join(' ');

describe.each(NETWORKS)('%s', (network) => {
  test(
    'I3, K2: whatever the pages, reorganisations above finality, lagging nodes and rescans: each final transfer once',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const world = await World.open(network);
          for (const one of steps) {
            await world.take(one).catch((error: unknown) => {
              if (!(error instanceof ChainUnavailable)) throw error;
            });
          }
          await world.finish();
          const held = await world.held();
          expect(held.filter(({ final }) => !final)).toEqual([]);
          const expected = held.map(shapeOf).toSorted((a, b) => (a < b ? -1 : 1));
          expect([...world.reader.final.values()].map(shapeOf).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
            expected,
          );
        }),
        { numRuns: RUNS },
      );
    },
    PATIENCE_MS,
  );
});
