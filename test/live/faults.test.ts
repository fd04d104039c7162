import { type Hex, keccak256, parseEther, parseGwei } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TestUSDC } from '../../contracts/artifacts/index.ts';
import { by, OWNER, PAYER } from '../../scripts/local-chain.ts';
import type { Call } from '../chains/evm/faulty-node.ts';
import { hotWallet } from '../chains/evm/key-signer.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { asOwner } from '../ledger.ts';
import { caller } from '../payouts/requests.ts';
import { all } from '../refunds/requests.ts';
import { ACCOUNT, LiveStore, WITHIN } from './live-store.ts';

const LONG = { timeout: 180_000 };
const TWO_HOURS = 7_200;
/** Longer than a transaction may be in no block before it is replaced. */
const STUCK_SECONDS = 200;
const REFUSED = { code: -32000, message: 'nonce too low' };
const KNOWN = { code: -32000, message: 'already known' };
const UNHEARD_OF = { code: -39999, message: 'gremlin' };

/** What a node does with a transaction that it gets for the first time. */
const BROADCASTS = {
  'fault 41: takes it and never answers': { deny: 'cut' },
  'fault 42: drops it and never answers': { refuse: 'cut' },
  'fault 43: takes it and says that its nonce is too low': { deny: REFUSED },
  'fault 43: takes it and says that it knew it': { deny: KNOWN },
  'fault 43: drops it and says that it knew it': { refuse: KNOWN },
  'fault 44: takes it and answers an unknown code': { deny: UNHEARD_OF },
  'fault 44: drops it and answers an unknown code': { refuse: UNHEARD_OF },
  'fault 44: takes it and answers something else': { lie: 'banana' },
} as const;

