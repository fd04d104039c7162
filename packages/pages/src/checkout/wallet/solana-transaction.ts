const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const SYSTEM = '1'.repeat(32);
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_ACCOUNT = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const BUDGET = 'ComputeBudget111111111111111111111111111111';
/** Owner, mint and the programs; the wallet and two token accounts change. */
const READONLY = 6;
const ACCOUNTS = 9;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const VERSION_0 = 0x80;
/** Of more than 127 the lengths have two bytes. */
const LENGTH_MAX = 127;
const TRANSFER_CHECKED = 12;
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

interface Instruction {
  program: string | undefined;
  accounts: (string | undefined)[];
  data: Uint8Array;
}

/** In base58, as addresses are written. */
function base58Of(bytes: Uint8Array): string {
  let rest = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; rest > 0n; rest /= 58n) text = `${ALPHABET[Number(rest % 58n)]}${text}`;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + text;
}

/** A little-endian number. */
const numberOf = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);

/** The instructions of an unsigned transaction of one signer with a message of version 0 and no lookup tables. */
function readTransaction(
  bytes: Uint8Array,
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
  if (version !== VERSION_0 || signers !== 1 || readonlySigners !== 0 || readonlyOthers !== READONLY)
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
  const isWhole = isPlain && at === bytes.length && tables === 0 && listed === ACCOUNTS;
  return isWhole ? { signer: keys[0], steps } : undefined;
}

const isSame = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((one, i) => one === b[i]);

/**
 * Whether a transaction pays exactly that and does nothing else. That the account which receives is that of `to` is what the network
 * itself checks: the instruction before opens it, or fails where it is another's.
 */
export function paysDue(bytes: Uint8Array, { from, to, mint, units }: Payment): boolean {
  const read = readTransaction(bytes);
  if (read === undefined || read.signer !== from || read.steps.length !== 4) return false;
  const [limit, price, create, transfer] = read.steps;
  const [source, , destination] = transfer?.accounts ?? [];
  const isCheap =
    limit?.program === BUDGET &&
    price?.program === BUDGET &&
    limit.accounts.length === 0 &&
    price.accounts.length === 0 &&
    limit.data.length === 5 &&
    price.data.length === 9 &&
    limit.data[0] === LIMIT &&
    price.data[0] === PRICE &&
    numberOf(limit.data.subarray(1)) * numberOf(price.data.subarray(1)) <= PRIORITY_LAMPORTS_MAX * MICRO;
  const opens =
    create?.program === TOKEN_ACCOUNT &&
    isSame([...create.data], [CREATE_IDEMPOTENT]) &&
    isSame(create.accounts, [from, destination, to, mint, SYSTEM, TOKEN]);
  const pays =
    transfer?.program === TOKEN &&
    isSame(transfer.accounts, [source, mint, destination, from]) &&
    source !== undefined &&
    ![from, destination, to, mint, SYSTEM, TOKEN, TOKEN_ACCOUNT, BUDGET].includes(source) &&
    transfer.data.length === 10 &&
    transfer.data[0] === TRANSFER_CHECKED &&
    transfer.data[9] === DECIMALS &&
    numberOf(transfer.data.subarray(1, 9)) === units;
  return isCheap && opens && pays;
}
