import { base58 } from '@scure/base';
import { uuidBytes, uuidOf } from './ids.ts';

// A token of ids, optionally followed by a secret: API keys, and the addresses of payers' pages. The ids allow to find
// its row with one query on the merchant's shard.

const ID_BYTES = 16;
/** Base58 digits per byte. */
const DIGITS_PER_BYTE = Math.log(256) / Math.log(58);

/** Encodes ids and a secret. */
export function encodeIdToken(ids: readonly string[], secret: Uint8Array = new Uint8Array()): string {
  return base58.encode(Buffer.concat([...ids.map(uuidBytes), secret]));
}

/** Undefined for a text that is not a token of so many ids and bytes. The caller checks the secret. */
export function decodeIdToken(
  text: string,
  { ids: count, secretBytes = 0 }: { ids: number; secretBytes?: number },
): { ids: string[]; secret: Buffer } | undefined {
  const length = count * ID_BYTES + secretBytes;
  const bytes = text.length <= Math.ceil(length * DIGITS_PER_BYTE) ? decode(text) : undefined;
  if (bytes?.length !== length) return undefined;
  const ids = Array.from({ length: count }, (_, i) =>
    uuidOf(bytes.subarray(i * ID_BYTES, (i + 1) * ID_BYTES)),
  );
  return { ids, secret: bytes.subarray(count * ID_BYTES) };
}

function decode(text: string): Buffer | undefined {
  try {
    return Buffer.from(base58.decode(text));
  } catch {
    return undefined;
  }
}
