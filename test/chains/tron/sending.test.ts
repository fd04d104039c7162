import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ChainUnavailable,
  FeeCeilingReached,
  type SignedTx,
  SignerUnavailable,
  type TransferSpec,
  UnbuildableTransfer,
} from '../../../packages/server/src/chains/port/port.ts';
import type { TronEndpoints } from '../../../packages/server/src/chains/tron/endpoints.ts';
import { comparedText, reducerOf } from '../../../packages/server/src/chains/tron/reduced.ts';
import { classifyRefusal } from '../../../packages/server/src/chains/tron/send.ts';
import type { TronChain } from '../../../packages/server/src/chains/tron/tron-chain.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { approvedGroup } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';
import { lying, oneLying } from './lying-node.ts';

const AMOUNT = 1_500_000n;
const DAY_MS = 86_400_000;
const item = (to: string, amount = AMOUNT) => ({ itemId: 'an item', place: 0, to, amount });

describe.skipIf(!hasAnvil())('sending on Tron', () => {
  let local: TronEnvironment;
  let node: TronEndpoints;
  let chain: TronChain;
  let recipients = 0;

  beforeAll(async () => {
    local = await TronEnvironment.start();
    node = local.endpoints();
    chain = local.open(node);
    await local.give('USDT', await chain.sender('hot'), 1_000n * AMOUNT);
    await local.mine(FINAL_BLOCKS);
  });
  afterAll(async () => {
    await node?.close();
    await local?.node.stop();
  });

  function specOf(change: Partial<TransferSpec> = {}, to = freshRecipient()): TransferSpec {
    const signing = nextSigning();
    return { signing, keyRef: 'hot', ...approvedGroup('USDT', [item(to)], signing.attemptId), ...change };
  }
  function freshRecipient(): string {
    recipients += 1;
    return local.wallet(`a recipient of sending ${recipients}`);
  }
  const mined = async (tx: SignedTx) => {
    expect(await chain.broadcast(tx)).toEqual({ result: 'accepted' });
    await local.mine(FINAL_BLOCKS);
    return await chain.status(tx);
  };

  test('USDT returns false, and has been paid', async () => {
    const to = freshRecipient();
    const tx = await chain.buildTransfer(specOf({}, to));
    expect(await mined(tx)).toMatchObject({ state: 'final', final: true, itemOk: [true] });
    expect(await local.info(tx.txId)).toMatchObject({ contractResult: ['0'.repeat(64)] });
    expect(await chain.balance(to, 'USDT', 'final')).toBe(AMOUNT);
    const { fee = 0n } = await chain.status(tx);
    expect(fee).toBeGreaterThan(0n);
    expect(fee).toBeLessThanOrEqual(tx.feeLimit ?? 0n);
  });

  test('it says when it will be final: a block each three seconds, whatever time the blocks have', async () => {
    const real = local.open(node, { network: { ...local.network, isTest: false } });
    const tx = await real.buildTransfer(specOf());
    await real.broadcast(tx);
    await local.mine(1);
    const before = Date.now();
    const { state, finalAt = 0 } = await real.status(tx);
    expect(state).toBe('included');
    const inMs = 3_000 * (FINAL_BLOCKS - 1);
    expect(finalAt).toBeGreaterThanOrEqual(Math.floor((before + inMs) / 1_000));
    expect(finalAt).toBeLessThanOrEqual(Math.ceil((Date.now() + inMs) / 1_000));
    await local.mine(FINAL_BLOCKS);
    expect(await real.status(tx)).toMatchObject({ state: 'final' });
  });

  test('where the newest block is old nothing is dated by it: it would be over before it is sent', async () => {
    const network = { ...local.network, isTest: false };
    const { time } = local.node.chain.head;
    const at = (ageMs: number) => local.open(node, { network, nowMs: () => time + ageMs });
    await expect(at(20_001).buildTransfer(specOf())).rejects.toThrow(ChainUnavailable);
    await expect(at(75_000).buildTransfer(specOf())).rejects.toThrow(/the newest block is 75 s old/);
    const { validUntil } = await at(20_000).buildTransfer(specOf());
    expect(validUntil?.timeMs).toBeGreaterThanOrEqual(time + 59_000);
  });

  test('payments of one moment are dated by one reading of the newest block', async () => {
    const together = local.open(node, { feed: local.feed(node, { refreshMs: 60_000 }) });
    const countBlocks = () => local.node.endpoint.faults.calls.get('wallet/getblock') ?? 0;
    const blocksOf = async (by: TronChain) => {
      const before = countBlocks();
      await by.buildTransfer(specOf());
      return countBlocks() - before;
    };
    await blocksOf(together);
    expect([await blocksOf(together), await blocksOf(chain)]).toEqual([0, 1]);
    expect(await mined(await together.buildTransfer(specOf()))).toMatchObject({ state: 'final' });
  });

  test('two equal payments of one moment are two transactions, and each is paid', async () => {
    const to = freshRecipient();
    const one = await chain.buildTransfer(specOf({}, to));
    const other = await chain.buildTransfer(specOf({}, to));
    expect(other.txId).not.toBe(one.txId);
    for (const tx of [one, other]) expect(await chain.broadcast(tx)).toEqual({ result: 'accepted' });
    await local.mine(FINAL_BLOCKS);
    expect(await chain.balance(to, 'USDT', 'final')).toBe(2n * AMOUNT);
  });

  test('an attempt that was signed before gets its bytes, however the chain has moved on', async () => {
    const spec = specOf();
    const first = await chain.buildTransfer(spec);
    await local.mine(5);
    expect(await chain.buildTransfer(spec)).toEqual(first);
  });

  test('bytes go to every endpoint: one that refuses them, or loses them, is no last word', async () => {
    const other = await local.node.open();
    const urls = [local.node.url, other.url].map((url) => ({ url, isOwn: false }));
    const both = local.endpoints({ ...local.network, endpoints: urls });
    const sender = local.open(both);
    const METHOD = 'wallet/broadcasthex';
    const sent = () => [local.node.endpoint, other].map(({ faults }) => faults.calls.get(METHOD) ?? 0);
    const [one = 0, another = 0] = sent();
    const tx = await sender.buildTransfer(specOf());
    // The first says that it took it, and tells nobody.
    local.node.endpoint.view.dropTransactions = 1;
    expect(await sender.broadcast(tx)).toEqual({ result: 'accepted' });
    expect(sent()).toEqual([one + 1, another + 1]);
    await local.mine(FINAL_BLOCKS);
    expect(await sender.status(tx)).toMatchObject({ state: 'final' });
    const next = await sender.buildTransfer(specOf());
    local.node.endpoint.faults.plan({ how: 'down', times: 1, method: METHOD });
    expect(await sender.broadcast(next)).toEqual({ result: 'accepted' });
    for (const { faults } of [local.node.endpoint, other])
      faults.plan({ how: 'down', times: 1, method: METHOD });
    await expect(sender.broadcast(next)).rejects.toThrow(ChainUnavailable);
    await both.close();
  });

  test('too little energy fails, burns the limit and moves nothing; the reason says so', async () => {
    const cheap = lying(node, (method, answer) =>
      method === 'wallet/getchainparameters'
        ? JSON.parse(JSON.stringify(answer).replace(/"getEnergyFee","value":\d+/, '"getEnergyFee","value":1'))
        : answer,
    );
    const to = freshRecipient();
    const tx = await local.open(cheap).buildTransfer(specOf({}, to));
    const failed = { state: 'failed', final: true, itemOk: [false], reason: 'out_of_energy' };
    expect(await mined(tx)).toMatchObject(failed);
    expect(await chain.balance(to, 'USDT', 'final')).toBe(0n);
  });

  test('a price that one endpoint alone shows is not believed', async () => {
    const cheap = (method: string, answer: unknown) =>
      method === 'wallet/getchainparameters'
        ? {
            chainParameter: [
              { key: 'getEnergyFee', value: 1 },
              { key: 'getTransactionFee', value: 1 },
            ],
          }
        : answer;
    const liar = lying(node, cheap);
    const alone = { ...liar, agreed: node.agreed.bind(node), agreedMany: node.agreedMany.bind(node) };
    const { feeLimit = 0n } = await local.open(alone).buildTransfer(specOf());
    expect(feeLimit).toBeGreaterThanOrEqual(131_000n * 120n);
    // What is compared are the prices: versions of the node name other parameters.
    const reduce = reducerOf(new Map());
    const parameters = [
      { key: 'getEnergyFee', value: 100 },
      { key: 'getTransactionFee', value: 1_000 },
    ];
    const newer = [{ key: 'getOfTomorrow', value: 7 }, ...parameters, { key: 'getNothing' }];
    const text = (chainParameter: object[]) =>
      comparedText('wallet/getchainparameters', reduce('wallet/getchainparameters', { chainParameter }));
    expect(text(newer)).toBe(text(parameters));
    expect(text([{ key: 'getEnergyFee', value: 10 }])).not.toBe(text(parameters));
  });

  test('the limit is enough for a recipient who never held the token, as one may be when the block is made', async () => {
    const { feeLimit = 0n } = await chain.buildTransfer(specOf({}, await chain.sender('deposit:1')));
    expect(feeLimit).toBeGreaterThanOrEqual(131_000n * 120n);
  });

  test('what became of it is believed only where it is clear, and a success that moved nothing is none', async () => {
    const tx = await chain.buildTransfer(specOf());
    expect(await mined(tx)).toMatchObject({ state: 'final' });
    const told = (change: object) =>
      local
        .open(
          lying(node, (method, answer) =>
            method.endsWith('infobyid') ? { ...Object(answer), ...change } : answer,
          ),
        )
        .status(tx);
    expect(await told({ result: 'SUCESS' })).toMatchObject({ state: 'final' });
    expect(await told({ result: null })).toMatchObject({ state: 'final' });
    await expect(told({ receipt: {} })).rejects.toThrow(/is not clear/);
    await expect(told({ receipt: { result: 'REVERT' } })).rejects.toThrow(/is not clear/);
    await expect(told({ result: 'FAILED' })).rejects.toThrow(/is not clear/);
    await expect(told({ blockNumber: undefined })).rejects.toThrow(/is not clear/);
    await expect(told({ log: [] })).rejects.toThrow(/succeeded and moved nothing/);
    await expect(told({ id: 'f'.repeat(64) })).rejects.toThrow(/another transaction/);
    expect(await told({ result: 'FAILED', receipt: { result: 'OUT_OF_TIME' } })).toMatchObject({
      state: 'failed',
      reason: 'out_of_time',
    });
  });

  test('an estimate above the ceiling is not sent, whoever gives it', async () => {
    const dear = (method: string, answer: unknown) =>
      method === 'wallet/triggerconstantcontract' ? { ...Object(answer), energy_used: 9_000_000 } : answer;
    await expect(local.open(lying(node, dear)).buildTransfer(specOf())).rejects.toThrow(FeeCeilingReached);
    expect(await local.open(oneLying(node, dear)).buildTransfer(specOf())).toMatchObject({
      feeLimit: expect.any(BigInt),
    });
    const odd = lying(node, (method, answer) => (method === 'wallet/getchainparameters' ? {} : answer));
    await expect(local.open(odd).buildTransfer(specOf())).rejects.toThrow(ChainUnavailable);
  });

  test('a signer that answers with something else is not believed', async () => {
    const other = await chain.buildTransfer(specOf());
    local.signer.next((answer) => ({ ...answer, raw: other.raw, txId: other.txId }));
    await expect(chain.buildTransfer(specOf())).rejects.toThrow(/it does something else/);
    local.signer.next((answer) => ({ ...answer, txId: 'f'.repeat(64) }));
    await expect(chain.buildTransfer(specOf())).rejects.toThrow(/its id is that of other bytes/);
    local.signer.next((answer) => ({ ...answer, raw: `${answer.raw.slice(0, -4)}0000` }));
    await expect(chain.buildTransfer(specOf())).rejects.toThrow(SignerUnavailable);
  });

  test.each<[what: string, change: () => Partial<TransferSpec>]>([
    ['a token that is not taken here', () => approvedGroup('EURT' as 'USDT', [item(freshRecipient())], 'x')],
    ['a token as recipient', () => approvedGroup('USDT', [item(local.token('USDC'))], 'y')],
    ['an address of another network', () => approvedGroup('USDT', [item(`0x${'1'.repeat(40)}`)], 'z')],
    ['nothing', () => approvedGroup('USDT', [item(freshRecipient(), 0n)], 'n')],
    ['what the installation pays from', () => ({ keyRef: 'tank' })],
    ['a sweep to somebody else', () => ({ keyRef: 'deposit:4' })],
    ['items that nobody approved', () => ({ groupId: 'another' })],
  ])('%s is not built', async (_what, change) => {
    await expect(chain.buildTransfer(specOf(change()))).rejects.toThrow(UnbuildableTransfer);
    await expect(chain.buildSweep()).rejects.toThrow(UnbuildableTransfer);
  });

  describe('J2: dead', () => {
    /** Signed, and sent to nobody. */
    const unsent = async () => await chain.buildTransfer(specOf());
    /** So that the newest solid block is so much later than the expiration. */
    async function passExpiration(tx: SignedTx, byMs: number): Promise<void> {
      const { chain: backend } = local.node;
      backend.moveClock((tx.validUntil?.timeMs ?? 0) + byMs - backend.head.time);
      await local.mine(FINAL_BLOCKS);
    }

    test('it is only when a solid block is from after its expiration', async () => {
      const tx = await unsent();
      await passExpiration(tx, -3_001);
      expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
      await passExpiration(tx, 70_000);
      expect(await chain.status(tx)).toMatchObject({ state: 'dead', final: true });
      expect(await chain.broadcast(tx)).toMatchObject({
        result: 'rejected',
        code: 'expired',
        retryable: false,
      });
    });

    test('days later it still is', async () => {
      const tx = await unsent();
      await passExpiration(tx, 3 * DAY_MS);
      expect(await chain.status(tx)).toMatchObject({ state: 'dead' });
    });

    test('the proof for the next one reads no block again, and none that was replaced since', async () => {
      const feed = { keepMs: 60_000 };
      const txs = [await unsent(), await unsent()];
      for (const tx of txs) await passExpiration(tx, 70_000);
      let blocks = 0;
      let isForged = false;
      const watched = lying(node, (method, answer, [fields]) => {
        const { id_or_num: asked, detail } = Object(fields);
        if (method === 'walletsolidity/getblockbylimitnext') blocks += Object(answer).block.length;
        if (method !== 'walletsolidity/getblock' || asked === undefined) return answer;
        if (detail === true) blocks += 1;
        return isForged && detail === false ? { ...Object(answer), blockID: forgedId(answer) } : answer;
      });
      const watching = local.open(watched, { feed });
      const [one, other] = txs;
      if (one === undefined || other === undefined) throw new Error('there are two');
      expect(await watching.status(one)).toMatchObject({ state: 'dead' });
      expect(blocks).toBeGreaterThan(0);
      blocks = 0;
      expect(await watching.status(one)).toMatchObject({ state: 'dead' });
      expect(blocks).toBe(0);
      expect(await watching.status(other)).toMatchObject({ state: 'dead' });
      isForged = true;
      await expect(watching.status(one)).rejects.toThrow(/replaced/);
    });

    /** Another block of the same number that begins as the reference of a transaction does. */
    function forgedId(block: unknown): string {
      const id = String(Object(block).blockID);
      return `${id.slice(0, 32)}${'0'.repeat(32)}`;
    }

    test('a node whose index lacks it, or whose blocks do, calls no paid transaction dead', async () => {
      const paid = await chain.buildTransfer(specOf());
      expect(await mined(paid)).toMatchObject({ state: 'final' });
      await passExpiration(paid, 70_000);
      const { refersTo, blockNumber } = await referenceOf(paid);
      const without = (isLost: (height: number) => boolean) =>
        local.open(
          lying(node, (method, answer, [fields]) => {
            if (method.endsWith('gettransactioninfobyid')) return {};
            const { id_or_num: asked } = Object(fields);
            if (method.endsWith('getblockbylimitnext')) {
              const { block } = Object(answer);
              const numberOf = (one: unknown) => Number(Object(one).block_header.raw_data.number);
              return { block: block.filter((one: unknown) => !isLost(numberOf(one))) };
            }
            return method === 'walletsolidity/getblock' && isLost(Number(asked)) ? {} : answer;
          }),
        );
      // History is switched off, or older than the snapshot that the node began with: the blocks have it.
      expect(await without(() => false).status(paid)).toMatchObject({ state: 'unknown', final: false });
      await expect(without((height) => height <= refersTo).status(paid)).rejects.toThrow(
        /lack the block that it refers to/,
      );
      await expect(without((height) => height === blockNumber).status(paid)).rejects.toThrow(
        /lack the final block/,
      );
    });

    async function referenceOf({ txId }: SignedTx) {
      const { blockNumber } = await local.info(txId);
      return { refersTo: Number(blockNumber) - FINAL_BLOCKS, blockNumber: Number(blockNumber) };
    }
  });

  test.each([
    [{ code: 'SIGERROR' }, { code: 'invalid_signature', retryable: false }],
    [{ code: 'TAPOS_ERROR' }, { code: 'unknown_reference_block', retryable: true }],
    [{ code: 'BANDWITH_ERROR' }, { code: 'out_of_bandwidth', retryable: true }],
    [
      {
        code: 'CONTRACT_VALIDATE_ERROR',
        message: Buffer.from('account balance is not enough').toString('hex'),
      },
      { code: 'insufficient_funds', retryable: true },
    ],
    [
      { code: 'CONTRACT_VALIDATE_ERROR', message: 'ff' },
      { code: 'refused', retryable: true },
    ],
    [{ code: 'SERVER_BUSY' }, { code: 'busy', retryable: true }],
    [{ code: 'toString' }, { code: 'refused', retryable: true }],
    [{}, { code: 'refused', retryable: true }],
  ])('the refusal %j of a node is read', (answer, expected) => {
    expect(classifyRefusal(answer)).toEqual({ result: 'rejected', ...expected });
  });
  test('what a node has already is known', () => {
    expect(classifyRefusal({ code: 'DUP_TRANSACTION_ERROR' })).toEqual({ result: 'known' });
  });
});
