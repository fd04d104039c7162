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
const SWEEP = selectorOf('sweep((address,address,uint256)[])');

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
  | { kind: 'sweep'; sweeps: { from: string; token: string; amount: bigint }[] };

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
  throw new BadEncoding('its data calls nothing that the signer knows');
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
