import { type Address, encodeFunctionData, type Hex, hashMessage, parseAbi, recoverAddress } from 'viem';
import type { SignedText } from '../live-chains.ts';
import { NodeError } from '../rpc/node.ts';
import { toAddress } from './build-transfer.ts';
import type { NodeReads } from './node-answers.ts';

/** r, s and v. Contract wallets have signatures of their own lengths. */
const SIGNATURE = /^0x([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})$/i;
const HEX = /^0x(?:[0-9a-f]{2})+$/i;
/** Of a contract wallet: passkeys and many owners take some hundreds. */
const SIGNATURE_BYTES_MAX = 4_096;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** Hardware wallets number the two parities from 0. */
const RECOVERY = new Map([
  ['00', '1b'],
  ['01', '1c'],
  ['1b', '1b'],
  ['1c', '1c'],
]);

const ERC1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
/** `bytes4` fills a word: a contract that only returns what it was called with does not pass. */
const VALID = `0x1626ba7e${'0'.repeat(56)}`;
/** A passkey's curve in plain EVM code takes a few hundred thousand. */
const GAS_MAX = '0x2dc6c0';

/**
 * Whether that wallet signed the text by `personal_sign` (EIP-191): the key of the address, or a contract that says so
 * (ERC-1271), by the word of two endpoints. Of the two forms that each key's signature has, the higher s is refused.
 *
 * @throws ChainUnavailable where a contract would have to be asked and cannot
 */
export async function isSignedText(
  node: Pick<NodeReads, 'agreed'>,
  { address, text, signature }: SignedText,
): Promise<boolean> {
  if (!HEX.test(signature) || signature.length > 2 + 2 * SIGNATURE_BYTES_MAX) return false;
  const hash = hashMessage(text);
  if ((await recovered(hash, signature)) === address) return true;
  return await isValidFor(node, toAddress(address), hash, `0x${signature.slice(2)}`);
}

/** The address of the key; undefined for what is no signature of a key. */
async function recovered(hash: Hex, signature: string): Promise<Address | undefined> {
  const [, r = '', s = '', v = ''] = SIGNATURE.exec(signature) ?? [];
  const recovery = RECOVERY.get(v.toLowerCase());
  if (recovery === undefined || BigInt(`0x${s}`) > CURVE_ORDER / 2n) return undefined;
  try {
    return await recoverAddress({ hash, signature: `0x${r}${s}${recovery}` });
  } catch {
    // Numbers that are no point of the curve.
    return undefined;
  }
}

async function isValidFor(
  node: Pick<NodeReads, 'agreed'>,
  wallet: Address,
  hash: Hex,
  signature: Hex,
): Promise<boolean> {
  const data = encodeFunctionData({
    abi: ERC1271,
    functionName: 'isValidSignature',
    args: [hash, signature],
  });
  try {
    return (await node.agreed('eth_call', [{ to: wallet, data, gas: GAS_MAX }, 'latest'])) === VALID;
  } catch (error) {
    // It reverts, as it does in many contracts for a signature that is not theirs.
    if (error instanceof NodeError) return false;
    throw error;
  }
}
