import { isDeepStrictEqual } from 'node:util';
import {
  decodeSignedSolana,
  decodeSolanaMessage,
  encodeSolanaMessage,
  type SolanaInstruction,
  type SolanaMessage,
  signersOf,
  solanaTransactionId,
} from '@florin/signer/solana';
import { ed25519 } from '@noble/curves/ed25519.js';
import { SignerUnavailable } from '../port/port-errors.ts';
import type { SigningRequest } from '../port/wallet-holder.ts';
import { type AskedPurpose, type AskedSigner, askSigner } from '../signing/ask-signer.ts';
import { addressBytes } from './address-bytes.ts';
import type { SolanaNetwork } from './network.ts';

export type SolanaSigner = AskedSigner<'spl'>;

export interface SolanaOrder {
  signing: SigningRequest;
  /** Account number of the wallet that sends; 0: the fee payer's. */
  account: number;
  message: SolanaMessage;
  /** Steps that may be in it or not, as when the signer gives its earlier bytes. */
  optional: readonly SolanaInstruction[];
  purpose: AskedPurpose;
  network: Pick<SolanaNetwork, 'genesisHash' | 'feeCeilings'>;
}

export interface SignedContent {
  txId: string;
  message: SolanaMessage;
}

interface SignedBytes extends SignedContent {
  raw: string;
  units: number;
  microLamports: bigint;
}

/**
 * Requests a signature, and checks that the answer is the transaction that was asked for. For an attempt that was signed
 * before, the signer gives its earlier bytes: these have another blockhash and another price.
 *
 * @throws SigningRefused, SigningBlocked, SignerUnavailable
 */
export async function requestSignature(signer: SolanaSigner, order: SolanaOrder): Promise<SignedBytes> {
  const { signing, account, message, purpose, network } = order;
  const unsigned = toHex(encodeSolanaMessage(message));
  const ask = { network: 'spl', genesis: network.genesisHash, signing, account, unsigned, purpose } as const;
  const { raw, txId } = await askSigner(signer, ask);
  const content = readSigned(raw);
  if (content === undefined) throw notAsked('it is no signed transaction');
  if (content.txId !== txId) throw notAsked('its id is that of other bytes');
  return { raw, ...content, ...checkContent(order, content.message) };
}

/** @throws SignerUnavailable */
function checkContent({ message, optional, network }: SolanaOrder, signed: SolanaMessage) {
  const { computeUnits, priorityFee } = network.feeCeilings;
  const [limit, price, ...steps] = signed.instructions;
  if (limit?.kind !== 'computeLimit' || price?.kind !== 'computePrice')
    throw notAsked('it has no compute budget');
  const isOptional = (step: SolanaInstruction) => optional.some((one) => isDeepStrictEqual(one, step));
  const bytesOf = (instructions: SolanaMessage['instructions']) =>
    toHex(
      encodeSolanaMessage({ ...message, instructions: instructions.filter((step) => !isOptional(step)) }),
    );
  const isAlike = signed.version === message.version && signed.feePayer === message.feePayer;
  if (!isAlike || bytesOf(steps) !== bytesOf(message.instructions.slice(2)))
    throw notAsked('it does something else');
  const { units } = limit;
  const { microLamports } = price;
  if (units > computeUnits) throw notAsked('its compute limit is above the ceiling');
  if (BigInt(units) * microLamports > priorityFee * MICRO)
    throw notAsked('its priority fee is above the ceiling');
  return { units, microLamports };
}

function notAsked(fault: string): SignerUnavailable {
  return new SignerUnavailable('spl', `the signer's answer is not what was asked for: ${fault}`);
}

const MICRO = 1_000_000n;

/** @returns undefined where these are no bytes of ours, or a signature is missing or wrong */
export function readSigned(raw: string): SignedContent | undefined {
  if (!/^0x(?:[0-9a-f]{2}){1,1232}$/.test(raw)) return undefined;
  try {
    const signed = decodeSignedSolana(Uint8Array.from(Buffer.from(raw.slice(2), 'hex')));
    const message = decodeSolanaMessage(signed.message);
    const isSigned = signersOf(message).every((address, place) => {
      const signature = signed.signatures[place];
      return signature !== undefined && ed25519.verify(signature, signed.message, addressBytes(address));
    });
    return isSigned ? { txId: solanaTransactionId(signed), message } : undefined;
  } catch {
    return undefined;
  }
}

const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
