import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { concat, isEqual } from '../bytes.ts';
import { BadEncoding } from '../rlp.ts';
import { SOLANA_KEY_BYTES, solanaAddressBytes, solanaAddressOf } from './address.ts';
import {
  type AccountUse,
  type RawInstruction,
  readInstruction,
  type SolanaInstruction,
  writeInstruction,
} from './instruction.ts';
import { Reader, writeLength } from './wire.ts';

/** All that the signatures of a transaction cover. It takes no accounts from lookup tables. */
export interface SolanaMessage {
  version: 'legacy' | 0;
  /** Signs first and pays fee and rent. */
  feePayer: string;
  /** In base58. The message is dead once this block is 150 blocks old. */
  blockhash: string;
  instructions: readonly SolanaInstruction[];
}

const VERSIONED = 0x80;
const SIGNATURE_BYTES = 64;
/** Of a packet: no node takes a larger transaction. */
const TRANSACTION_BYTES_MAX = 1232;

/**
 * Reads a message. Only instructions that are signed stand in it, and each account has exactly the rights that they need.
 *
 * @throws BadEncoding unless the bytes are the one form of that message
 */
export function decodeSolanaMessage(bytes: Uint8Array): SolanaMessage {
  // Before any work: the keys of a large text cost seconds.
  checkSize(1, bytes.length);
  const [first = 0] = bytes;
  if (first > VERSIONED) throw new BadEncoding(`messages of version ${first - VERSIONED} are not signed`);
  const version = first === VERSIONED ? 0 : 'legacy';
  const reader = new Reader(version === 0 ? bytes.subarray(1) : bytes);
  const header = [reader.byte(), reader.byte(), reader.byte()] as const;
  const keys = reader.list(() => solanaAddressOf(reader.take(SOLANA_KEY_BYTES)));
  const blockhash = base58.encode(reader.take(SOLANA_KEY_BYTES));
  if (new Set(keys).size < keys.length) throw new BadEncoding('it lists an account twice');
  const keyAt = (index: number) => {
    const key = keys[index];
    if (key === undefined) throw new BadEncoding(`it names account ${index} of ${keys.length}`);
    return key;
  };
  const instructions = reader.list(() => {
    const program = keyAt(reader.byte());
    const accounts = reader.list(() => keyAt(reader.byte()));
    return readInstruction(program, accounts, reader.take(reader.length()));
  });
  if (version === 0 && reader.length() > 0) throw new BadEncoding('it takes accounts from a lookup table');
  reader.end();
  const message = { version, feePayer: keyAt(0), blockhash, instructions } as const;
  checkRights(message, header, keys);
  checkSize(header[0], bytes.length);
  if (!isEqual(encodeSolanaMessage(message), bytes))
    throw new BadEncoding('its accounts are in another order');
  return message;
}

type Header = readonly [signers: number, readonlySigners: number, readonlyOthers: number];

/** Compares the rights that the header gives with those that the instructions need. */
function checkRights(message: SolanaMessage, header: Header, keys: readonly string[]): void {
  const needed = new Map(accountsOf(message).map((use) => [use.address, use]));
  const [signers, readonlySigners, readonlyOthers] = header;
  for (const [index, key] of keys.entries()) {
    const use = needed.get(key);
    if (use === undefined) throw new BadEncoding(`nothing in it needs the account ${key}`);
    if (use.signs !== index < signers)
      throw new BadEncoding(`the account ${key} ${use.signs ? 'has to sign' : 'signs and need not'}`);
    const changes = use.signs ? index < signers - readonlySigners : index < keys.length - readonlyOthers;
    if (use.changes !== changes)
      throw new BadEncoding(
        `the account ${key} ${use.changes ? 'has to change' : 'may change and need not'}`,
      );
  }
}

function checkSize(signers: number, messageBytes: number): void {
  const size = 1 + signers * SIGNATURE_BYTES + messageBytes;
  if (size > TRANSACTION_BYTES_MAX)
    throw new BadEncoding(`signed it has ${size} bytes, more than ${TRANSACTION_BYTES_MAX}`);
}

