import type { Asset } from '@florin/contract/money';
import type {
  Chain,
  KeyRef,
  Mandate,
  MandateSetup,
  ScanQuery,
} from '../../packages/server/src/chains/port.ts';
import type { WalletHolder } from '../../packages/server/src/chains/wallet-holder.ts';

/** What the suite needs around an adapter: a chain of its own that it may move. */
export interface ChainEnvironment {
  chain: Chain;
  /** Who holds the wallets of that chain's merchant. */
  holder: WalletHolder;
  /** A key whose wallet starts with sequence 0. */
  keyRef: KeyRef;
  /** Gives the wallet of `keyRef` that much, final. */
  fund(asset: Asset, amount: bigint): Promise<void>;
  /** Lets payers send, all in one transaction, and puts that into the newest block. Returns its id. */
  pay(transfers: PayerTransfer[]): Promise<string>;
  /** The address of a payer's wallet; another one for each number. What it does lies in the newest block. */
  payer(number: number): string;
  /** It holds that much from now on. */
  hold(wallet: WalletOfPayer, balance: bigint): Promise<void>;
  /** It signs and sends what a mandate needs. */
  authorize(setup: MandateSetup): Promise<void>;
  /** It lets our spender, or another one, pull that much from now on. */
  approve(wallet: WalletOfPayer, amount: bigint, spender?: string): Promise<void>;
  /** It takes a mandate back. */
  revoke(mandate: Mandate): Promise<void>;
  /** A valid address that never received anything; another one for each number. */
  recipient(number: number): string;
  /** A recipient that every transfer to fails. */
  rejecting: string;
  /** Makes that many blocks. */
  mine(blocks: number): Promise<void>;
  /** Confirmations from which a block is final. */
  finalBlocks: number;
  /** Lets the time or the blocks pass in which any transaction built so far is valid; nothing where it is for ever. */
  expire(): Promise<void>;
  /** Replaces the newest blocks; what payers sent in them vanishes or lies in the newest block. */
  reorg(depth: number, options?: { remine: boolean }): Promise<void>;
  /** Makes the node lose the next broadcast and say that it took it. */
  dropNext(): Promise<void>;
  /** Cuts the node off, or brings it back. */
  outage(isOn: boolean): Promise<void>;
  /** Makes the node show the chain of so many blocks ago; 0: of now. */
  lag(blocks: number): Promise<void>;
  /** Makes the node leave one transfer out of the next scan of that level that finds any. */
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
