import { addressBytes, addressOf } from './address.ts';
import { bytesOf, concat, isEqual, keccak, numberOf } from './bytes.ts';
import { BadEncoding } from './rlp.ts';

const WORD = 32;
const SELECTOR = 4;
const ADDRESS_PADDING = new Uint8Array(12);

const selectorOf = (signature: string) => keccak(new TextEncoder().encode(signature)).subarray(0, SELECTOR);

const TRANSFER = selectorOf('transfer(address,uint256)');
const APPROVE = selectorOf('approve(address,uint256)');
const PAY = selectorOf('pay(address,bytes32,(uint256,address,uint256)[])');
const IS_PAID = selectorOf('isPaid(address,bytes32,uint256)');
const SWEEP = selectorOf('sweep((address,address,uint256)[])');
const MANDATE = '(address,address,bytes32,uint64,uint32,uint16,uint40,uint40,bytes32)';
const SET_OPERATOR = selectorOf('setOperator(bytes32,address)');
const MOVE_HOME = selectorOf('moveHome(bytes32,address)');
const OPEN = selectorOf('open(address,address,address)');
const ACTIVATE = selectorOf(`activate(${MANDATE},bytes)`);
const ACTIVATE_WITH_PERMIT = selectorOf(
  `activateWithPermit(${MANDATE},bytes,(uint256,uint256,uint8,bytes32,bytes32))`,
);
const CHARGE = selectorOf(`charge(${MANDATE},(bytes32,bytes32,uint64,uint32,uint32))`);

/** A payer's mandate at the collector, as far as the signer compares it. */
export interface MandateWords {
  payer: string;
  token: string;
  /** Whose: `collectorAccount` of a merchant. */
  account: Uint8Array;
  /** Cap, period, subscriptions, start, end and salt. */
  terms: readonly Uint8Array[];
}

/** A call of a contract that the signer knows, as read from a transaction's data. */
export type Call =
  | { kind: 'transfer'; to: string; amount: bigint }
  | { kind: 'approve'; spender: string; amount: bigint }
  | {
      kind: 'pay';
      token: string;
      group: Uint8Array;
      payments: { index: bigint; to: string; amount: bigint }[];
    }
  | { kind: 'sweep'; sweeps: { from: string; token: string; amount: bigint }[] }
  | { kind: 'open'; owner: string; operator: string; home: string }
  /** The payer's signature is the collector's to check; `permit` is empty where none goes with it. */
  | { kind: 'activate'; mandate: MandateWords; signature: Uint8Array; permit: readonly Uint8Array[] }
  | {
      kind: 'charge';
      mandate: MandateWords;
      id: Uint8Array;
      subscription: Uint8Array;
      amount: bigint;
      windowStart: bigint;
      windowEnd: bigint;
    };

/**
 * Reads calldata. Each call has one encoding, the one that compilers make: any other one is refused.
 *
 * @throws BadEncoding
 */
export function decodeCall(data: Uint8Array): Call {
  const selector = data.subarray(0, SELECTOR);
  const words = wordsOf(data.subarray(SELECTOR));
  if (isEqual(selector, TRANSFER)) {
    const [to, amount] = exactly(words, 2);
    return { kind: 'transfer', to: addressIn(to), amount: numberIn(amount) };
  }
  if (isEqual(selector, APPROVE)) {
    const [spender, amount] = exactly(words, 2);
    return { kind: 'approve', spender: addressIn(spender), amount: numberIn(amount) };
  }
  if (isEqual(selector, PAY)) {
    const [token, group, offset] = words;
    const payments = triples(words, 3, offset).map(([index, to, amount]) => ({
      index: numberIn(index),
      to: addressIn(to),
      amount: numberIn(amount),
    }));
    return { kind: 'pay', token: addressIn(token), group: wordIn(group), payments };
  }
  if (isEqual(selector, SWEEP)) {
    const sweeps = triples(words, 1, words[0]).map(([from, token, amount]) => ({
      from: addressIn(from),
      token: addressIn(token),
      amount: numberIn(amount),
    }));
    return { kind: 'sweep', sweeps };
  }
  return decodeCollectorCall(selector, words);
}

