import { concat } from '../bytes.ts';
import { BadEncoding } from '../rlp.ts';
import {
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_ACCOUNT_PROGRAM,
  TOKEN_PROGRAM,
} from './address.ts';

/** What a message does, step by step; addresses in base58. */
export type SolanaInstruction =
  /** The most compute units that all steps may use. */
  | { kind: 'computeLimit'; units: number }
  /** The priority fee of each of them, in millionths of a lamport. */
  | { kind: 'computePrice'; microLamports: bigint }
  | { kind: 'memo'; text: string }
  /** Opens an owner's account for a token, where there is none. */
  | { kind: 'createTokenAccount'; payer: string; account: string; owner: string; mint: string }
  | {
      kind: 'transfer';
      source: string;
      mint: string;
      destination: string;
      /** The owner of `source`, or its delegate. */
      authority: string;
      amount: bigint;
      decimals: number;
    }
  /** Lets a delegate take so much; it replaces whatever delegate there is. */
  | {
      kind: 'approve';
      source: string;
      mint: string;
      delegate: string;
      owner: string;
      amount: bigint;
      decimals: number;
    }
  | { kind: 'revoke'; source: string; owner: string }
  /** Closes an empty account; its rent goes to `destination`. */
  | { kind: 'close'; account: string; destination: string; owner: string };

/** Whether an instruction's account signs, and whether it may change. */
export interface AccountUse {
  address: string;
  signs: boolean;
  changes: boolean;
}

export interface RawInstruction {
  program: string;
  accounts: readonly AccountUse[];
  data: Uint8Array;
}

/** Of data that is empty. */
const NO_CODE = -1;
const COMPUTE_LIMIT = 2;
const COMPUTE_PRICE = 3;
const CREATE_IDEMPOTENT = 1;
const REVOKE = 5;
const CLOSE_ACCOUNT = 9;
const TRANSFER_CHECKED = 12;
const APPROVE_CHECKED = 13;

const reads = (address: string): AccountUse => ({ address, signs: false, changes: false });
const changes = (address: string): AccountUse => ({ address, signs: false, changes: true });
const signs = (address: string): AccountUse => ({ address, signs: true, changes: false });
const pays = (address: string): AccountUse => ({ address, signs: true, changes: true });

/**
 * Reads one instruction of those that are signed. Which of its accounts sign and change is the message's to compare.
 *
 * @throws BadEncoding
 */
export function readInstruction(
  program: string,
  accounts: readonly string[],
  data: Uint8Array,
): SolanaInstruction {
  switch (program) {
    case COMPUTE_BUDGET_PROGRAM:
      return readCompute(accounts, data);
    case MEMO_PROGRAM:
      exactly(accounts, 0, 'a memo');
      return { kind: 'memo', text: textOf(data) };
    case TOKEN_ACCOUNT_PROGRAM:
      return readCreate(accounts, data);
    case TOKEN_PROGRAM:
      return readToken(accounts, data);
    default:
      throw new BadEncoding(`it calls the program ${program}, for which nothing is signed`);
  }
}

function readCompute(accounts: readonly string[], data: Uint8Array): SolanaInstruction {
  exactly(accounts, 0, 'an instruction of the compute budget');
  const [code = NO_CODE] = data;
  switch (code) {
    case COMPUTE_LIMIT:
      return { kind: 'computeLimit', units: Number(numberIn(data, 1, 4, 'a compute limit')) };
    case COMPUTE_PRICE:
      return { kind: 'computePrice', microLamports: numberIn(data, 1, 8, 'a compute price') };
    default:
      throw new BadEncoding('it calls something else of the compute budget than limit and price');
  }
}

function readCreate(accounts: readonly string[], data: Uint8Array): SolanaInstruction {
  if (data.length !== 1 || data[0] !== CREATE_IDEMPOTENT)
    throw new BadEncoding('token accounts are opened where there is none, by an instruction of one byte');
  const [payer = '', account = '', owner = '', mint = '', system, token] = exactly(
    accounts,
    6,
    'opening a token account',
  );
  if (system !== SYSTEM_PROGRAM || token !== TOKEN_PROGRAM)
    throw new BadEncoding('a token account is opened by another program than the token program');
  return { kind: 'createTokenAccount', payer, account, owner, mint };
}

