import { NETWORKS } from '@florin/contract/money';
import { expect, test } from 'vitest';
import { findFault, seal } from './envelope.ts';
import { isSignedBy, signMessage, walletOf } from './wallet.ts';

const MERCHANT = 'merchant';

test.each(NETWORKS)('%s: bytes with a wrong signature are refused', (network) => {
  const wallet = walletOf(MERCHANT, network, 'hot');
  const other = walletOf('another merchant', network, 'hot');
  const body = {
    chainId: MERCHANT,
    network,
    sender: wallet.address,
    asset: 'USDT' as const,
    batchId: 'batch',
    items: [{ id: 'item', to: other.address, amount: '1' }],
    fee: '1',
  };
  const signed = seal(body, wallet);
  expect(findFault(signed, network, MERCHANT)).toBeUndefined();
  const [message = ''] = signed.raw.split('.');
  const bytes = Buffer.from(message, 'base64url');
  const forged = Buffer.from(signMessage(network, other, bytes)).toString('hex');
  expect(findFault({ ...signed, raw: `${message}.${forged}` }, network, MERCHANT)).toBe('invalid_signature');
  // Bytes that another process signed are checked by their signature.
  const own = signMessage(network, wallet, bytes);
  expect(isSignedBy(network, wallet.address, bytes, own)).toBe(true);
  expect(isSignedBy(network, other.address, bytes, own)).toBe(false);
  expect(isSignedBy(network, wallet.address, Buffer.concat([bytes, bytes]), own)).toBe(false);
});
