import { digestOf } from '../rpc/compared.ts';

// What two nodes must agree on. Nodes of different makers add fields of their own, so of the large answers only what is
// used is compared.

const LOG = [
  'address',
  'topics',
  'data',
  'blockNumber',
  'blockHash',
  'transactionHash',
  'logIndex',
  'removed',
];
const BLOCK = ['number', 'hash', 'parentHash', 'timestamp', 'baseFeePerGas'];
const RECEIPT = [
  'transactionHash',
  'blockHash',
  'blockNumber',
  'from',
  'to',
  'status',
  'gasUsed',
  'effectiveGasPrice',
  'contractAddress',
];
const TRANSACTION = ['hash', 'blockHash', 'blockNumber', 'from', 'to', 'nonce', 'input', 'value'];

type View = (answer: unknown) => unknown;

const VIEWS: Record<string, View> = {
  eth_getLogs: (answer) => each(answer, (log) => fields(log, LOG)),
  eth_getBlockByNumber: (answer) => fields(answer, BLOCK),
  eth_getBlockByHash: (answer) => fields(answer, BLOCK),
  eth_getTransactionByHash: (answer) => fields(answer, TRANSACTION),
  eth_getTransactionReceipt: receipt,
  eth_getBlockReceipts: (answer) => each(answer, receipt),
};

/** Two answers to the same call agree when this text is the same. */
export function comparedText(method: string, answer: unknown): string {
  const seen = (VIEWS[method] ?? ((whole: unknown) => whole))(answer);
  return digestOf(seen);
}

function receipt(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  return [fields(answer, RECEIPT), each(answer.logs, (log) => fields(log, LOG))];
}

function each(answer: unknown, view: View): unknown {
  return Array.isArray(answer) ? answer.map(view) : answer;
}

/** An absent field and one that is null are the same. Addresses and bytes differ in case between nodes. */
function fields(answer: unknown, names: readonly string[]): unknown {
  if (!isObject(answer)) return answer;
  return names.map((name) => lowered(name === 'removed' ? answer[name] === true : (answer[name] ?? null)));
}

function lowered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowered);
  return typeof value === 'string' ? value.toLowerCase() : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
