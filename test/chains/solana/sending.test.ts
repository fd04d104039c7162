import { address } from '@solana/kit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type Chain,
  ChainUnavailable,
  type SignedTx,
  SignerUnavailable,
  SigningBlocked,
  type TransferItem,
  UnbuildableTransfer,
} from '../../../packages/server/src/chains/port/port.ts';
import { NodeError } from '../../../packages/server/src/chains/rpc/node.ts';
import type { SolanaEndpoints } from '../../../packages/server/src/chains/solana/endpoints.ts';
import { classifyRejection } from '../../../packages/server/src/chains/solana/send.ts';
import type { Endpoint } from '../../nodes/solana/rpc.ts';
import { approvedGroup } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, SolanaEnvironment } from './environment.ts';
import { KEYS } from './key-signer.ts';

let local: SolanaEnvironment;
let other: Endpoint;
let rpc: SolanaEndpoints;
let chain: Chain;

beforeAll(async () => {
  local = await SolanaEnvironment.start();
  other = await local.node.open();
  const endpoints = [local.node.url, other.url].map((url) => ({ url, isOwn: false }));
  rpc = local.endpoints({ ...local.network, endpoints });
  chain = local.open(rpc);
  await local.give('USDC', await chain.sender('hot'), 1_000_000n);
  await local.give('USDT', await chain.sender('hot'), 1n);
});
afterAll(async () => {
  await rpc.close();
  await local.node.stop();
});
afterEach(() => {
  for (const { view, faults } of [local.node.endpoint, other]) {
    view.lag = 0;
    view.hole = undefined;
    faults.clear();
  }
  local.node.chain.firstAvailable = 0;
  local.node.chain.priorityFee = 0;
});

/** As the endpoints, but the word of one endpoint about this is another. */
const answering = (changed: string, change: (answer: unknown) => unknown) => ({
  newest: rpc.newest.bind(rpc),
  newestBlockhash: rpc.newestBlockhash.bind(rpc),
  agreed: rpc.agreed.bind(rpc),
  callMany: rpc.callMany.bind(rpc),
  agreedMany: rpc.agreedMany.bind(rpc),
  call: async (method: string, params: readonly unknown[]) => {
    const answer = await rpc.call(method, params);
    return method === changed ? change(answer) : answer;
  },
});

/** As the endpoints, with another answer to what the newest blockhash is. */
const naming = (newestBlockhash: SolanaEndpoints['newestBlockhash']) => ({
  ...answering('', (answer) => answer),
  newestBlockhash,
});

let groups = 0;
function build(items: readonly Omit<TransferItem, 'itemId' | 'place'>[], by = chain): Promise<SignedTx> {
  groups += 1;
  const named = items.map((item, place) => ({ ...item, place, itemId: `item ${groups} ${place}` }));
  const group = approvedGroup('USDC', named, `group ${groups}`);
  const memos = group.authority.items.map((item, place) => ({ ...item, memo: items[place]?.memo ?? null }));
  const authority = { ...group.authority, items: memos };
  return by.buildTransfer({ signing: nextSigning(), keyRef: 'hot', ...group, authority });
}
let recipients = 0;
function stranger(amount = 1n) {
  recipients += 1;
  return { to: local.wallet(`a recipient of sendings ${recipients}`), amount };
}
const lamports = async (owner: string) => await chain.nativeBalance(owner);
const expire = () => local.mine(152 + FINAL_BLOCKS);

