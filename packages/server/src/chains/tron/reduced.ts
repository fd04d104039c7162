import { CHARGE_TOPICS } from '../collector/charge-logs.ts';
import { digestOf } from '../rpc/compared.ts';
import { type TokensByAccount, TRANSFER_TOPIC } from './listed-tokens.ts';

// What is kept of an answer is what is read of it, spelled one way: fields that a version of the node adds, hex in upper case and defaults
// that are written out make no difference between two nodes. Of logs the transfers of listed tokens and the collector's charges alone are
// kept: a block may hold megabytes of others.

/** Parameters of the chain that are read. */
const PRICES = new Set<unknown>(['getEnergyFee', 'getTransactionFee']);

const CHARGES = new Set(CHARGE_TOPICS.map((topic) => topic.slice(2)));
const SELECTOR_DIGITS = 8;

type Fields = Record<string, unknown>;
type Reduce = (answer: unknown) => unknown;

/** What is kept of logs. */
interface Listed {
  tokens: TokensByAccount;
  /** Its account as logs have it; undefined: no wallet is charged. */
  collector: string | undefined;
}

/** What is kept of the answers to a call, by its name without the view; whatever has another form is kept as it is, and refused by its reader. */
export function reducerOf(
  tokens: TokensByAccount,
  collector?: string,
): (method: string, answer: unknown) => unknown {
  const info = (answer: unknown) => (isObject(answer) ? reduceInfo(answer, { tokens, collector }) : answer);
  const reducers: Record<string, Reduce> = {
    getblock: reduceBlock,
    getblockbylimitnext: reduceBlocks,
    gettransactioninfobyid: info,
    gettransactioninfobyblocknum: (answer) => each(answer, info),
    triggerconstantcontract: reduceCall,
    getchainparameters: reduceParameters,
    getaccount: (answer) => (isObject(answer) ? reduceAccount(answer) : answer),
    getdelegatedresourcev2: (answer) => (isObject(answer) ? reduceLoans(answer) : answer),
  };
  return (method, answer) => (reducers[callOf(method)] ?? ((whole: unknown) => whole))(answer);
}

/** Two answers to the same call, as they were reduced, agree when this text is the same. */
export function comparedText(method: string, reduced: unknown): string {
  if (callOf(method) !== 'triggerconstantcontract' || !isObject(reduced)) return digestOf(reduced);
  // What a call costs follows the state of a node; what it says of a failure is its own.
  const { energy_used: _, result, ...read } = reduced;
  const isObjected = isObject(result) ? [result.result, result.message !== undefined] : result;
  return digestOf([read, isObjected ?? null]);
}

const callOf = (method: string): string => method.split('/')[1] ?? '';

function reduceBlock(answer: unknown): unknown {
  if (!isObject(answer) || !isObject(answer.block_header)) return answer;
  const { blockID, block_header: header, transactions } = answer;
  return present({
    blockID: spelled(blockID),
    block_header: {
      raw_data: isObject(header.raw_data)
        ? pick(header.raw_data, ['number', 'timestamp', 'parentHash', 'txTrieRoot'])
        : header.raw_data,
    },
    transactions: isEmpty(transactions)
      ? undefined
      : each(transactions, (one) => (isObject(one) ? pick(one, ['txID']) : one)),
  });
}

function reduceBlocks(answer: unknown): unknown {
  return isObject(answer) ? { block: each(answer.block, reduceBlock) } : answer;
}

/** `logs`: how many there are; each that is kept has its place among them. */
function reduceInfo(answer: Fields, listed: Listed): Fields {
  const { receipt, log, result, contractResult } = answer;
  const outcome = isObject(receipt) ? pick(receipt, ['result']) : receipt;
  const kept = Array.isArray(log) ? listedAmong(log, listed) : log;
  return present({
    ...pick(answer, ['id', 'blockNumber', 'blockTimeStamp', 'fee']),
    // A default that some nodes write out.
    result: result === 'SUCESS' ? undefined : result,
    receipt: isBare(outcome) ? undefined : outcome,
    logs: Array.isArray(log) ? log.length : undefined,
    log: isEmpty(kept) ? undefined : kept,
    // Of a call that failed, the name of an error.
    contractResult: result === 'FAILED' ? errorIn(contractResult) : undefined,
  });
}

/** A log that is not of the expected form is kept: nobody knows what it is. */
function listedAmong(logs: readonly unknown[], { tokens, collector }: Listed): unknown[] {
  return logs.flatMap((log, place) => {
    if (!isObject(log)) return [log];
    const kept = pick(log, ['address', 'topics', 'data']);
    const [topic] = Array.isArray(kept.topics) ? kept.topics : [];
    const isCollector = kept.address === collector;
    const isOther = isHex(kept.address, 40) && !tokens.has(kept.address) && !isCollector;
    const isOtherEvent = isHex(topic, 64) && !(isCollector ? CHARGES.has(topic) : topic === TRANSFER_TOPIC);
    return isOther || isOtherEvent ? [] : [{ place, ...kept }];
  });
}

/** Versions of the node name other parameters. */
function reduceParameters(answer: unknown): unknown {
  if (!isObject(answer) || !Array.isArray(answer.chainParameter)) return answer;
  const read = answer.chainParameter.filter((one) => PRICES.has(Object(one).key));
  return { chainParameter: read.map((one) => (isObject(one) ? pick(one, ['key', 'value']) : one)) };
}

function reduceCall(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  const { transaction } = answer;
  return present({
    ...pick(answer, ['result', 'constant_result', 'energy_used']),
    transaction: isObject(transaction) ? pick(transaction, ['ret']) : transaction,
  });
}

/** What it holds, what it has staked for energy, and what of that others have. */
function reduceAccount(answer: Fields): Fields {
  const { account_resource: resource, frozenV2: staked } = answer;
  const lent = isObject(resource) ? pick(resource, ['delegated_frozenV2_balance_for_energy']) : resource;
  const own = Array.isArray(staked)
    ? staked
        .filter((one) => !isObject(one) || one.type === 'ENERGY')
        .map((one) => (isObject(one) ? pick(one, ['type', 'amount']) : one))
    : staked;
  return present({
    ...pick(answer, ['address', 'balance']),
    account_resource: isBare(lent) ? undefined : lent,
    frozenV2: isEmpty(own) ? undefined : own,
  });
}

function reduceLoans({ delegatedResource: loans }: Fields): Fields {
  const read = each(loans, (one) =>
    isObject(one) ? pick(one, ['frozen_balance_for_energy', 'expire_time_for_energy']) : one,
  );
  return present({ delegatedResource: isEmpty(read) ? undefined : read });
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return present(Object.fromEntries(names.map((name) => [name, spelled(fields[name])])));
}

/** Without what is left out, null or 0, which are the same. */
function present(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== 0),
  );
}

function errorIn(results: unknown): string | undefined {
  const [only] = Array.isArray(results) ? results.map(spelled) : [];
  return isHex(only, SELECTOR_DIGITS) ? only : undefined;
}

const isHex = (value: unknown, digits: number): value is string =>
  typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value);

/** Hex in lower case; words of the network are in upper case with other letters. */
function spelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spelled);
  return typeof value === 'string' && /^(?:[0-9a-f]{2})+$/i.test(value) ? value.toLowerCase() : value;
}

const isBare = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function each(answer: unknown, view: Reduce): unknown {
  return Array.isArray(answer) ? answer.map(view) : answer;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
