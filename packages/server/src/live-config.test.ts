import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkLiveInSandbox } from './live-config.ts';
import { readConfig } from './platform/config.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A sandbox with a network; what is wrong with it, in one line. */
function refusal(isTest: boolean, env: Record<string, string> = {}): string | undefined {
  const file = path.join(folder, `${isTest}.json`);
  const erc20 = {
    name: 'Ethereum',
    test: isTest,
    endpoints: [{ url: 'http://127.0.0.1:8545', own: true }],
    chain_id: 1,
    genesis_hash: `0x${'0'.repeat(64)}`,
    tokens: { USDT: { address: '0xdAC17F958D2ee523a2206206994597C13D831ec7', decimals: 6 } },
    contracts: { batch_payout: null, sweeper: null },
    finality: { tag: 'finalized', early_confirmations: 12 },
    fee_ceilings: { max_fee_per_gas: '1', max_priority_fee_per_gas: '1', gas_per_transaction: 10_000_000 },
    explorer: null,
  };
  writeFileSync(file, JSON.stringify({ networks: { erc20 } }));
  const live = { FLORIN_NETWORKS_FILE: file, FLORIN_SIGNER: 'unix:/run/florin/signer.sock' };
  try {
    checkLiveInSandbox(readConfig({ ...live, ...env }, {}, { logLevel: 'warn' }));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

test('the sandbox holds live merchants of test networks on loopback, and real money in a database of your own alone', () => {
  expect(refusal(true)).toBeUndefined();
  expect(refusal(true, { FLORIN_TRUSTED_PROXY: 'true' })).toContain('on loopback only');
  expect(refusal(false)).toContain('needs a PostgreSQL of your own');
  expect(refusal(false, { DATABASE_URL: 'postgres://florin@127.0.0.1/florin' })).toBeUndefined();
});
