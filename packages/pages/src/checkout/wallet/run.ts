import type { TextKey } from '../../texts.ts';
import type { DueWallet, PageDue } from '../../views/checkout.ts';
import type { ProofOutcome, WalletChain, WalletText, WalletTransfer } from '../../views/wallet.ts';

/** What EIP-1193 asks of a wallet in the browser. */
export interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/** What the wallet standard says of a wallet: what it can do has a name each. */
export interface StandardWallet {
  readonly features: Readonly<Record<string, unknown>>;
}

/** A wallet of Tron: what it is asked, and the library with which it signs. */
export interface TronProvider extends Provider {
  readonly tronWeb?: unknown;
}

/** What is said while a wallet is asked. */
export type WalletWord = Exclude<TextKey<'wallet'>, 'stop'>;
export type WalletValues = Readonly<Record<string, string | number>>;

/** A wallet that is asked for something, step by step. */
export interface WalletSteps {
  provider: Provider;
  chain: WalletChain;
  /** The payer waits no longer: what is not sent yet must not be. */
  isStopped: () => boolean;
  /** Replaces what was said before. */
  say: (word: WalletWord, values?: WalletValues) => void;
}

/** What the page shows to be paid by a wallet of that kind. */
export type WalletDue<K extends DueWallet['kind'] = DueWallet['kind']> = PageDue & {
  wallet: Extract<DueWallet, { kind: K }>;
};

/** A payment from a wallet, as the code that is loaded for it sees the page. */
export interface PageRun extends Pick<WalletSteps, 'isStopped' | 'say'> {
  due: WalletDue;
  /** What the document shows as address and amount by now. */
  readShown: () => { address: string | null; amount: string | null };
  /** Whether the page shows what is to be paid, and not what became of it or another step. */
  isPaying: () => boolean;
  /** Whether the page still asks for this amount at this address. */
  isAsked: () => boolean;
  /** Whether the page still waits for money at this address, of whatever amount. */
  isOpen: () => boolean;
  /** Of the proof, beside what is said of the payment. */
  sayOfProof: (word: WalletWord) => void;
  onTampered: () => void;
  readText: (account: string) => Promise<WalletText>;
  prove: (token: string, signature: string) => Promise<ProofOutcome>;
}

/** From a wallet that makes the transaction itself. */
export interface WalletRun extends PageRun, WalletSteps {
  due: WalletDue<'ethereum'>;
  call: { to: string; data: string };
}

/** From a wallet that signs a whole transaction. */
export interface BuiltRun extends PageRun {
  readTransfer: (account: string) => Promise<WalletTransfer>;
}

export interface SolanaRun extends BuiltRun {
  due: WalletDue<'solana'>;
  wallet: StandardWallet;
  /** As the wallet standard names it. */
  chain: string;
}

export interface TronRun extends BuiltRun {
  due: WalletDue<'tron'>;
  provider: TronProvider;
  /** It does not know the calls of TIP-1193. */
  isOld: boolean;
}
