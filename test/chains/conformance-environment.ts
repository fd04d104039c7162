import type { Asset } from '@florin/contract/money';
import type {
  Chain,
  KeyRef,
  Mandate,
  MandateSetup,
  ScanQuery,
} from '../../packages/server/src/chains/port/port.ts';
import type { WalletHolder } from '../../packages/server/src/chains/port/wallet-holder.ts';

/** The environment of an adapter under test: a chain that the suite controls. */
export interface ChainEnvironment {
  chain: Chain;
  /** The holder of the wallets of the chain's merchant. */
  holder: WalletHolder;
  /** A key whose wallet starts with sequence 0. */
  keyRef: KeyRef;
  /** What it pays in. */
  asset: Asset;
  /** Whether transfers of tokens that are not listed are read; live networks read theirs alone. */
  seesUnlisted: boolean;
  /** Another wallet of ours for each number. */
  wallet(number: number): Promise<{ chain: Chain; keyRef: KeyRef }>;
  /** Gives the wallet of `keyRef` that much, final. */
  fund(asset: Asset, amount: bigint): Promise<void>;
  /** Gives an address of ours what it needs to send by itself, where networks want something. */
  endow?(address: string): Promise<void>;
  /** Lets payers send, all in one transaction, and puts that into the newest block. Returns its id. */
  pay(transfers: PayerTransfer[]): Promise<string>;
  /** The address of a payer's wallet, one for each number. Its transactions go into the newest block. */
  payer(number: number): string;
  /** A payer's wallet that signs mandates, another one for each number. */
  signingPayer(number: number): string;
  /** Unix seconds at which a mandate, and its first window, begins now. */
  startsAt(): Promise<number>;
  /** Time passes until then, where the network compares windows with it. */
  passUntil(seconds: number): Promise<void>;
  /** Sets the balance of a payer's wallet. */
  hold(wallet: WalletOfPayer, balance: bigint): Promise<void>;
  /** The payer signs and sends the steps of a mandate. */
  authorize(setup: MandateSetup): Promise<void>;
  /** Of a mandate that was authorised, where the payer's signature goes with each charge. */
  signatureOf?(mandate: Mandate): string | undefined;
  /** The payer approves an allowance for our spender, or for another one. */
  approve(wallet: WalletOfPayer, amount: bigint, spender?: string): Promise<void>;
  /** The payer revokes a mandate. */
  revoke(mandate: Mandate): Promise<void>;
  /** A valid address that never received anything; another one for each number. */
  recipient(number: number): string;
  /** A recipient to which every transfer fails. */
  rejecting: string;
  /** Makes that many blocks. */
  mine(blocks: number): Promise<void>;
  /** Confirmations from which a block is final. */
  finalBlocks: number;
  /** Lets every transaction built so far expire; does nothing on a network without expiry. */
  expire(): Promise<void>;
  /** Replaces the newest blocks; payers' transfers in them vanish or move to the newest block. */
  reorg(depth: number, options?: { remine: boolean }): Promise<void>;
  /** Makes the node lose the next broadcast and answer `accepted`. */
  dropNext(): Promise<void>;
  /** Cuts the node off, or brings it back. */
  outage(isOn: boolean): Promise<void>;
  /** Makes the node lag by so many blocks; 0: not at all. */
  lag(blocks: number): Promise<void>;
  /** Makes the node omit one transfer from the next scan of that level that finds any. */
  loseLog(level: ScanQuery['level']): Promise<void>;
  close(): Promise<void>;
}

export interface WalletOfPayer {
  owner: string;
  asset: Asset;
}

export interface PayerTransfer {
  from: string;
  to: string;
  /** Null: a token that is not listed. */
  asset: Asset | null;
  amount: bigint;
}
