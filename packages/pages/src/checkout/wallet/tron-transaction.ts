import { base58Value } from './base58.ts';
import { hexOf } from './payer-steps.ts';

const TYPE_URL = 'type.googleapis.com/protocol.TriggerSmartContract';
const TRANSFER = 'a9059cbb';
const APPROVE = '095ea7b3';
const WORD = 64;
/** Hex digits of an address with its `41`, and of its checksum behind. */
const ADDRESS = 42;
const CHECKED = 50;
/** A transfer burns a tenth of this. */
const FEE_LIMIT_MAX = 100_000_000;
/** From its own time on: nobody reads for an hour. */
const VALID_MS_MAX = 3_600_000;

interface Payment {
  from: string;
  to: string;
  token: string;
  units: bigint;
}

/** Of a contract; `data` in hex. */
interface Call {
  from: string;
  contract: string;
  data: string;
}

/** The 21 bytes of an address, in hex. */
export const hexOfAddress = (address: string): string =>
  base58Value(address).toString(16).padStart(CHECKED, '0').slice(0, ADDRESS);

/** A field of a protobuf message: a number, or bytes in hex. */
function field(number: number, value: number | string): string {
  const isText = typeof value === 'string';
  const key = varint(number * 8 + (isText ? 2 : 0));
  return isText ? key + varint(value.length / 2) + value : key + varint(value);
}

function varint(value: number): string {
  const byte = (some: number) => some.toString(16).padStart(2, '0');
  let text = '';
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) text += byte(128 + (rest % 128));
  return text + byte(rest);
}

const textHex = (text: string) => hexOf(new TextEncoder().encode(text)).slice(2);

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

/** As wallets sign it. */
export interface TronTransaction {
  visible: false;
  txID: string;
  raw_data: object;
  raw_data_hex: string;
}

const isHex = (value: unknown, digits: number): value is string =>
  typeof value === 'string' && value.length === digits && /^[0-9a-f]*$/.test(value);

async function sha256(hex: string): Promise<string> {
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))).slice(2);
}

const amountCall = (selector: string, to: string, units: bigint) =>
  selector + hexOfAddress(to).slice(2).padStart(WORD, '0') + units.toString(16).padStart(WORD, '0');

/** The transaction that pays exactly that, as `callTransaction`. */
export const dueTransaction = (built: unknown, { from, to, token, units }: Payment) =>
  callTransaction(built, { from, contract: token, data: amountCall(TRANSFER, to, units) });

/** The transaction by which `to` may take exactly that much, as `callTransaction`. */
export const approvalTransaction = (built: unknown, { from, to, token, units }: Payment) =>
  callTransaction(built, { from, contract: token, data: amountCall(APPROVE, to, units) });

/**
 * The transaction that makes exactly that call and does nothing else, made anew: of what the server built, the block that it refers to, its times
 * and its fee limit alone are taken. A wallet that rebuilds it, signs its bytes or signs its id signs the same.
 *
 * @returns undefined where the server has built another one
 */
async function callTransaction(
  built: unknown,
  { from, contract: called, data }: Call,
): Promise<TronTransaction | undefined> {
  const { raw_data: raw, raw_data_hex: rawHex } = Object(built);
  const {
    ref_block_bytes: bytes,
    ref_block_hash: hash,
    expiration,
    timestamp,
    fee_limit: feeLimit,
  } = Object(raw);
  if (!isHex(bytes, 4) || !isHex(hash, 16)) return undefined;
  if (!isTime(expiration) || !isTime(timestamp) || !isTime(feeLimit)) return undefined;
  if (feeLimit > FEE_LIMIT_MAX || expiration - timestamp > VALID_MS_MAX) return undefined;
  const [owner, contract] = [hexOfAddress(from), hexOfAddress(called)];
  const value = { data, owner_address: owner, contract_address: contract };
  const expected = {
    contract: [{ parameter: { value, type_url: TYPE_URL }, type: 'TriggerSmartContract' }],
    ref_block_bytes: bytes,
    ref_block_hash: hash,
    expiration,
    fee_limit: feeLimit,
    timestamp,
  };
  const call = field(1, owner) + field(2, contract) + field(4, data);
  const parameter = field(1, textHex(TYPE_URL)) + field(2, call);
  const hex =
    field(1, bytes) +
    field(4, hash) +
    field(8, expiration) +
    field(11, field(1, 31) + field(2, parameter)) +
    field(14, timestamp) +
    field(18, feeLimit);
  if (JSON.stringify(raw) !== JSON.stringify(expected) || rawHex !== hex) return undefined;
  return { visible: false, txID: await sha256(hex), raw_data: expected, raw_data_hex: hex };
}
