import type { Asset } from '@florin/contract/money';
import { accountOfTron } from '@florin/signer/tron';
import { isNothing, readHex, readList, readNumber, readRecord, unusable } from './node-answers.ts';

/** Selectors of the token. */
const BALANCE_OF = '70a08231';
const TRANSFER = 'a9059cbb';
const ALLOWANCE = 'dd62ed3e';
const APPROVE = '095ea7b3';
/** `decimals()`. */
export const DECIMALS = '313ce567';
/** `paused()`. */
export const PAUSED = '5c975abb';
/** `isBlackListed(address)`, and as USDC spells it. */
export const BLACKLIST: Readonly<Record<Asset, string>> = { USDT: 'e47d6060', USDC: 'fe575a87' };
const WORD_DIGITS = 64;

const word = (digits: string) => digits.toLowerCase().padStart(WORD_DIGITS, '0');
const addressWord = (address: string) => word(accountOfTron(address).slice(2));

/** A question of the token about an account. */
export const flagCall = (selector: string, account: string): string => selector + addressWord(account);

export const balanceCall = (address: string): string => BALANCE_OF + addressWord(address);

/** `transfer(address,uint256)`, hex without `0x`. */
export const transferCall = (to: string, amount: bigint): string =>
  TRANSFER + addressWord(to) + word(amount.toString(16));

export const allowanceCall = (owner: string, spender: string): string =>
  ALLOWANCE + addressWord(owner) + addressWord(spender);

export const approveCall = (spender: string, amount: bigint): string =>
  APPROVE + addressWord(spender) + word(amount.toString(16));

/** The account `0x…` that a transfer pays. */
export const recipientOf = (data: Uint8Array): string =>
  `0x${Buffer.from(data.subarray(16, 36)).toString('hex')}`;

/** The fields of `triggerconstantcontract`, which runs a call and keeps nothing. */
export const constantCall = (caller: string, contract: string, data: string) => ({
  owner_address: caller,
  contract_address: contract,
  data,
  visible: true,
});

export interface ConstantResult {
  /** Hex; undefined: the call reverts. */
  data: string | undefined;
  /** Hex: what it gives back where it reverts. */
  reverted?: string;
  energy: bigint;
}

/** What is known of a call where one endpoint's answer cannot be read: two are asked whether it reverts. */
export const UNKNOWN_CALL: ConstantResult = { data: undefined, energy: 0n };

/** @throws ChainUnavailable */
export function readConstantResult(answer: unknown): ConstantResult {
  const { result, constant_result: words, energy_used: energy, transaction } = readRecord(answer, 'a call');
  const { result: isRun, message } = readRecord(result, 'the result of a call');
  if (isRun !== true) throw unusable(`a call was not run: ${textOf(message)}`);
  const data = readList(words, 'the words of a call')
    .map((one) => readHex(one, 'a word of a call'))
    .join('');
  const hasPassed = message === undefined && !isFailed(transaction);
  return {
    data: hasPassed ? data : undefined,
    ...(!hasPassed && { reverted: data }),
    energy: readNumber(energy, 'the energy of a call'),
  };
}

/** `ret: [{}]` is that of a call that worked, `ret: [{ ret: 'FAILED' }]` of one that reverts. */
function isFailed(transaction: unknown): boolean {
  if (transaction === undefined) return false;
  const { ret } = readRecord(transaction, 'the transaction of a call');
  return !readList(ret ?? [], 'the outcome of a call').every(isNothing);
}

/** Messages of a node are hex, of text. */
export function textOf(message: unknown): string {
  if (typeof message !== 'string') return 'it does not say why';
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(message);
  return (isHex ? Buffer.from(message, 'hex').toString() : message).slice(0, 200);
}
