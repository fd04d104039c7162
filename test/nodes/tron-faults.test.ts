import { describe, expect, test } from 'vitest';
import { hasAnvil } from '../contracts/local-node.ts';
import { bytesOf, hex, keyOf, OWNER, PAYER, type Signed, said, TRX } from './tron-client.ts';
import { ask, balance, call, native, node, pay, produce, send, sendOk, usdt, useTron } from './tron-stage.ts';

const TO = keyOf('recipient').address;

describe.skipIf(!hasAnvil())('what a node of Tron refuses', () => {
  useTron('once');

  const expectRefusal = async (signed: Signed, code: string, message: RegExp) => {
    const answer = await send(signed);
    expect([answer.code, answer.result]).toEqual([code, undefined]);
    expect(said(answer)).toMatch(message);
    const byBytes = await ask('wallet/broadcasthex', { transaction: bytesOf(signed) });
    expect(byBytes).toMatchObject({ result: false, code });
  };

  test('a signature of somebody else, one that is none, and bytes that were changed', async () => {
    const signed = await pay(TO, 1);
    const stranger = await call(OWNER, 'transfer(address,uint256)', [TO, 1]);
    await expectRefusal(
      { ...signed, signature: stranger.signature },
      'SIGERROR',
      /^Validate signature error/,
    );
    await expectRefusal({ ...signed, signature: ['00'.repeat(65)] }, 'SIGERROR', /^Validate signature error/);
    const other = await pay(TO, 2);
    await expectRefusal({ ...other, signature: signed.signature }, 'SIGERROR', /^Validate signature error/);
    // The node reads raw_data alone, as java-tron does: what else the JSON says is nothing to it.
    expect((await send({ ...signed, raw_data_hex: other.raw_data_hex, txID: other.txID })).txid).toBe(
      signed.txID,
    );
  });

  test('a reference to no block of this chain', async () => {
    const reference = { bytes: '0001', hash: 'ab'.repeat(8) };
    await expectRefusal(await pay(TO, 1, { reference }), 'TAPOS_ERROR', /^Tapos check error\.$/);
    const future = { bytes: 'fff0', hash: node.chain.head.id.slice(16, 32) };
    await expectRefusal(await pay(TO, 1, { reference: future }), 'TAPOS_ERROR', /^Tapos/);
  });

  test('a validity that has ended, or of more than a day', async () => {
    await expectRefusal(
      await pay(TO, 1, { validMs: 0 }),
      'TRANSACTION_EXPIRATION_ERROR',
      /^Transaction expired$/,
    );
    await expectRefusal(
      await pay(TO, 1, { validMs: 86_400_001 }),
      'TRANSACTION_EXPIRATION_ERROR',
      /^Transaction expired$/,
    );
  });

  test('an account that nobody has activated, and one that cannot pay for its bandwidth', async () => {
    const nobody = keyOf('nobody');
    await expectRefusal(
      await call(nobody, 'transfer(address,uint256)', [TO, 1]),
      'CONTRACT_VALIDATE_ERROR',
      /does not exist$/,
    );
    const poor = keyOf('penniless');
    node.fund(poor.address, 1);
    await sendOk(await call(poor, 'transfer(address,uint256)', [TO, 0]));
    await produce();
    await expectRefusal(
      await call(poor, 'transfer(address,uint256)', [TO, 0]),
      'BANDWITH_ERROR',
      /^Account resource insufficient error\.$/,
    );
  });

  test('fee limits beyond the most, contracts that are none, TRX that is not there', async () => {
    await expectRefusal(
      await pay(TO, 1, { feeLimit: 15_000_000_001 }),
      'CONTRACT_VALIDATE_ERROR',
      /feeLimit must be >= 0 and <= 15000000000$/,
    );
    await expectRefusal(
      await call(PAYER, 'transfer(address,uint256)', [TO, 1], { contract: TO }),
      'CONTRACT_VALIDATE_ERROR',
      /not a smart contract$/,
    );
    const give = (fields: object) =>
      native(PAYER, 'TransferContract', { to_address: hex(TO), amount: 1, ...fields });
    await expectRefusal(
      await give({ amount: 1e12 }),
      'CONTRACT_VALIDATE_ERROR',
      /balance is not sufficient\.$/,
    );
    await expectRefusal(
      await give({ to_address: hex(PAYER.address) }),
      'CONTRACT_VALIDATE_ERROR',
      /to yourself\.$/,
    );
    await expectRefusal(
      await give({ to_address: hex(usdt) }),
      'CONTRACT_VALIDATE_ERROR',
      /to a smartContract\.$/,
    );
  });

  test('stake and delegations that are not there', async () => {
    const lend = (fields: object) =>
      native(PAYER, 'DelegateResourceContract', {
        receiver_address: hex(OWNER.address),
        balance: TRX,
        resource: 'ENERGY',
        ...fields,
      });
    await expectRefusal(
      await lend({}),
      'CONTRACT_VALIDATE_ERROR',
      /less than or equal to available FreezeEnergyV2 balance$/,
    );
    await sendOk(
      await native(PAYER, 'FreezeBalanceV2Contract', { frozen_balance: 10 * TRX, resource: 'ENERGY' }),
    );
    await produce();
    await expectRefusal(
      await lend({ balance: 1 }),
      'CONTRACT_VALIDATE_ERROR',
      /greater than or equal to 1 TRX$/,
    );
    await expectRefusal(
      await lend({ receiver_address: hex(PAYER.address) }),
      'CONTRACT_VALIDATE_ERROR',
      /must not be the same/,
    );
    await expectRefusal(
      await lend({ receiver_address: hex(usdt) }),
      'CONTRACT_VALIDATE_ERROR',
      /contract addresses$/,
    );
    await expectRefusal(
      await lend({ receiver_address: hex(keyOf('nobody else').address) }),
      'CONTRACT_VALIDATE_ERROR',
      /not exists$/,
    );
    const back = { receiver_address: hex(OWNER.address), balance: TRX, resource: 'ENERGY' };
    await expectRefusal(
      await native(PAYER, 'UnDelegateResourceContract', back),
      'CONTRACT_VALIDATE_ERROR',
      /insufficient delegatedFrozenBalance\(Energy\)/,
    );
    await expectRefusal(
      await native(PAYER, 'FreezeBalanceV2Contract', { frozen_balance: 1 }),
      'CONTRACT_VALIDATE_ERROR',
      /1 TRX$/,
    );
    await expectRefusal(
      await native(PAYER, 'FreezeBalanceV2Contract', { frozen_balance: 1e13 }),
      'CONTRACT_VALIDATE_ERROR',
      /accountBalance$/,
    );
  });

  test('bytes with unknown fields, a second contract, or no transaction at all', async () => {
    const signed = await pay(TO, 1);
    const bytes = bytesOf(signed);
    const ask1 = (transaction: string) => ask('wallet/broadcasthex', { transaction });
    for (const broken of [`${bytes}7801`, 'zz', '', 'ff00', bytes.slice(2)])
      expect(await ask1(broken)).toMatchObject({ result: false, code: 'CONTRACT_VALIDATE_ERROR' });
    // The contract is field 11 of the raw data: once more is a second one.
    const contract = /5a[0-9a-f]{2,4}08/.exec(signed.raw_data_hex);
    expect(contract).not.toBeNull();
    const at = contract?.index ?? 0;
    const [low = 0, high = 0] = Buffer.from(signed.raw_data_hex.slice(at + 2, at + 6), 'hex');
    const long = low >= 128;
    const length = long ? (low & 127) + high * 128 : low;
    const one = signed.raw_data_hex.slice(at, at + 2 + (long ? 4 : 2) + 2 * length);
    const twice = signed.raw_data_hex.slice(0, at) + one + signed.raw_data_hex.slice(at);
    const answer = await ask1(bytesOf({ ...signed, raw_data_hex: twice }));
    expect(answer).toMatchObject({
      code: 'CONTRACT_VALIDATE_ERROR',
      message: expect.stringContaining('exactly 1'),
    });
  });

  test('requests that are none', async () => {
    expect((await fetch(`${node.url}/wallet/nothing`, { method: 'POST' })).status).toBe(404);
    const broken = await fetch(`${node.url}/wallet/getaccount`, { method: 'POST', body: '{' });
    expect(await broken.json()).toMatchObject({ Error: expect.stringContaining('JSONException') });
    expect(await ask('wallet/getaccount', { address: 'T123' })).toMatchObject({
      Error: expect.stringContaining('INVALID address'),
    });
    expect((await fetch(`${node.url}/walletsolidity/broadcasthex`, { method: 'POST' })).status).toBe(404);
  });
});

