import { type Address, type Hex, parseEventLogs } from 'viem';
import type { TxStatus } from '../port/port.ts';
import { BatchPayout, Sweeper } from './artifacts.ts';
import type { Content } from './content.ts';
import { COLLECTOR_ABI, TOKEN_ABI } from './contracts.ts';
import { readAddress, readBytes, readList, readQuantity, readRecord, unusable } from './node-answers.ts';

/** What a receipt says of a transaction of ours. */
export interface Receipt {
  height: bigint;
  blockHash: Hex;
  /** False: it reverted. Its sequence is used up and nothing has moved. */
  hasSucceeded: boolean;
  gasUsed: bigint;
  /** Native coin spent. */
  fee: bigint;
  logs: readonly Log[];
}

interface Log {
  address: Address;
  topics: Hex[];
  data: Hex;
}

/**
 * Reads `eth_getTransactionReceipt`.
 *
 * @returns undefined for null: the node knows no such transaction in a block
 * @throws ChainUnavailable for anything else than a receipt of that transaction
 */
export function readReceipt(answer: unknown, txId: string): Receipt | undefined {
  if (answer === null) return undefined;
  const receipt = readRecord(answer, 'receipt');
  if (readBytes(receipt.transactionHash, 'transactionHash') !== txId) {
    throw unusable('the receipt of another transaction');
  }
  const status = readQuantity(receipt.status, 'status');
  const gasUsed = readQuantity(receipt.gasUsed, 'gasUsed');
  return {
    height: readQuantity(receipt.blockNumber, 'blockNumber'),
    blockHash: readBytes(receipt.blockHash, 'blockHash'),
    hasSucceeded: status === 1n,
    gasUsed,
    fee: gasUsed * readQuantity(receipt.effectiveGasPrice, 'effectiveGasPrice'),
    logs: readList(receipt.logs, 'logs').map(readLog),
  };
}

function readLog(value: unknown): Log {
  const log = readRecord(value, 'log');
  return {
    address: readAddress(log.address, 'address'),
    topics: readList(log.topics, 'topics').map((topic) => readBytes(topic, 'topic')),
    data: readBytes(log.data, 'data'),
  };
}

/** What became of each item, in the order of the bytes. */
export type ItemOutcomes = Pick<Required<TxStatus>, 'itemOk'> & Pick<TxStatus, 'paidBefore'>;

/**
 * By events of the contract that the bytes call, and of the token: never by what a call returned. An item without an event
 * was not paid.
 */
export function itemOutcomes(content: Content, sender: Address, receipt: Receipt): ItemOutcomes {
  switch (content.kind) {
    case 'batch':
      return batchOutcomes(content, sender, receipt.logs);
    case 'sweep':
      return { itemOk: sweepOutcomes(content, receipt.logs) };
    case 'transfer':
      return { itemOk: [hasTransferred(content, sender, receipt.logs)] };
    case 'charge':
      return chargeOutcome(content, receipt.logs);
    case 'movement':
      return { itemOk: [] };
  }
}

function batchOutcomes(
  { contract, group, places }: Extract<Content, { kind: 'batch' }>,
  sender: Address,
  logs: readonly Log[],
): ItemOutcomes {
  const paid = new Set<bigint>();
  const before = new Set<bigint>();
  for (const { eventName, args } of eventsOf(BatchPayout.abi, contract, logs)) {
    if (args.from !== sender || args.group !== group) continue;
    if (eventName === 'PaidBefore') before.add(args.index);
    else if (args.ok) paid.add(args.index);
  }
  const itemOk = places.map((place) => paid.has(place) || before.has(place));
  return before.size === 0
    ? { itemOk }
    : { itemOk, paidBefore: places.map((place) => before.has(place) && !paid.has(place)) };
}

/** Its events come in the order of the calls; an address may be swept of two assets. */
function sweepOutcomes(
  { contract, sweeps }: Extract<Content, { kind: 'sweep' }>,
  logs: readonly Log[],
): boolean[] {
  const moved = new Set(
    eventsOf(Sweeper.abi, contract, logs)
      .filter(({ args }) => args.ok)
      .map(({ args }) => `${args.from} ${args.token} ${args.amount}`),
  );
  return sweeps.map(({ from, token, amount }) => moved.has(`${from} ${token} ${amount}`));
}

function chargeOutcome(
  { contract, account, id }: Extract<Content, { kind: 'charge' }>,
  logs: readonly Log[],
): ItemOutcomes {
  const own = eventsOf(COLLECTOR_ABI, contract, logs).filter(
    ({ args }) => args.account === account && args.id === id,
  );
  const names = own.map(({ eventName }) => eventName);
  const itemOk = [names.includes('Charged')];
  return names.includes('ChargedBefore') ? { itemOk, paidBefore: [true] } : { itemOk };
}

/** A token that takes a fee reports less than was sent. */
function hasTransferred(
  { token, to, amount }: Extract<Content, { kind: 'transfer' }>,
  sender: Address,
  logs: readonly Log[],
): boolean {
  return eventsOf(TOKEN_ABI, token, logs).some(
    ({ args }) => args.from === sender && args.to === to && args.value > 0n && args.value <= amount,
  );
}

function eventsOf<
  const abi extends typeof BatchPayout.abi | typeof Sweeper.abi | typeof TOKEN_ABI | typeof COLLECTOR_ABI,
>(abi: abi, contract: Address, logs: readonly Log[]) {
  const own = logs.filter(({ address }) => address === contract);
  return parseEventLogs({ abi, logs: own.map(toRpcLog) });
}

/** The fields of a log that decoding looks at, in the form that viem wants. */
function toRpcLog({ address, topics, data }: Log) {
  const [signature, ...indexed] = topics;
  return {
    address,
    data,
    topics: (signature === undefined ? [] : [signature, ...indexed]) as [Hex, ...Hex[]] | [],
    blockHash: null,
    blockNumber: null,
    logIndex: null,
    transactionHash: null,
    transactionIndex: null,
    removed: false,
  } as const;
}
