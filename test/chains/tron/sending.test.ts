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
import { classifyRefusal } from '../../../packages/server/src/chains/tron/send.ts';
import type { TronChain } from '../../../packages/server/src/chains/tron/tron-chain.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { approvedGroup } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';
import { lying } from './lying-node.ts';

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

  test('too little energy fails, burns the limit and moves nothing; the reason says so', async () => {
    const stingy = lying(node, (method, answer) =>
      method === 'wallet/triggerconstantcontract' ? { ...Object(answer), energy_used: 1_000 } : answer,
    );
    const to = freshRecipient();
    const tx = await local.open(stingy).buildTransfer(specOf({}, to));
    expect(await mined(tx)).toMatchObject({
      state: 'failed',
      final: true,
      itemOk: [false],
      reason: 'out_of_energy',
    });
    expect(await chain.balance(to, 'USDT', 'final')).toBe(0n);
  });

  test('an estimate above the ceiling is not sent, whoever gives it', async () => {
    const dear = lying(node, (method, answer) =>
      method === 'wallet/triggerconstantcontract' ? { ...Object(answer), energy_used: 9_000_000 } : answer,
    );
    await expect(local.open(dear).buildTransfer(specOf())).rejects.toThrow(FeeCeilingReached);
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

    test('it is only when its expiration is past by a minute in solid blocks', async () => {
      const tx = await unsent();
      await passExpiration(tx, 0);
      expect(await chain.status(tx)).toEqual({ state: 'unknown', final: false });
      expect(await chain.broadcast(tx)).toMatchObject({
        result: 'rejected',
        code: 'expired',
        retryable: false,
      });
      await passExpiration(tx, 70_000);
      expect(await chain.status(tx)).toMatchObject({ state: 'dead', final: true });
    });

    test('days later it still is', async () => {
      const tx = await unsent();
      await passExpiration(tx, 3 * DAY_MS);
      expect(await chain.status(tx)).toMatchObject({ state: 'dead' });
    });

    test('a node that has lost old blocks, or never had them, proves nothing', async () => {
      const paid = await chain.buildTransfer(specOf());
      expect(await mined(paid)).toMatchObject({ state: 'final' });
      await passExpiration(paid, 70_000);
      const { refersTo } = await referenceOf(paid);
      const pruned = lying(node, (method, answer, [fields]) => {
        if (method === 'walletsolidity/gettransactioninfobyid') return {};
        const { id_or_num: asked } = Object(fields);
        return method === 'walletsolidity/getblock' && Number(asked) <= refersTo ? {} : answer;
      });
      await expect(local.open(pruned).status(paid)).rejects.toThrow(/lack the block that it refers to/);
      // With the block, the same lie is believed of the operator's own node, which is why two providers have to agree otherwise.
      const short = lying(node, (method, answer, [fields]) => {
        if (method === 'walletsolidity/gettransactioninfobyid') return {};
        const { id_or_num: asked } = Object(fields);
        return method === 'walletsolidity/getblock' && Number(asked) > refersTo + 1 ? {} : answer;
      });
      await expect(local.open(short).status(paid)).rejects.toThrow(/lack the newest solid block/);
    });

    async function referenceOf({ txId }: SignedTx) {
      const { blockNumber } = await local.info(txId);
      return { refersTo: Number(blockNumber) - FINAL_BLOCKS };
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
