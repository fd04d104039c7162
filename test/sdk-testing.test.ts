import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSandbox } from '@florin/sdk/testing';
import { expect, test, vi } from 'vitest';

test("a shop's test pays itself in a sandbox of its own, which is gone afterwards", async () => {
  vi.stubEnv('DATABASE_URL', 'postgres://127.0.0.1:1/production');
  const sandbox = await startSandbox({ readyWithinMs: 180_000 });
  vi.unstubAllEnvs();
  const { florin, baseUrl } = sandbox;
  try {
    const session = await florin.checkout.sessions.create({ amount: 499, currency: 'USD' });
    await florin.testHelpers.checkout.sessions.pay(session.id, { currency: 'USDT', network: 'trc20' });
    expect((await florin.payments.retrieve(session.payment_id)).status).toBe('completed');
  } finally {
    await sandbox.stop();
  }
  await expect(fetch(baseUrl)).rejects.toThrow('fetch failed');
});

test('a command that fails says why, and one that does not begin is not waited for', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-command-'));
  const command = path.join(folder, 'florin.mjs');
  writeFileSync(command, 'console.error("florin: no room on the disk"); process.exit(1);');
  await expect(startSandbox({ command })).rejects.toThrow('ended with 1: florin: no room on the disk');
  writeFileSync(command, 'setInterval(() => {}, 1_000);');
  await expect(startSandbox({ command, readyWithinMs: 500 })).rejects.toThrow('was not ready within 500 ms');
  expect(existsSync(command)).toBe(true);
});
