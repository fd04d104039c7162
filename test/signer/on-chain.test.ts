import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Address, Hex, TransactionReceipt } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BatchPayout, type TestUSDT } from '../../contracts/artifacts/index.ts';
import { fromHex } from '../../packages/signer/src/bytes.ts';
import { encodeCall } from '../../packages/signer/src/calldata.ts';
import {
  batchPayoutDeployment,
  createJournal,
  DETERMINISTIC_DEPLOYER,
  delegateDeployment,
  readPolicy,
  Signer,
  sweeperDeployment,
} from '../../packages/signer/src/index.ts';
import type { Purpose } from '../../packages/signer/src/protocol.ts';
import { policyText } from '../../packages/signer/src/test-policy.ts';
import {
  accounts,
  approve,
  type Bytes,
  itemAt,
  keys,
  MERCHANTS,
  payCall,
  payment,
  request,
} from '../../packages/signer/src/test-requests.ts';
import { by, type Contract, hasAnvil, LocalNode, OWNER } from '../contracts/local-node.ts';

const TANK = accounts.hot(0).address as Address;
const HOT = accounts.hot(1).address as Address;
const { address: SWEEPER } = sweeperDeployment(TANK);
const BATCH_PAYOUT = batchPayoutDeployment().address as Address;
const ETHER = 10n ** 18n;

describe.skipIf(!hasAnvil())('what the signer signs, on a real node', () => {
  let node: LocalNode;
  let signer: Signer;
  let usdt: Contract<typeof TestUSDT.abi>;
  const next = new Map<number, number>();

  beforeAll(async () => {
    node = await LocalNode.start();
    usdt = await node.deployUsdt();
    const usdc = await node.deployUsdc();
    const policy = policyText();
    Object.assign(policy.networks.erc20, {
      tokens: { USDT: usdt.address, USDC: usdc.address },
      batch_payout: BATCH_PAYOUT,
      gas_top_up: String(ETHER),
    });
    const journalFile = path.join(mkdtempSync(path.join(tmpdir(), 'florin-signer-chain-')), 'journal');
    createJournal(journalFile, accounts.fingerprint, Date.now());
    signer = await Signer.open({
      keys,
      policy: readPolicy(JSON.stringify(policy)),
      journalFile,
      checkPassphrase: async () => {},
      log: () => {},
    });
    await node.client.setBalance({ address: TANK, value: 10n * ETHER });
  });

  afterAll(async () => {
    await signer?.close();
    await node?.stop();
  });

  /** Signs the account's next attempt and sends it. */
  async function send(account: number, purpose: Purpose, bytes: Partial<Bytes>): Promise<TransactionReceipt> {
    const ordinal = next.get(account) ?? 0;
    next.set(account, ordinal + 1);
    const { raw, txId } = await signer.sign(request({ account, ordinal, purpose, bytes }));
    const sent = node.client.sendRawTransaction({ serializedTransaction: raw as Hex });
    expect(await sent).toBe(txId);
    const receipt = await node.mined(sent);
    expect(receipt.status).toBe('success');
    return receipt;
  }

  const holdings = (address: string) => usdt.read.balanceOf([address as Address]);

  test('contracts lie where the signer says, gas comes, a batch is paid, deposits are swept, a hole is filled', async () => {
    const to = DETERMINISTIC_DEPLOYER;
    const gas = 3_000_000n;
    await send(
      0,
      { kind: 'deploy', contract: 'batch_payout' },
      { to, gas, data: batchPayoutDeployment().data },
    );
    await send(0, { kind: 'deploy', contract: 'sweeper' }, { to, gas, data: sweeperDeployment(TANK).data });
    const delegate = delegateDeployment(HOT, SWEEPER);
    const delegates = { kind: 'deploy', contract: 'sweep_delegate', account: 1 } as const;
    await send(0, delegates, { to, gas, data: delegate.data });
    for (const address of [BATCH_PAYOUT, SWEEPER, delegate.address])
      expect((await node.client.getCode({ address: address as Address }))?.length ?? 0).toBeGreaterThan(100);

    await send(0, { kind: 'gas', account: 1 }, { to: HOT, value: ETHER, gas: 21_000n });
    expect(await node.client.getBalance({ address: HOT })).toBe(ETHER);

    // Two deposits come in; the one that has swept before delegates no longer.
    const deposits = [3, 4].map((index) => ({ index, asset: 'USDT' as const, amount: '7000000' }));
    const sweeps = deposits.map(({ index }) => ({
      from: accounts.deposit(1, index).address,
      token: usdt.address,
      amount: 7_000_000n,
    }));
    const sweep = { kind: 'sweep', merchant: MERCHANTS[0], account: 1, deposits } as const;
    for (const round of [1n, 2n]) {
      for (const { from } of sweeps)
        await node.mined(usdt.write.mint([from as Address, 7_000_000n], by(OWNER)));
      const isFirst = round === 1n;
      await send(
        0,
        { ...sweep, delegates: isFirst ? deposits.map(({ index }) => ({ index, nonce: '0' })) : [] },
        { to: SWEEPER, type: isFirst ? 4 : 2, data: encodeCall({ kind: 'sweep', sweeps }) },
      );
      expect(await holdings(HOT)).toBe(round * 14_000_000n);
    }

    const allowance = 20_000_000n;
    await send(
      1,
      { kind: 'approve', asset: 'USDT', amount: String(allowance) },
      { to: usdt.address, data: encodeCall({ kind: 'approve', spender: BATCH_PAYOUT, amount: allowance }) },
    );
    const batch = payment({ items: [itemAt(0), itemAt(1, '2000000'), itemAt(2, '3000000')] });
    const approvals = [approve(batch, Math.floor(Date.now() / 1000) + 3_600)];
    const call = payCall(batch);
    if (call.kind !== 'pay') throw new Error('a payment');
    const paying = { to: BATCH_PAYOUT, data: encodeCall({ ...call, token: usdt.address }) };
    await send(1, { ...batch, approvals }, paying);
    // Signed again under another sequence: the contract pays nothing twice.
    await send(1, { ...batch, approvals }, paying);
    for (const { to: recipient, amount } of batch.items)
      expect(await holdings(recipient)).toBe(BigInt(amount));
    const contract = node.at(BatchPayout, BATCH_PAYOUT);
    expect(await contract.read.isPaid([HOT, `0x${Buffer.from(call.group).toString('hex')}`, 2n])).toBe(true);

    await send(1, { kind: 'fill' }, { to: HOT, gas: 21_000n });
    const used = await node.client.getTransactionCount({ address: HOT });
    expect(used).toBe(next.get(1));
    expect(await usdt.read.allowance([HOT, BATCH_PAYOUT])).toBe(allowance - 6_000_000n);
    expect(fromHex((await node.client.getCode({ address: sweeps[0]?.from as Address })) ?? '0x').length).toBe(
      23,
    );
  });
});