/** Its accounts in the order in which a message lists them: by rights, then by address, as @solana/kit does. */
function accountsOf({ feePayer, instructions }: SolanaMessage): AccountUse[] {
  const uses = new Map<string, AccountUse>();
  const add = ({ address, signs, changes }: AccountUse) => {
    const known = uses.get(address);
    uses.set(address, {
      address,
      signs: signs || known?.signs === true,
      changes: changes || known?.changes === true,
    });
  };
  for (const one of instructions) {
    const { program, accounts } = writeInstruction(one);
    add({ address: program, signs: false, changes: false });
    for (const use of accounts) add(use);
  }
  uses.delete(feePayer);
  const rank = ({ signs, changes }: AccountUse) => (signs ? 0 : 2) + (changes ? 0 : 1);
  const others = [...uses.values()].toSorted(
    (a, b) => rank(a) - rank(b) || compareAddresses(a.address, b.address),
  );
  return [{ address: feePayer, signs: true, changes: true }, ...others];
}

/** As a dictionary sorts: digits before letters, letters without their case; small ones first where that is all. */
function compareAddresses(a: string, b: string): number {
  const [small, other] = [a.toLowerCase(), b.toLowerCase()];
  if (small !== other) return small < other ? -1 : 1;
  if (a === b) return 0;
  return a > b ? -1 : 1;
}

/** The addresses that have to sign, the fee payer first. */
export const signersOf = (message: SolanaMessage): string[] =>
  accountsOf(message)
    .filter(({ signs }) => signs)
    .map(({ address }) => address);

/** The bytes of a message: `decodeSolanaMessage` reads them back. */
export function encodeSolanaMessage(message: SolanaMessage): Uint8Array {
  const accounts = accountsOf(message);
  const places = new Map(accounts.map(({ address }, i) => [address, i]));
  const count = (is: (use: AccountUse) => boolean) => accounts.filter(is).length;
  const header = [
    count(({ signs }) => signs),
    count(({ signs, changes }) => signs && !changes),
    count(({ signs, changes }) => !signs && !changes),
  ];
  return concat(
    message.version === 0 ? Uint8Array.of(VERSIONED) : new Uint8Array(),
    Uint8Array.from(header),
    writeLength(accounts.length),
    ...accounts.map(({ address }) => solanaAddressBytes(address)),
    solanaAddressBytes(message.blockhash),
    writeLength(message.instructions.length),
    ...message.instructions.map((one) => instructionBytes(writeInstruction(one), places)),
    message.version === 0 ? writeLength(0) : new Uint8Array(),
  );
}

function instructionBytes(
  { program, accounts, data }: RawInstruction,
  places: ReadonlyMap<string, number>,
): Uint8Array {
  const placeOf = (address: string) => places.get(address) ?? 0;
  return concat(
    Uint8Array.of(placeOf(program)),
    writeLength(accounts.length),
    Uint8Array.from(accounts, ({ address }) => placeOf(address)),
    writeLength(data.length),
    data,
  );
}

export interface SignedSolanaTransaction {
  /** In the order of `signersOf`; the first is the transaction's id. */
  signatures: readonly Uint8Array[];
  message: Uint8Array;
}

/**
 * Signs a message. The same call gives the same bytes (RFC 8032).
 *
 * @param keyOf the private key of an address that has to sign
 */
export function signSolanaMessage(
  message: SolanaMessage,
  keyOf: (address: string) => Uint8Array,
): SignedSolanaTransaction {
  const bytes = encodeSolanaMessage(message);
  return {
    signatures: signersOf(message).map((address) => ed25519.sign(bytes, keyOf(address))),
    message: bytes,
  };
}

/** What a node takes. */
export const encodeSignedSolana = ({ signatures, message }: SignedSolanaTransaction): Uint8Array =>
  concat(writeLength(signatures.length), ...signatures, message);

/**
 * Reads what `encodeSignedSolana` wrote. Whether the signatures are good is not checked.
 *
 * @throws BadEncoding
 */
export function decodeSignedSolana(bytes: Uint8Array): SignedSolanaTransaction {
  const reader = new Reader(bytes);
  const signatures = reader.list(() => reader.take(SIGNATURE_BYTES));
  const message = reader.rest();
  const needed = signersOf(decodeSolanaMessage(message)).length;
  if (signatures.length !== needed)
    throw new BadEncoding(`it has ${signatures.length} signatures, of ${needed}`);
  return { signatures, message };
}

/** The id of a signed transaction: its first signature, in base58. */
export const solanaTransactionId = ({
  signatures: [first = new Uint8Array()],
}: SignedSolanaTransaction): string => base58.encode(first);
