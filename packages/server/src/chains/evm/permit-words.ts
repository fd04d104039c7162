import type { Hex } from 'viem';
import type { SignedPermit } from '../port/port.ts';

/** r, s and v of a key's signature; what contracts' wallets sign has no such form. */
const FORM = /^0x[0-9a-f]{128}1[bc]$/;
/** Half of the order of secp256k1: each signature has a twin above it. */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** A signed approval as the collector takes it. @returns undefined for a signature that has another form */
export function permitWords({ amount, deadline, signature }: SignedPermit) {
  const s: Hex = `0x${signature.slice(66, 130)}`;
  if (!FORM.test(signature) || BigInt(s) > S_MAX) return undefined;
  const r: Hex = `0x${signature.slice(2, 66)}`;
  return { value: amount, deadline: BigInt(deadline), v: Number.parseInt(signature.slice(130), 16), r, s };
}
