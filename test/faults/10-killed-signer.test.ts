import { afterEach, expect, test } from 'vitest';
import { SignerClient, SignerUnavailable } from '../../packages/signer/src/client.ts';
import { readJournal } from '../../packages/signer/src/journal.ts';
import type { SignAnswer } from '../../packages/signer/src/protocol.ts';
import { approve, OTHER_BATCH, payBytes, payment, request } from '../../packages/signer/src/test-requests.ts';
import { makeSignerFolder, type SignerProcess, startSigner } from '../signer/signer-process.ts';

// Each test starts a process twice, which stretches a passphrase.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function started(process: SignerProcess): SignerProcess {
  closing.push(() => process.stop('SIGKILL'));
  return process;
}

function approvedBatch(id?: string) {
  const purpose = payment(id === undefined ? {} : { id });
  return { ...purpose, approvals: [approve(purpose, Math.floor(Date.now() / 1000) + 3_600)] };
}

/** Entries of signatures in a journal. */
function signaturesIn(file: string): number {
  let count = 0;
  readJournal(file, ({ type }) => {
    if (type === 'sign') count += 1;
  });
  return count;
}

test.each([
  ['sign.decided', 0],
  ['sign.journaled', 1],
  ['sign.signed', 1],
])(
  'a signer that is killed at %s signs the same bytes after its restart, once',
  async (point, remembered) => {
    const files = await makeSignerFolder();
    const killed = started(await startSigner(files, { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: point }));
    const client = new SignerClient({ socket: files.socket });
    closing.push(() => client.close());
    const batch = approvedBatch();
    const asked = request({ bytes: payBytes(batch), purpose: batch });
    await expect(client.sign(asked)).rejects.toThrow(SignerUnavailable);
    expect((await killed.ended).signal).toBe('SIGKILL');
    expect(signaturesIn(files.journal)).toBe(remembered);

    const again = started(await startSigner(files));
    const answer = await client.sign(asked);
    expect((await client.sign(asked)).raw).toBe(answer.raw);
    expect(signaturesIn(files.journal)).toBe(1);
    // The sequence is this attempt's, even where its answer never left.
    const other = approvedBatch(OTHER_BATCH);
    const taken = request({ ordinal: 1, bytes: { ...payBytes(other), nonce: 0 }, purpose: other });
    await expect(client.sign(taken)).rejects.toMatchObject({ code: 'sequence' });
    expect(await again.stop()).toEqual({ code: 0, signal: null });
  },
);

test('fault 10: a signer killed under concurrent requests has journaled every signature that it returned', async () => {
  const files = await makeSignerFolder();
  const killed = started(
    await startSigner(files, { FLORIN_TEST_BUILD: '1', FLORIN_CRASH_POINT: 'sign.journaled:9' }),
  );
  const client = new SignerClient({ socket: files.socket });
  closing.push(() => client.close());
  const requests = Array.from({ length: 16 }, (_, account) => {
    const id = `01890000-0000-7000-8000-${String(account + 1).padStart(12, '0')}`;
    const unsigned = payment({ id, merchant: id });
    const purpose = { ...unsigned, approvals: [approve(unsigned, Math.floor(Date.now() / 1000) + 3_600)] };
    return request({ account: account + 1, bytes: payBytes(purpose), purpose });
  });
  const answers = await Promise.allSettled(requests.map((one) => client.sign(one)));
  await killed.ended;
  const left = answers.flatMap((one, i): [number, SignAnswer][] =>
    one.status === 'fulfilled' ? [[i, one.value]] : [],
  );
  expect(left.length).toBeLessThan(16);
  expect(signaturesIn(files.journal)).toBeGreaterThanOrEqual(left.length);
  started(await startSigner(files));
  const after = await Promise.all(requests.map((one) => client.sign(one)));
  for (const [i, { raw }] of left) expect(after[i]?.raw).toBe(raw);
  expect(signaturesIn(files.journal)).toBe(16);
});
