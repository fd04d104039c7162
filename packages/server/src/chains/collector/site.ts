import type { Asset } from '@florin/contract/money';
import { collectorAccount } from '@florin/signer/contracts';
import { type Address, bytesToHex, type Hex } from 'viem';

/** The collector as one network has it. Accounts are `0x…`, as its code sees them; addresses are spelled as the network spells them. */
export interface CollectorSite {
  /** What its code takes for the network's number: payers sign it. */
  chainId: number;
  collector: Address;
  /** @throws UnbuildableTransfer where the network does not take that asset */
  tokenOf(asset: Asset): Address;
  /** Undefined for what is no wallet's address in its canonical form. */
  accountOf(address: string): Address | undefined;
  addressOf(account: Address): string;
}

/** The wallets of a merchant's account at the collector. */
export interface MandateHolder {
  owner: Address;
  /** Its first operator and home, which its id follows from: the merchant's first hot wallet. */
  first: Address;
}

/** The id of a merchant's account at the collector. */
export const accountIdOf = ({ owner, first }: MandateHolder): Hex =>
  bytesToHex(collectorAccount(owner, first));
