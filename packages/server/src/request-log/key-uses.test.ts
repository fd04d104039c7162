import { expect, test } from 'vitest';
import type { Exchange } from '../platform/http/exchanges/index.ts';
import { KeyUses } from './key-uses.ts';

const used = (
  keyId: string,
  answeredAtMs: number,
  kind: 'key' | 'user' = 'key',
): Pick<Exchange, 'caller' | 'answeredAtMs'> => {
  const user = { kind: 'user' as const, userId: 'u', sessionId: 's', permissions: [], provedAtMs: 0 };
  const actor = kind === 'key' ? { kind, keyId } : user;
  const none = { storeId: 's', scopes: [], ownerId: null, people: [], clockOffset: 0 };
  return { answeredAtMs, caller: { ...none, actor, keyId, merchantId: 'm', mode: 'sandbox' } };
};
const keysOf = (uses: KeyUses, ...group: Parameters<KeyUses['due']>[0]) =>
  uses.due(group).map(({ keyId }) => keyId);

test('a key is told once in a group and once a minute; people and refused signatures never', () => {
  const uses = new KeyUses();
  const refused = { caller: undefined, answeredAtMs: 1_000 };
  expect(keysOf(uses, used('a', 1_000), used('a', 1_001), used('b', 1_002), refused)).toEqual(['a', 'b']);
  expect(keysOf(uses, used('a', 60_999), used('u', 60_999, 'user'))).toEqual([]);
  expect(keysOf(uses, used('a', 61_000), used('b', 61_001))).toEqual(['a']);
});

test('a clock that was set back by a day silences no key', () => {
  const uses = new KeyUses();
  expect(keysOf(uses, used('a', 86_400_000))).toEqual(['a']);
  expect(keysOf(uses, used('a', 1_000))).toEqual(['a']);
});
