import fc from 'fast-check';
import { expect, test } from 'vitest';
import { madeAt, NIL_ID, newId } from '../platform/db/ids/index.ts';
import { decodeId, encodeId, ID_PREFIXES, type IdKind } from './resource-ids.ts';

const KINDS = Object.keys(ID_PREFIXES) as IdKind[];
const uuid = fc.uuid();

test('an id survives encoding and decoding', () => {
  fc.assert(
    fc.property(uuid, fc.constantFrom(...KINDS), (id, kind) => {
      const text = encodeId(kind, id);
      expect(text).toMatch(new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
      expect(decodeId(kind, text)).toBe(id.toLowerCase());
    }),
  );
});

test('the form is that of TypeID', () => {
  // The vectors of its specification: nil, one, ten, sixteen, thirty-two, all bits set and a version 7.
  const vectors: [string, string][] = [
    [NIL_ID, '00000000000000000000000000'],
    ['00000000-0000-0000-0000-000000000001', '00000000000000000000000001'],
    ['00000000-0000-0000-0000-00000000000a', '0000000000000000000000000a'],
    ['00000000-0000-0000-0000-000000000010', '0000000000000000000000000g'],
    ['00000000-0000-0000-0000-000000000020', '00000000000000000000000010'],
    ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ['01890a5d-ac96-774b-bcce-b302099a8057', '01h455vb4pex5vsknk084sn02q'],
  ];
  for (const [id, suffix] of vectors) {
    expect(encodeId('payoutBatch', id)).toBe(`pb_${suffix}`);
    expect(decodeId('payoutBatch', `pb_${suffix}`)).toBe(id);
  }
});

test('encoded ids sort as the ids do, and each new id is after the one before', () => {
  const made = Array.from({ length: 2_000 }, newId);
  expect(made).toEqual([...made].sort());
  expect(new Set(made).size).toBe(made.length);
  const texts = made.map((id) => encodeId('payoutItem', id));
  expect(texts).toEqual([...texts].sort());
});

test('no other text is an id: wrong kind, length, case, alphabet, more than 128 bits', () => {
  const right = encodeId('payoutBatch', newId());
  const wrong = [
    '',
    'pb_',
    right.slice(0, -1),
    `${right}0`,
    right.toUpperCase(),
    `pbi_${right.slice(3)}`,
    right.replace('pb_', 'pb-'),
    `pb_8${right.slice(4)}`,
    `pb_${'i'.repeat(26)}`,
    `pb_${'u'.repeat(26)}`,
    `pb_${'ß'.repeat(26)}`,
    ` ${right}`,
    `${right}\0`,
  ];
  expect(wrong.map((text) => decodeId('payoutBatch', text))).toEqual(wrong.map(() => undefined));
  fc.assert(fc.property(fc.string(), (text) => decodeId('payoutBatch', text) === undefined));
});

test('no prefix with its underscore is the beginning of another, so that kinds cannot be confused', () => {
  const prefixes = KINDS.map((kind) => `${ID_PREFIXES[kind]}_`);
  expect(new Set(prefixes).size).toBe(prefixes.length);
  const clashes = prefixes.filter((one) => prefixes.some((other) => other !== one && other.startsWith(one)));
  expect(clashes).toEqual([]);
});

test('an id contains its time of creation', () => {
  // The example of RFC 9562: 2022-02-22T19:22:22Z.
  expect(madeAt('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')).toBe(1_645_557_742);
  const before = Math.floor(Date.now() / 1000);
  expect(madeAt(newId()) - before).toBeLessThan(30);
  expect(madeAt(newId())).toBeGreaterThanOrEqual(before);
});
