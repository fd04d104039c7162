import { parseSplAddress } from '../addresses/spl.ts';

/** The 32 bytes of an address. @throws RangeError */
export function addressBytes(address: string): Uint8Array {
  const bytes = parseSplAddress(address);
  if (bytes === undefined) throw new RangeError(`${address} is not a Solana address`);
  return bytes;
}