function readToken(accounts: readonly string[], data: Uint8Array): SolanaInstruction {
  const [code = NO_CODE] = data;
  switch (code) {
    case TRANSFER_CHECKED: {
      const [source = '', mint = '', destination = '', authority = ''] = exactly(accounts, 4, 'a transfer');
      return { kind: 'transfer', source, mint, destination, authority, ...checkedAmount(data, 'a transfer') };
    }
    case APPROVE_CHECKED: {
      const [source = '', mint = '', delegate = '', owner = ''] = exactly(accounts, 4, 'an approval');
      return { kind: 'approve', source, mint, delegate, owner, ...checkedAmount(data, 'an approval') };
    }
    case REVOKE: {
      const [source = '', owner = ''] = exactly(accounts, 2, 'a revocation');
      withoutData(data, 'a revocation');
      return { kind: 'revoke', source, owner };
    }
    case CLOSE_ACCOUNT: {
      const [account = '', destination = '', owner = ''] = exactly(accounts, 3, 'closing an account');
      withoutData(data, 'closing an account');
      return { kind: 'close', account, destination, owner };
    }
    default:
      throw new BadEncoding(`it calls instruction ${code} of the token program, which is not signed`);
  }
}

function exactly(accounts: readonly string[], count: number, what: string): readonly string[] {
  if (accounts.length !== count)
    throw new BadEncoding(`${what} names ${accounts.length} accounts, not ${count}`);
  return accounts;
}

function withoutData(data: Uint8Array, what: string): void {
  if (data.length !== 1) throw new BadEncoding(`${what} has data`);
}

function checkedAmount(data: Uint8Array, what: string): { amount: bigint; decimals: number } {
  const number = numberIn(data, 1, 9, what);
  return { amount: number & 0xffff_ffff_ffff_ffffn, decimals: Number(number >> 64n) };
}

/** The last thing in the data, lowest byte first. */
function numberIn(data: Uint8Array, from: number, bytes: number, what: string): bigint {
  if (data.length !== from + bytes) throw new BadEncoding(`${what} has data of another length`);
  return data.subarray(from).reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** Without zero characters, which readers of memos leave out. */
function textOf(data: Uint8Array): string {
  const text = decodeUtf8(data);
  if (text === undefined || text.includes('\0')) throw new BadEncoding('a memo is no text of UTF-8');
  return text;
}

function decodeUtf8(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return undefined;
  }
}

/** As the network takes it: `readInstruction` reads it back. */
export function writeInstruction(one: SolanaInstruction): RawInstruction {
  switch (one.kind) {
    case 'computeLimit':
      return raw(COMPUTE_BUDGET_PROGRAM, [], COMPUTE_LIMIT, littleEndian(BigInt(one.units), 4));
    case 'computePrice':
      return raw(COMPUTE_BUDGET_PROGRAM, [], COMPUTE_PRICE, littleEndian(one.microLamports, 8));
    case 'memo':
      return { program: MEMO_PROGRAM, accounts: [], data: new TextEncoder().encode(one.text) };
    case 'createTokenAccount': {
      const { payer, account, owner, mint } = one;
      const programs = [reads(SYSTEM_PROGRAM), reads(TOKEN_PROGRAM)];
      const accounts = [pays(payer), changes(account), reads(owner), reads(mint), ...programs];
      return raw(TOKEN_ACCOUNT_PROGRAM, accounts, CREATE_IDEMPOTENT);
    }
    case 'transfer': {
      const { source, mint, destination, authority } = one;
      const accounts = [changes(source), reads(mint), changes(destination), signs(authority)];
      return raw(TOKEN_PROGRAM, accounts, TRANSFER_CHECKED, amountBytes(one));
    }
    case 'approve': {
      const { source, mint, delegate, owner } = one;
      const accounts = [changes(source), reads(mint), reads(delegate), signs(owner)];
      return raw(TOKEN_PROGRAM, accounts, APPROVE_CHECKED, amountBytes(one));
    }
    case 'revoke':
      return raw(TOKEN_PROGRAM, [changes(one.source), signs(one.owner)], REVOKE);
    case 'close':
      return raw(
        TOKEN_PROGRAM,
        [changes(one.account), changes(one.destination), signs(one.owner)],
        CLOSE_ACCOUNT,
      );
  }
}

const raw = (
  program: string,
  accounts: readonly AccountUse[],
  code: number,
  data: Uint8Array = new Uint8Array(),
): RawInstruction => ({ program, accounts, data: concat(Uint8Array.of(code), data) });

const amountBytes = ({ amount, decimals }: { amount: bigint; decimals: number }) =>
  concat(littleEndian(amount, 8), littleEndian(BigInt(decimals), 1));

/** @throws RangeError */
function littleEndian(number: bigint, bytes: number): Uint8Array {
  if (number < 0n || number >> BigInt(8 * bytes) !== 0n)
    throw new RangeError(`${number} does not fit ${bytes} bytes`);
  return Uint8Array.from({ length: bytes }, (_, i) => Number((number >> BigInt(8 * i)) & 0xffn));
}
