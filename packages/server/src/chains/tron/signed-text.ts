import { accountOfTron } from '@florin/signer/tron';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { accountOfPublicKey } from '../addresses/evm-account.ts';
import { keccak256 } from '../addresses/keccak.ts';
import type { SignedText } from '../live-chains.ts';

/** r, s and v. */
const SIGNATURE = /^0x([0-9a-f]{128})(00|01|1b|1c)$/i;
const FIRST_RECOVERY = 27;

/** Whether the key of that address signed the text, as `signMessageV2` of Tron's wallets does. Of the two forms the higher s is refused. */
export function isSignedText({ address, text, signature }: SignedText): boolean {
  const [, numbers = '', v = ''] = SIGNATURE.exec(signature) ?? [];
  if (numbers === '') return false;
  const bytes = Buffer.from(text);
  const digest = keccak256(Buffer.concat([Buffer.from(`\x19TRON Signed Message:\n${bytes.length}`), bytes]));
  const recovery = Number.parseInt(v, 16) % FIRST_RECOVERY;
  const recovered = Uint8Array.of(recovery, ...Buffer.from(numbers, 'hex'));
  try {
    if (secp256k1.Signature.fromBytes(recovered.subarray(1)).hasHighS()) return false;
    const account = accountOfPublicKey(secp256k1.recoverPublicKey(recovered, digest, { prehash: false }));
    return `0x${Buffer.from(account).toString('hex')}` === accountOfTron(address).toLowerCase();
  } catch {
    // Numbers that are no point of the curve.
    return false;
  }
}
