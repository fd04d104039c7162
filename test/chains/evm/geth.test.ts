import { type Address, encodeFunctionData, getAddress, keccak256, parseEther, parseTransaction } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestUSDT } from '../../../contracts/artifacts/index.ts';
import type { EvmNetwork } from '../../../packages/server/src/chains/evm/network.ts';
import { readQuantity } from '../../../packages/server/src/chains/evm/node-answers.ts';
import { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import type { Movement, SignedTx, TransferSpec } from '../../../packages/server/src/chains/port/port.ts';
import { batchPayoutDeployment, sweeperDeployment } from '../../../packages/signer/src/contracts.ts';
import { nextSigning } from '../next-signing.ts';
import { GETH_CHAIN_ID, Geth, hasGeth } from './geth.ts';
import { depositWallet, hotWallet, KeySigner, ownerWallet, TANK } from './key-signer.ts';
import { AMOUNT, fresh, payout, sweepOf } from './world.ts';

const HOT = hotWallet(1).address;

describe.skipIf(!hasGeth())('the EVM sender on geth', () => {
  let geth: Geth;
  let usdt: Address;
  let sender: EvmSender;
  const signer = new KeySigner();
  beforeAll(async () => {
    geth = await Geth.start();
    await geth.placeDeployer();
    for (const to of [TANK.address, HOT]) await geth.send({ to, value: parseEther('10') });
    const { contractAddress } = await geth.send({ data: TestUSDT.bytecode });
    usdt = getAddress(String(contractAddress));
    for (const to of [HOT, ...deposits.map((index) => depositWallet(1, index).address)]) {
      const args = [to, 10n ** 10n] as const;
      await geth.send({
        to: usdt,
        data: encodeFunctionData({ abi: TestUSDT.abi, functionName: 'mint', args }),
      });
    }
    sender = open();
    for (const contract of ['batch_payout', 'sweeper', 'sweep_delegate'] as const) {
      await move({ kind: 'deploy', contract });
    }
    await move({ kind: 'approve', asset: 'USDT', amount: 10n ** 12n });
  }, 120_000);
  afterAll(() => geth?.stop());
  const deposits = [0, 1, 2, 3, 4, 5, 6, 7];

  function open(feeCeilings: Partial<EvmNetwork['feeCeilings']> = {}): EvmSender {
    const count = async (tag: string) =>
      readQuantity(Object(await geth.node.call('eth_getBlockByNumber', [tag, false])).number, 'number');
    return new EvmSender({
      network: {
        name: 'Ethereum (geth)',
        isTest: true,
        endpoints: [],
        chainId: GETH_CHAIN_ID,
        publicEndpoint: null,
        genesisHash: '0x',
        tokens: { USDT: { address: usdt } },
        batchPayout: batchPayoutDeployment().address,
        sweeper: sweeperDeployment(TANK.address).address,
        collector: null,
        finality: { tag: 'finalized', earlyConfirmations: null },
        feeCeilings: {
          maxFeePerGas: 500_000_000_000n,
          maxPriorityFeePerGas: 100_000_000_000n,
          gasPerTransaction: 16_777_216n,
          ...feeCeilings,
        },
        explorer: null,
      },
      node: geth.node,
      signer,
      merchantId: 'mch',
      wallets: {
        account: 1,
        hot: HOT,
        owner: ownerWallet(1).address,
        tank: TANK.address,
        deposit: async (index) => depositWallet(1, index).address,
      },
      head: async () => ({ height: await count('latest'), finalHeight: await count('finalized'), time: 0 }),
    });
  }

  const next = async (wallet: string): Promise<bigint> =>
    readQuantity(await geth.node.call('eth_getTransactionCount', [wallet, 'latest']), 'count');

  async function move(movement: Movement): Promise<void> {
    const keyRef = movement.kind === 'approve' ? 'hot' : 'tank';
    const sequence = String(await next(keyRef === 'hot' ? HOT : TANK.address));
    const tx = await sender.buildMovement({ signing: nextSigning(), keyRef, movement, sequence });
    expect(await landed(tx)).toMatchObject({ itemOk: [] });
  }

  /** Sent, and in a block. */
  async function landed(tx: SignedTx) {
    expect(await sender.broadcast(tx)).toEqual({ result: 'accepted' });
    await geth.mined(tx.txId);
    return await sender.status(tx);
  }

  /** Behind a hole, where it waits in the pool. */
  const waiting = async (): Promise<TransferSpec> =>
    payout('USDT', fresh(2, 7_000), { sequence: String((await next(HOT)) + 1n) });

  test('200 items in one transaction, and the same bytes again are known', async () => {
    const spec = payout('USDT', fresh(200), { sequence: String(await next(HOT)) });
    const tx = await sender.buildTransfer(spec);
    const status = await landed(tx);
    expect(status.itemOk).toEqual(spec.items.map(() => true));
    const { gasUsed } = await geth.mined(tx.txId);
    expect(readQuantity(gasUsed, 'gasUsed')).toBeLessThanOrEqual(6_300_000n);
    expect(await sender.broadcast(tx)).toEqual({ result: 'known' });
  });

  test('a sweep of eight: 45,000 gas each with their delegation, 24,000 afterwards', async () => {
    const sweep = async () => {
      const items = deposits.map((index) => ({ index, asset: 'USDT' as const, amount: AMOUNT }));
      const tx = await sender.buildSweep(sweepOf(items, { sequence: String(await next(TANK.address)) }));
      expect((await landed(tx)).itemOk).toEqual(deposits.map(() => true));
      return readQuantity((await geth.mined(tx.txId)).gasUsed, 'gasUsed') / 8n;
    };
    // Half of an authorization's 25,000 comes back for an account that has ether. Anvil gives it back to all.
    expect(await sweep()).toBeLessThanOrEqual(45_000n);
    expect(await sweep()).toBeLessThanOrEqual(24_000n);
  });

  test('J4: geth refuses less than a tenth more, and takes each of our versions', async () => {
    const spec = await waiting();
    const first = await sender.buildTransfer(spec);
    expect(await sender.broadcast(first)).toEqual({ result: 'accepted' });
    expect(await sender.broadcast(first)).toEqual({ result: 'known' });
    const parsed = parseTransaction(`0x${first.raw.slice(2)}`);
    if (parsed.type !== 'eip1559') throw new Error('not of type 2');
    const {
      r: _r,
      s: _s,
      v: _v,
      yParity: _y,
      maxFeePerGas = 0n,
      maxPriorityFeePerGas = 0n,
      ...rest
    } = parsed;
    const raw = await hotWallet(1).signTransaction({
      ...rest,
      maxFeePerGas: (maxFeePerGas * 1_099n) / 1_000n,
      maxPriorityFeePerGas: (maxPriorityFeePerGas * 1_099n) / 1_000n,
    });
    await expect(geth.node.call('eth_sendRawTransaction', [raw])).rejects.toThrow(
      'replacement transaction underpriced',
    );
    let last = first;
    for (let i = 0; i < 4; i++) {
      last = await sender.buildTransfer({ ...spec, replaces: last });
      expect(await sender.broadcast(last)).toEqual({ result: 'accepted' });
    }
    expect(await sender.broadcast(first)).toEqual({
      result: 'rejected',
      code: 'replacement_underpriced',
      retryable: true,
    });
    const sequence = String(await next(HOT));
    const movement = { kind: 'fill' } as const;
    await landed(await sender.buildMovement({ signing: nextSigning(), keyRef: 'hot', movement, sequence }));
    await geth.mined(last.txId);
    expect(await sender.status(last)).toMatchObject({ itemOk: [true, true] });
    expect(await sender.broadcast(first)).toEqual({
      result: 'rejected',
      code: 'nonce_too_low',
      retryable: false,
    });
  });

  test('the gas of a transaction ends at 16,777,216: more is refused by us, and by geth', async () => {
    const spec = payout('USDT', fresh(1), { sequence: String(await next(HOT)) });
    const { raw } = await sender.buildTransfer(spec);
    const parsed = parseTransaction(`0x${raw.slice(2)}`);
    if (parsed.type !== 'eip1559') throw new Error('not of type 2');
    const { r: _r, s: _s, v: _v, yParity: _y, ...rest } = parsed;
    const sent = async (gas: bigint) => {
      const bytes = await hotWallet(1).signTransaction({ ...rest, gas });
      return await geth.node.call('eth_sendRawTransaction', [bytes]);
    };
    await expect(sent(16_777_217n)).rejects.toThrow('gas limit too high');
    const roomy = open({ gasPerTransaction: 60_000_000n });
    expect(roomy.maxItemsPerTx).toBe(200);
    expect(roomy.sweepsPerTx).toBe(50);
  });

  test('J6: without ether it is refused, and taken once there is some', async () => {
    const poor = depositWallet(2, 0);
    const bytes = await poor.signTransaction({
      chainId: GETH_CHAIN_ID,
      nonce: 0,
      to: HOT,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    const { txId, raw, ...rest } = await sender.buildMovement({
      signing: nextSigning(),
      keyRef: 'tank',
      movement: { kind: 'fill' },
      sequence: String(await next(TANK.address)),
    });
    const tx = { ...rest, raw: bytes, txId: keccak256(bytes), sender: poor.address, sequence: '0' };
    expect(await sender.broadcast(tx)).toEqual({
      result: 'rejected',
      code: 'insufficient_funds',
      retryable: true,
    });
    await geth.send({ to: poor.address, value: parseEther('1') });
    expect(await landed(tx)).toMatchObject({ itemOk: [] });
    expect([txId, raw]).not.toContain(tx.txId);
  });
});