const MANDATE_WORDS = 9;
/** Bits of its terms: cap, period, subscriptions, start, end, salt. */
const TERM_BITS = [64, 32, 16, 40, 40, 256];
/** Bits of a permit: value, deadline, v, r, s. */
const PERMIT_BITS = [256, 256, 8, 256, 256];

function decodeCollectorCall(selector: Uint8Array, words: readonly Uint8Array[]): Call {
  if (isEqual(selector, OPEN)) {
    const [owner, operator, home] = exactly(words, 3);
    return { kind: 'open', owner: addressIn(owner), operator: addressIn(operator), home: addressIn(home) };
  }
  if (isEqual(selector, CHARGE)) {
    const [id, subscription, amount, windowStart, windowEnd] = exactly(words, MANDATE_WORDS + 5).slice(
      MANDATE_WORDS,
    );
    return {
      kind: 'charge',
      mandate: mandateIn(words),
      id: wordIn(id),
      subscription: wordIn(subscription),
      amount: uintIn(amount, 64),
      windowStart: uintIn(windowStart, 32),
      windowEnd: uintIn(windowEnd, 32),
    };
  }
  const hasPermit = isEqual(selector, ACTIVATE_WITH_PERMIT);
  if (!hasPermit && !isEqual(selector, ACTIVATE))
    throw new BadEncoding('its data calls nothing that the signer knows');
  const before = MANDATE_WORDS + 1 + (hasPermit ? PERMIT_BITS.length : 0);
  return {
    kind: 'activate',
    mandate: mandateIn(words),
    signature: bytesIn(words, before, words[MANDATE_WORDS]),
    permit: hasPermit ? bounded(words.slice(MANDATE_WORDS + 1, before), PERMIT_BITS) : [],
  };
}

function mandateIn(words: readonly Uint8Array[]): MandateWords {
  const [payer, token, account, ...rest] = words;
  const terms = bounded(rest, TERM_BITS);
  return { payer: addressIn(payer), token: addressIn(token), account: wordIn(account), terms };
}

/** The first of these words, each within so many bits. */
function bounded(words: readonly Uint8Array[], bits: readonly number[]): Uint8Array[] {
  return bits.map((most, i) => {
    uintIn(words[i], most);
    return wordIn(words[i]);
  });
}

function uintIn(word: Uint8Array | undefined, bits: number): bigint {
  const number = numberIn(word);
  if (number >> BigInt(bits) !== 0n) throw new BadEncoding(`a number has more than ${bits} bits`);
  return number;
}

/** The only bytes of a call, behind `before` words: their length, then themselves with zeros up to a whole word. */
function bytesIn(words: readonly Uint8Array[], before: number, offset: Uint8Array | undefined): Uint8Array {
  if (numberIn(offset) !== BigInt(before * WORD)) throw new BadEncoding('bytes are not where they should be');
  const length = numberIn(words[before]);
  const padded = concat(...words.slice(before + 1));
  if (length > BigInt(padded.length) || BigInt(padded.length) - length >= BigInt(WORD))
    throw new BadEncoding('bytes have another length');
  const end = Number(length);
  if (padded.subarray(end).some((byte) => byte !== 0)) throw new BadEncoding('bytes do not end in zeros');
  return padded.slice(0, end);
}

/** A list of triples behind `before` words, the last of which is its offset. */
function triples(
  words: readonly Uint8Array[],
  before: number,
  offset: Uint8Array | undefined,
): Uint8Array[][] {
  if (numberIn(offset) !== BigInt(before * WORD)) throw new BadEncoding('a list is not where it should be');
  const count = numberIn(words[before]);
  const rest = words.slice(before + 1);
  if (count * 3n !== BigInt(rest.length)) throw new BadEncoding('a list has another length');
  return Array.from({ length: Number(count) }, (_, i) => rest.slice(3 * i, 3 * i + 3));
}

