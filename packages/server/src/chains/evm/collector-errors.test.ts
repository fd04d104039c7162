import { encodeErrorResult } from 'viem';
import { expect, test } from 'vitest';
import { COLLECTOR_ABI } from '../collector/abi.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from '../rpc/node.ts';
import { findRefusal } from './collector-errors.ts';

const CALL = { to: `0x${'11'.repeat(20)}`, data: '0x' } as const;
const SENDER = `0x${'22'.repeat(20)}`;
const DATA = encodeErrorResult({ abi: COLLECTOR_ABI, errorName: 'BadSignature' });
const refused = new NodeError(3, 'execution reverted', DATA);

/** What the first endpoint answers, and what two agree on. */
const ask = (first: unknown, agreed: unknown) =>
  findRefusal({ callMany: async () => [first], agreedMany: async () => [agreed] }, CALL, SENDER);

test('that the collector refuses a call is the word of two endpoints; one alone ends nothing', async () => {
  expect(await ask('0x', refused)).toBeUndefined();
  expect(await ask(refused, refused)).toBe('BadSignature');
  await expect(ask(refused, '0x')).rejects.toThrow(ChainUnavailable);
});
