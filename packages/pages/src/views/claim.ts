import type { Network } from '@florin/contract/money';
import type { StorePage } from './payer-page.ts';

/** What is wrong with the address that a payer gave. */
export type AddressFault = 'empty' | 'format' | 'checksum' | 'unusable';

/** What became of a refund whose link was used, or is over. */
export type ClaimOutcome = 'awaiting_approval' | 'under_way' | 'paid' | 'failed' | 'over';

interface ClaimPage extends StorePage {
  /** For people, such as `100.00 USDT`. */
  amount: string;
  network: Network;
}

/** Where does the money go? */
export interface ClaimFormView extends ClaimPage {
  page: 'claim';
  typed: string;
  fault: AddressFault | null;
}

/** Is this address right? */
export interface ClaimCheckView extends ClaimPage {
  page: 'claim_check';
  address: string;
}

export interface ClaimOutcomeView extends ClaimPage {
  page: 'claim_outcome';
  outcome: ClaimOutcome;
  address: string | null;
  txId: string | null;
}
