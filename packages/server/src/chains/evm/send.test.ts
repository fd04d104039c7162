import { describe, expect, test } from 'vitest';
import { classifyRejection } from './send.ts';

/** What nodes say, from their sources: client, message, what it means. */
const MESSAGES: [client: string, message: string, meaning: string][] = [
  ['geth', 'already known', 'known'],
  ['geth', 'nonce too low: next nonce 5, tx nonce 3', 'nonce_too_low'],
  ['geth', 'nonce too high: address 0x1, tx: 9 state: 3', 'nonce_too_high'],
  ['geth', 'replacement transaction underpriced', 'replacement_underpriced'],
  ['geth', 'future transaction tries to replace pending', 'replacement_underpriced'],
  ['geth', 'transaction underpriced: gas tip cap 0, minimum needed 1', 'fee_too_low'],
  ['geth', 'max fee per gas less than block base fee: address 0x1', 'fee_too_low'],
  [
    'geth',
    'insufficient funds for gas * price + value: balance 0, tx cost 5, overshot 5',
    'insufficient_funds',
  ],
  ['geth', 'transaction gas limit too high (cap: 16777216, tx: 16777217)', 'gas_limit_too_high'],
  ['geth', 'exceeds block gas limit', 'gas_limit_too_high'],
  ['geth', 'intrinsic gas too low: gas 20000, minimum needed 21000', 'gas_limit_too_low'],
  ['geth', 'insufficient gas for floor data gas cost: gas 1, minimum needed 2', 'gas_limit_too_low'],
  ['geth', 'invalid chain id for signer: have 1 want 31337', 'wrong_chain'],
  ['geth', 'invalid sender', 'invalid_signature'],
  ['geth', 'txpool is full', 'pool_full'],
  ['geth', 'in-flight transaction limit reached for delegated accounts', 'pool_full'],
  ['geth', 'gapped-nonce tx from delegated accounts', 'nonce_too_high'],
  ['erigon', 'ALREADY_EXISTS: already known', 'known'],
  ['erigon', 'INTERNAL_ERROR: nonce too low', 'nonce_too_low'],
  ['erigon', 'INTERNAL_ERROR: could not replace existing tx', 'replacement_underpriced'],
  ['erigon', 'INTERNAL_ERROR: insufficient funds', 'insufficient_funds'],
  ['erigon', 'INTERNAL_ERROR: fee too low', 'fee_too_low'],
  ['nethermind', 'AlreadyKnown', 'known'],
  ['nethermind', 'OldNonce, Current nonce: 5, nonce of rejected tx: 3', 'nonce_too_low'],
  ['nethermind', 'NonceGap, Future nonce. Expected nonce: 3', 'nonce_too_high'],
  ['nethermind', 'ReplacementNotAllowed', 'replacement_underpriced'],
  ['nethermind', 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 2', 'fee_too_low'],
  ['nethermind', 'FeeTooLowToCompete', 'fee_too_low'],
  ['nethermind', 'InsufficientFunds, Account balance: 0, cumulative cost: 5', 'insufficient_funds'],
  ['nethermind', 'GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2', 'gas_limit_too_high'],
  ['besu', 'Known transaction', 'known'],
  ['besu', 'Nonce too low', 'nonce_too_low'],
  ['besu', 'Nonce below sender account nonce', 'nonce_too_low'],
  ['besu', 'Transaction nonce is too distant from current sender nonce', 'nonce_too_high'],
  ['besu', 'Replacement transaction underpriced', 'replacement_underpriced'],
  ['besu', 'Upfront cost exceeds account balance', 'insufficient_funds'],
  ['besu', 'Transaction gas limit exceeds block gas limit', 'gas_limit_too_high'],
  ['besu', 'Intrinsic gas exceeds gas limit', 'gas_limit_too_low'],
  ['besu', 'Gas price below configured minimum gas price', 'fee_too_low'],
  ['besu', 'Invalid signature', 'invalid_signature'],
  ['anvil', 'transaction already imported', 'known'],
  ['anvil', 'nonce too low', 'nonce_too_low'],
  ['anvil', 'replacement transaction underpriced', 'replacement_underpriced'],
  ['anvil', 'Insufficient funds for gas * price + value', 'insufficient_funds'],
  ['anvil', 'intrinsic gas too high', 'gas_limit_too_high'],
  ['nobody', 'unknown transaction type', 'refused'],
  ['nobody', '', 'refused'],
  ['nobody', 'Internal error', 'refused'],
];

describe('what a node says of a broadcast', () => {
  test.for(MESSAGES)('%s: %s', ([, message, meaning]) => {
    const answer = classifyRejection(message);
    expect(answer === 'known' ? answer : answer.code).toBe(meaning);
  });

  test('what another state can cure may be sent again, and so may what nobody has foreseen', () => {
    const retryable = (message: string) => {
      const answer = classifyRejection(message);
      return answer !== 'known' && answer.retryable;
    };
    for (const message of [
      'insufficient funds',
      'replacement transaction underpriced',
      'txpool is full',
      '?',
    ]) {
      expect(retryable(message)).toBe(true);
    }
    for (const message of ['nonce too low', 'transaction gas limit too high', 'invalid sender']) {
      expect(retryable(message)).toBe(false);
    }
  });
});
