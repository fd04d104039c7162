import { address } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UnservedMandate } from '../../../packages/server/src/chains/charges/index.ts';
import {
  ChainUnavailable,
  type Mandate,
  SigningBlocked,
  UnbuildableTransfer,
} from '../../../packages/server/src/chains/port/port.ts';
import type { SolanaEndpoints } from '../../../packages/server/src/chains/solana/endpoints.ts';
import type { SolanaNode } from '../../../packages/server/src/chains/solana/node.ts';
import { readSigned } from '../../../packages/server/src/chains/solana/signing.ts';
import { tokenAccountOf } from '../../../packages/signer/src/solana/address.ts';
import type { Endpoint } from '../../nodes/solana/rpc.ts';
import { uuidOf } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, SolanaEnvironment } from './environment.ts';
import { KEYS } from './key-signer.ts';
import { lying } from './lying-node.ts';

const RENT = 2_039_280n;
/** What a wallet has to keep. */
const KEPT = 890_880n;
const MONTH = 31 * 86_400;

let local: SolanaEnvironment;
let other: Endpoint;
let rpc: SolanaEndpoints;
type SolanaChain = ReturnType<SolanaEnvironment['open']>;
let chain: SolanaChain;

beforeAll(async () => {
  local = await SolanaEnvironment.start();
  other = await local.node.open();
  const endpoints = [local.node.url, other.url].map((url) => ({ url, isOwn: false }));
  rpc = local.endpoints({ ...local.network, endpoints });
  chain = local.open(rpc);
});
afterAll(async () => {
  await rpc.close();
  await local.node.stop();
});

let made = 0;
/** A wallet that has given a mandate into this chain's hot wallet. */
async function join(into: SolanaChain): Promise<Mandate> {
  made += 1;
  const payer = local.wallet(`a payer of charges ${made}`);
  await local.hold({ owner: payer, asset: 'USDC' }, 50n);
  const startsAt = Math.floor(Date.now() / 1000);
  const terms = { asset: 'USDC', payer, cap: 10n, period: 'month', startsAt, endsAt: null } as const;
  const setup = await into.mandateSetup({ ...terms, subscriptions: 1, salt: String(made), allowance: 100n });
  await local.authorize(setup);
  local.mine(FINAL_BLOCKS);
  return setup.mandate;
}

async function build(by: SolanaChain, mandate: Mandate, signing = nextSigning()) {
  made += 1;
  return await by.buildCharge({
    signing,
    keyRef: 'hot',
    mandate,
    signature: local.signatureOf(mandate) ?? '',
    chargeId: uuidOf(`charge ${made}`),
    amount: 10n,
    subscriptionId: uuidOf('subscription'),
    windowStart: mandate.startsAt,
    windowEnd: mandate.startsAt + MONTH,
  });
}

const opens = ({ raw }: { raw: string }) =>
  readSigned(raw)?.message.instructions.some(({ kind }) => kind === 'createTokenAccount');

test('what fails of a charge is the payer’s where the pull itself was refused, and ours anywhere else', async () => {
  const unopened = local.open(rpc, { account: 50 });
  const mandate = await join(unopened);
  const tx = await build(unopened, mandate);
  // The fee payer cannot open the hot wallet's account when the transaction comes, and the payer has spent everything since.
  const feePayer = address(KEYS.hot(0).address);
  const held = await chain.nativeBalance(feePayer);
  local.node.controls.fund(feePayer, KEPT + RENT / 2n - held);
  await unopened.broadcast(tx);
  local.mine(1);
  await local.hold({ owner: mandate.payer, asset: 'USDC' }, 0n);
  local.mine(FINAL_BLOCKS);
  expect(await unopened.status(tx)).toMatchObject({ state: 'failed', final: true, reason: 'our_fault' });
  local.node.controls.fund(feePayer, held);
  const again = await build(unopened, mandate);
  await unopened.broadcast(again);
  local.mine(FINAL_BLOCKS);
  expect(await unopened.status(again)).toMatchObject({ state: 'failed', reason: 'insufficient_balance' });
  // An account that the token's issuer has frozen: the merchant's own, and then the payer's.
  const frozen = local.open(rpc, { account: 51 });
  // One endpoint alone says that it is the payer's, or closed.
  const lie = (method: string, answer: unknown) =>
    method === 'getAccountInfo' ? { ...Object(answer), value: null } : answer;
  const oneLying: SolanaNode = {
    ...lying(rpc, lie),
    agreed: (...asked) => rpc.agreed(...asked),
    agreedMany: (requests) => rpc.agreedMany(requests),
  };
  const alone = local.open(oneLying, { account: 51 });
  await local.give('USDC', KEYS.hot(51).address, 1n);
  await local.node.controls.freeze(local.mint('USDC'), address(KEYS.hot(51).address));
  for (const [owner, reason] of [
    [KEYS.hot(51).address, 'our_fault'],
    ['payer', 'account_frozen'],
  ] as const) {
    const given = await join(frozen);
    if (owner === 'payer') {
      await local.node.controls.thaw(local.mint('USDC'), address(KEYS.hot(51).address));
      await local.node.controls.freeze(local.mint('USDC'), address(given.payer));
    }
    const charge = await build(frozen, given);
    await frozen.broadcast(charge);
    local.mine(FINAL_BLOCKS);
    expect(await frozen.status(charge)).toMatchObject({ state: 'failed', reason });
    expect(await alone.status(charge)).toMatchObject({ state: 'failed', reason });
  }
});

