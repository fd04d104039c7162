import { isOnCurve, isSmallOrder, SYSTEM_PROGRAM, solanaAddressBytes } from './address.ts';

/** Programs that people paste by mistake, the network's own address for burnt coins, and the mints of USDT and USDC. */
const LOST: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
  '1nc1nerator11111111111111111111111111111111',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
]);
/** Sysvars, native programs and loaders are names padded with `1`. */
const RESERVED_NAME = /1{10}$/;

/**
 * Whether coins would be lost at an owner's address. Off the curve are programs' accounts, most often a token account that somebody
 * took for a wallet; the vault of a multisig is one too, hence `allowProgramOwned`.
 *
 * @throws RangeError where it is no address
 */
export function isLostOnSolana(address: string, allowProgramOwned: boolean): boolean {
  if (LOST.has(address) || RESERVED_NAME.test(address)) return true;
  const key = solanaAddressBytes(address);
  return isOnCurve(key) ? isSmallOrder(key) : !allowProgramOwned;
}
