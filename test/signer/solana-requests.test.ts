import { address, type Base64EncodedWireTransaction, type Signature } from '@solana/kit';
import { afterEach, expect, test } from 'vitest';
import { SignerRefused } from '../../packages/signer/src/client.ts';
import type { Purpose, SignAnswer } from '../../packages/signer/src/protocol.ts';
import { tokenAccountOf } from '../../packages/signer/src/solana/address.ts';
import type { SolanaInstruction } from '../../packages/signer/src/solana/instruction.ts';
import { encodeSignedSolana, signSolanaMessage } from '../../packages/signer/src/solana/message.ts';
import { memoOf } from '../../packages/signer/src/solana/purposes.ts';
import {
  approvedOn,
  chargeOf,
  paymentOn,
  solana,
  solanaRequest,
  solanaTransfer,
} from '../../packages/signer/src/test-once.ts';
import { keys, MERCHANTS } from '../../packages/signer/src/test-requests.ts';
import {
  balance,
  client,
  node,
  produce,
  refusal,
  SOL,
  stranger,
  usdt,
  useSolana,
} from '../nodes/solana-stage.ts';
import { startWholeSigner } from './whole-signer.ts';

// Requests of a server, through the signer's socket, journal and policy, onto a node with the real programs.

useSolana();

const [FEE_PAYER, HOT] = [solana.hot(0), solana.hot(1)];
let signer: Awaited<ReturnType<typeof startWholeSigner>> | undefined;
const next = new Map<number, number>();

afterEach(async () => {
  await signer?.stop();
  signer = undefined;
  next.clear();
});

/** Milliseconds by which the clocks of signer and network are ahead. */
let ahead = 0;

async function start(spl: { node?: string } = {}) {
  ahead = 0;
  const genesis = await client.rpc.getGenesisHash().send();
  signer = await startWholeSigner(
    ({ networks }) => Object.assign(networks.spl, { genesis, tokens: { USDT: usdt }, ...spl }),
    () => Date.now() + ahead,
  );
  node.controls.fund(address(FEE_PAYER), SOL);
  return { signer, genesis };
}

const latest = async () =>
  (await client.rpc.getLatestBlockhash({ commitment: 'processed' }).send()).value.blockhash;

/** The request for the account's next attempt, of the newest block. */
async function requestFor(genesis: string, account: number, purpose: Purpose, steps: SolanaInstruction[]) {
  const ordinal = next.get(account) ?? 0;
  next.set(account, ordinal + 1);
  const bytes = { steps, blockhash: await latest(), units: 400_000, microLamports: 10_000n };
  return solanaRequest({ account, ordinal, purpose, genesis, bytes });
}

/** @returns what the fee payer lost */
async function send({ raw, txId }: SignAnswer): Promise<bigint> {
  const lamports = async () =>
    (await client.rpc.getBalance(address(FEE_PAYER), { commitment: 'processed' }).send()).value;
  const before = await lamports();
  const wire = Buffer.from(raw.slice(2), 'hex').toString('base64') as Base64EncodedWireTransaction;
  const sent = client.rpc
    .sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' })
    .send();
  expect(await sent).toBe(txId);
  return before - (await lamports());
}

const opening = (owner: string): SolanaInstruction => ({
  kind: 'createTokenAccount',
  payer: FEE_PAYER,
  account: tokenAccountOf(owner, usdt),
  owner,
  mint: usdt,
});
const transfer = (from: string, to: string, amount: bigint, authority = from) =>
  solanaTransfer(from, to, amount, { authority, mint: usdt });

const signedNow = (genesis: string) => ({ genesis, mint: usdt, start: Math.floor(Date.now() / 1000) });

/** Eight recipients without an account. */
async function eight() {
  const items = await Promise.all(
    Array.from({ length: 8 }, async (_, place) => ({
      place,
      to: await stranger(),
      amount: String(place + 1),
      memo: null,
    })),
  );
  return approvedOn('spl', paymentOn('spl', { items }), Math.floor(Date.now() / 1000) + 3_600);
}

const paying = (
  { id, items }: Awaited<ReturnType<typeof eight>>,
  places = items.map(({ place }) => place),
) => [
  { kind: 'memo', text: memoOf(id, places[0]) } as const,
  ...places.flatMap((place) => {
    const { to = '', amount = '0' } = items[place] ?? {};
    return [opening(to), transfer(HOT, to, BigInt(amount))];
  }),
];

