import { approverPublicKey } from '@florin/signer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChargeRefused } from '../../../packages/server/src/chains/charges/index.ts';
import { RemoteSigner } from '../../../packages/server/src/chains/evm/remote-signer.ts';
import {
  type Chain,
  type SignedTx,
  SigningBlocked,
  type TransferItem,
  UnbuildableTransfer,
} from '../../../packages/server/src/chains/port/port.ts';
import { transferPurpose } from '../../../packages/server/src/chains/signing/transfer-purpose.ts';
import { approvedOn } from '../../../packages/signer/src/test-once.ts';
import { ADA } from '../../../packages/signer/src/test-policy.ts';
import { MERCHANTS } from '../../../packages/signer/src/test-requests.ts';
import { startWholeSigner } from '../../signer/whole-signer.ts';
import { approvedGroup, uuidOf } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, MemoryMarks, SolanaEnvironment } from './environment.ts';

// What the adapter builds, judged by the signer as an installation runs it: behind its socket, with policy and journal.

const HOUR = 3_600;

let local: SolanaEnvironment;
let rpc: ReturnType<SolanaEnvironment['endpoints']>;
let signer: Awaited<ReturnType<typeof startWholeSigner>>;
let chain: Chain;

beforeAll(async () => {
  local = await SolanaEnvironment.start();
  const { genesisHash, feeCeilings, tokens } = local.network;
  signer = await startWholeSigner(({ networks }) =>
    Object.assign(networks.spl, {
      genesis: genesisHash,
      tokens: { USDT: tokens.USDT?.mint, USDC: tokens.USDC?.mint },
      compute_units: feeCeilings.computeUnits,
      priority_fee: String(feeCeilings.priorityFee),
      node: local.node.url,
    }),
  );
  rpc = local.endpoints();
  const remote = new RemoteSigner(signer.client(), Date.now);
  chain = local.open(rpc, { marks: new MemoryMarks(), signer: remote, merchantId: MERCHANTS[0] });
  await local.give('USDC', await chain.sender('hot'), 100_000_000n);
});
afterAll(async () => {
  await signer.stop();
  await rpc.close();
  await local.node.stop();
});

function itemsOf(count: number, name: string): TransferItem[] {
  return Array.from({ length: count }, (_, place) => {
    const to = local.wallet(`${name} ${place}`);
    return { itemId: `${name} ${place}`, place, to, amount: 1_000_000n };
  });
}

/** With the signature of one approver, or without any. */
function specOf(items: readonly TransferItem[], name: string, isApproved: boolean) {
  const group = approvedGroup('USDC', items, name);
  const authority = { ...group.authority, merchantId: MERCHANTS[0] };
  const spec = {
    signing: nextSigning('history of the real signer'),
    keyRef: 'hot',
    ...group,
    authority,
  } as const;
  if (!isApproved) return spec;
  const until = Math.floor(Date.now() / 1000) + HOUR;
  const { approvals } = approvedOn('spl', transferPurpose(spec), until);
  const checked = approvals.map((approval) => ({ ...approval, key: approverPublicKey(ADA) }));
  return { ...spec, authority: { ...authority, approvals: checked } };
}

async function settle(tx: SignedTx) {
  expect(await chain.broadcast(tx)).toEqual({ result: 'accepted' });
  local.mine(FINAL_BLOCKS);
  return await chain.status(tx);
}

test('eight approved items are signed, paid, and given again as the same bytes', async () => {
  const spec = specOf(itemsOf(8, 'an approved recipient'), 'approved', true);
  const tx = await chain.buildTransfer(spec);
  local.mine(3);
  expect(await chain.buildTransfer(spec)).toEqual(tx);
  expect(await settle(tx)).toMatchObject({ state: 'final', itemOk: Array(8).fill(true) });
});

test('without people’s signatures nothing is signed', async () => {
  await expect(chain.buildTransfer(specOf(itemsOf(1, 'nobody approved'), 'bare', false))).rejects.toThrow(
    SigningBlocked,
  );
});

test('a sweep of both tokens is signed by deposit keys and closes their accounts', async () => {
  const from = local.wallet('a payer of what the real signer sweeps');
  const items = await Promise.all(
    (['USDC', 'USDT', 'USDC'] as const).map(async (asset, place) => {
      const index = 40 + place;
      const { address: to } = await chain.depositAddress({ index });
      return { itemId: `sweep ${place}`, index, asset, amount: 7n, to };
    }),
  );
  for (const { asset, to } of items) await local.pay([{ from, to, asset, amount: 7n }]);
  local.mine(FINAL_BLOCKS);
  const signing = nextSigning('history of the real signer');
  const tx = await chain.buildSweep({ signing, sequence: '0', items });
  expect(await settle(tx)).toMatchObject({ state: 'final', itemOk: [true, true, true] });
  for (const { to } of items) expect(await chain.balance(to, 'USDC', 'final')).toBe(0n);
});

test('a charge that its payer has signed for is pulled, and one above the cap of its window is not signed', async () => {
  const wallet = { owner: local.wallet('a payer of mandates'), asset: 'USDC' } as const;
  await local.hold(wallet, 50_000_000n);
  const startsAt = Math.floor(Date.now() / 1000) - 600;
  const terms = { asset: 'USDC', payer: wallet.owner, period: 'month', startsAt, endsAt: null } as const;
  const asked = { ...terms, cap: 10_000_000n, subscriptions: 1, salt: 's', allowance: 100_000_000n };
  const setup = await chain.mandateSetup(asked);
  await local.authorize(setup);
  local.mine(FINAL_BLOCKS);
  const { mandate } = setup;
  const signature = local.signatureOf(mandate) ?? '';
  expect(await chain.checkMandate({ mandate, signature })).toMatchObject({
    isSignatureRefused: false,
    balance: 50_000_000n,
    allowance: 100_000_000n,
  });
  const build = (name: string, amount: bigint, changes = {}) =>
    chain.buildCharge({
      signing: nextSigning('history of the real signer'),
      keyRef: 'hot',
      mandate,
      signature,
      chargeId: uuidOf(name),
      amount,
      subscriptionId: uuidOf('subscription of the real signer'),
      windowStart: startsAt,
      windowEnd: startsAt + 31 * 24 * HOUR,
      ...changes,
    });
  expect(await settle(await build('first', 6_000_000n))).toMatchObject({ state: 'final', itemOk: [true] });
  const { states } = await chain.mandateStates([mandate]);
  expect(states).toEqual([{ state: 'active', balance: 44_000_000n, allowance: 94_000_000n }]);
  // What nobody has signed is not even asked for: the signer would count it against its server.
  const forged = { ...mandate, cap: 20_000_000n };
  await expect(build('forged', 1n, { mandate: forged })).rejects.toThrow(UnbuildableTransfer);
  await expect(build('unsigned', 1n, { signature: `0x${'00'.repeat(64)}` })).rejects.toThrow(
    UnbuildableTransfer,
  );
  // The signer's own node shows that the first one has taken: this window has no more, and nobody waits for it.
  const refused = await build('above the cap', 4_000_001n).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ChargeRefused);
  expect(refused).toMatchObject({
    fault: 'cap_exceeded',
    message: expect.stringContaining('a cap of 10000000 units, of which 6000000 are used'),
  });
  // Until it shows what became of another one, a third waits.
  const second = await build('second', 4_000_000n);
  await expect(build('third', 1n)).rejects.toBeInstanceOf(SigningBlocked);
  expect(await settle(second)).toMatchObject({ state: 'final' });
  await expect(build('third', 1n)).rejects.toBeInstanceOf(ChargeRefused);
});
