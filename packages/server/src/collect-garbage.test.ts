import { expect, test } from 'vitest';
import { collectGarbage } from './collect-garbage.ts';

test('what nobody holds is collected', async () => {
  const collected = new WeakRef({ text: 'held by nobody' });
  // What a WeakRef answers stays until the current turn of the event loop has ended.
  await new Promise(setImmediate);
  await collectGarbage();
  expect(collected.deref()).toBeUndefined();
});
