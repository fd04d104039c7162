const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const TYPE_URL = 'type.googleapis.com/protocol.TriggerSmartContract';
const TRANSFER = 'a9059cbb';
const WORD = 64;
/** Hex digits of an address with its `41`, and of its checksum behind. */
const ADDRESS = 42;
const CHECKED = 50;
/** A transfer burns a tenth of this. */
const FEE_LIMIT_MAX = 100_000_000;
/** Behind the newest block, whatever clock this device has: nobody reads for an hour. */
const VALID_MS_MAX = 3_600_000;

interface Payment {
  from: string;
  to: string;
  token: string;
  units: bigint;
}

/** The 21 bytes of an address, in hex. The page has it from the server, which has checked its sum. */
function hexOfAddress(address: string): string {
  let value = 0n;
  for (const one of address) value = value * 58n + BigInt(Math.max(0, ALPHABET.indexOf(one)));
  return value.toString(16).padStart(CHECKED, '0').slice(0, ADDRESS);
}

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

const textHex = (text: string) =>
  Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

/**
 * Whether a transaction, in the JSON and in the bytes that a wallet signs, pays exactly that and does nothing else. The wallet itself
 * refuses an id that is not that of the bytes.
 */
export function paysDueOnTron(transaction: unknown, { from, to, token, units }: Payment): boolean {
  const { visible, raw_data: raw, raw_data_hex: rawHex } = Object(transaction);
  const {
    ref_block_bytes: bytes,
    ref_block_hash: hash,
    expiration,
    timestamp,
    fee_limit: feeLimit,
  } = Object(raw);
  const [owner, contract] = [hexOfAddress(from), hexOfAddress(token)];
  const data =
    TRANSFER + hexOfAddress(to).slice(2).padStart(WORD, '0') + units.toString(16).padStart(WORD, '0');
  if (!/^[0-9a-f]{4}$/.test(bytes) || !/^[0-9a-f]{16}$/.test(hash)) return false;
  if (!isTime(expiration) || !isTime(timestamp) || !isTime(feeLimit)) return false;
  if (feeLimit > FEE_LIMIT_MAX || expiration - timestamp > VALID_MS_MAX || visible !== false) return false;
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
  const expectedHex =
    field(1, bytes) +
    field(4, hash) +
    field(8, expiration) +
    field(11, field(1, 31) + field(2, parameter)) +
    field(14, timestamp) +
    field(18, feeLimit);
  return JSON.stringify(raw) === JSON.stringify(expected) && rawHex === expectedHex;
}
