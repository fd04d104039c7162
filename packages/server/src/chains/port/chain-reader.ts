import type { Chain } from './port.ts';

/** The part of the port that reads. A live adapter has it in a class of its own, below the one that sends. */
export type ChainReader = Pick<
  Chain,
  | 'network'
  | 'validateAddress'
  | 'sender'
  | 'hotWallets'
  | 'unpayableAddresses'
  | 'depositAddress'
  | 'nameAddresses'
  | 'nextSequence'
  | 'head'
  | 'blockHashes'
  | 'balance'
  | 'balances'
  | 'scan'
  | 'cursorAt'
  | 'health'
>;
