import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { Key } from './accounts.ts';
import { fromHex, type Hex, toHex } from './bytes.ts';
import type { OnceVerdict } from './judge-once.ts';
import type { Keys } from './keys.ts';
import type { SignRequest } from './protocol.ts';
import {
  decodeSolanaMessage,
  encodeSignedSolana,
  signSolanaMessage,
  solanaTransactionId,
} from './solana/message.ts';
import { encodeSignedTron, signTronTransaction, tronTransactionId } from './tron/transaction.ts';

/** Signed bytes, and their id as the network writes it. */
export interface SignedOnce {
  raw: Hex;
  txId: string;
}

/** Signs what `judgeOnce` let pass, with keys of the request's own accounts alone. The same call gives the same bytes. */
export function signOnce(
  keys: Keys,
  request: SignRequest,
  { network, sender, unsigned }: OnceVerdict,
): SignedOnce {
  const bytes = fromHex(unsigned);
  const own = keysOf(keys, request, network);
  const keyOf = (address: string) => {
    const key = own.find((one) => one.address === address);
    if (key === undefined) throw new Error(`the signer has no key of ${address} for this request`);
    return key.privateKey;
  };
  if (network === 'spl') {
    const signed = signSolanaMessage(decodeSolanaMessage(bytes), keyOf);
    return { raw: toHex(encodeSignedSolana(signed)), txId: solanaTransactionId(signed) };
  }
  const signed = signTronTransaction(bytes, keyOf(sender));
  return { raw: toHex(encodeSignedTron(signed)), txId: toHex(tronTransactionId(bytes)).slice(2) };
}

/** The transaction of an attempt on spl, as it was signed. */
export function solanaSigned(keys: Keys, unsigned: Hex): { signature: string; blockhash: string } {
  const bytes = fromHex(unsigned);
  const signature = base58.encode(ed25519.sign(bytes, keys.spl.hot(0).privateKey));
  return { signature, blockhash: decodeSolanaMessage(bytes).blockhash };
}

function keysOf(keys: Keys, { account, purpose }: SignRequest, network: OnceVerdict['network']): Key[] {
  const deposits = purpose.kind === 'sweep' ? purpose.deposits.map(({ index }) => index) : [];
  const swept = purpose.kind === 'sweep' ? purpose.account : account;
  const wallets = [
    keys[network].hot(account),
    ...deposits.map((index) => keys[network].deposit(swept, index)),
  ];
  // Whoever sends on Solana, the installation pays.
  return network === 'spl' ? [keys.spl.hot(0), keys.spl.delegate(), ...wallets] : wallets;
}
