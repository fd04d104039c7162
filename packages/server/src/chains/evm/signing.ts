import type { RefusalAnswer, SignAnswer } from '@florin/signer/protocol';
import type { Address } from 'viem';
import { recoverAuthorizationAddress } from 'viem/utils';
import type { SignersAccount } from '../accounts.ts';
import { SignerUnavailable } from '../port/port-errors.ts';
import type { HolderLimits, SigningRequest } from '../port/wallet-holder.ts';
import { type AskedPurpose, askSigner, type SignRequestOf } from '../signing/ask-signer.ts';
import type { EvmNetwork } from './network.ts';
import {
  type Authorization,
  readSigned,
  type SignedContent,
  senderOf,
  serializeUnsigned,
  type UnsignedTransaction,
} from './transaction.ts';

/**
 * The signer as the server reaches it.
 *
 * @throws whatever its transport throws: then nothing is known of the request, and it is made again
 */
export interface TransactionSigner {
  sign(request: SignRequestOf<'erc20'>): Promise<SignAnswer | RefusalAnswer>;
  /** As `WalletHolder.limits`. @throws SignerUnavailable */
  limits(): Promise<HolderLimits | undefined>;
  /** What it says of an account. @throws SignerUnavailable */
  readAccount(account: number): Promise<Pick<SignersAccount, 'coldOwner'>>;
}

/** What is to be signed, and by whom. */
export interface SigningOrder {
  signing: SigningRequest;
  /** Account number of the wallet that sends; 0: the gas tank. */
  account: number;
  /** Of its hot wallet. */
  epoch: number;
  sender: Address;
  transaction: UnsignedTransaction;
  purpose: AskedPurpose;
  /** Of a sweep: the contract to delegate to, all its deposit addresses, and those that do not delegate to it yet. */
  delegating?: { to: Address; swept: readonly Address[]; wanted: readonly Address[] };
  /** It replaces a transaction of this attempt: bytes with lower fees than asked for are no answer. */
  isReplacement: boolean;
  ceilings: EvmNetwork['feeCeilings'];
}

export interface SignedBytes {
  raw: string;
  content: SignedContent;
}

const NETWORK = 'erc20';

/**
 * Requests a signature, and checks that the answer is the transaction that was asked for. For an attempt that was signed
 * before the signer may give its earlier bytes.
 *
 * @throws SigningRefused where this database is not the one that the signer signs for, or the number is taken; SigningBlocked
 * where people have to act; SignerUnavailable
 */
export async function requestSignature(signer: TransactionSigner, order: SigningOrder): Promise<SignedBytes> {
  const { signing, account, epoch, transaction, purpose } = order;
  const unsigned = serializeUnsigned(transaction);
  const asked = { network: NETWORK, signing, account, epoch, unsigned, purpose } as const;
  const { raw, txId } = await askSigner(signer, asked);
  const content = readSigned(raw);
  const fault =
    content === undefined
      ? 'it is no signed transaction'
      : await findFault(order, { raw, txId: txId.toLowerCase(), content });
  if (content === undefined || fault !== undefined) {
    throw new SignerUnavailable(NETWORK, `the signer's answer is not what was asked for: ${fault}`);
  }
  return { raw, content };
}

interface Answer {
  raw: string;
  txId: string;
  content: SignedContent;
}

/**
 * What the answer says otherwise than the order; undefined where it is what was asked for. Bytes of an earlier request for
 * the attempt may differ in fees, gas limit and authorizations, which follow the chain and not the attempt.
 */
async function findFault(order: SigningOrder, { raw, txId, content }: Answer): Promise<string | undefined> {
  const { transaction } = order;
  for (const field of ['chainId', 'nonce', 'to', 'data', 'value'] as const) {
    if (content[field] !== transaction[field]) return `${field} differs`;
  }
  const priceFault = findPriceFault(order, content);
  if (priceFault !== undefined) return priceFault;
  if (content.txId !== txId) return 'its id is that of other bytes';
  if ((await senderOf(raw)) !== order.sender) return 'another key has signed';
  return await findAuthorizationFault(order, content);
}

function findPriceFault({ transaction, isReplacement, ceilings }: SigningOrder, content: SignedContent) {
  for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
    if (isReplacement && content[fee] < transaction[fee]) return `${fee} is below what was asked for`;
    if (content[fee] > ceilings[fee]) return `${fee} is above the ceiling`;
  }
  if (isReplacement && content.gas !== transaction.gas) return 'gas differs';
  return content.gas > ceilings.gasPerTransaction ? 'gas is above the ceiling' : undefined;
}

async function findAuthorizationFault(
  { delegating, transaction, isReplacement }: SigningOrder,
  { authorizations, gas }: SignedContent,
): Promise<string | undefined> {
  const wanted = delegating?.wanted ?? [];
  if ((isReplacement || gas === transaction.gas) && authorizations.length !== wanted.length) {
    return 'it has other authorizations';
  }
  for (const one of authorizations) {
    if (one.address !== delegating?.to) return 'an address delegates elsewhere';
    // A chain id of 0 would hold on every chain.
    if (one.chainId !== transaction.chainId) return 'an authorization is for another chain';
    const authority = await authorityOf(one);
    if (authority === undefined || !delegating.swept.includes(authority)) return 'another key has authorized';
  }
  return undefined;
}

async function authorityOf({ r, s, yParity, ...authorization }: Authorization): Promise<Address | undefined> {
  try {
    return await recoverAuthorizationAddress({ authorization: { ...authorization, r, s, yParity } });
  } catch {
    return undefined;
  }
}
