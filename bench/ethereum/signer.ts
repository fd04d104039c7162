import { rmSync, writeFileSync } from 'node:fs';
import { SignerClient } from '@florin/signer/client';
import type { SignRequest } from '@florin/signer/protocol';
import { policyText } from '../../packages/signer/src/test-policy.ts';
import { approve, payBytes, payment, request } from '../../packages/signer/src/test-requests.ts';
import { makeSignerFolder, startSigner } from '../../test/signer/signer-process.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';

/** Merchants that request signatures at once, each one after the other. */
const MERCHANTS = 8;
const WEI = '1000000000000000000000000';

/** Row 18h: approved batches of two items, signed by `florin signer run`. */
export async function measureSigner(options: RunOptions): Promise<Findings> {
  const each = options.quick ? 25 : 100;
  const files = await makeSignerFolder();
  const policy = policyText();
  policy.networks.erc20.native_fee_per_day = WEI;
  const limits = { per_hour: '1000000', per_day: '1000000', per_merchant_day: '1000000' };
  Object.assign(policy.payouts, limits);
  writeFileSync(files.policy, JSON.stringify(policy), { mode: 0o600 });
  const process = await startSigner(files);
  const client = new SignerClient({ socket: files.socket });
  const next = Array.from({ length: MERCHANTS }, () => 0);
  const run = async () => {
    const rows = next.map((from, i) => Array.from({ length: each }, (_, k) => requestOf(i + 1, from + k)));
    for (const i of next.keys()) next[i] = (next[i] ?? 0) + each;
    const begun = performance.now();
    await Promise.all(
      rows.map(async (row) => {
        for (const one of row) await client.sign(one);
      }),
    );
    return (MERCHANTS * each * 1_000) / (performance.now() - begun);
  };
  try {
    const { signatures = [] } = await interleave([{ name: 'signatures', run }], options);
    return {
      results: [{ row: '18h', values: signatures }],
      remarks: [
        `The signer reads, judges and signs batches of two items with an approver's signature for ${MERCHANTS} merchants at once; ` +
          'each entry of its journal is on disk before its answer.',
      ],
    };
  } finally {
    client.close();
    await process.stop();
    rmSync(files.folder, { recursive: true, force: true });
  }
}

function requestOf(account: number, ordinal: number): SignRequest {
  const uuid = (use: number, n: number) =>
    `01890000-0000-7000-8${String(use).padStart(3, '0')}-${String(n).padStart(12, '0')}`;
  const unsigned = payment({ id: uuid(account, ordinal), merchant: uuid(0, account) });
  // The signer's process judges by the machine's clock.
  const validUntil = Math.floor(Date.now() / 1_000) + 3_600;
  const purpose = { ...unsigned, approvals: [approve(unsigned, validUntil)] };
  return request({ account, ordinal, bytes: payBytes(purpose), purpose });
}
