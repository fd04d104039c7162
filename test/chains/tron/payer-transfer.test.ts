import { TronWeb } from 'tronweb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  approvalTransaction,
  dueTransaction,
} from '../../../packages/pages/src/checkout/wallet/tron-transaction.ts';
import {
  constantCall,
  readConstantResult,
  transferCall,
} from '../../../packages/server/src/chains/tron/contract-call.ts';
import type { TronEndpoints } from '../../../packages/server/src/chains/tron/endpoints.ts';
import { PriceList } from '../../../packages/server/src/chains/tron/fees.ts';
import { buildPayerApproval } from '../../../packages/server/src/chains/tron/payer-approval.ts';
import { buildPayerTransfer } from '../../../packages/server/src/chains/tron/payer-transfer.ts';
import { readTrx } from '../../../packages/server/src/chains/tron/resources.ts';
import { isSignedText } from '../../../packages/server/src/chains/tron/signed-text.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { keyOf, TRX } from '../../nodes/tron-client.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';
import { KEYS } from './key-signer.ts';
import { oneLying } from './lying-node.ts';

const UNITS = 25_000_000n;

describe.skipIf(!hasAnvil())('what a payer’s wallet signs on Tron', () => {
  let local: TronEnvironment;
  let node: TronEndpoints;
  beforeAll(async () => {
    local = await TronEnvironment.start();
    node = local.endpoints();
  });
  afterAll(async () => {
    await node?.close();
    await local?.node.stop();
  });

  /** A wallet with coins, and what it would pay to a deposit address of its own. */
  async function payer(name: string, { trx = 100 * TRX, index = 0 } = {}) {
    const { secret, address: from } = keyOf(name);
    const to = KEYS.deposit(1, index).address;
    const web = new TronWeb({ fullHost: local.node.url, privateKey: secret });
    local.node.fund(from, trx);
    await local.give('USDT', from, 2n * UNITS);
    const build = (change: object = {}) =>
      buildPayerTransfer(
        { network: local.network, node, feed: local.feed(node), prices: new PriceList(node) },
        { from, to, asset: 'USDT', units: UNITS, ...change },
      );
    const built = async () => {
      const found = await build();
      if (found === undefined || !('transaction' in found)) throw new Error('the wallet can pay');
      return JSON.parse(found.transaction);
    };
    return { from, to, web, build, built, due: { from, to, token: local.token('USDT'), units: UNITS } };
  }

  test('a wallet that lacks coins or TRX is told so, and what is no wallet gets nothing', async () => {
    const { build, from } = await payer('a poor payer', { trx: 1 });
    expect(await build({ units: 2n * UNITS + 1n })).toEqual({ short: 'token', held: 2n * UNITS });
    expect(await build()).toEqual({ short: 'fee', coin: 'TRX' });
    local.node.fund(from, 100 * TRX);
    expect(await build()).toMatchObject({ transaction: expect.any(String) });
    for (const none of ['', 'x', `0x${'1'.repeat(40)}`, 'T'.repeat(34)])
      expect(await build({ from: none }), none).toBeUndefined();
  });

  test('a wallet that the token refuses is told so, and one that has too little TRX for the bytes of its transaction', async () => {
    const { build, from, to, web, built } = await payer('a payer who is refused', { index: 3 });
    await local.owner(local.token('USDT'), 'addBlackList(address)', [from]);
    await local.mine(FINAL_BLOCKS);
    expect(await build()).toEqual({ refused: 'token' });
    await local.owner(local.token('USDT'), 'removeBlackList(address)', [from]);
    // The bytes of a day are used up by the first one.
    await web.trx.sendRawTransaction(await web.trx.sign(await built()));
    await local.mine(FINAL_BLOCKS);
    const fields = constantCall(from, local.token('USDT'), transferCall(to, UNITS));
    const tried = readConstantResult(await node.call('wallet/triggerconstantcontract', [fields]));
    const held = await readTrx(node, from);
    local.node.fund(from, Number(tried.energy * 100n + 409_999n - held));
    expect(await build()).toEqual({ short: 'fee', coin: 'TRX' });
    local.node.fund(from, 1);
    expect(await build()).toMatchObject({ transaction: expect.any(String) });
  });

  test('what a payer’s transaction uses is not the word of one endpoint', async () => {
    const { from, to, built } = await payer('a payer of two endpoints', { index: 4 });
    const { fee_limit: limit } = (await built()).raw_data;
    const context = { network: local.network, feed: local.feed(node), prices: new PriceList(node) };
    for (const energy_used of [1, 60_000_000]) {
      const one = oneLying(node, (method, answer) =>
        method === 'wallet/triggerconstantcontract' ? { ...Object(answer), energy_used } : answer,
      );
      const found = await buildPayerTransfer(
        { ...context, node: one },
        { from, to, asset: 'USDT', units: UNITS },
      );
      if (found === undefined || !('transaction' in found)) throw new Error('the wallet can pay');
      expect(JSON.parse(found.transaction).raw_data.fee_limit).toBe(limit);
    }
  });

  test('wallets’ own library signs what the page takes, and the network takes that', async () => {
    const { web, built, due, to } = await payer('a payer with a wallet', { index: 1 });
    const transaction = await built();
    const rebuilt = await dueTransaction(transaction, due);
    expect(rebuilt).toEqual(transaction);
    const signed = await web.trx.sign(transaction);
    expect(await web.trx.sendRawTransaction(signed)).toMatchObject({ result: true });
    await local.mine(1);
    expect(await local.open(node).balance(to, 'USDT', 'tip')).toBe(UNITS);
  });

  test('the page takes no other transaction: neither in its JSON nor in one digit of its bytes', async () => {
    const { built, due } = await payer('a payer who is watched', { index: 2 });
    const transaction = await built();
    const { raw_data: raw, raw_data_hex: hex } = transaction;
    for (const at of Array.from(String(hex)).keys()) {
      const other = `${hex.slice(0, at)}${hex[at] === '0' ? '1' : '0'}${hex.slice(at + 1)}`;
      expect(
        await dueTransaction({ ...transaction, raw_data_hex: other }, due),
        `digit ${at}`,
      ).toBeUndefined();
    }
    const [contract] = raw.contract;
    const { value } = contract.parameter;
    const withValue = (change: object) => ({
      contract: [{ ...contract, parameter: { ...contract.parameter, value: { ...value, ...change } } }],
    });
    for (const change of [
      withValue({ owner_address: value.contract_address }),
      withValue({ contract_address: value.owner_address }),
      withValue({ data: value.data.replace(/.$/, '1') }),
      withValue({ call_value: 5 }),
      { contract: [contract, contract] },
      { contract: [{ ...contract, type: 'TransferContract' }] },
      { contract: [{ ...contract, Permission_id: 2 }] },
      { data: '00' },
      { fee_limit: 100_000_001 },
      { fee_limit: undefined },
      { expiration: raw.timestamp + 3_600_001 },
    ])
      expect(
        await dueTransaction({ ...transaction, raw_data: { ...raw, ...change } }, due),
        JSON.stringify(change),
      ).toBeUndefined();
    // Nothing else of what the server says reaches the wallet.
    for (const change of [
      { __payload__: { call_value: 5 } },
      { txID: 'ab'.repeat(32) },
      { signature: ['00'] },
      { visible: true },
    ])
      expect(await dueTransaction({ ...transaction, ...change }, due)).toEqual(transaction);
    for (const other of [{ units: UNITS + 1n }, { to: due.from }, { from: due.to }, { token: due.to }])
      expect(await dueTransaction(transaction, { ...due, ...other })).toBeUndefined();
    for (const none of [undefined, null, 1, '', [], {}, { raw_data: null }])
      expect(await dueTransaction(none, due)).toBeUndefined();
  });

  test('an approval is built while it is missing, by way of 0 where the token wants that, and the page takes that one alone', async () => {
    const { from, web } = await payer('a payer who approves', { trx: 1, index: 3 });
    const context = { network: local.network, node, feed: local.feed(node), prices: new PriceList(node) };
    const build = (change: object = {}) =>
      buildPayerApproval(context, { from, asset: 'USDT', units: UNITS, added: UNITS, ...change });
    expect(await build()).toEqual({ short: 'fee', coin: 'TRX' });
    for (const none of ['', 'x', 'T'.repeat(34)]) expect(await build({ from: none }), none).toBeUndefined();
    expect(
      await buildPayerApproval(
        { ...context, network: { ...local.network, collector: null } },
        { from, asset: 'USDT', units: UNITS, added: UNITS },
      ),
    ).toBeUndefined();
    local.node.fund(from, 100 * TRX);
    const approved = async (wanted: bigint) => {
      const built = await build({ units: wanted });
      if (built === undefined || !('transaction' in built)) throw new Error('the wallet can approve');
      const due = { from, to: local.network.collector ?? '', token: local.token('USDT'), units: built.units };
      const transaction = JSON.parse(built.transaction);
      expect(await approvalTransaction(transaction, due)).toEqual(transaction);
      expect(await dueTransaction(transaction, due)).toBeUndefined();
      for (const other of [{ units: built.units + 1n }, { to: from }, { from: due.to }, { token: due.to }])
        expect(await approvalTransaction(transaction, { ...due, ...other })).toBeUndefined();
      await web.trx.sendRawTransaction(await web.trx.sign(transaction));
      await local.mine(1);
      return built.units;
    };
    expect(await approved(UNITS)).toBe(UNITS);
    expect(await build()).toEqual({ isApproved: true });
    expect(await approved(UNITS + 1n)).toBe(0n);
    expect(await approved(UNITS + 1n)).toBe(UNITS + 1n);
  });

  test('a text is signed by the key of its address, every byte of it', async () => {
    const { secret, address } = keyOf('a payer who signs');
    const text = 'pay.example wants you to sign in with your Tron account: ü';
    const signature = new TronWeb({ fullHost: local.node.url, privateKey: secret }).trx.signMessageV2(text);
    const right = { address, text, signature: String(signature) };
    expect(isSignedText(right)).toBe(true);
    for (const wrong of [
      { text: `${text} ` },
      { address: keyOf('another').address },
      { signature: `${right.signature.slice(0, -2)}${right.signature.endsWith('1b') ? '1c' : '1b'}` },
      { signature: `0x${'0'.repeat(128)}1b` },
      { signature: '0x' },
    ])
      expect(isSignedText({ ...right, ...wrong }), JSON.stringify(wrong)).toBe(false);
  });
});
