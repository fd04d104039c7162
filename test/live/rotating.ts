import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, getAddress } from 'viem';
import type { RotationReport } from '../../packages/server/src/operator/rotate-wallet.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { advanceRotation } from '../../packages/server/src/transfers/rotation/index.ts';
import { accounts } from '../../packages/signer/src/test-requests.ts';
import { PASSPHRASE } from '../chains/evm/real-signer.ts';
import { type Finished, follow } from '../florin-command.ts';
import { asOwner } from '../ledger.ts';
import { ACCOUNT, type LiveStore } from './live-store.ts';

/** The hot wallet of the store's merchant in an epoch. */
export const hotOf = (epoch: number): Address => getAddress(accounts.hot(ACCOUNT, epoch).address);

const TWO_DAYS = 2 * 86_400;

/** A file with the signer's passphrase, or another one. */
export function passphraseFile(text = PASSPHRASE): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'florin-rotate-')), 'passphrase');
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  return file;
}

interface Rotating {
  /** Of that process. */
  env?: Record<string, string>;
  meanwhile?: () => Promise<void>;
  /** Before each block: what people have read so far. */
  onRead?: (stderr: string) => Promise<void>;
}

/** Runs `florin signer rotate` to its end; blocks come once `meanwhile` is over. */
export async function runRotate(
  store: LiveStore,
  words: readonly string[],
  { env = {}, meanwhile = async () => {}, onRead = async () => {} }: Rotating = {},
): Promise<Finished> {
  const command = follow(['signer', 'rotate', store.id, ...words], { env: { ...store.env, ...env } });
  let isOver = false;
  const ended = command.closed.finally(() => {
    isOver = true;
  });
  await meanwhile();
  const mining = (async () => {
    while (!isOver) {
      await onRead(command.printed.stderr);
      await store.world.mine(1);
      await sleep(100);
    }
  })();
  const finished = await ended;
  await mining;
  return finished;
}

/** Rotates as an operator does, without being asked. */
export async function rotate(
  store: LiveStore,
  meanwhile: () => Promise<void> = async () => {},
  onRead?: Rotating['onRead'],
): Promise<RotationReport> {
  const words = ['--passphrase-file', passphraseFile(), '--yes', '--json'];
  const { code, stdout, stderr } = await runRotate(store, words, { meanwhile, ...(onRead && { onRead }) });
  if (code !== 0) throw new Error(`rotate ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as RotationReport;
}

/** A worker's look at the rotation. @returns what it logs as an error, and when it looks again */
export async function lookAtRotation(store: LiveStore): Promise<{ lines: string[]; waitMs: number }> {
  const { app } = store.service;
  const lines: string[] = [];
  const log = createLogger('error', { write: (line) => void lines.push(line) });
  const job = { merchantId: store.merchant.merchantId, payload: { network: 'erc20' } };
  const outcome = await advanceRotation({ ...app, log }, job, { step: (change) => transact(app.db, change) });
  return { lines, waitMs: outcome === 'done' ? 0 : outcome.againAtMs - app.clock.nowMs() };
}

/** The newest rotation of the store's merchant. */
export async function rotationOf(store: LiveStore): Promise<{ status?: string; epoch?: number }> {
  const rows = await asOwner<{ status: string; epoch: number }>(
    store.service,
    'select status, epoch from wallet_rotation where merchant_id = $1 order by epoch desc limit 1',
    [store.merchant.merchantId],
  );
  return rows[0] ?? {};
}

/** Waits for home's two days by the clock of the node, and has the rotation end. */
export async function endRotation(store: LiveStore): Promise<void> {
  await store.world.client.increaseTime({ seconds: TWO_DAYS + 60 });
  await store.world.mine(store.world.finalBlocks + 1);
  await rotate(store);
  await store.until(() => rotationOf(store), { status: 'done' });
}