describe.skipIf(!hasAnvil())('a live store whose node and chain misbehave', () => {
  let store: LiveStore;
  let recipients = 900;
  beforeAll(async () => {
    store = await LiveStore.start();
    await store.paid(400);
    // So that no other transaction is needed for a payout.
    await store.world.client.setBalance({ address: store.hot, value: parseEther('1') });
    const id = await store.submitted([{ address: recipient(), amount: '1.00' }]);
    await store.until(() => store.batch(id), { status: 'completed' });
    await store.expectSettled();
  }, 180_000);
  afterEach(async () => {
    store.node.behave();
    await store.expectSettled();
  }, 60_000);
  afterAll(() => store?.stop());

  const recipient = () => freshAddress(recipients++);
  const isBroadcast = ({ method }: Call) => method === 'eth_sendRawTransaction';
  const attempts = () =>
    asOwner<{ status: string; versions: number; sequence: string; tx_id: Hex; pays: boolean }>(
      store.service,
      `select status, versions, sequence::text, tx_id, movement is null and key_ref = 'hot' as pays
       from transfer_attempt where merchant_id = $1 order by attempt_id`,
      [store.merchant.merchantId],
    );
  const payments = async () => (await attempts()).filter(({ pays }) => pays);
  const newest = async () => (await payments()).at(-1);
  const age = (seconds: number) =>
    asOwner(store.service, "update transfer_attempt set sent_at = sent_at - $1 where status = 'sent'", [
      seconds,
    ]);
  /** Submits a payout of that many tokens to one recipient, and waits until it was handed to the node. */
  async function sentPayout(amount: string) {
    const before = (await payments()).length;
    const to = recipient();
    const id = await store.submitted([{ address: to, amount }]);
    await expect.poll(async () => (await payments()).length, WITHIN).toBe(before + 1);
    await expect.poll(newest, WITHIN).toMatchObject({ status: 'sent' });
    return { id, to, amount: BigInt(Number(amount) * 1_000_000) };
  }
  type Sent = Awaited<ReturnType<typeof sentPayout>>;
  async function expectPaid({ id, to, amount }: Sent): Promise<void> {
    await store.until(() => store.batch(id), { status: 'completed' });
    expect(await store.world.balance('USDT', to)).toBe(amount);
  }
  /** Bytes of the broadcasts from now on, in order. */
  function recordBroadcasts(): Hex[] {
    const seen: Hex[] = [];
    store.node.lie = (call) => {
      if (isBroadcast(call)) seen.push(call.params[0] as Hex);
      return undefined;
    };
    return seen;
  }

  test.each(Object.entries(BROADCASTS))('%s: sent once, from the same bytes', LONG, async (_, how) => {
    const { node } = store;
    const seen = new Set<unknown>();
    const first =
      <T>(answer: T) =>
      (call: Call) => {
        const [raw] = call.params;
        if (!isBroadcast(call) || seen.has(raw)) return undefined;
        seen.add(raw);
        return answer;
      };
    if ('refuse' in how) node.refuse = first(how.refuse);
    if ('deny' in how) node.deny = first(how.deny);
    if ('lie' in how) node.lie = first(how.lie);
    const before = (await attempts()).length;
    const to = recipient();
    const id = await store.submitted([{ address: to, amount: '3.00' }]);
    await expectPaid({ id, to, amount: 3_000_000n });
    const made = (await attempts()).slice(before);
    expect(made).toEqual([expect.objectContaining({ status: 'succeeded', versions: 1, pays: true })]);
    expect([...seen].map((raw) => keccak256(raw as Hex))).toEqual([made[0]?.tx_id]);
  });

  test(
    'fault 51: the one in the middle is lost by the node; it is sent again, and all are mined',
    LONG,
    async () => {
      const sent = [await sentPayout('2.00'), await sentPayout('3.00'), await sentPayout('4.00')];
      const [first, middle, last] = (await payments()).slice(-3);
      expect([first, middle, last].map((one) => Number(one?.sequence) - Number(first?.sequence))).toEqual([
        0, 1, 2,
      ]);
      await store.world.node.call('anvil_dropTransaction', [middle?.tx_id]);
      for (const one of sent) await expectPaid(one);
      expect((await payments()).slice(-3).map(({ status, versions }) => [status, versions])).toEqual(
        Array.from({ length: 3 }, () => ['succeeded', 1]),
      );
    },
  );

  test(
    'fault 52: the price of gas rises tenfold for two hours: replaced within the ceiling, paid once',
    LONG,
    async () => {
      const { world } = store;
      const before = (await payments()).length;
      const sent = await sentPayout('5.00');
      const offered = await newestFee();
      const risen = offered * 10n;
      const mineAt = async (baseFeePerGas: bigint) => {
        await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
        await world.mine(1);
      };
      await mineAt(risen);
      await age(STUCK_SECONDS);
      await expect.poll(newest, WITHIN).toMatchObject({ status: 'sent', versions: 2 });
      await expect.poll(newestFee, WITHIN).toBeGreaterThan(risen);
      // Above the ceiling nothing is offered, however long it lasts.
      const ceiling = world.network().feeCeilings.maxFeePerGas;
      for (let i = 0; i < 10; i++) {
        await mineAt(ceiling * 2n);
        await age(TWO_HOURS / 10);
      }
      expect(await store.batch(sent.id)).toMatchObject({ status: 'processing' });
      expect(await newestFee()).toBeLessThanOrEqual(ceiling);
      await mineAt(parseGwei('1'));
      await expectPaid(sent);
      expect((await payments()).slice(before)).toEqual([expect.objectContaining({ status: 'succeeded' })]);
    },
  );

  test(
    'fault 53: the replaced transaction is mined after all: booked once, and its payer is the one that paid',
    LONG,
    async () => {
      const { world } = store;
      const bytes = recordBroadcasts();
      const before = (await payments()).length;
      const sent = await sentPayout('6.00');
      const old = await newest();
      const raw = bytes.at(-1) ?? '0x';
      const offered = await feesOf(old?.tx_id);
      await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: offered * 2n });
      await world.mine(1);
      await age(STUCK_SECONDS);
      await expect.poll(newest, WITHIN).toMatchObject({ status: 'sent', versions: 2 });
      const replacement = (await newest())?.tx_id;
      expect(replacement).not.toBe(old?.tx_id);
      // From here on the newer bytes reach no miner.
      store.node.refuse = (call) => (isBroadcast(call) && call.params[0] !== raw ? 'cut' : undefined);
      await world.node.call('anvil_dropTransaction', [replacement]);
      await world.client.setNextBlockBaseFeePerGas({ baseFeePerGas: offered / 4n });
      await world.mine(1);
      await world.node.call('eth_sendRawTransaction', [raw]);
      await expectPaid(sent);
      const paid = (await payments()).slice(before);
      expect(paid).toEqual([expect.objectContaining({ status: 'succeeded', tx_id: old?.tx_id })]);
      const items = await caller(store.service, store.merchant).items(sent.id);
      expect(items).toEqual([expect.objectContaining({ tx_id: old?.tx_id })]);
    },
  );

  test(
    'fault 62: a person uses the wallet at the same moment: the transaction that lost is built anew, and pays once',
    LONG,
    async () => {
      const before = (await payments()).length;
      const sent = await sentPayout('7.00');
      const lost = await newest();
      await store.takeSequence(lost?.sequence, hotWallet(ACCOUNT));
      await expectPaid(sent);
      expect((await payments()).slice(before).map(({ status }) => status)).toEqual(['dead', 'succeeded']);
    },
  );

  test(
    'fault 56: a token begins to take a fee: what is credited is what came in, and what leaves is what was sent',
    LONG,
    async () => {
      const { world } = store;
      await world.own('USDT', 'setParams', [10n, 49n]);
      const session = await store.open(50);
      await world.mint('USDT', PAYER.address, 1_000_000_000n);
      await world.transfer('USDT', PAYER, session.address, session.due);
      await store.until(() => store.payment(session.paymentId), { amount_received: 49_950_000 });
      const hot = await world.balance('USDT', store.hot);
      const to = recipient();
      const id = await store.submitted([{ address: to, amount: '10.00' }]);
      await store.until(() => store.batch(id), { status: 'completed' });
      // The recipient bears the fee; the merchant's wallet gives what the books say.
      expect(await world.balance('USDT', to)).toBe(9_990_000n);
      expect(await world.balance('USDT', store.hot)).toBeGreaterThanOrEqual(hot - 10_000_000n);
      await store.expectSettled();
      await world.own('USDT', 'setParams', [0n, 0n]);
      await world.mint('USDT', session.address, 50_000n);
      await store.until(() => store.payment(session.paymentId), { status: 'completed' });
    },
  );

  test(
    'fault 59: of 200 items 60 are blocked, half of them after signing: counts and sums add up',
    LONG,
    async () => {
      const { world } = store;
      await store.paid(900, 'USDC');
      const items = Array.from({ length: 200 }, (_, i) => ({
        address: recipient(),
        amount: `${1 + (i % 3)}.00`,
      }));
      const blocked = items.filter((_, i) => i % 10 < 3);
      const [early, late] = [blocked.filter((_, i) => i % 2 === 0), blocked.filter((_, i) => i % 2 === 1)];
      for (const { address } of early) await world.list('USDC', address);
      const isPayout = (call: Call) => isBroadcast(call) && String(call.params[0]).length > 10_000;
      let isHeld = true;
      const counted = { held: 0, taken: 0 };
      store.node.refuse = (call) => {
        if (!isHeld || !isPayout(call)) return undefined;
        counted.held += 1;
        return 'cut';
      };
      store.node.lie = (call) => {
        if (isPayout(call)) counted.taken += 1;
        return undefined;
      };
      const id = await store.submitted(items, 'USDC');
      await store.until(async () => ({ isSigned: counted.held > 0 }), { isSigned: true });
      // They stand before the payout in its block.
      await blacklistSoon(late.map(({ address }) => address));
      isHeld = false;
      await expect.poll(() => counted.taken, WITHIN).toBeGreaterThan(0);
      await store.until(() => store.batch(id), { status: 'partially_completed' });
      const decided = await all(store.merchant.sdk.payouts.items(id));
      const failed = new Set(blocked.map(({ address }) => address));
      for (const { address, status } of decided)
        expect(status, address).toBe([...failed].some((one) => one === address) ? 'failed' : 'succeeded');
      expect(decided).toHaveLength(200);
      for (const { address, amount } of items)
        expect(await world.balance('USDC', address)).toBe(
          failed.has(address) ? 0n : BigInt(Number(amount) * 1_000_000),
        );
    },
  );

  test(
    'fault 68: transfers of nothing and of dust from look-alike wallets are neither credited nor shown',
    LONG,
    async () => {
      const { world } = store;
      const session = await store.open(20);
      await world.mint('USDT', PAYER.address, session.due);
      await world.transfer('USDT', PAYER, session.address, session.due);
      // Anybody may move nothing in another's name: from the address that paid, and from the deposit address itself.
      const likePayer: Hex = `0x${PAYER.address.slice(2, 6)}${'7'.repeat(32)}${PAYER.address.slice(38)}`;
      for (const sender of [PAYER.address, session.address, lower(likePayer)])
        await world.own('USDT', 'transferFrom', [sender, session.address, 0n]);
      for (const to of [PAYER.address, lower(likePayer)])
        await world.own('USDT', 'transferFrom', [session.address, to, 0n]);
      await store.until(() => store.payment(session.paymentId), { status: 'completed' });
      const { transactions } = await store.payment(session.paymentId);
      expect(transactions).toEqual([
        expect.objectContaining({ from: PAYER.address, amount: Number(session.due) }),
      ]);
    },
  );

  /** What the node's copy of a transaction offers for each gas; 0: it has none. */
  async function feesOf(txId: Hex | undefined): Promise<bigint> {
    const found = await store.world.node.call('eth_getTransactionByHash', [txId]);
    return found === null ? 0n : BigInt((found as { maxFeePerGas: Hex }).maxFeePerGas);
  }
  const newestFee = async () => await feesOf((await newest())?.tx_id);

  /** By transactions that wait for the next block, and are first in it. */
  async function blacklistSoon(addresses: readonly Hex[]): Promise<void> {
    const { client, tokens } = store.world;
    const first = await client.getTransactionCount({ address: OWNER.address });
    for (const [i, account] of addresses.entries())
      await client.writeContract({
        ...by(OWNER, 300_000n),
        address: tokens.USDC,
        abi: TestUSDC.abi,
        functionName: 'blacklist',
        args: [account],
        nonce: first + i,
        maxFeePerGas: parseGwei('500'),
        maxPriorityFeePerGas: parseGwei('400'),
      });
  }
});

const lower = (address: Hex): Hex => `0x${address.slice(2).toLowerCase()}`;
