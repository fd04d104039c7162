import { Halt } from '../../checkout/wallet/payer-steps.ts';
import {
  checkAccount,
  checkChain,
  connect,
  libraryOf,
  signAndSend,
  type TronSteps,
} from '../../checkout/wallet/tron-steps.ts';
import { approvalTransaction, hexOfAddress } from '../../checkout/wallet/tron-transaction.ts';
import { builtMandate } from './built-mandate.ts';
import type { MandateWallet, TronMandate } from './mandate-run.ts';
import { endOf, hasTerms } from './typed-terms.ts';

// Loaded when the payer chooses a wallet of Tron to be charged.

/** The account of an address, as contracts know it. */
const accountOf = (address: string) => `0x${hexOfAddress(address).slice(2)}`;

/** Signs typed data (TIP-712), by the name that the wallet's library has for it. */
async function signTyped(steps: TronSteps, text: string): Promise<string> {
  const { trx } = libraryOf(steps);
  const { domain, types, message } = JSON.parse(text);
  const { EIP712Domain: _, ...own } = types;
  const name = ['signTypedData', '_signTypedData'].find((one) => typeof trx?.[one] === 'function');
  if (name === undefined) throw new Halt('cannot_sign');
  const signature = String(await trx[name](domain, own, message));
  return signature.startsWith('0x') ? signature : `0x${signature}`;
}

export function tronMandate(run: TronMandate): MandateWallet {
  const { wallets, contract, interval, provider, isOld, isStopped, say } = run;
  const { chainId, name, spender } = wallets;
  const steps: TronSteps = { provider, isOld, isStopped, say };
  const place = { chainId, collector: accountOf(spender), contract: accountOf(contract) };
  return builtMandate(run, {
    coin: 'TRX',
    approvedWithinMs: 300_000,
    isForAll: false,
    connect: async () => {
      const account = await connect(steps);
      await checkChain(steps, { id: chainId, name });
      return account;
    },
    addressOf: (account) => account,
    isOffered: (account, offer) =>
      offer.wallet === account &&
      offer.steps[0].spender === spender &&
      BigInt(offer.steps[0].amount) >= BigInt(offer.cap) &&
      hasTerms({ ...place, payer: accountOf(account) }, interval, offer),
    endOf,
    sign: (_account, { steps: [, { typed_data: text }] }) => signTyped(steps, text ?? ''),
    approve: async (account, transaction, units) => {
      const payment = { from: account, to: spender, token: contract, units };
      const checked = await approvalTransaction(JSON.parse(transaction), payment);
      if (checked === undefined) return undefined;
      checkAccount(steps, account);
      await signAndSend(steps, checked, () => true);
      return checked.txID;
    },
  });
}