test('that the token’s issuer has frozen the hot wallet’s account is known before anything is signed, to payments and charges', async () => {
  const own = local.open(rpc, { account: 53 });
  const refusals = async () => {
    const answers = [];
    for (const asset of ['USDT', 'USDC'] as const)
      for (const kind of ['transfers', 'sweeps'] as const)
        answers.push((await own.precheck({ kind, asset, transactions: [] })).refused);
    return answers;
  };
  const { controls } = local.node;
  const [mint, hot] = [local.mint('USDC'), address(KEYS.hot(53).address)];
  // There is no account yet.
  expect(await refusals()).toEqual([null, null, null, null]);
  await local.give('USDC', hot, 1n);
  await controls.freeze(mint, hot);
  local.mine(FINAL_BLOCKS);
  expect(await refusals()).toEqual([null, null, 'sender_blacklisted', 'sender_blacklisted']);
  await controls.thaw(mint, hot);
  local.mine(FINAL_BLOCKS);
  expect(await refusals()).toEqual([null, null, null, null]);
});

test('the hot wallet’s account is opened by the first charge alone, and earlier bytes that open it are taken', async () => {
  const mandate = await join(chain);
  const signing = nextSigning();
  made = 900;
  const first = await build(chain, mandate, signing);
  expect(opens(first)).toBe(true);
  await local.give('USDC', KEYS.hot(1).address, 1n);
  local.mine(FINAL_BLOCKS);
  made = 900;
  expect(await build(chain, mandate, signing)).toEqual(first);
  const second = await build(chain, mandate);
  expect(opens(second)).toBe(false);
  expect((first.feeLimit ?? 0n) - (second.feeLimit ?? 0n)).toBe(RENT);
  await chain.broadcast(second);
  local.mine(FINAL_BLOCKS);
  expect(await chain.status(second)).toMatchObject({ state: 'final', itemOk: [true] });
});

test('a policy without charges makes no mandate inactive: nothing is told of them, and nothing is signed', async () => {
  const mandate = await join(chain);
  const without = local.open(rpc, { delegate: null });
  const because = (name: unknown) => ({
    constructor: name,
    message: expect.stringContaining('has no charges for spl'),
  });
  await expect(without.mandateStates([mandate])).rejects.toMatchObject(because(UnservedMandate));
  const signature = local.signatureOf(mandate) ?? '';
  await expect(without.checkMandate({ mandate, signature })).rejects.toMatchObject(because(ChainUnavailable));
  const asked = local.signer.requests.length;
  await expect(build(without, mandate)).rejects.toMatchObject({
    constructor: SigningBlocked,
    reason: 'policy',
  });
  expect(local.signer.requests).toHaveLength(asked);
});

test('a wallet that two endpoints show differently keeps no other mandate from being read', async () => {
  const mandates = [await join(chain), await join(chain), await join(chain)];
  const moving = tokenAccountOf(mandates[1]?.payer ?? '', local.mint('USDC'));
  const disagreeing: SolanaNode = {
    newest: rpc.newest.bind(rpc),
    newestBlockhash: rpc.newestBlockhash.bind(rpc),
    call: rpc.call.bind(rpc),
    callMany: rpc.callMany.bind(rpc),
    agreedMany: rpc.agreedMany.bind(rpc),
    agreed: async (method, params) => {
      const [accounts] = params;
      if (method === 'getMultipleAccounts' && Array.isArray(accounts) && accounts.includes(moving))
        throw new ChainUnavailable('spl', 'the endpoints do not agree');
      return await rpc.agreed(method, params);
    },
  };
  const { states } = await local.open(disagreeing).mandateStates(mandates);
  expect(states.map((one) => one?.state)).toEqual(['active', undefined, 'active']);
  await expect(local.open(disagreeing).mandateStates(mandates.slice(1, 2))).rejects.toThrow('do not agree');
});

test('a mandate into another hot wallet, in another mint or on another chain is not its payer’s fault', async () => {
  const mandate = await join(chain);
  const { tokens, genesisHash } = local.network;
  const others = [
    local.open(rpc, { account: 52 }),
    local.open(rpc, { network: { ...local.network, genesisHash: `${genesisHash.slice(0, -1)}2` } }),
    local.open(rpc, { network: { ...local.network, tokens: { USDC: tokens.USDT ?? { mint: '' } } } }),
    local.open(rpc, { network: { ...local.network, tokens: {} } }),
  ];
  for (const other of others) {
    await expect(build(other, mandate)).rejects.toBeInstanceOf(UnservedMandate);
    expect((await other.mandateStates([mandate])).states).toMatchObject([{ isUnserved: true }]);
  }
  expect((await chain.mandateStates([mandate])).states).toEqual([
    { state: 'active', balance: 50n, allowance: 100n },
  ]);
});

test('nobody is offered a mandate for real money', async () => {
  const { payer, startsAt } = await join(chain);
  const real = local.open(rpc, { network: { ...local.network, isTest: false } });
  const terms = { asset: 'USDC', payer, cap: 10n, period: 'month', startsAt, endsAt: null } as const;
  const asked = real.mandateSetup({ ...terms, subscriptions: 1, salt: 's', allowance: 100n });
  await expect(asked).rejects.toMatchObject({
    constructor: UnbuildableTransfer,
    message: expect.stringContaining('not charged on this network'),
  });
});
