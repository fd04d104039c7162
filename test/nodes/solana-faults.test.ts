import { describe, expect, test } from 'vitest';
import { solanaClient, tokenAddress, transfer } from './solana-client.ts';
import { balance, client, node, pay, payer, produce, stranger, usdt, useSolana } from './solana-stage.ts';

useSolana();

describe('forks, lag and transactions that get lost', () => {
  test('a fork takes accounts, statuses, signatures and blockhashes back', async () => {
    const [kept, gone] = [await stranger(), await stranger()];
    await pay(kept, 1n);
    produce(1);
    const lost = await client.sign(payer, await transfer(payer, usdt, gone, 2n));
    await client.send(lost);
    await pay(kept, 3n);
    const after = await client.rpc.getLatestBlockhash({ commitment: 'processed' }).send();
    const { slot, height } = node.chain.tip;
    expect(node.chain.fork(2)).toHaveLength(2);
    expect(node.chain.tip.height).toBe(height - 2);
    expect([await balance(kept), await balance(gone)]).toEqual([1n, undefined]);
    expect((await client.rpc.getSignatureStatuses([lost.signature]).send()).value).toEqual([null]);
    const listed = client.rpc.getSignaturesForAddress(await tokenAddress(gone, usdt), {
      commitment: 'confirmed',
    });
    expect(await listed.send()).toEqual([]);
    const unknown = client.rpc.isBlockhashValid(after.value.blockhash, { commitment: 'processed' });
    expect((await unknown.send()).value).toBe(false);
    // The same bytes are taken again, in a later slot than any of the fork that was left.
    await client.send(lost);
    expect(node.chain.tip.slot).toBe(slot + 1);
    expect(await balance(gone)).toBe(2n);
  });

  test('an endpoint that lags shows an older chain and heights that go back', async () => {
    const late = await node.open();
    const behind = solanaClient(late.url);
    const owner = await stranger();
    const sent = await pay(owner, 1n);
    produce(5);
    const height = await behind.rpc.getBlockHeight({ commitment: 'processed' }).send();
    late.view.lag = 10;
    expect(await behind.rpc.getBlockHeight({ commitment: 'processed' }).send()).toBe(
      height < 10n ? 0n : height - 10n,
    );
    expect(
      (await behind.rpc.getSignatureStatuses([sent], { searchTransactionHistory: true }).send()).value,
    ).toEqual([null]);
    expect((await client.rpc.getSignatureStatuses([sent]).send()).value[0]?.confirmationStatus).toBe(
      'confirmed',
    );
    const ahead = await behind.raw('getBalance', [payer.address, { minContextSlot: 1_000_000 }]);
    expect(ahead.error).toMatchObject({
      code: -32_016,
      message: 'Minimum context slot has not been reached',
    });
    expect(await behind.rpc.getHealth().send()).toBe('ok');
    late.view.lag = 129;
    expect((await behind.raw('getHealth')).error).toMatchObject({
      code: -32_005,
      message: 'Node is behind by 129 slots',
      data: { numSlotsBehind: 129 },
    });
    late.view.genesisHash = '1'.repeat(32);
    expect(await behind.rpc.getGenesisHash().send()).not.toBe(await client.rpc.getGenesisHash().send());
  });

  test('a transaction that is dropped is accepted and never in a block; one that is held is there later', async () => {
    const [dropped, held] = [await stranger(), await stranger()];
    node.endpoint.view.dropTransactions = 1;
    await pay(dropped, 1n);
    node.chain.holding = true;
    await pay(held, 2n);
    produce(3);
    expect([await balance(dropped), await balance(held)]).toEqual([undefined, undefined]);
    node.chain.holding = false;
    produce(1);
    expect([await balance(dropped), await balance(held)]).toEqual([undefined, 2n]);
  });

  test('faults of the connection', async () => {
    const { faults } = node.endpoint;
    faults.plan({ how: 'limit' });
    const limited = await fetch(node.url, {
      method: 'POST',
      body: '{"jsonrpc":"2.0","id":3,"method":"getSlot"}',
    });
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await limited.json()).toMatchObject({ error: { code: 429 }, id: 3 });
    const ask = () => client.rpc.getSlot({ commitment: 'processed' }).send();
    faults.plan({ how: 'drop' });
    await expect(ask()).rejects.toThrow('fetch failed');
    faults.plan({ how: 'down' });
    await expect(ask()).rejects.toThrow('503');
    faults.plan({ how: 'cut' });
    await expect(ask()).rejects.toThrow(/terminated|JSON|fetch failed/);
    faults.plan({ how: 'limit', method: 'getHealth', times: Number.POSITIVE_INFINITY });
    expect(await ask()).toBe(BigInt(node.chain.tip.slot));
    await expect(client.rpc.getHealth().send()).rejects.toThrow('429');
    faults.clear();
    const owner = await stranger();
    const signed = await client.sign(payer, await transfer(payer, usdt, owner, 9n));
    faults.plan({ how: 'lose', method: 'sendTransaction' });
    await expect(client.send(signed)).rejects.toThrow('fetch failed');
    expect(await balance(owner)).toBe(9n);
    expect(faults.calls.get('sendTransaction')).toBe(1);
  });
});
