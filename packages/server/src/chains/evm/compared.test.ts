import { expect, test } from 'vitest';
import { comparedText } from './compared.ts';

const LOG = {
  address: '0xDAC17f958d2ee523a2206206994597c13d831ec7',
  topics: ['0xAB', '0x01'],
  data: '0x07',
  blockNumber: '0x5',
  blockHash: '0xbb',
  transactionHash: '0xcc',
  logIndex: '0x0',
};

test('nodes of different makers agree: other case, other order, fields of their own', () => {
  const other = { blockTimestamp: '0x1', removed: false, ...LOG, topics: ['0xab', '0x01'] };
  expect(comparedText('eth_getLogs', [other])).toBe(comparedText('eth_getLogs', [LOG]));
  const call = (answer: unknown) => comparedText('eth_feeHistory', answer);
  expect(call({ a: 1, b: { d: [1, 2], c: null } })).toBe(call({ b: { c: null, d: [1, 2] }, a: 1 }));
});

test('they differ by each field that is used, and by what is missing', () => {
  const texts = [
    [],
    [LOG],
    [LOG, LOG],
    [{ ...LOG, removed: true }],
    ...Object.keys(LOG).map((field) => [{ ...LOG, [field]: field === 'topics' ? ['0x01', '0xab'] : '0x99' }]),
  ].map((logs) => comparedText('eth_getLogs', logs));
  expect(new Set(texts).size).toBe(texts.length);
  const receipt = { transactionHash: '0xcc', status: '0x1', logs: [LOG] };
  const receipts = [null, receipt, { ...receipt, status: '0x0' }, { ...receipt, logs: [] }];
  expect(new Set(receipts.map((one) => comparedText('eth_getTransactionReceipt', one))).size).toBe(4);
});
