import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Address, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestUSDT } from '../../contracts/artifacts/index.ts';
import { readOpenDeployments } from '../../packages/server/src/chains/evm/deploy-contracts.ts';
import { parseNetworks } from '../../packages/server/src/chains/evm/networks-file.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import type { DeployReport } from '../../packages/server/src/operator.ts';
import {
  batchPayoutDeployment,
  collectorDeployment,
  sweeperDeployment,
} from '../../packages/signer/src/contracts.ts';
import { by, PAYER } from '../../scripts/local-chain.ts';
import { TANK } from '../chains/evm/key-signer.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { florin } from '../florin-command.ts';
import { LiveStore } from './live-store.ts';
import { ETHER_DOLLARS, startRatesProvider } from './rates-provider.ts';

// Each command is a process of its own.

const addressOf = (text: string): Address => `0x${text.slice(2)}`;
const PAYOUT = addressOf(batchPayoutDeployment().address);
const COLLECTOR = addressOf(collectorDeployment().address);
const SWEEPER = addressOf(sweeperDeployment(TANK.address).address);

describe.skipIf(!hasAnvil())('our contracts on a network that lacks them', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-deploy-'));
  const keyFile = path.join(folder, 'deployer.key');
  const networksFile = path.join(folder, 'networks.json');
  const privateKey = generatePrivateKey();
  const deployer = privateKeyToAccount(privateKey);
  let store: LiveStore;
  let text: string;
  beforeAll(async () => {
    store = await LiveStore.start();
    const { client } = store.world;
    for (const address of [PAYOUT, SWEEPER]) {
      await client.setCode({ address, bytecode: '0x' });
      await client.setNonce({ address, nonce: 0 });
    }
    text = readFileSync(store.env.FLORIN_NETWORKS_FILE ?? '', 'utf8')
      .replace(`"${PAYOUT}"`, 'null')
      .replace(`"${SWEEPER}"`, ' null');
    writeFileSync(networksFile, text);
    writeFileSync(keyFile, `${privateKey.slice(2)}\n`, { mode: 0o600 });
  }, 180_000);
  afterAll(async () => {
    await store?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (words: readonly string[], { file = networksFile, key = keyFile, input = '' } = {}) =>
    florin(['contracts', 'deploy', '--key-file', key, ...words], {
      env: { ...store.env, FLORIN_NETWORKS_FILE: file },
      input,
    });
  const sentCount = () => store.world.client.getTransactionCount({ address: deployer.address });
  /** One line, and the chain as it was. */
  async function expectRefused(
    ran: ReturnType<typeof run>,
    { code = 1, line }: { code?: number; line: RegExp },
  ): Promise<void> {
    const before = await sentCount();
    const { stderr, ...rest } = await ran;
    expect(rest).toEqual({ code, stdout: '' });
    expect(stderr.trimEnd()).toMatch(line);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain(privateKey.slice(2));
    expect(await sentCount()).toBe(before);
    expect(readFileSync(networksFile, 'utf8')).toBe(text);
  }

  test('a key that is none, that others can read, or that holds too little sends nothing', async () => {
    const wrong = path.join(folder, 'wrong.key');
    writeFileSync(wrong, 'correct horse battery staple', { mode: 0o600 });
    await expectRefused(run(['--yes'], { key: wrong }), { line: /64 hex digits/ });
    writeFileSync(wrong, '0'.repeat(64));
    await expectRefused(run(['--yes'], { key: wrong }), { line: /64 hex digits/ });
    chmodSync(wrong, 0o644);
    await expectRefused(run(['--yes'], { key: wrong }), { line: /can be read by others: chmod 600/ });
    await expectRefused(run(['--yes', '--write']), {
      line: /holds 0 ether, and it may take 0\.\d+: send it/,
    });
  });

  test('--dry-run shows the price, and without a terminal nothing is sent unasked', async () => {
    const { client } = store.world;
    await client.setBalance({ address: deployer.address, value: parseEther('1') });
    const { code, stdout } = await run(['--dry-run', '--json']);
    const shown: DeployReport = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(shown).toMatchObject({
      deployer: deployer.address,
      coin: '1',
      contracts: [
        { contract: 'batch_payout', address: PAYOUT, status: 'missing', tx_id: null },
        { contract: 'sweeper', address: SWEEPER, status: 'missing', tx_id: null },
        { contract: 'collector', address: COLLECTOR, status: 'missing', tx_id: null },
      ],
      written: null,
    });
    expect(Number(shown.cost)).toBeGreaterThan(0);
    expect(Number(shown.cost_at_most)).toBeGreaterThan(Number(shown.cost));
    const plain = await run(['--dry-run', '--write']);
    expect(plain.stdout).toContain(
      `It costs about ${shown.cost} ether, at most ${shown.cost_at_most} ether.`,
    );
    expect(readFileSync(networksFile, 'utf8')).toBe(text);
    await expectRefused(run([], { input: 'yes\n' }), { code: 2, line: /give --yes, or --dry-run/ });
  });

  test('where a rate is known, the price is in dollars, too', async () => {
    const { app } = store.service;
    const provider = await startRatesProvider();
    try {
      const dryRun = async () => JSON.parse((await run(['--dry-run', '--json'])).stdout) as DeployReport;
      expect(await dryRun()).toMatchObject({ cost_usd: null, cost_at_most_usd: null });
      await settingCommands(app).set('rates.sources', provider.source);
      const { cost, cost_usd, cost_at_most, cost_at_most_usd } = await dryRun();
      const inDollars = (ether: string) => Number(ether) * ETHER_DOLLARS;
      expect(Number(cost_usd)).toBeGreaterThan(0);
      expect(Number(cost_usd)).toBeCloseTo(inDollars(cost), 5);
      expect(Number(cost_at_most_usd)).toBeCloseTo(inDollars(cost_at_most), 5);
      expect((await run(['--dry-run'])).stdout).toContain(
        `It costs about ${cost} ether (${cost_usd} dollars), at most ${cost_at_most} ether (${cost_at_most_usd} dollars).`,
      );
    } finally {
      await settingCommands(app).unset('rates.sources');
      provider.stop();
    }
  });

  test('a configured contract is not replaced, and a transaction that waits is waited for', async () => {
    const other = path.join(folder, 'other.json');
    writeFileSync(other, text.replace('null', `"${freshAddress(1)}"`));
    await expectRefused(run(['--yes', '--write'], { file: other }), {
      line: new RegExp(
        `contracts.batch_payout of the networks file names ${freshAddress(1)}\\. .*Nothing was sent`,
      ),
    });
    const { client, node } = store.world;
    const raw = await deployer.signTransaction({
      type: 'eip1559',
      chainId: 31_337,
      nonce: 0,
      to: PAYER.address,
      value: 1n,
      gas: 21_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    });
    await node.call('eth_sendRawTransaction', [raw]);
    await expectRefused(run(['--yes', '--write']), { line: /is not in a block yet: wait for it/ });
    await store.world.mine(1);
    // A chain without the deployer, which a private network may be.
    const address = addressOf('0x4e59b44847b379578588920cA78FbF26c0B4956C');
    const bytecode = (await client.getCode({ address })) ?? '0x';
    await client.setCode({ address, bytecode: '0x' });
    await expectRefused(run(['--yes', '--write']), { line: /lacks the deterministic deployer 0x4e59b/ });
    await client.setCode({ address, bytecode });
  });

  test('it deploys, writes the addresses where the file says null, and does neither twice', async () => {
    const { client } = store.world;
    await client.setAutomine(true);
    const before = await client.getBalance({ address: deployer.address });
    const { code, stdout, stderr } = await run(['--yes', '--write', '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const report: DeployReport = JSON.parse(stdout);
    expect(report).toMatchObject({
      contracts: [
        { contract: 'batch_payout', address: PAYOUT, status: 'deployed' },
        { contract: 'sweeper', address: SWEEPER, status: 'deployed' },
        { contract: 'collector', address: COLLECTOR, status: 'deployed' },
      ],
      written: networksFile,
    });
    const paid = before - (await client.getBalance({ address: deployer.address }));
    expect(paid).toBeLessThanOrEqual(parseEther(report.cost_at_most));
    expect(Number(paid)).toBeGreaterThan(0.8 * Number(parseEther(report.cost)));
    expect(Number(paid)).toBeLessThan(1.2 * Number(parseEther(report.cost)));
    const written = readFileSync(networksFile, 'utf8');
    const filled = [PAYOUT, SWEEPER, COLLECTOR].reduce((all, one) => all.replace('null', `"${one}"`), text);
    expect(written).toBe(filled);
    expect(parseNetworks(written).mistakes).toEqual([]);

    const verified = await florin(['contracts', 'verify'], {
      env: { ...store.env, FLORIN_NETWORKS_FILE: networksFile },
    });
    expect(verified.code).toBe(0);
    const count = await sentCount();
    const again = await run(['--write']);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toMatch(/^batch_payout +0x\w{40} +on_chain +-$/m);
    expect(await sentCount()).toBe(count);
    await client.setAutomine(false);
    // Another networks file, which still says null.
    const late = path.join(folder, 'late.json');
    writeFileSync(late, text);
    expect(await run(['--write'], { file: late })).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(late, 'utf8')).toBe(written);
    // A file from before there was a collector.
    const older = path.join(folder, 'older.json');
    writeFileSync(older, text.replace(/,\s*"collector"\s*:\s*null/, ''));
    expect(await run(['--write'], { file: older })).toMatchObject({ code: 0, stderr: '' });
    expect(parseNetworks(readFileSync(older, 'utf8'))).toEqual(parseNetworks(written));
    expect(await sentCount()).toBe(count);
  });

  test('a deployment that failed is told, and one that is in no block is waited for', async () => {
    const { client, node, tokens } = store.world;
    const hash = await client.writeContract({
      ...by(PAYER, 100_000n),
      address: tokens.USDT,
      abi: TestUSDT.abi,
      functionName: 'transfer',
      args: [freshAddress(2), 10n ** 30n],
    });
    await store.world.mine(1);
    const sent = { contract: 'sweeper', address: freshAddress(3) } as const;
    await expect(readOpenDeployments(node, [{ ...sent, txId: hash }])).rejects.toThrow(
      `the transaction of sweeper failed on the chain: ${hash}`,
    );
    const waiting = { ...sent, txId: generatePrivateKey() };
    expect(await readOpenDeployments(node, [waiting, { ...waiting, address: PAYOUT }])).toEqual([waiting]);
  });
});
