import type { Address, MaybeEncodedAccount } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { ExistingAccount } from './account-history.ts';
import { invalidParams } from './errors.ts';
import { type Config, configAt, listAt, numberAt, type Params, readAddress, textAt } from './params.ts';
import { presentAccount } from './present.ts';
import { readDecimals, readTokenAccount, TOKEN_2022, tokenAmount } from './tokens.ts';
import { inContext, type View } from './view.ts';

const MOST_ACCOUNTS = 100;

/** The calls that read accounts, each as of the commitment that it names. */
export const ACCOUNT_CALLS = {
  getBalance: (view: View, params: Params) => {
    const block = view.bank(configAt(params, 1));
    const account = view.chain.account(readAddress(textAt(params, 0)), block.slot);
    return inContext(block, account.exists ? account.lamports : 0);
  },

  getAccountInfo: (view: View, params: Params) => {
    const config = configAt(params, 1);
    const block = view.bank(config);
    const account = view.chain.account(readAddress(textAt(params, 0)), block.slot);
    return inContext(block, presentAccount(account, config));
  },

  getMultipleAccounts: (view: View, params: Params) => {
    const config = { encoding: 'base64', ...configAt(params, 1) };
    const addresses = listAt(params, 0, MOST_ACCOUNTS).map(readAddress);
    const block = view.bank(config);
    const accounts = addresses.map((one) => presentAccount(view.chain.account(one, block.slot), config));
    return inContext(block, accounts);
  },

  getTokenAccountBalance: (view: View, params: Params) => {
    const block = view.bank(configAt(params, 1));
    const account = view.chain.account(readAddress(textAt(params, 0)), block.slot);
    if (!account.exists) throw invalidParams('Invalid param: could not find account');
    const token = readTokenAccount(account);
    if (token === undefined) throw invalidParams('Invalid param: not a Token account');
    const decimals = readDecimals(view.chain.account(token.mint, block.slot)) ?? 0;
    return inContext(block, tokenAmount(token.amount, decimals));
  },

  getTokenAccountsByOwner: (view: View, params: Params) => {
    const owner = readAddress(textAt(params, 0));
    const wanted = tokenFilter(configAt(params, 1));
    const config = configAt(params, 2);
    const block = view.bank(config);
    if ('mint' in wanted) heedMint(view.chain.account(wanted.mint, block.slot));
    const found = view.chain.tokenAccounts(block.slot).filter((account) => {
      const token = readTokenAccount(account);
      if (token?.owner !== owner) return false;
      return 'mint' in wanted ? token.mint === wanted.mint : token.program === wanted.programId;
    });
    return inContext(
      block,
      found.map((account) => presentKeyed(account, config)),
    );
  },

  getMinimumBalanceForRentExemption: (view: View, params: Params) =>
    view.chain.vm.minimumBalanceForRentExemption(BigInt(numberAt(params, 0))),
};

function presentKeyed(account: ExistingAccount, config: Config) {
  return { pubkey: account.address, account: presentAccount(account, config) };
}

function tokenFilter(filter: Config): { mint: Address } | { programId: Address } {
  const { mint, programId } = filter;
  if (typeof mint === 'string') return { mint: readAddress(mint) };
  if (typeof programId !== 'string') throw invalidParams('Invalid params: expected mint or programId.');
  const program = readAddress(programId);
  if (program !== TOKEN_PROGRAM_ADDRESS && program !== TOKEN_2022)
    throw invalidParams('Invalid param: unrecognized Token program id');
  return { programId: program };
}

function heedMint(mint: MaybeEncodedAccount): void {
  if (readDecimals(mint) === undefined) throw invalidParams('Invalid param: could not find mint');
}
