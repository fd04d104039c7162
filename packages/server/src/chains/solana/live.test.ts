import { expect, test } from 'vitest';
import { connect } from '../../platform/db/index.ts';
import { createLogger } from '../../platform/observability/index.ts';
import { TOKEN_CONTRACTS } from '../addresses/token-contracts.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { type AddressSigner, LiveSolana } from './live.ts';
import { chainNameOf } from './network.ts';

const [RIGHT, WRONG, PAYER] = [TOKEN_CONTRACTS.spl.USDT, TOKEN_CONTRACTS.spl.USDC, `${'1'.repeat(31)}2`];

/** Holds one account, whose hot wallet is the right one. */
const signer: AddressSigner = {
  readSolanaWallet: async () => RIGHT,
  readSolanaDelegate: async () => null,
  nameAddresses: async () => [WRONG],
  sign: () => Promise.reject(new Error('nothing is signed')),
};

function open() {
  // Nothing is asked of it.
  const db = connect({ url: 'postgres://127.0.0.1:1/none', poolSize: 1 });
  const of = { merchantId: '01890000-0000-7000-8000-000000000001', network: 'spl' } as const;
  const row = { ...of, beginsAt: 0n, epoch: 0, coldOwner: null };
  const withHot = (account: number, hot: string) => ({ ...row, account, extendedPublicKey: hot });
  const solana = new LiveSolana({
    network: {
      name: 'Solana',
      isTest: true,
      endpoints: [{ url: 'http://127.0.0.1:1', isOwn: true }],
      genesisHash: '1'.repeat(44),
      tokens: {},
      feeCeilings: { computeUnits: 600_000, priorityFee: 0n },
      explorer: null,
    },
    signer,
    db,
    tankAccount: () => withHot(0, PAYER),
    nowMs: () => 0,
    log: createLogger('silent'),
  });
  const close = () => Promise.all([solana.close(), db.destroy()]);
  return { solana, withHot, close };
}

test('an account whose key was wrong has its own hot wallet once that is put right, in the same process', async () => {
  const { solana, withHot, close } = open();
  expect(await solana.of(withHot(1, WRONG))?.sender('hot')).toBe(WRONG);
  expect(await solana.of(withHot(1, RIGHT))?.sender('hot')).toBe(RIGHT);
  await close();
});

test.each([
  ['5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', 'solana:mainnet'],
  ['4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY', 'solana:testnet'],
  ['EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', 'solana:devnet'],
  ['1'.repeat(44), 'solana:localnet'],
])('wallets know the chain of genesis %s as %s', (genesisHash, name) => {
  expect(chainNameOf({ genesisHash })).toBe(name);
});

test('a signer with other keys than the account was opened with names no addresses for it', async () => {
  const { solana, withHot, close } = open();
  const named = solana.of(withHot(1, WRONG))?.nameAddresses({ from: 0, count: 1 });
  await expect(named).rejects.toThrow(ChainUnavailable);
  await expect(named).rejects.toThrow('other keys for account 1');
  await close();
});