test('spl: a group of eight new recipients is asked for, signed and paid, and the answer that was lost comes again', async () => {
  const { signer: one, genesis } = await start();
  await node.controls.mint(usdt, address(HOT), 100n);
  const purpose = await eight();
  const asked = await requestFor(genesis, 1, purpose, paying(purpose));
  const answer = await one.client().sign(asked);
  // The server died before it stored the answer: it asks again, of a later block.
  produce(3);
  await one.restart();
  const later = solanaRequest({
    purpose,
    genesis,
    bytes: { steps: paying(purpose), blockhash: await latest() },
  });
  expect(later.unsigned).not.toBe(asked.unsigned);
  expect((await one.client().sign({ ...later, journal: answer.journal })).raw).toBe(answer.raw);
  expect(await send(answer)).toBe(10_000n + 4_000n + 8n * 2_039_280n);
  for (const { to, amount } of purpose.items) expect(await balance(address(to))).toBe(BigInt(amount));
  // A part of it again, in a transaction of its own, is refused: nobody can show that the first one is dead.
  const second = await requestFor(genesis, 1, { ...purpose, places: [2] }, paying(purpose, [2]));
  const refused = await one
    .client()
    .sign(second)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SignerRefused);
  expect(refused).toMatchObject({ code: 'limit' });
});

test('spl: addresses from the pool hold deposits, which are swept by their own keys', async () => {
  const { signer: one, genesis } = await start();
  const { addresses } = await one.client().addresses({ network: 'spl', account: 1, from: 0, count: 2 });
  for (const owner of addresses) await node.controls.mint(usdt, address(owner), 5n);
  const deposits = addresses.map((_, index) => ({ index, asset: 'USDT' as const, amount: '5' }));
  const purpose = { kind: 'sweep', merchant: MERCHANTS[0], account: 1, deposits, delegates: [] } as const;
  const steps = addresses.flatMap((owner): SolanaInstruction[] => [
    transfer(owner, HOT, 5n),
    { kind: 'close', account: tokenAccountOf(owner, usdt), destination: FEE_PAYER, owner },
  ]);
  await send(await one.client().sign(await requestFor(genesis, 0, purpose, [opening(HOT), ...steps])));
  expect(await balance(address(HOT))).toBe(10n);
  for (const owner of addresses) expect(await balance(address(owner))).toBeUndefined();
});

test('spl: a charge pulls once what the payer has allowed the delegate', async () => {
  const { signer: one, genesis } = await start();
  const payer = keys.spl.deposit(500, 0);
  node.controls.fund(address(payer.address), SOL);
  await node.controls.mint(usdt, address(payer.address), 50n);
  const { networks } = await one.client().status();
  const delegate =
    networks.flatMap((known) => (known.network === 'spl' ? [known.delegate ?? ''] : []))[0] ?? '';
  const approval: SolanaInstruction = {
    kind: 'approve',
    source: tokenAccountOf(payer.address, usdt),
    mint: usdt,
    delegate,
    owner: payer.address,
    amount: 20n,
    decimals: 6,
  };
  const message = {
    version: 0,
    feePayer: payer.address,
    blockhash: await latest(),
    instructions: [approval],
  } as const;
  const raw = encodeSignedSolana(signSolanaMessage(message, () => payer.privateKey));
  const wire = Buffer.from(raw).toString('base64') as Base64EncodedWireTransaction;
  await client.rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' }).send();
  const charge = chargeOf({ amount: '15' }, { key: payer, ...signedNow(genesis) });
  const steps = [
    { kind: 'memo', text: memoOf(charge.id) } as const,
    opening(HOT),
    transfer(payer.address, HOT, 15n, delegate),
  ];
  await send(await one.client().sign(await requestFor(genesis, 1, charge, steps)));
  expect([await balance(address(HOT)), await balance(address(payer.address))]).toEqual([15n, 35n]);
});

/** Blocks pass, and minutes, for signer and network alike. */
function pass(blocks: number, minutes: number): void {
  ahead += minutes * 60_000;
  node.chain.moveClock(minutes * 60_000);
  produce(blocks);
}