describe('payments', () => {
  test('eight new accounts fit with our memo, and cost the fee payer no more than their limit', async () => {
    const feePayer = await chain.sender('tank');
    const before = await lamports(feePayer);
    const tx = await build(Array.from({ length: 8 }, () => stranger()));
    expect((tx.raw.length - 2) / 2).toBeLessThanOrEqual(1_232);
    expect(await chain.broadcast(tx)).toEqual({ result: 'accepted' });
    local.mine(FINAL_BLOCKS);
    const status = await chain.status(tx);
    expect(status).toMatchObject({ state: 'final', itemOk: Array(8).fill(true) });
    const spent = before - (await lamports(feePayer));
    expect(spent).toBeGreaterThan(8n * 2_039_280n);
    expect(tx.feeLimit).toBe(spent);
    expect((await chain.estimateFee('transfer', 8)).native).toBe(spent);
    const { unitsConsumed = 0n } = local.node.chain.transactions.get(tx.txId) ?? {};
    expect(unitsConsumed).toBeGreaterThan(0n);
  });

  test('more than fits is refused before anything is signed: by count, by bytes of memos, by compute units', async () => {
    const asked = local.signer.requests.length;
    const nine = Array.from({ length: 9 }, () => stranger());
    await expect(build(nine)).rejects.toThrow('takes 1 to 8 items');
    const named = nine.slice(0, 8).map((item) => ({ ...item, memo: 'an invoice number' }));
    await expect(build(named)).rejects.toThrow(/it has \d+ bytes, more than 1232/);
    const feeCeilings = { ...local.network.feeCeilings, computeUnits: 100_000 };
    const tight = local.open(rpc, { network: { ...local.network, feeCeilings } });
    await expect(build([stranger(), stranger()], tight)).rejects.toThrow('above the ceiling');
    expect(local.signer.requests).toHaveLength(asked);
    const tx = await build(named.slice(0, 2));
    await chain.broadcast(tx);
    local.mine(FINAL_BLOCKS);
    expect(await chain.status(tx)).toMatchObject({ state: 'final' });
  });

  test('recipients that lose coins, our own wallets and memos that nobody approved are refused', async () => {
    const bad = [
      await chain.sender('hot'),
      await chain.sender('tank'),
      KEYS.delegate().address,
      local.mint('USDC'),
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      '1nc1nerator11111111111111111111111111111111',
    ];
    for (const to of bad) await expect(build([{ to, amount: 1n }])).rejects.toThrow(UnbuildableTransfer);
    await expect(build([{ ...stranger(), amount: 0n }])).rejects.toThrow(UnbuildableTransfer);
    const item = { ...stranger(), itemId: 'named', place: 0, memo: 'not approved' };
    const group = approvedGroup('USDC', [item], 'memo');
    const spec = { signing: nextSigning(), ...group };
    await expect(chain.buildTransfer({ ...spec, keyRef: 'hot' })).rejects.toThrow(
      'not the one that was approved',
    );
  });

  test('equal items of one group are two transactions', async () => {
    const item = { ...stranger(2n), itemId: 'equal' };
    const list = [0, 1].map((place) => ({ ...item, itemId: `equal ${place}`, place }));
    const { authority, groupId, asset } = approvedGroup('USDC', list, 'equal');
    const ids = await Promise.all(
      list.map(async (one) => {
        const group = { asset, groupId, authority, items: [one] };
        return (await chain.buildTransfer({ signing: nextSigning(), keyRef: 'hot', ...group })).txId;
      }),
    );
    expect(new Set(ids).size).toBe(2);
  });

  test('the priority fee follows the market up to the ceiling', async () => {
    const plain = await build([stranger()]);
    local.node.chain.priorityFee = 1_000;
    local.mine(151);
    const priced = await build([stranger()]);
    expect((priced.feeLimit ?? 0n) - (plain.feeLimit ?? 0n)).toBeGreaterThan(0n);
    local.node.chain.priorityFee = 1_000_000_000;
    local.mine(151);
    const dear = await build([stranger()]);
    const { priorityFee } = local.network.feeCeilings;
    expect((dear.feeLimit ?? 0n) - (plain.feeLimit ?? 0n)).toBeLessThanOrEqual(priorityFee);
  });

  test('a frozen account fails in a block, with its reason and its fee', async () => {
    const to = local.wallet('a frozen recipient');
    await local.give('USDC', to, 0n);
    await local.node.controls.freeze(local.mint('USDC'), address(to));
    const tx = await build([{ to, amount: 1n }, stranger()]);
    await chain.broadcast(tx);
    local.mine(1);
    expect(await chain.status(tx)).toMatchObject({ state: 'failed', final: false, reason: 'account_frozen' });
    local.mine(FINAL_BLOCKS);
    const status = await chain.status(tx);
    expect(status).toMatchObject({ state: 'failed', final: true, itemOk: [false, false] });
    expect(status.fee).toBeGreaterThanOrEqual(10_000n);
  });

  test('the signer is held, or answers something else than what was asked for', async () => {
    local.signer.next({ code: 'frozen', message: 'frozen by a person' });
    await expect(build([stranger()])).rejects.toThrow(SigningBlocked);
    const earlier = await build([stranger()]);
    const answers = [
      { raw: earlier.raw, txId: earlier.txId },
      { raw: `${earlier.raw}00` },
      { txId: 'another' },
    ];
    for (const answer of answers) {
      local.signer.next((given) => ({ ...given, ...answer }));
      await expect(build([stranger()])).rejects.toThrow(SignerUnavailable);
    }
  });
});