describe.skipIf(!hasAnvil())('what goes wrong with a node of Tron', () => {
  useTron('each');

  test('a fork takes tokens, TRX and infos back, and the same bytes go in again', async () => {
    await produce(20);
    const signed = await pay(TO, 7);
    await sendOk(signed);
    await sendOk(
      await native(PAYER, 'TransferContract', { to_address: hex(keyOf('new').address), amount: TRX }),
    );
    await produce(2);
    const { id, number } = node.chain.head;
    expect(await balance(TO)).toBe(7);
    expect((await node.chain.fork(2)).map((tx) => tx.id)).toContain(signed.txID);
    expect(await balance(TO)).toBe(0);
    expect(await ask('wallet/gettransactioninfobyid', { value: signed.txID })).toEqual({});
    expect(await ask('wallet/getaccount', { address: keyOf('new').address, visible: true })).toEqual({});
    await sendOk(signed);
    await produce(2);
    expect(node.chain.head.number).toBe(number);
    expect(node.chain.head.id).not.toBe(id);
    expect(await balance(TO)).toBe(7);
    // A transaction that refers to a block of the fork that was left.
    const reference = { bytes: number.toString(16).padStart(4, '0'), hash: id.slice(16, 32) };
    expect((await send(await pay(TO, 8, { reference }))).code).toBe('TAPOS_ERROR');
  });

  test('what expires in the pool is in no block', async () => {
    node.chain.holding = true;
    const id = await sendOk(await pay(TO, 5, { validMs: 9_000 }));
    await produce(3);
    node.chain.holding = false;
    await produce();
    expect(await ask('wallet/gettransactionbyid', { value: id })).toEqual({});
    expect(await balance(TO)).toBe(0);
  });

  test('endpoints that lag, that have no solid view, or whose solid view is late', async () => {
    const late = await node.open();
    await produce(30);
    const { number } = node.chain.head;
    const numberOf = async (part: string) =>
      (await ask(`${part}/getnowblock`, {}, late.url)).block_header.raw_data.number;
    late.view.lag = 4;
    expect([await numberOf('wallet'), await numberOf('walletsolidity')]).toEqual([number - 4, number - 23]);
    late.view.solidLag = 5;
    expect([await numberOf('wallet'), await numberOf('walletsolidity')]).toEqual([number - 4, number - 28]);
    late.view.solid = false;
    expect((await fetch(`${late.url}/walletsolidity/getnowblock`, { method: 'POST' })).status).toBe(404);
    expect((await ask('walletsolidity/getnowblock')).block_header.raw_data.number).toBe(number - 19);
  });

  test('transactions that are lost, a busy node, and faults of the connection', async () => {
    node.endpoint.view.dropTransactions = 1;
    await sendOk(await pay(TO, 1));
    await produce();
    expect(await balance(TO)).toBe(0);
    node.chain.busy = true;
    expect((await send(await pay(TO, 2))).code).toBe('SERVER_BUSY');
    node.chain.busy = false;
    const { faults } = node.endpoint;
    faults.plan({ how: 'limit' });
    const limited = await fetch(`${node.url}/wallet/getnowblock`, { method: 'POST' });
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1']);
    const signed = await pay(TO, 3);
    faults.plan({ how: 'lose', method: 'wallet/broadcasttransaction' });
    await expect(send(signed)).rejects.toThrow('fetch failed');
    await produce();
    expect(await balance(TO)).toBe(3);
    expect((await send(signed)).code).toBe('DUP_TRANSACTION_ERROR');
  });

  test('times jump when a test moves the clock, and contracts see them', async () => {
    const before = node.chain.head.time;
    node.chain.moveClock(3_600_000);
    await produce();
    expect(node.chain.head.time).toBe(before + 3_603_000);
    await balance(PAYER.address);
    expect(await node.chain.evm.time()).toBe(node.chain.head.time / 1_000);
  });
});
