import { TronWeb } from 'tronweb';
import { describe, expect, test } from 'vitest';
import { hasAnvil } from '../contracts/local-node.ts';
import { bytesOf, hex, keyOf, OWNER, PAYER, TRX } from './tron-client.ts';
import { ask, balance, call, native, node, pay, produce, send, sendOk, usdt, useTron } from './tron-stage.ts';

const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
let count = 0;

function somebody() {
  count += 1;
  return keyOf(`somebody ${count}`).address;
}

async function info(id: string, part = 'wallet') {
  return await ask(`${part}/gettransactioninfobyid`, { value: id });
}

async function trx(address: string): Promise<number> {
  return (await ask('wallet/getaccount', { address, visible: true })).balance ?? 0;
}

describe.skipIf(!hasAnvil())('a Tron of our own', () => {
  useTron('once');

  test('a transfer succeeds although it returns false, and is solid 19 blocks later', async () => {
    const to = somebody();
    const id = await sendOk(await pay(to, 2_500_000));
    expect(await info(id)).toEqual({});
    expect((await ask('wallet/gettransactionbyid', { value: id })).ret).toBeUndefined();
    await produce();
    const { number } = node.chain.head;
    const found = await info(id);
    expect(found).toMatchObject({
      id,
      blockNumber: number,
      blockTimeStamp: node.chain.head.time,
      contract_address: hex(usdt),
      // False.
      contractResult: ['0'.repeat(64)],
      receipt: { result: 'SUCCESS' },
    });
    expect(found.log).toEqual([
      {
        address: hex(usdt).slice(2),
        topics: [TRANSFER, hex(PAYER.address).slice(2).padStart(64, '0'), hex(to).slice(2).padStart(64, '0')],
        data: (2_500_000).toString(16).padStart(64, '0'),
      },
    ]);
    expect(await ask('wallet/gettransactioninfobyblocknum', { num: number })).toEqual([found]);
    expect((await ask('wallet/gettransactionbyid', { value: id })).ret).toEqual([{ contractRet: 'SUCCESS' }]);
    expect([
      await info(id, 'walletsolidity'),
      await balance(to),
      await balance(to, 'walletsolidity'),
    ]).toEqual([{}, 2_500_000, 0]);
    await produce(18);
    expect(await info(id, 'walletsolidity')).toEqual({});
    await produce();
    expect(await info(id, 'walletsolidity')).toEqual(found);
    expect(await balance(to, 'walletsolidity')).toBe(2_500_000);
    expect(await ask('walletsolidity/gettransactioninfobyblocknum', { num: number })).toEqual([found]);
  });

  test("tronweb's own calls work: block, balance, call, broadcast, unconfirmed and confirmed info", async () => {
    const tronWeb = new TronWeb({ fullHost: node.url, privateKey: PAYER.secret });
    const block = await tronWeb.trx.getCurrentBlock();
    expect(block.blockID).toBe(node.chain.head.id);
    expect((await tronWeb.trx.getBlockByNumber(1)).blockID).toBe(node.chain.blockAt(1).id);
    expect(await tronWeb.trx.getUnconfirmedBalance(PAYER.address)).toBe(await trx(PAYER.address));
    const to = somebody();
    const parameters = [
      { type: 'address', value: to },
      { type: 'uint256', value: '5' },
    ];
    const simulated = await tronWeb.transactionBuilder.triggerConstantContract(
      usdt,
      'transfer(address,uint256)',
      {},
      parameters,
      PAYER.address,
    );
    expect(simulated.result.result).toBe(true);
    const [sent] = [await tronWeb.trx.sendRawTransaction(Object(await pay(to, 5)))];
    expect(sent.result).toBe(true);
    await produce();
    const found = await tronWeb.trx.getUnconfirmedTransactionInfo(sent.txid);
    expect(found.receipt.energy_usage_total).toBeLessThanOrEqual(simulated.energy_used ?? 0);
    const estimated = await tronWeb.transactionBuilder.estimateEnergy(
      usdt,
      'transfer(address,uint256)',
      {},
      parameters,
      PAYER.address,
    );
    expect(estimated.energy_required).toBeGreaterThan(10_000);
    const before = (await trx(to)) / TRX;
    expect((await tronWeb.trx.sendTransaction(to, 3 * TRX)).result).toBe(true);
    await produce();
    expect((await trx(to)) / TRX - before).toBe(3);
  });

  test('the bytes of one message are taken as well, and answered in words', async () => {
    const to = somebody();
    const signed = await pay(to, 11);
    const taken = await ask('wallet/broadcasthex', { transaction: bytesOf(signed) });
    expect(taken).toMatchObject({ result: true, code: 'SUCCESS', message: '', txid: signed.txID });
    expect(await ask('wallet/broadcasthex', { transaction: bytesOf(signed) })).toMatchObject({
      result: false,
      code: 'DUP_TRANSACTION_ERROR',
      message: 'Dup transaction.',
      txid: signed.txID,
    });
    expect((await ask('wallet/gettransactionfrompending', { value: signed.txID })).txID).toBe(signed.txID);
    expect(await ask('wallet/getpendingsize')).toEqual({ pendingTransactionSize: 1 });
    await produce();
    expect(await balance(to)).toBe(11);
    expect(await ask('wallet/getpendingsize')).toEqual({ pendingTransactionSize: 0 });
  });

  test('two equal items are one transaction, and two that differ by a millisecond are two', async () => {
    const to = somebody();
    const [one, same, other] = [await pay(to, 3), await pay(to, 3), await pay(to, 3, { apart: 1 })];
    expect([same.txID === one.txID, other.txID === one.txID]).toEqual([true, false]);
    await sendOk(one);
    expect((await send(same)).code).toBe('DUP_TRANSACTION_ERROR');
    await sendOk(other);
    await produce();
    expect(await balance(to)).toBe(6);
  });

  test('TRX activates an account for 1.1 TRX more, and a memo costs 1 TRX', async () => {
    const to = somebody();
    expect(await ask('wallet/getaccount', { address: to, visible: true })).toEqual({});
    const before = await trx(OWNER.address);
    const id = await sendOk(
      await native(OWNER, 'TransferContract', { to_address: hex(to), amount: 5 * TRX }),
    );
    await produce();
    expect(await info(id)).toMatchObject({
      fee: 1_100_000,
      receipt: { net_fee: 100_000 },
      contractResult: [''],
    });
    expect([await trx(to), before - (await trx(OWNER.address))]).toEqual([5 * TRX, 6_100_000]);
    const again = await native(
      OWNER,
      'TransferContract',
      { to_address: hex(to), amount: TRX },
      { memo: 'order 12' },
    );
    const second = await sendOk(again);
    await produce();
    const found = await info(second);
    expect(found.fee).toBe(1_000_000 + (found.receipt.net_fee ?? 0));
    expect(await trx(to)).toBe(6 * TRX);
    const seen = await ask('wallet/gettransactionbyid', { value: second });
    expect(Buffer.from(seen.raw_data.data, 'hex').toString()).toBe('order 12');
  });

  test('bandwidth is free for 600 bytes a day and costs 1,000 sun a byte then', async () => {
    const poor = keyOf('poor');
    node.fund(poor.address, 100 * TRX);
    await sendOk(await call(OWNER, 'mint(address,uint256)', [poor.address, 100]));
    await produce();
    const move = async (amount: number) => {
      const id = await sendOk(await call(poor, 'transfer(address,uint256)', [PAYER.address, amount]));
      await produce();
      return await info(id);
    };
    const first = await move(1);
    expect(first.receipt.net_usage).toBeGreaterThan(250);
    expect(first.receipt.net_fee).toBeUndefined();
    const second = await move(2);
    expect(second.receipt).toMatchObject({ net_fee: first.receipt.net_usage * 1_000 });
    expect(second.fee).toBe(second.receipt.net_fee + second.receipt.energy_fee);
    const { freeNetUsed, freeNetLimit } = await ask('wallet/getaccountresource', {
      address: poor.address,
      visible: true,
    });
    // Within 3 s a byte may have come back.
    expect(first.receipt.net_usage - freeNetUsed).toBeLessThanOrEqual(1);
    expect(freeNetLimit).toBe(600);
    node.chain.moveClock(86_400_000);
    await produce();
    expect((await move(3)).receipt.net_fee).toBeUndefined();
  });

  test('energy is burnt at 100 sun, a new holder costs more, and a fee limit that is too low burns itself', async () => {
    const to = somebody();
    const first = await sendOk(await pay(to, 1));
    await produce();
    const again = await sendOk(await pay(to, 2));
    await produce();
    const [fresh, held] = [(await info(first)).receipt, (await info(again)).receipt];
    expect(fresh.energy_fee).toBe(fresh.energy_usage_total * 100);
    expect(fresh.energy_usage_total).toBeGreaterThan(held.energy_usage_total + 20_000);
    const short = await sendOk(await pay(to, 4, { feeLimit: 1_000_000 }));
    await produce();
    expect(await info(short)).toMatchObject({
      result: 'FAILED',
      resMessage: Buffer.from('Not enough energy').toString('hex'),
      receipt: { result: 'OUT_OF_ENERGY', energy_usage_total: 10_000, energy_fee: 1_000_000 },
    });
    const broke = await sendOk(await pay(to, 9_999_999_999));
    await produce();
    const failed = await info(broke);
    expect(failed).toMatchObject({ result: 'FAILED', receipt: { result: 'REVERT' } });
    expect(failed.log).toBeUndefined();
    expect(await balance(to)).toBe(3);
  });

  test('delegated energy is used first, counts against the fee limit, and comes back', async () => {
    const [rich, worker] = [keyOf('resource wallet'), keyOf('worker')];
    for (const { address } of [rich, worker]) node.fund(address, 50_000 * TRX);
    await sendOk(await call(OWNER, 'mint(address,uint256)', [worker.address, 100]));
    await sendOk(
      await native(rich, 'FreezeBalanceV2Contract', { frozen_balance: 20_000 * TRX, resource: 'ENERGY' }),
    );
    await produce();
    const most = await ask('wallet/getcandelegatedmaxsize', { owner_address: hex(rich.address), type: 1 });
    expect(most).toEqual({ max_size: 20_000 * TRX });
    const lend = { receiver_address: hex(worker.address), balance: 15_000 * TRX, resource: 'ENERGY' };
    await sendOk(await native(rich, 'DelegateResourceContract', lend));
    await produce();
    const resources = await ask('wallet/getaccountresource', { address: hex(worker.address) });
    expect(resources.EnergyLimit).toBe(Math.floor((15_000 * 180_000_000_000) / 19_000_000_000));
    expect(
      await ask('wallet/getdelegatedresourcev2', {
        fromAddress: hex(rich.address),
        toAddress: hex(worker.address),
      }),
    ).toEqual({
      delegatedResource: [
        { from: hex(rich.address), to: hex(worker.address), frozen_balance_for_energy: 15_000 * TRX },
      ],
    });
    const id = await sendOk(await call(worker, 'transfer(address,uint256)', [PAYER.address, 1]));
    await produce();
    const { receipt } = await info(id);
    expect(receipt.energy_usage).toBe(receipt.energy_usage_total);
    expect(receipt.energy_fee).toBeUndefined();
    const back = { ...lend, balance: 15_000 * TRX };
    await sendOk(await native(rich, 'UnDelegateResourceContract', back));
    await produce();
    expect(
      (await ask('wallet/getaccountresource', { address: hex(worker.address) })).EnergyLimit,
    ).toBeUndefined();
    // What the borrower has used is the lender's to wait for.
    const { EnergyUsed } = await ask('wallet/getaccountresource', { address: hex(rich.address) });
    expect(EnergyUsed).toBeLessThanOrEqual(receipt.energy_usage);
    expect(EnergyUsed).toBeGreaterThan(receipt.energy_usage * 0.99);
    const left = await ask('wallet/getcandelegatedmaxsize', { owner_address: hex(rich.address), type: 1 });
    expect(left.max_size).toBeLessThan(most.max_size - 1_000 * TRX);
    node.chain.moveClock(86_400_000);
    await produce();
    expect(await ask('wallet/getcandelegatedmaxsize', { owner_address: hex(rich.address), type: 1 })).toEqual(
      most,
    );
  });

  test('a call without a transaction shows what it returns, and says when it reverts', async () => {
    const fields = {
      owner_address: hex(PAYER.address),
      contract_address: hex(usdt),
      function_selector: 'transfer(address,uint256)',
    };
    const word = (text: string) => text.padStart(64, '0');
    const good = word(hex(OWNER.address).slice(2)) + word('1');
    expect(await ask('wallet/triggerconstantcontract', { ...fields, parameter: good })).toMatchObject({
      result: { result: true },
      constant_result: ['0'.repeat(64)],
      transaction: { ret: [{}] },
    });
    const bad = word(hex(OWNER.address).slice(2)) + 'f'.repeat(64);
    const reverted = await ask('wallet/triggerconstantcontract', { ...fields, parameter: bad });
    expect(reverted).toMatchObject({
      result: { result: true, message: Buffer.from('REVERT opcode executed').toString('hex') },
      transaction: { ret: [{ ret: 'FAILED' }] },
    });
    const nowhere = await ask('wallet/triggerconstantcontract', {
      ...fields,
      contract_address: hex(PAYER.address),
    });
    expect(nowhere.result).toMatchObject({ code: 'CONTRACT_VALIDATE_ERROR' });
    expect(
      (await ask('wallet/estimateenergy', { ...fields, parameter: good })).energy_required,
    ).toBeGreaterThan(10_000);
    node.endpoint.view.estimates = false;
    expect((await ask('wallet/estimateenergy', { ...fields, parameter: good })).result.code).toBe(
      'CONTRACT_VALIDATE_ERROR',
    );
    node.endpoint.view.estimates = true;
  });

  test('blocks, parameters, contracts and the node itself', async () => {
    const { number, id, parent, time } = node.chain.head;
    expect(await ask('wallet/getnowblock')).toMatchObject({
      blockID: id,
      block_header: { raw_data: { number, parentHash: parent, timestamp: time } },
    });
    expect(id.slice(0, 16)).toBe(number.toString(16).padStart(16, '0'));
    for (const [path, fields] of [
      ['getblockbynum', { num: number }],
      ['getblock', { id_or_num: String(number), detail: true }],
      ['getblock', { id_or_num: id }],
      ['getblockbyid', { value: id }],
    ] as const)
      expect((await ask(`wallet/${path}`, fields)).blockID).toBe(id);
    expect(await ask('wallet/getblockbynum', { num: number + 1 })).toEqual({});
    expect(await ask('wallet/gettransactioninfobyblocknum', { num: number + 1 })).toEqual([]);
    expect(await ask('walletsolidity/getblockbynum', { num: number })).toEqual({});
    expect((await ask('walletsolidity/getnowblock')).block_header.raw_data.number).toBe(number - 19);
    const { chainParameter } = await ask('wallet/getchainparameters');
    expect(chainParameter).toContainEqual({ key: 'getEnergyFee', value: 100 });
    expect(await ask('wallet/getcontract', { value: hex(usdt) })).toMatchObject({
      contract_address: hex(usdt),
      origin_address: hex(OWNER.address),
    });
    expect(await ask('wallet/getcontract', { value: hex(PAYER.address) })).toEqual({});
    expect((await ask('wallet/getnodeinfo')).solidityBlock).toContain(`Num:${number - 19},`);
    const got = await fetch(`${node.url}/wallet/getblockbynum?num=${number}`);
    expect(((await got.json()) as { blockID: string }).blockID).toBe(id);
  });
});