describe('what proves that a transaction is dead', () => {
  async function lose(): Promise<SignedTx> {
    const tx = await build([stranger()]);
    local.node.endpoint.view.dropTransactions = 1;
    await chain.broadcast(tx);
    local.node.endpoint.view.dropTransactions = 0;
    return tx;
  }

  test('its last valid block is behind a final one, and two endpoints do not know it', async () => {
    const tx = await lose();
    local.mine(150);
    expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
    local.mine(FINAL_BLOCKS + 1);
    expect(await chain.status(tx)).toMatchObject({ state: 'dead', final: true });
    expect(await chain.broadcast(tx)).toMatchObject({ result: 'rejected', code: 'blockhash_expired' });
  });

  test('an endpoint that is behind proves nothing', async () => {
    const tx = await lose();
    expire();
    other.view.lag = 100;
    // The second furthest is not far enough.
    expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
    other.faults.plan({ how: 'down', times: Number.POSITIVE_INFINITY });
    await expect(chain.status(tx)).rejects.toThrow(ChainUnavailable);
  });

  test('nor do nodes that have cleaned up the blocks that could hold it', async () => {
    const tx = await lose();
    expire();
    local.mine(400);
    local.node.chain.firstAvailable = local.node.chain.tip.slot - 100;
    await expect(chain.status(tx)).rejects.toThrow('the nodes keep no blocks as old as');
    local.node.chain.firstAvailable = 0;
    expect(await chain.status(tx)).toMatchObject({ state: 'dead' });
  });

  test('nor do nodes with a hole in their ledger where its blocks would be, whatever lies before and behind it', async () => {
    const from = local.node.chain.tip.slot;
    const tx = await build([stranger()]);
    await chain.broadcast(tx);
    local.mine(1);
    const mined = local.node.chain.tip.slot;
    expire();
    for (const hole of [
      { from: mined, to: mined },
      { from: from - 400, to: mined + 10 },
      { from: mined - 1, to: mined + 160 },
      { from: mined, to: mined + 151 },
    ]) {
      for (const { view } of [local.node.endpoint, other]) view.hole = hole;
      await expect(chain.status(tx)).rejects.toThrow(ChainUnavailable);
    }
    for (const { view } of [local.node.endpoint, other]) view.hole = undefined;
    expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
  });

  test('nor does a height that was noted too low while its blockhash is valid', async () => {
    const tx = await build([stranger()]);
    local.mine(10 + FINAL_BLOCKS);
    const { final } = await rpc.newest('finalized').then((final) => ({ final }));
    const early = { ...tx, validUntil: { height: String(final.blockHeight - 1n) } };
    expect(await chain.status(early)).toEqual({ state: 'unknown', final: false });
    await chain.broadcast(tx);
    local.mine(FINAL_BLOCKS);
    expect(await chain.status(early)).toMatchObject({ state: 'final' });
  });

  test('a blockhash that one endpoint alone knows, or of a chain that is not of now, is not signed', async () => {
    const invented = naming(async () => ({
      ...(await rpc.newestBlockhash()),
      blockhash: local.wallet('nobody’s block'),
    }));
    await expect(build([stranger()], local.open(invented))).rejects.toThrow(
      'a blockhash that no other answer knows',
    );
    const late = local.open(rpc, { nowMs: () => Date.now() + 120_000 });
    await expect(build([stranger()], late)).rejects.toThrow('is not of now');
  });

  test('a node that names too early an end for its blockhash makes nothing dead before its time', async () => {
    const early = naming(async () => ({ ...(await rpc.newestBlockhash()), lastValid: 5n }));
    const deceived = local.open(early);
    const tx = await build([stranger()], deceived);
    local.mine(100);
    expect(await deceived.status(tx)).toEqual({ state: 'unknown', final: false });
    expect(await deceived.broadcast(tx)).toEqual({ result: 'accepted' });
    local.mine(FINAL_BLOCKS);
    expect(await deceived.status(tx)).toMatchObject({ state: 'final' });
  });

  test('nor is a blockhash believed that would never end', async () => {
    const endless = naming(async () => ({ ...(await rpc.newestBlockhash()), lastValid: 1_000_000_000n }));
    await expect(build([stranger()], local.open(endless))).rejects.toThrow('valid up to block 1000000000');
  });

  test('what the first endpoint has forgotten, two others may know', async () => {
    const forgetful = answering('getSignatureStatuses', (answer) => ({ ...Object(answer), value: [null] }));
    const tx = await build([stranger()]);
    await chain.broadcast(tx);
    expire();
    expect(await local.open(forgetful).status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
  });

  test('a transaction that was mined at its last block is found, however late it is looked for', async () => {
    const tx = await lose();
    local.mine(149);
    await chain.broadcast(tx);
    local.mine(1);
    expire();
    expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
  });

  test.each<[number, string, object]>([
    [-32_002, 'Transaction simulation failed: This transaction has already been processed', { known: true }],
    [
      -32_002,
      'Transaction simulation failed: Blockhash not found',
      { code: 'blockhash_not_found', retryable: true },
    ],
    [-32_003, 'Transaction signature verification failure', { code: 'invalid_signature', retryable: false }],
    [-32_005, 'Node is behind by 42 slots', { code: 'node_behind', retryable: true }],
    [-32_602, 'base64 encoded transaction too large', { code: 'malformed', retryable: false }],
    [-32_099, 'something that nobody has foreseen', { code: 'refused', retryable: true }],
  ])('%i %s', (code, message, expected) => {
    const answer = classifyRejection(new NodeError(code, message));
    expect(answer === 'known' ? { known: true } : answer).toMatchObject(expected);
  });
});

describe('what this network is not used for yet', () => {
  test('no movement comes before a payment', async () => {
    const refused = expect.objectContaining({ constructor: UnbuildableTransfer });
    const signing = nextSigning();
    await expect(
      chain.buildMovement({ signing, keyRef: 'tank', movement: { kind: 'fill' }, sequence: '0' }),
    ).rejects.toEqual(refused);
  });
});

describe('a fee payer', () => {
  const LAMPORTS = 1_000_000_000n;
  const OPENING = 2_039_280n;
  /** What a wallet has to keep. */
  const KEPT = 890_880n;
  const payer = () => local.node.chain.account(address(KEYS.hot(0).address));
  const setTo = (amount: bigint) =>
    local.node.controls.fund(address(KEYS.hot(0).address), amount - lamportsOf());
  const lamportsOf = () => {
    const account = payer();
    return account.exists ? account.lamports : 0n;
  };
  afterEach(() => setTo(1_000n * LAMPORTS));

  test('what payments may cost it, and which recipients have no account, are found before anything is signed', async () => {
    const known = stranger();
    await local.pay([{ from: local.wallet('a payer'), to: known.to, asset: 'USDC', amount: 1n }]);
    local.mine(FINAL_BLOCKS);
    const items = [known, stranger(), stranger(), { ...stranger(), to: 'no address' }].map((item, place) => ({
      itemId: String(place),
      place,
      ...item,
    }));
    const [, first, second] = items;
    const found = await chain.precheck({ kind: 'transfers', asset: 'USDC', transactions: [items] });
    const { priorityFee } = local.network.feeCeilings;
    expect(found).toMatchObject({
      refused: null,
      allowance: null,
      tank: { address: KEYS.hot(0).address, native: lamportsOf() - KEPT, nextSequence: null },
      paidByTank: {
        fee: 10_000n + priorityFee,
        opening: OPENING,
        newRecipients: new Set([first?.to, second?.to]),
      },
    });
    // Of the other token nobody has one, and the hot wallet's own account is opened by a sweep alone.
    const sweeps = await chain.precheck({ kind: 'sweeps', asset: 'USDC', transactions: [1, 5] });
    expect(sweeps?.fees).toEqual([10_000n + priorityFee, 30_000n + priorityFee]);
    const elsewhere = local.open(rpc, { account: 77 });
    const unopened = await elsewhere.precheck({ kind: 'sweeps', asset: 'USDC', transactions: [1] });
    expect(unopened?.fees).toEqual([10_000n + priorityFee + OPENING]);
  });

  test('that holds less than a transaction may cost: the signer is not asked', async () => {
    const { feeLimit = 0n } = await build([stranger()]);
    const asked = local.signer.requests.length;
    setTo(KEPT + feeLimit - 1n);
    await expect(build([stranger()])).rejects.toMatchObject({
      constructor: SigningBlocked,
      reason: 'tank',
      message: expect.stringContaining(`holds ${KEPT + feeLimit - 1n} lamports`),
    });
    expect(local.signer.requests).toHaveLength(asked);
    setTo(KEPT + feeLimit);
    const tx = await build([stranger()]);
    await chain.broadcast(tx);
    local.mine(FINAL_BLOCKS);
    expect(await chain.status(tx)).toMatchObject({ state: 'final' });
  });
});
