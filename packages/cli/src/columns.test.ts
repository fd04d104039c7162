import * as schemas from '@florin/contract/schemas';
import { expect, test } from 'vitest';
import { columnsOf, isTime } from './columns.ts';

interface Order {
  id: string;
  amount: number;
  created: number;
  paid_at: number | null;
  note?: string;
}

const order: Order = { id: 'or_1', amount: 1_999, created: 1_800_000_000, paid_at: null };

test('a row has the columns in their order, under their titles', () => {
  const row = columnsOf<Order>()('created order=id note')(order);
  expect(Object.entries(row)).toEqual([
    ['created', '2027-01-15T08:00:00Z'],
    ['order', 'or_1'],
    ['note', undefined],
  ]);
});

test('numbers are times by the API’s field names, and null is no time', () => {
  const row = columnsOf<Order>()('amount paid=paid_at');
  expect(row(order)).toEqual({ amount: 1_999, paid: null });
  expect(row({ ...order, paid_at: 1_800_000_000 })).toEqual({ amount: 1_999, paid: '2027-01-15T08:00:00Z' });
});

test('a computed column replaces a field and needs none', () => {
  const row = columnsOf<Order>()('price amount', {
    price: ({ amount }) => `$${amount / 100}`,
    amount: () => 'hidden',
  });
  expect(row(order)).toEqual({ price: '$19.99', amount: 'hidden' });
});

test('the compiler knows the fields', () => {
  // @ts-expect-error: there is no such field
  expect(columnsOf<Order>()('id price')(order)).toEqual({ id: 'or_1', price: undefined });
});

/** The name and the description of each whole number in a schema. */
function wholesOf(schema: unknown, name = ''): [name: string, description: string][] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, description = '' } = schema as { type?: unknown; description?: string };
  if (type === 'integer') return [[name, description]];
  return Object.entries(schema).flatMap(([key, inner]) =>
    // A bound of a filter, such as `created[gte]`, is named by what it bounds.
    wholesOf(inner, /^(anyOf|\d+)$/.test(key) ? name : key.replace(/\[\w+\]$/, '')),
  );
}

test('the API uses the names of times for times only', () => {
  const wholes = Object.values(schemas).flatMap((schema) => wholesOf(schema));
  const times = wholes.filter(([, description]) => description.includes('Unix seconds'));
  expect(times.length).toBeGreaterThan(20);
  // `created[gte]` limits `created`.
  expect(times.filter(([name]) => !isTime(name.replace(/\[.*/, '')))).toEqual([]);
  expect(wholes.filter((one) => isTime(one[0]) && !times.includes(one))).toEqual([]);
});