function wordsOf(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length % WORD !== 0) throw new BadEncoding('its data is not of whole words');
  return Array.from({ length: bytes.length / WORD }, (_, i) => bytes.slice(i * WORD, (i + 1) * WORD));
}

function exactly(words: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  if (words.length !== count) throw new BadEncoding('its data has another length');
  return words;
}

function wordIn(word: Uint8Array | undefined): Uint8Array {
  if (word === undefined) throw new BadEncoding('its data ends early');
  return word;
}

const numberIn = (word: Uint8Array | undefined) => numberOf(wordIn(word));

function addressIn(word: Uint8Array | undefined): string {
  const bytes = wordIn(word);
  if (!isEqual(bytes.subarray(0, ADDRESS_PADDING.length), ADDRESS_PADDING))
    throw new BadEncoding('an address has more than 20 bytes');
  return addressOf(bytes.subarray(ADDRESS_PADDING.length));
}

/** An address as an argument of a call or constructor. */
export const addressWord = (address: string) => concat(ADDRESS_PADDING, addressBytes(address));

function numberWord(number: bigint): Uint8Array {
  const bytes = bytesOf(number);
  return concat(new Uint8Array(WORD - bytes.length), bytes);
}

const mandateBytes = ({ payer, token, account, terms }: MandateWords) =>
  concat(addressWord(payer), addressWord(token), account, ...terms);

/** What the owner of an account says to the collector. No request of a server is read as one of these. */
export const ownerCallData = (what: 'operator' | 'home', account: Uint8Array, address: string): Uint8Array =>
  concat(what === 'operator' ? SET_OPERATOR : MOVE_HOME, account, addressWord(address));

/** Asks the payout contract whether it has paid an item for a sender. */
export const isPaidData = (sender: string, group: Uint8Array, index: bigint): Uint8Array =>
  concat(IS_PAID, addressWord(sender), group, numberWord(index));

/** The data of a call: `decodeCall` reads it back. */
export function encodeCall(call: Call): Uint8Array {
  switch (call.kind) {
    case 'transfer':
      return concat(TRANSFER, addressWord(call.to), numberWord(call.amount));
    case 'approve':
      return concat(APPROVE, addressWord(call.spender), numberWord(call.amount));
    case 'pay':
      return concat(
        PAY,
        addressWord(call.token),
        call.group,
        ...[BigInt(3 * WORD), BigInt(call.payments.length)].map(numberWord),
        ...call.payments.flatMap(({ index, to, amount }) => [
          numberWord(index),
          addressWord(to),
          numberWord(amount),
        ]),
      );
    case 'open':
      return concat(OPEN, ...[call.owner, call.operator, call.home].map(addressWord));
    case 'activate':
      return concat(
        call.permit.length > 0 ? ACTIVATE_WITH_PERMIT : ACTIVATE,
        mandateBytes(call.mandate),
        numberWord(BigInt((MANDATE_WORDS + 1 + call.permit.length) * WORD)),
        ...call.permit,
        numberWord(BigInt(call.signature.length)),
        call.signature,
        new Uint8Array((WORD - (call.signature.length % WORD)) % WORD),
      );
    case 'charge':
      return concat(
        CHARGE,
        mandateBytes(call.mandate),
        call.id,
        call.subscription,
        ...[call.amount, call.windowStart, call.windowEnd].map(numberWord),
      );
    case 'sweep':
      return concat(
        SWEEP,
        ...[BigInt(WORD), BigInt(call.sweeps.length)].map(numberWord),
        ...call.sweeps.flatMap(({ from, token, amount }) => [
          addressWord(from),
          addressWord(token),
          numberWord(amount),
        ]),
      );
  }
}
