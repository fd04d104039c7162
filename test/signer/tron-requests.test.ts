import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromHex } from '../../packages/signer/src/bytes.ts';
import { SignerRefused } from '../../packages/signer/src/client.ts';
import type { Purpose, SignAnswer } from '../../packages/signer/src/protocol.ts';
import {
  approvedOn,
  paymentOn,
  somebody,
  tron,
  tronRequest,
  tronTransfer,
} from '../../packages/signer/src/test-once.ts';
import { MERCHANTS } from '../../packages/signer/src/test-requests.ts';
import { encodeTronTransaction, type TronContract } from '../../packages/signer/src/tron/transaction.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { OWNER, TRX } from '../nodes/tron-client.ts';
import { ask, balance, call, node, produce, sendOk, usdt, useTron } from '../nodes/tron-stage.ts';
import { startWholeSigner } from './whole-signer.ts';

// Requests of a server, through the signer's socket, journal and policy, onto a node that reads bytes by tronweb.

describe.skipIf(!hasAnvil())('what the signer signs on Tron', () => {
  useTron('once');
  let signer: Awaited<ReturnType<typeof startWholeSigner>>;
  let genesis = '';
  const [TANK, HOT] = [tron.hot(0), tron.hot(1)];
  const next = new Map<string, number>();

  beforeAll(async () => {
    genesis = (await ask('wallet/getblockbynum', { num: 0 })).blockID;
    signer = await startWholeSigner(
      ({ networks }) => Object.assign(networks.trc20, { genesis, tokens: { USDT: usdt } }),
      // Blocks are made by hand, and so is time.
      () => node.chain.head.time,
    );
    node.fund(TANK, 1_000 * TRX);
    await sendOk(await call(OWNER, 'mint(address,uint256)', [HOT, 1_000_000_000]));
    await produce();
  });
  afterAll(() => signer?.stop());

  const validUntil = () => Math.floor(node.chain.head.time / 1000) + 3_600;

  /** The request for that wallet's next attempt, which refers to the newest solid block. */
  async function requestFor(account: number, purpose: Purpose, contract: TronContract, apart = 0) {
    const ordinal = next.get(contract.owner) ?? 0;
    next.set(contract.owner, ordinal + 1);
    const solid = await ask('walletsolidity/getnowblock', {});
    const head = (await ask('wallet/getnowblock', {})).block_header.raw_data.timestamp + apart;
    const idOf = (number: number) => `${contract.owner} ${number}`;
    const request = tronRequest({ account, purpose, genesis, bytes: { contract } });
    const number = (solid.block_header.raw_data.number ?? 0).toString(16).padStart(4, '0').slice(-4);
    const unsigned = encodeTronTransaction({
      refBlockBytes: Buffer.from(number, 'hex'),
      refBlockHash: Buffer.from(solid.blockID.slice(16, 32), 'hex'),
      timestamp: BigInt(head),
      expiration: BigInt(head + 60_000),
      contract,
      feeLimit: contract.kind === 'trigger' ? 50_000_000n : 0n,
    });
    return {
      ...request,
      unsigned: `0x${Buffer.from(unsigned).toString('hex')}`,
      attempt: {
        history: 'first',
        attemptId: idOf(ordinal),
        ordinal: String(ordinal),
        previous: ordinal === 0 ? null : idOf(ordinal - 1),
      },
    };
  }

  async function send({ raw, txId }: SignAnswer) {
    const taken = await ask('wallet/broadcasthex', {
      transaction: Buffer.from(fromHex(raw)).toString('hex'),
    });
    expect(taken).toMatchObject({ result: true, txid: txId });
    await produce();
    return await ask('wallet/gettransactioninfobyid', { value: txId });
  }

  test('TRX comes from account 0, items are paid, a deposit sweeps itself, and the lost answer comes again', async () => {
    for (const index of [undefined, 3]) {
      const to = index === undefined ? HOT : tron.deposit(1, index);
      const purpose: Purpose = { kind: 'gas', account: 1, ...(index !== undefined && { index }) };
      const contract = { kind: 'transfer', owner: TANK, to, amount: 20_000_000n } as const;
      const given = await send(await signer.client().sign(await requestFor(0, purpose, contract)));
      // Both wallets are activated.
      expect(given).toMatchObject({ fee: 1_100_000 });
    }
    const batch = approvedOn('trc20', paymentOn('trc20'), validUntil());
    const paying = (place: number) => {
      const { to = '', amount = '0' } = batch.items[place] ?? {};
      return tronTransfer(HOT, to, BigInt(amount), usdt);
    };
    const asked = await requestFor(1, batch, paying(0));
    const answer = await signer.client().sign(asked);
    await signer.restart();
    const later = await requestFor(1, batch, paying(0), 7);
    expect(later.unsigned).not.toBe(asked.unsigned);
    next.set(HOT, 1);
    expect((await signer.client().sign({ ...later, attempt: asked.attempt })).raw).toBe(answer.raw);
    expect((await send(answer)).receipt.result).toBe('SUCCESS');
    expect(await balance(somebody('trc20', 0))).toBe(1_000_000);
    // The same item once more, before the first transaction has expired.
    const early = await requestFor(1, batch, paying(0), 9);
    const refused = await signer
      .client()
      .sign(early)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SignerRefused);
    expect(refused).toMatchObject({ code: 'limit' });
    next.set(HOT, 1);
    const second = { ...batch, places: [1] };
    expect(
      (await send(await signer.client().sign(await requestFor(1, second, paying(1))))).receipt.result,
    ).toBe('SUCCESS');
    expect(await balance(somebody('trc20', 1))).toBe(2_000_000);

    const deposit = tron.deposit(1, 3);
    await sendOk(await call(OWNER, 'mint(address,uint256)', [deposit, 7]));
    await produce();
    const before = await balance(HOT);
    const sweep: Purpose = {
      kind: 'sweep',
      merchant: MERCHANTS[0],
      account: 1,
      deposits: [{ index: 3, asset: 'USDT', amount: '7' }],
      delegates: [],
    };
    const swept = await requestFor(1, sweep, tronTransfer(deposit, HOT, 7n, usdt));
    expect((await send(await signer.client().sign(swept))).receipt.result).toBe('SUCCESS');
    expect([await balance(deposit), await balance(HOT)]).toEqual([0, before + 7]);
  });

  test('a policy for another network signs nothing', async () => {
    const batch = approvedOn('trc20', paymentOn('trc20'), validUntil());
    const asked = await requestFor(1, batch, tronTransfer(HOT, somebody('trc20', 0), 1_000_000n, usdt));
    await expect(signer.client().sign({ ...asked, genesis: 'f'.repeat(64) })).rejects.toThrow(
      'it is for the network that begins with ffff',
    );
  });
});
