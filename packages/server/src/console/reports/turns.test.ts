import { setImmediate as passes } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

/** Reports that last until they are let go, in the order in which they began. */
function reports() {
  const turns = new Turns();
  const begun: { of: string; end: () => void }[] = [];
  const ask = (merchantId: string, reader: string) =>
    turns
      .run(
        { merchantId, reader },
        () => new Promise<void>((end) => begun.push({ of: `${merchantId} ${reader}`, end })),
      )
      .then(
        () => 'read',
        (error: Error) => error.message,
      );
  return { ask, begun, names: () => begun.map(({ of }) => of) };
}

test("one merchant's people fill neither the turns nor the queue of the others", async () => {
  const { ask, begun, names } = reports();
  const loud = Array.from({ length: 20 }, (_, i) => ask('loud', `viewer ${i}`));
  await passes();
  const quiet = ask('quiet', 'finance');
  await passes();
  expect(names()).toEqual(['loud viewer 0', 'quiet finance']);
  // A third merchant comes before the loud one's second report.
  const third = ask('third', 'auditor');
  begun[0]?.end();
  await passes();
  expect(names().slice(2)).toEqual(['third auditor']);
  for (let i = 0; i < begun.length; i += 1) {
    begun[i]?.end();
    await passes();
  }
  expect([await quiet, await third]).toEqual(['read', 'read']);
  const answers = await Promise.all(loud);
  expect(answers.filter((answer) => answer === 'read')).toHaveLength(6);
  expect(answers.filter((answer) => answer.startsWith('Reports are being read'))).toHaveLength(14);
});

test('a person waits for three reports, and whoever has read may ask again', async () => {
  const { ask, begun } = reports();
  const asked = Array.from({ length: 4 }, () => ask('merchant', 'finance'));
  expect(await asked[3]).toContain('Ask again');
  for (let i = 0; i < 3; i += 1) {
    begun[i]?.end();
    await passes();
  }
  expect(await Promise.all(asked.slice(0, 3))).toEqual(['read', 'read', 'read']);
  const again = ask('merchant', 'finance');
  await passes();
  begun[3]?.end();
  expect(await again).toBe('read');
});
