import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChainCheck, hashOf, NO_HASH, type Unhashed } from './chain.ts';
import type { AuditRow } from './tables.ts';

const content = fc.record({
  at_ms: fc.bigInt(0n, 2n ** 45n),
  actor_kind: fc.constantFrom('user' as const, 'key' as const, 'cli' as const),
  actor: fc.string(),
  origin: fc.string(),
  action: fc.string(),
  phase: fc.constantFrom('attempted' as const, 'done' as const, 'failed' as const),
  attempt: fc.option(fc.bigInt(1n, 100n)),
  request_id: fc.option(fc.string()),
  details: fc.string(),
});

const sealOf = (hash: Buffer) => Buffer.from(hash.map((byte) => byte ^ 0x5a));
const seal = (row: Unhashed): AuditRow => {
  const hash = hashOf(row);
  return { ...row, hash, seal: sealOf(hash) };
};

const chains = fc.array(content, { minLength: 1, maxLength: 12 }).map((contents) => {
  const rows: AuditRow[] = [];
  for (const [at, one] of contents.entries())
    rows.push(
      seal({
        merchant_id: '00000000-0000-0000-0000-000000000000',
        number: BigInt(at + 1),
        ...one,
        previous_hash: rows.at(-1)?.hash ?? NO_HASH,
      }),
    );
  return rows;
});

function check(rows: readonly AuditRow[], head = rows.at(-1)) {
  const chain = new ChainCheck((row) => row.seal.equals(sealOf(row.hash)));
  for (const row of rows) chain.add(row);
  return chain.end(head).map(({ number, fault }) => `${number} ${fault}`);
}

const at = fc.nat({ max: 11 });

test('rows that nobody touched have no fault', () => {
  fc.assert(
    fc.property(chains, (rows) => {
      expect(check(rows)).toEqual([]);
    }),
  );
});

test('a row that says anything else is named, also with a hash that fits', () => {
  fc.assert(
    fc.property(chains, at, content, fc.boolean(), (rows, index, other, isRehashed) => {
      const row = rows[index % rows.length];
      if (row === undefined || hashOf({ ...row, ...other }).equals(row.hash)) return;
      const changed = { ...row, ...other };
      const planted = isRehashed ? { ...changed, hash: hashOf(changed) } : changed;
      const found = check(
        rows.map((one) => (one === row ? planted : one)),
        rows.at(-1),
      );
      expect(found).toContain(`${row.number} changed`);
    }),
  );
});

test('a row that is taken away leaves its number, also the last one', () => {
  fc.assert(
    fc.property(chains, at, (rows, index) => {
      const gone = rows[index % rows.length];
      expect(
        check(
          rows.filter((row) => row !== gone),
          rows.at(-1),
        ),
      ).toEqual([`${gone?.number} missing`]);
    }),
  );
});

test('rows that change places are named', () => {
  fc.assert(
    fc.property(chains, at, at, (rows, a, b) => {
      const [one, other] = [rows[a % rows.length], rows[b % rows.length]];
      if (one === undefined || other === undefined || one === other) return;
      const swapped = rows.map((row) => {
        if (row === one) return { ...other, number: one.number };
        return row === other ? { ...one, number: other.number } : row;
      });
      expect(check(swapped, rows.at(-1))).toEqual(
        expect.arrayContaining([`${one.number} changed`, `${other.number} changed`]),
      );
    }),
  );
});

test('a row that was sealed behind another one, such as in a copy that lost some, is named', () => {
  fc.assert(
    fc.property(chains, content, (rows, other) => {
      const before = rows.at(-1);
      const [copied, mine] = ['a', 'b'].map((details) =>
        seal({
          merchant_id: '00000000-0000-0000-0000-000000000000',
          ...other,
          details,
          number: BigInt(rows.length + 1),
          previous_hash: before?.hash ?? NO_HASH,
        }),
      );
      if (copied === undefined || mine === undefined) throw new Error('there are two');
      const next = seal({ ...copied, number: copied.number + 1n, previous_hash: copied.hash });
      expect(check([...rows, mine, next])).toEqual([`${next.number} unlinked`]);
      expect(check([...rows, mine], copied)).toEqual([`${mine.number} head`]);
      expect(check([...rows, mine], before)).toEqual([`${mine.number} head`]);
    }),
  );
});