test("spl: an item is signed anew once the signer's own node shows that its transaction is dead", async () => {
  const { signer: one, genesis } = await start({ node: node.url });
  await node.controls.mint(usdt, address(HOT), 100n);
  const purpose = await eight();
  const first = await one.client().sign(await requestFor(genesis, 1, purpose, paying(purpose)));
  const outcome = async () => {
    // Of a block of its own: of the same one it would be the same transaction.
    produce(1);
    const asked = await requestFor(genesis, 1, purpose, paying(purpose));
    const answer = await one
      .client()
      .sign(asked)
      .catch((error: unknown) => error);
    if (!(answer instanceof SignerRefused)) return answer as SignAnswer;
    next.set(1, (next.get(1) ?? 0) - 1);
    return answer.code;
  };
  expect(await outcome()).toBe('limit');
  // Time alone shows nothing: the network was halted, and the blockhash is good.
  pass(1, 30);
  expect(await outcome()).toBe('limit');
  // It is too old for the newest block, but not yet for a final one.
  pass(151, 1);
  expect(await outcome()).toBe('limit');
  pass(32, 1);
  await one.restart();
  const second = await outcome();
  if (typeof second === 'string') throw new Error(second);
  expect(second.txId).not.toBe(first.txId);
  expect((await refusal(send(first))).cause).toMatch(/blockhash/i);
  await send(second);
  for (const { to, amount } of purpose.items) expect(await balance(address(to))).toBe(BigInt(amount));
  // What was paid stays paid, however old its transaction is.
  pass(200, 30);
  expect(await outcome()).toBe('limit');
});

test('spl: a transaction that failed for good lets its charge be tried again; a node that does not know shows nothing', async () => {
  const { signer: one, genesis } = await start({ node: node.url });
  const key = keys.spl.deposit(500, 0);
  const payer = key.address;
  await node.controls.mint(usdt, address(payer), 50n);
  const charge = chargeOf({ amount: '60000000' }, { key, ...signedNow(genesis) });
  const steps = [
    { kind: 'memo', text: memoOf(charge.id) } as const,
    opening(HOT),
    transfer(payer, HOT, 60_000_000n, solana.delegate()),
  ];
  const sign = async () => await one.client().sign(await requestFor(genesis, 1, charge, steps));
  // The payer has allowed nothing.
  const { raw, txId } = await sign();
  const wire = Buffer.from(raw.slice(2), 'hex').toString('base64') as Base64EncodedWireTransaction;
  await client.rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send();
  pass(200, 10);
  const { value } = await client.rpc
    .getSignatureStatuses([txId as Signature], { searchTransactionHistory: true })
    .send();
  expect(value[0]?.err).not.toBeNull();
  expect(await sign()).toMatchObject({ raw: expect.not.stringContaining(raw) });
  // The node has cleaned up what it knew of the time.
  pass(200, 10);
  node.chain.firstAvailable = node.chain.blockAt(node.chain.blocks.length - 50).slot;
  // Out of the budget of 100 tokens.
  await sign();
  produce(1);
  await expect(sign()).rejects.toThrow('charges.resend_per_day');
});

test('spl: a node with a hole in its ledger, where the transaction would be, shows nothing', async () => {
  const { signer: one, genesis } = await start({ node: node.url });
  await node.controls.mint(usdt, address(HOT), 100n);
  const purpose = await eight();
  pass(40, 10);
  const first = await one.client().sign(await requestFor(genesis, 1, purpose, paying(purpose)));
  await send(first);
  const { slot } = node.chain.tip;
  pass(300, 10);
  const again = async () => {
    const asked = await requestFor(genesis, 1, purpose, paying(purpose));
    next.set(1, (next.get(1) ?? 0) - 1);
    const refused = await one
      .client()
      .sign(asked)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SignerRefused);
    expect(refused).toMatchObject({ code: 'limit' });
  };
  for (const hole of [
    { from: slot, to: slot },
    { from: slot - 30, to: slot + 30 },
    { from: slot, to: slot + 299 },
  ]) {
    node.endpoint.view.hole = hole;
    await again();
  }
});

test('spl: a node whose final blocks are older than the signature shows nothing: it may not know its blockhash', async () => {
  const { signer: one, genesis } = await start({ node: node.url });
  const charge = chargeOf({ amount: '60000000' }, signedNow(genesis));
  const steps = [
    { kind: 'memo', text: memoOf(charge.id) } as const,
    transfer(charge.payer, HOT, 60_000_000n, solana.delegate()),
  ];
  const sign = async () => await one.client().sign(await requestFor(genesis, 1, charge, steps));
  // By the signer's clock the network is ten minutes behind.
  ahead += 10 * 60_000;
  await sign();
  produce(200);
  // Out of the budget, and then not.
  await sign();
  produce(200);
  const late = await requestFor(genesis, 1, charge, steps);
  await expect(one.client().sign(late)).rejects.toThrow('charges.resend_per_day');
  node.chain.moveClock(20 * 60_000);
  produce(200);
  expect((await one.client().sign(late)).txId).toMatch(/^[1-9A-Za-z]{80,90}$/);
});

test('spl: a policy for another network signs nothing', async () => {
  const { signer: one } = await start();
  const purpose = await eight();
  const asked = await requestFor('5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', 1, purpose, paying(purpose));
  await expect(one.client().sign(asked)).rejects.toThrow('it is for the network that begins with 5eykt4');
});
