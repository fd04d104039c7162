import { collectorAccount } from './contracts.ts';
import { SignerMistake } from './mistake.ts';
import type { NetworkRules } from './policy.ts';

// Whose a merchant's account at the collector is, and the id that follows from it: here alone.

/** The addresses of our keys. */
export interface OwnAddresses {
  hot(account: number, epoch?: number): string;
  /** Of the key that owns the account where the policy names no cold owner. */
  owner(account: number): string;
}

type Owners = Pick<NetworkRules, 'coldOwners'>;

/** An account at the collector keeps the id that follows from its first hot wallet, so payers sign once. */
const FIRST = 0;

/** The owner of a merchant's account at the collector. */
export const ownerOf = ({ coldOwners }: Owners, own: OwnAddresses, account: number): string =>
  coldOwners.get(account) ?? own.owner(account);

/** The id of a merchant's account at the collector. */
export const accountAtCollector = (rules: Owners, own: OwnAddresses, account: number): Uint8Array =>
  collectorAccount(ownerOf(rules, own, account), own.hot(account, FIRST));

/** All hot wallets that an account has had, the present one last. @param present number of that one */
export const hotWallets = (own: Pick<OwnAddresses, 'hot'>, account: number, present: number): string[] =>
  Array.from({ length: present + 1 }, (_, epoch) => own.hot(account, epoch));

/**
 * A cold owner is there for the day on which a hot key was seen, so no key of this signer is one.
 *
 * @param epochOf number of an account's present hot wallet
 * @throws SignerMistake
 */
export function checkColdOwners(
  { coldOwners }: Owners,
  own: OwnAddresses,
  epochOf: (account: number) => number,
): void {
  for (const [account, address] of coldOwners) {
    const hot = hotWallets(own, account, epochOf(account));
    if ([own.hot(0), own.owner(account), ...hot].includes(address))
      throw new SignerMistake(
        'policy',
        `the policy: networks.erc20.cold_owners.${account} is a key of this signer: take it out, or name an address outside of it.`,
      );
  }
}
