import { base58Of } from './base58.ts';

const SYSTEM = '1'.repeat(32);
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_ACCOUNT = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const BUDGET = 'ComputeBudget111111111111111111111111111111';
/** Of a payment: owner, mint and the programs; the wallet and two token accounts change. */
const PAYMENT = { accounts: 9, readonly: 6 };
/** Of an approval: mint, delegate and two programs; the wallet and its token account change. */
const APPROVAL = { accounts: 6, readonly: 4 };
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const VERSION_0 = 0x80;
/** Of more than 127 the lengths have two bytes. */
const LENGTH_MAX = 127;
const TRANSFER_CHECKED = 12;
const APPROVE_CHECKED = 13;
const CREATE_IDEMPOTENT = 1;
const DECIMALS = 6;
const LIMIT = 2;
const PRICE = 3;
/** A hundredth of a SOL: more for being first would be a swindle. */
const PRIORITY_LAMPORTS_MAX = 10_000_000n;
const MICRO = 1_000_000n;

interface Payment {
  from: string;
  to: string;
  mint: string;
  units: bigint;
}

interface Approval {
  owner: string;
  delegate: string;
  mint: string;
  units: bigint;
}

interface Instruction {
  program: string | undefined;
  accounts: (string | undefined)[];
  data: Uint8Array;
}

/** A little-endian number. */
const numberOf = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);

/** The instructions of an unsigned transaction of one signer with a message of version 0 and no lookup tables. */
function readTransaction(
  bytes: Uint8Array,
  size: typeof PAYMENT,
): { signer: string | undefined; steps: Instruction[] } | undefined {
  let at = 0;
  const take = (count: number) => {
    at += count;
    return bytes.subarray(at - count, at);
  };
  // Above 127 a length has two bytes, and some of them are written in two ways: readers differ in what they make of them.
  let isPlain = true;
  const length = () => {
    const [one = LENGTH_MAX + 1] = take(1);
    isPlain &&= one <= LENGTH_MAX;
    return isPlain ? one : 0;
  };
  const signatures = length();
  const signature = take(SIGNATURE_BYTES);
  const [version, signers, readonlySigners, readonlyOthers] = take(4);
  if (signatures !== 1 || signature.some((byte) => byte !== 0)) return undefined;
  if (version !== VERSION_0 || signers !== 1 || readonlySigners !== 0 || readonlyOthers !== size.readonly)
    return undefined;
  const listed = length();
  const keys = Array.from({ length: listed }, () => base58Of(take(KEY_BYTES)));
  take(KEY_BYTES);
  const steps = Array.from({ length: length() }, (): Instruction => {
    const program = keys[length()];
    const accounts = [...take(length())].map((place) => keys[place]);
    return { program, accounts, data: take(length()) };
  });
  const tables = length();
  const isWhole = isPlain && at === bytes.length && tables === 0 && listed === size.accounts;
  return isWhole ? { signer: keys[0], steps } : undefined;
}

const isSame = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((one, i) => one === b[i]);

/** Limit and price of the compute units, and a priority fee that is no swindle. */
const isCheap = (limit: Instruction | undefined, price: Instruction | undefined): boolean =>
  limit?.program === BUDGET &&
  price?.program === BUDGET &&
  limit.accounts.length === 0 &&
  price.accounts.length === 0 &&
  limit.data.length === 5 &&
  price.data.length === 9 &&
  limit.data[0] === LIMIT &&
  price.data[0] === PRICE &&
  numberOf(limit.data.subarray(1)) * numberOf(price.data.subarray(1)) <= PRIORITY_LAMPORTS_MAX * MICRO;

/** Whether an instruction of the token program is that one, for so many units. */
const isFor = ({ data }: Instruction, code: number, units: bigint): boolean =>
  data.length === 10 && data[0] === code && data[9] === DECIMALS && numberOf(data.subarray(1, 9)) === units;

/**
 * Whether a transaction lets the delegate take exactly that much of one token account of the owner's, and does nothing else. That the
 * account is the owner's, and of that token, the network itself checks.
 */
export function approvesDue(bytes: Uint8Array, { owner, delegate, mint, units }: Approval): boolean {
  const read = readTransaction(bytes, APPROVAL);
  if (read === undefined || read.signer !== owner || read.steps.length !== 3) return false;
  const [limit, price, approve] = read.steps;
  const [source] = approve?.accounts ?? [];
  return (
    isCheap(limit, price) &&
    approve?.program === TOKEN &&
    isSame(approve.accounts, [source, mint, delegate, owner]) &&
    source !== undefined &&
    ![owner, delegate, mint, TOKEN, BUDGET].includes(source) &&
    isFor(approve, APPROVE_CHECKED, units)
  );
}

/**
 * Whether a transaction pays exactly that and does nothing else. That the account which receives is that of `to` is what the network
 * itself checks: the instruction before opens it, or fails where it is another's.
 */
export function paysDue(bytes: Uint8Array, { from, to, mint, units }: Payment): boolean {
  const read = readTransaction(bytes, PAYMENT);
  if (read === undefined || read.signer !== from || read.steps.length !== 4) return false;
  const [limit, price, create, transfer] = read.steps;
  const [source, , destination] = transfer?.accounts ?? [];
  const opens =
    create?.program === TOKEN_ACCOUNT &&
    isSame([...create.data], [CREATE_IDEMPOTENT]) &&
    isSame(create.accounts, [from, destination, to, mint, SYSTEM, TOKEN]);
  const pays =
    transfer?.program === TOKEN &&
    isSame(transfer.accounts, [source, mint, destination, from]) &&
    source !== undefined &&
    ![from, destination, to, mint, SYSTEM, TOKEN, TOKEN_ACCOUNT, BUDGET].includes(source) &&
    isFor(transfer, TRANSFER_CHECKED, units);
  return isCheap(limit, price) && opens && pays;
}
