import {
  accountOfTron,
  decodeSignedTron,
  decodeTronTransaction,
  encodeTronTransaction,
  type TronTransaction,
  tronTransactionId,
} from '@florin/signer/tron';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { accountOfPublicKey } from '../addresses/evm-account.ts';
import { SignerUnavailable } from '../port/port-errors.ts';
import type { HolderLimits, SigningRequest } from '../port/wallet-holder.ts';
import { type AskedPurpose, type AskedSigner, askSigner } from '../signing/ask-signer.ts';
import type { TronNetwork } from './network.ts';

export interface TronSigner extends AskedSigner<'trc20'> {
  /** What its policy gives wallets, in sun, and whose charges it signs; undefined: it does not say. @throws SignerUnavailable */
  tronLimits(): Promise<HolderLimits | undefined>;
}

export interface TronOrder {
  signing: SigningRequest;
  /** Account number of the wallet that sends. */
  account: number;
  transaction: TronTransaction;
  purpose: AskedPurpose;
  network: Pick<TronNetwork, 'genesisHash' | 'feeCeilings'>;
}

export interface SignedContent {
  txId: string;
  transaction: TronTransaction;
}

const FIRST_RECOVERY = 27;

/**
 * Requests a signature, and checks that the answer is the transaction that was asked for. For an attempt that was signed
 * before, the signer gives its earlier bytes: these have other times and another reference block.
 *
 * @throws SigningRefused, SigningHeld, SignerUnavailable
 */
export async function requestSignature(
  signer: TronSigner,
  order: TronOrder,
): Promise<SignedContent & { raw: string }> {
  const { signing, account, transaction, purpose, network } = order;
  const unsigned = toHex(encodeTronTransaction(transaction));
  const genesis = network.genesisHash;
  const { raw, txId } = await askSigner(signer, {
    network: 'trc20',
    genesis,
    signing,
    account,
    unsigned,
    purpose,
  });
  const content = readSigned(raw);
  if (content === undefined) throw notAsked('it is no signed transaction');
  if (content.txId !== txId) throw notAsked('its id is that of other bytes');
  const signed = content.transaction;
  const { refBlockBytes, refBlockHash, expiration, timestamp, feeLimit } = signed;
  const asDated = { ...transaction, refBlockBytes, refBlockHash, expiration, timestamp, feeLimit };
  if (toHex(encodeTronTransaction(asDated)) !== toHex(encodeTronTransaction(signed)))
    throw notAsked('it does something else');
  if (feeLimit > network.feeCeilings.feeLimit) throw notAsked('its fee limit is above the ceiling');
  return { raw, ...content };
}

function notAsked(fault: string): SignerUnavailable {
  return new SignerUnavailable('trc20', `the signer's answer is not what was asked for: ${fault}`);
}

/** @returns undefined where these are no bytes of ours, or the signature is not the owner's */
export function readSigned(raw: string): SignedContent | undefined {
  if (!/^0x(?:[0-9a-f]{2}){1,2000}$/.test(raw)) return undefined;
  try {
    const { rawData, signature } = decodeSignedTron(Uint8Array.from(Buffer.from(raw.slice(2), 'hex')));
    const transaction = decodeTronTransaction(rawData);
    const id = tronTransactionId(rawData);
    const recovered = Uint8Array.of((signature[64] ?? 0) - FIRST_RECOVERY, ...signature.subarray(0, 64));
    const publicKey = secp256k1.recoverPublicKey(recovered, id, { prehash: false });
    const signedBy = toHex(accountOfPublicKey(publicKey));
    const isSigned = signedBy === accountOfTron(transaction.contract.owner).toLowerCase();
    return isSigned ? { txId: Buffer.from(id).toString('hex'), transaction } : undefined;
  } catch {
    return undefined;
  }
}

const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
